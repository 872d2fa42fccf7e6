"""Searches made again where index and model are at hand, to see what the beam dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.generative.decode.settings import Decoding
from argus.generative.failures.diagnosis import FAILED, outcome
from argus.generative.failures.jobs.inputs import Output
from argus.generative.failures.jobs.measuring import Measured
from argus.generative.index import NgramIndex
from argus.generative.jobs.search import SearchConfig, identity, open_searcher
from argus.generative.scoring import Scoring
from argus.generative.views import Mode
from argus.llm.weights import model_hash
from argus.progress import progress

MOST_QUESTIONS = 200
"""Replayed unless more are asked for; a question takes about a second."""
FOUND_SHARE = 4
"""One in so many replayed questions was found: what holds there, too, explains little."""


@dataclass(frozen=True, kw_only=True)
class ReplayConfig:
    """How the search was made.

    mode, beams: None takes what the output says of itself, else SEAL with 15 beams. questions: at
    most so many are replayed, three quarters of them failed ones.
    """

    model: Path
    mode: Mode | None = None
    beams: int | None = None
    questions: int = MOST_QUESTIONS


@dataclass
class ReplayedOutput:
    """What replaying an output came to.

    as_searched: whether it was replayed as the answers say that it was made. same: questions in
    whose replay the best positive has the rank that it has in the output, of `compared`. lost: rows
    of pruned.parquet.
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
        names = ("mode", "beams", "as_searched", "questions", "of", "same", "compared")
        return {name: getattr(self, name) for name in names}


def replay_output(
    output: Output,
    measured: Measured,
    index: Path,
    model: Path,
    config: ReplayConfig,
    device: str | None,
) -> ReplayedOutput:
    """Add the columns of a replay to rows, in place.

    Questions without a positive in the index are left out. Raises InputError where the answers say
    that another model or index made them.
    """
    from argus.generative.failures.replay import Replay

    opened = NgramIndex.open(index)
    chosen = _search_config(output.settings, model, config)
    _check_origin(output, opened, index, model, chosen)
    replayer = Replay(open_searcher(opened, model, chosen, device))
    able = [i for i, positives in enumerate(measured.positives) if positives]
    taken = _taken(measured.rows, able, config.questions)
    made = output.settings
    as_searched = bool(made) and all(
        given is None or given == said
        for given, said in (
            (config.mode, made.get("mode")),
            (config.beams, made.get("decoding", {}).get("beams")),
        )
    )
    told = ReplayedOutput(str(chosen.mode), chosen.decoding.beams, as_searched, of=len(able))
    with progress(f"replaying {output.name}", len(taken)) as advance:
        for i in taken:
            row = measured.rows[i]
            replayed = replayer.replay(row["question"], measured.positives[i])
            row |= replayed.row()
            told.questions += 1
            told.compared += row["first_correct"] is not None
            told.same += (
                row["first_correct"] is not None and row["rank_now"] == row["first_correct"]
            )
            told.lost += [{"query_id": row["query_id"], **lost} for lost in replayed.lost_rows()]
            advance(1)
    return told


def _taken(rows: Sequence[dict[str, Any]], able: Sequence[int], most: int) -> list[int]:
    """Return which questions are replayed: failed ones first, but a share of those found."""
    judged = [i for i in able if rows[i]["hit_k"] is not None]
    failed = [i for i in judged if outcome(rows[i]) == FAILED]
    found = [i for i in judged if outcome(rows[i]) != FAILED]
    of_found = min(len(found), max(most // FOUND_SHARE, most - len(failed)))
    return sorted([*failed[: most - of_found], *found[:of_found]])


def _check_origin(
    output: Output, index: NgramIndex, home: Path, model: Path, config: SearchConfig
) -> None:
    made = output.settings
    if not {"index", "model"} <= made.keys():
        return
    now = identity(index, home, model_hash(model), config)
    other = [name for name in ("model", "index") if made[name] != now[name]]
    if other:
        raise InputError(
            f"these answers were made with another {' and '.join(other)}",
            expected="the model and the index of the search, to make it again",
            fix="Give those, or leave --model out.",
            where=output.file,
        )


def _search_config(made: dict[str, Any], model: Path, config: ReplayConfig) -> SearchConfig:
    """Return the settings of the search, those that are given before those that it says."""
    decoding = _known(Decoding, made.get("decoding"))
    if config.beams is not None:
        decoding = replace(decoding, beams=config.beams)
    try:
        mode = config.mode or Mode(made.get("mode", Mode.SEAL))
    except ValueError as error:
        raise _unreadable(error) from error
    scoring = _known(Scoring, made.get("scoring"))
    return SearchConfig(model=model, mode=mode, decoding=decoding, scoring=scoring)


def _known(kind: Any, values: Any) -> Any:
    """Return settings of a kind from plain values, unknown names left out."""
    given = values if isinstance(values, dict) else {}
    try:
        return kind(**{f.name: given[f.name] for f in fields(kind) if f.name in given})
    except (TypeError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> InputError:
    return InputError(
        f"settings of the search that cannot be read ({error})",
        expected="answers.jsonl as argus generative search wrote it",
        fix="Give the DPR file from another folder, and --mode and --beams.",
        where="OUTPUT",
    )
