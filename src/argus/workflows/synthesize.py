"""`remedy synthesize`: one more text per document at risk, with short descriptions (ARGUS §5.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argus.data.types import Qrels, Query, State, View
from argus.encoders import Encoder, EncoderConfig
from argus.errors import ArgusError, InputError
from argus.llm import ChatConfig, Estimate, Ledger, OpenAIModel, estimate
from argus.remedies.diagnose import TAU
from argus.remedies.expand import (
    MIN_SIMILARITY,
    PAPER,
    ROBUST,
    ExpandConfig,
    Pair,
    check_context,
    look_up,
)
from argus.remedies.lookup import PassageLookup
from argus.remedies.synthesize import (
    Candidate,
    Synthesis,
    from_descriptions,
    prompts_for,
    with_model,
)
from argus.retrievability.probes import Probe
from argus.workflows.receipt import RemedyResult, check_judged, settle
from argus.workflows.reference import ReferenceConfig
from argus.workflows.remedy import Made, Making, Remedy, apply, prepare

KIND = "synthesis"
LEDGER = "answers.sqlite"
UNANSWERED = re.compile(
    r"not asked: |no answer in \d+ attempts; last: (?=Connect|PoolTimeout|Proxy|HTTP (?:429|503))"
)
"""Why a document has no answer, where the endpoint or the budget is at fault and not the document:
such a one is asked again."""


@dataclass(frozen=True, kw_only=True)
class SynthesizeConfig:
    """How descriptions are written.

    model: a language model's endpoint; None takes the knowledge base's own short descriptions.
    min_similarity: context check without a model, least cosine of mention and passage.
    title_first: as for expansions.
    """

    model: ChatConfig | None = None
    min_similarity: float = MIN_SIMILARITY
    title_first: bool = True

    @property
    def lookup(self) -> ExpandConfig:
        """How passages are looked up: as ARGUS §5.2 does, or by title first."""
        return ROBUST if self.title_first else PAPER

    def described(self) -> dict[str, Any]:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        chosen: dict[str, Any] = {"model": None, "title_first": self.title_first}
        if self.model is None:
            return {**chosen, "min_similarity": self.min_similarity}
        asked = {"model": self.model.model, "temperature": self.model.temperature}
        return {**chosen, **asked, "extra": dict(self.model.extra)}


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
    out: Path | None = None,
) -> RemedyResult:
    """Add a synthesis per document at risk and write the receipt.

    Answers of a model are kept in `INDEX/answers.sqlite`; a run that stops (endpoint down, budget
    spent) has added nothing, and the same command goes on where it was. Documents whose synthesis
    the guard rejects keep their original alone, counted and listed in synthesis.parquet.
    """
    config = config or SynthesizeConfig()
    check_judged(queries, qrels, corpus)

    def make(making: Making) -> Made:
        candidates, pairs = _candidates(making, config)
        done = _written(making, candidates, pairs, config, Path(index))
        views = [
            View(f"{s.doc_id}#{making.remedy}", s.doc_id, KIND, s.text, s.source)
            for s in done
            if s.text is not None
        ]
        return Made(views, _notes(done, config), {"synthesis": _table(done)})

    label = "descriptions" if config.model is None else "llm"
    remedy = Remedy("synthesize", label, config.described(), make)
    applied = apply(
        index, remedy, reference=reference, probe=probe, encoder=encoder, tau=tau, out=out
    )
    return settle(applied, probe=probe, queries=queries, qrels=qrels, corpus=corpus, k=k)


def estimate_synthesis(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: SynthesizeConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
) -> Estimate:
    """Return what `synthesize_index` would ask and cost, asking and adding nothing."""
    if config.model is None:
        raise InputError(
            "nothing to estimate without a model",
            expected="--model NAME",
            fix="Synthesis from the knowledge base's descriptions asks nobody and costs nothing.",
            where="--estimate",
        )
    with prepare(index, reference=reference, probe=probe, encoder=encoder, tau=tau) as making:
        candidates, _ = _candidates(making, config)
        prompts = prompts_for(making.documents, candidates)
        ledger = Ledger(Path(index) / LEDGER)
        try:
            return estimate(prompts, ledger, config.model)
        finally:
            ledger.close()


def _candidates(
    making: Making, config: SynthesizeConfig
) -> tuple[dict[str, list[Candidate]], list[Pair]]:
    """Return the entities at risk with their passages, by document."""
    lookup = PassageLookup(making.passages)
    pairs = look_up(making.documents, making.diagnosis.flagged(), lookup, config.lookup)
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
) -> list[Synthesis]:
    if config.model is None:
        checked = check_context(pairs, making.encoder, making.store)
        best: dict[tuple[str, str], float] = {}
        for pair in checked:
            key = (pair.document.id, pair.risk.entity)
            best[key] = max(pair.similarity or -1.0, best.get(key, -1.0))
        return list(
            from_descriptions(making.documents, candidates, best, threshold=config.min_similarity)
        )
    ledger = Ledger(index / LEDGER)
    try:
        done = list(with_model(making.documents, candidates, OpenAIModel(config.model, ledger)))
    finally:
        ledger.close()
    waiting = [s.reason for s in done if UNANSWERED.match(s.reason)]
    if waiting:
        raise ArgusError(
            f"{len(waiting):,} of {len(done):,} documents are without an answer: "
            f"{UNANSWERED.sub('', waiting[0])}. Every answer so far is kept and nothing was added "
            "to the index. Raise the budget, or wait for the endpoint, and run the same command: "
            "it asks only the rest."
        )
    return done


def _notes(done: Sequence[Synthesis], config: SynthesizeConfig) -> dict[str, Any]:
    states = Counter(str(s.state) for s in done)
    return {
        "written_by": config.model.model if config.model else "descriptions of the knowledge base",
        "documents": {str(s): states.get(str(s), 0) for s in State},
        "insertions": sum(len(s.insertions) for s in done),
        "fallen_back": dict(Counter(s.reason for s in done if s.state is State.FAILED)),
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
