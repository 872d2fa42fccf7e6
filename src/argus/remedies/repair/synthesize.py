"""`remedy synthesize`: one more text per document at risk, with short descriptions (ARGUS §5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from argus.data.types import Qrels, Query, State, View
from argus.encoders import Encoder, EncoderConfig
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.jobs.heard import Answers, Heard, require_answers
from argus.jobs.on_engine import opened as open_engine
from argus.llm import ChatConfig, Estimate, Ledger, LocalConfig, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.remedies.diagnosis.diagnose import TAU
from argus.remedies.expand import (
    MIN_SIMILARITY,
    PAPER,
    ROBUST,
    ExpandConfig,
    Pair,
    check_context,
    look_up,
)
from argus.remedies.repair.receipt import RemedyResult, check_judged, settle
from argus.remedies.repair.reference import ReferenceConfig
from argus.remedies.repair.remedy import Made, Making, Remedy, apply, prepare
from argus.remedies.synthesize import (
    Candidate,
    Synthesis,
    from_descriptions,
    prompts_for,
    with_model,
)
from argus.retrievability.probes import Probe

KIND = "synthesis"
LEDGER = "answers.sqlite"


@dataclass(frozen=True, kw_only=True)
class SynthesizeConfig:
    """How descriptions are written.

    model: a language model, at an endpoint or on this machine; None takes the knowledge base's own
    short descriptions.
    min_similarity: context check without a model, least cosine of mention and passage.
    title_first: as for expansions. accept_unanswered: documents to which the endpoint never gave an
    answer count as failed and are not asked for again; without it nothing is added until all are
    answered.
    """

    model: ChatConfig | LocalConfig | None = None
    min_similarity: float = MIN_SIMILARITY
    title_first: bool = True
    accept_unanswered: bool = False

    @property
    def lookup(self) -> ExpandConfig:
        """How passages are looked up: as ARGUS §5.2 does, or by title first."""
        return ROBUST if self.title_first else PAPER

    def described(self) -> dict[str, Any]:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        chosen: dict[str, Any] = {"model": None, "title_first": self.title_first}
        if self.model is None:
            return {**chosen, "min_similarity": self.min_similarity}
        asked = {"model": self.model.identity, "temperature": self.model.temperature}
        accepted = {"accept_unanswered": True} if self.accept_unanswered else {}
        return {**chosen, **asked, "extra": dict(self.model.extra), **accepted}


@dataclass(frozen=True)
class Written:
    """The syntheses, and what a language model took for them."""

    done: list[Synthesis]
    taken: Answers | None = None


def synthesize_index(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: SynthesizeConfig | None = None,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: Path | None = None,
    k: int = 10,
    device: str | None = None,
    out: Path | None = None,
    engine: EngineConfig | Engine | None = None,
) -> RemedyResult:
    """Add a synthesis per document at risk and write the receipt.

    engine: what embeds, and answers where the model is one that transformers runs; endpoints are
    asked from this process anyway.

    Answers of a model are kept in `INDEX/answers.sqlite`; a run that stops (endpoint down, budget
    spent), and one that leaves any document without an answer, has added nothing, and the same
    command goes on where it was. Documents whose synthesis the guard rejects, or whose answer
    cannot be used, keep their original alone, counted and listed in synthesis.parquet.
    """
    config = config or SynthesizeConfig()
    check_judged(queries, qrels, corpus)
    label = "descriptions" if config.model is None else "llm"
    with open_engine(engine) as running:
        make = partial(_make, config=config, index=Path(index), engine=running)
        remedy = Remedy("synthesize", label, config.described(), make)
        applied = apply(
            index, remedy, reference=reference, probe=probe, encoder=encoder, tau=tau,
            device=device, out=out, engine=running,
        )  # fmt: skip
        return settle(applied, probe=probe, queries=queries, qrels=qrels, corpus=corpus, k=k)


def _make(making: Making, *, config: SynthesizeConfig, index: Path, engine: Engine | None) -> Made:
    """Return a view per document whose synthesis is fit to be indexed."""
    candidates, pairs = _candidates(making, config)
    written = _written(making, candidates, pairs, config, index, engine)
    views = [
        View(f"{s.doc_id}#{making.remedy}", s.doc_id, KIND, s.text, s.source)
        for s in written.done
        if s.text is not None
    ]
    return Made(views, _notes(written, config), {"synthesis": _table(written.done)})


def estimate_synthesis(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: SynthesizeConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
) -> Estimate:
    """Return what `synthesize_index` would ask and cost, asking and adding nothing."""
    if config.model is None:
        raise InputError(
            "nothing to estimate without a model",
            expected="--model NAME",
            fix="Synthesis from the knowledge base's descriptions asks nobody and costs nothing.",
            where="--estimate",
        )
    with prepare(
        index, reference=reference, probe=probe, encoder=encoder, tau=tau, device=device
    ) as making:
        candidates, _ = _candidates(making, config)
        prompts = prompts_for(making.documents, candidates)
        with ledger_to_read(Path(index) / LEDGER) as ledger:
            return estimate(prompts, ledger, config.model)


def _candidates(
    making: Making, config: SynthesizeConfig
) -> tuple[dict[str, list[Candidate]], list[Pair]]:
    """Return the entities at risk with their passages, by document."""
    flagged = making.diagnosis.flagged()
    pairs = look_up(making.documents, flagged, making.lookup, config.lookup)
    grouped: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        grouped.setdefault((pair.document.id, pair.risk.entity), []).append(pair)
    candidates: dict[str, list[Candidate]] = {}
    for (doc_id, _), group in grouped.items():
        found = Candidate(group[0].risk, tuple(pair.passage for pair in group))
        candidates.setdefault(doc_id, []).append(found)
    return candidates, pairs


def _written(
    making: Making,
    candidates: Mapping[str, Sequence[Candidate]],
    pairs: Sequence[Pair],
    config: SynthesizeConfig,
    index: Path,
    engine: Engine | None,
) -> Written:
    if config.model is not None:
        return _answered(making, candidates, config, index, engine)
    checked = check_context(pairs, making.encoder, making.store)
    best: dict[tuple[str, str], float] = {}
    for pair in checked:
        key = (pair.document.id, pair.risk.entity)
        best[key] = max(pair.similarity or -1.0, best.get(key, -1.0))
    least = config.min_similarity
    return Written(list(from_descriptions(making.documents, candidates, best, threshold=least)))


def _answered(
    making: Making,
    candidates: Mapping[str, Sequence[Candidate]],
    config: SynthesizeConfig,
    index: Path,
    engine: Engine | None,
) -> Written:
    """Ask the model; ArgusError, before anything is added, where answers are missing."""
    assert config.model is not None
    settled = (
        replace(config.model, retry_failed=False) if config.accept_unanswered else config.model
    )
    with Ledger(index / LEDGER) as ledger:
        heard = Heard(open_model(settled, ledger, engine))
        done = list(with_model(making.documents, candidates, heard))
    require_answers(
        heard, accept=config.accept_unanswered, undone=" and nothing was added to the index"
    )
    return Written(done, heard.summary())


def _notes(written: Written, config: SynthesizeConfig) -> dict[str, Any]:
    done = written.done
    states = Counter(str(s.state) for s in done)
    return {
        "written_by": config.model.label if config.model else "descriptions of the knowledge base",
        "documents": {str(s): states.get(str(s), 0) for s in State},
        "insertions": sum(len(s.insertions) for s in done),
        "fallen_back": dict(Counter(s.reason for s in done if s.state is State.FAILED)),
        **({"language_model": written.taken} if written.taken else {}),
    }


def _table(done: Sequence[Synthesis]) -> list[dict[str, Any]]:
    return [
        {
            "doc_id": s.doc_id,
            "state": str(s.state),
            "reason": s.reason,
            "insertions": [asdict(insertion) for insertion in s.insertions],
        }
        for s in done
    ]
