"""Searches made again where index and model are at hand, to see what the beam dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.generative.decode.settings import Decoding
from argus.generative.failures.diagnosis import FAILED, outcome
from argus.generative.index import NgramIndex
from argus.generative.scoring import Scoring
from argus.generative.views import Mode
from argus.progress import progress
from argus.workflows.generative.search import SearchConfig, open_searcher

MOST_QUESTIONS = 200
"""Replayed unless more are asked for; a question takes about a second."""


@dataclass(frozen=True, kw_only=True)
class ReplayConfig:
    """How the search was made.

    mode, beams: None takes what the output says of itself, else SEAL with 15 beams. questions: at
    most so many are replayed, those that failed first.
    """

    model: Path
    mode: Mode | None = None
    beams: int | None = None
    questions: int = MOST_QUESTIONS


def replay_rows(
    rows: Sequence[dict[str, Any]],
    positives: Mapping[str, tuple[int, ...]],
    made: Mapping[str, Any],
    index: Path,
    config: ReplayConfig,
    device: str | None,
) -> dict[str, Any]:
    """Add the columns of a replay to rows, in place; return how many were replayed, and how.

    made: settings of the search as its answers say. positives: numbers in the index, by question.
    Questions that
    failed come first, in their order; those without a positive in the index are left out.
    """
    from argus.generative.failures.replay import Replay

    opened = NgramIndex.open(index)
    chosen = _search_config(made, config)
    searcher = open_searcher(opened, config.model, chosen, device)
    replayer = Replay(searcher)
    able = [row for row in rows if row["hit_k"] is not None and row["positives_indexed"]]
    able.sort(key=lambda row: outcome(row) != FAILED)
    with progress("replaying", len(able[: config.questions])) as advance:
        for row in able[: config.questions]:
            row |= replayer.replay(row["question"], positives[row["query_id"]]).row()
            advance(1)
    return {
        "questions": min(len(able), config.questions),
        "of": len(able),
        "mode": str(chosen.mode),
        "beams": chosen.decoding.beams,
        "as_searched": bool(made),
    }


def _search_config(made: Mapping[str, Any], config: ReplayConfig) -> SearchConfig:
    """Return the settings of the search, those that are given before those that it says."""
    decoding = _known(Decoding, made.get("decoding"))
    if config.beams is not None:
        decoding = replace(decoding, beams=config.beams)
    mode = config.mode or Mode(made.get("mode", Mode.SEAL))
    return SearchConfig(
        model=config.model,
        mode=mode,
        decoding=decoding,
        scoring=_known(Scoring, made.get("scoring")),
    )


def _known(kind: Any, values: Any) -> Any:
    """Return settings of a kind from plain values, unknown names left out."""
    given = values if isinstance(values, dict) else {}
    try:
        return kind(**{f.name: given[f.name] for f in fields(kind) if f.name in given})
    except (TypeError, ValueError) as error:
        raise InputError(
            f"settings of the search that cannot be read ({error})",
            expected="answers.jsonl as argus generative search wrote it",
            fix="Give the DPR file from another folder, and --mode and --beams.",
            where="OUTPUT",
        ) from error
