"""Search again with index and model, to find n-grams that the beam dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from argus.errors import InputError
from argus.generative.failures.columns import Row
from argus.generative.failures.diagnosis import FAILED, outcome
from argus.generative.failures.measuring import Measurements
from argus.generative.failures.outputs import Output
from argus.generative.failures.settings import ReplayConfig
from argus.generative.index import NgramIndex
from argus.generative.jobs.search import identity, open_searcher
from argus.generative.settings import Decoding, Mode, NgramSearchConfig, Scoring
from argus.llm.weights import model_hash
from argus.progress import progress

S = TypeVar("S", Decoding, Scoring)

FOUND_SHARE = 4
"""One in so many replayed questions was found: modes that hold there, too, explain little."""


@dataclass
class ReplayedOutput:
    """Figures of replaying an output.

    as_searched: whether the replay used the settings in the answers. of: questions with positives.
    questions: of these, those that were replayed. same: questions in whose replay the best positive
    has the rank that it has in the output, of `compared`. lost: rows of pruned.parquet.
    """

    mode: str
    beams: int
    as_searched: bool
    questions: int = 0
    of: int = 0
    same: int = 0
    compared: int = 0
    lost: list[dict[str, Any]] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Return it for summary.json."""
        return {name: value for name, value in vars(self).items() if name != "lost"}


def replay_output(
    output: Output,
    measured: Measurements,
    index: Path,
    model: Path,
    config: ReplayConfig,
    device: str | None,
) -> ReplayedOutput:
    """Add the columns of a replay to rows, in place.

    Questions without a positive in the index are left out. Raises InputError if the answers say
    that another model or index made them.
    """
    from argus.generative.failures.replay import Replay

    opened = NgramIndex.open(index)
    search = search_config(output.settings, model, config)
    _check_origin(output, opened, index, model, search)
    replayer = Replay(open_searcher(opened, model, search, device))
    able = [i for i, positives in enumerate(measured.positives) if positives]
    sample = _sample(measured.rows, able, config.questions)
    as_searched = _as_searched(output.settings, config)
    whole = ReplayedOutput(str(search.mode), search.decoding.beams, as_searched, of=len(able))
    with progress(f"replaying {output.name}", len(sample)) as advance:
        for i in sample:
            row = measured.rows[i]
            replayed = replayer.replay(row["question"], measured.positives[i])
            measured.rows[i] = {**row, **replayed.row()}
            rank = row["first_correct"]
            whole.questions += 1
            whole.compared += rank is not None
            whole.same += rank is not None and replayed.now == rank
            whole.lost += [{"query_id": row["query_id"], **lost.row()} for lost in replayed.lost]
            advance(1)
    return whole


def _as_searched(settings: Mapping[str, object], config: ReplayConfig) -> bool:
    """Whether a replay is made as the output says that its search was."""
    decoding = settings.get("decoding")
    beams = decoding.get("beams") if isinstance(decoding, dict) else None
    same_mode = config.mode is None or config.mode == settings.get("mode")
    return bool(settings) and same_mode and config.beams in (None, beams)


def _sample(rows: Sequence[Row], able: Sequence[int], most: int) -> list[int]:
    """Return which questions are replayed: failed ones first, but a share of those found."""
    judged = [i for i in able if rows[i]["hit_k"] is not None]
    failed = [i for i in judged if outcome(rows[i]) == FAILED]
    hits = [i for i in judged if outcome(rows[i]) != FAILED]
    of_found = min(len(hits), max(most // FOUND_SHARE, most - len(failed)))
    return sorted([*failed[: most - of_found], *hits[:of_found]])


def _check_origin(
    output: Output, index: NgramIndex, home: Path, model: Path, config: NgramSearchConfig
) -> None:
    stored = output.settings
    if not {"index", "model"} <= stored.keys():
        return
    now = identity(index, home, model_hash(model), config)
    pairs = (("model", now["model"]), ("index", now["index"]))
    other = [name for name, hash_ in pairs if stored[name] != hash_]
    if other:
        raise InputError(
            f"these answers were made with another {' and '.join(other)}",
            expected="the model and the index of the search, to make it again",
            fix="Give those, or leave --model out.",
            where=output.file,
        )


def search_config(
    settings: Mapping[str, object], model: Path, config: ReplayConfig
) -> NgramSearchConfig:
    """Return the settings of the search. Those of `config` go before those that it says."""
    decoding = _known(Decoding, settings.get("decoding"))
    if config.beams is not None:
        decoding = replace(decoding, beams=config.beams)
    try:
        mode = config.mode or Mode(str(settings.get("mode", Mode.SEAL)))
    except ValueError as error:
        raise _unreadable(error) from error
    scoring = _known(Scoring, settings.get("scoring"))
    return NgramSearchConfig(model=model, mode=mode, decoding=decoding, scoring=scoring)


def _known(kind: type[S], values: object) -> S:
    """Return settings of a kind from plain values, unknown names left out."""
    plain = values if isinstance(values, dict) else {}
    try:
        return kind(**{f.name: plain[f.name] for f in fields(kind) if f.name in plain})
    except (TypeError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> InputError:
    return InputError(
        f"settings of the search that cannot be read ({error})",
        expected="answers.jsonl as argus research generative search wrote it",
        fix="Give the DPR file from another folder, and --mode and --beams.",
        where="OUTPUT",
    )
