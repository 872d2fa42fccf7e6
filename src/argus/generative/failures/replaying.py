"""Search again with index and model, to find n-grams that the beam dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
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


def replay_output(
    output: Output,
    measured: Measurements,
    index: Path,
    model: Path,
    config: ReplayConfig,
    device: str | None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Add the columns of a replay to rows, in place. Return its summary and rows of pruned.parquet.

    Questions without a positive in the index are left out. Raises InputError if the answers say
    that another model or index made them. Keys of the summary:

    mode, beams: of the search. as_searched: whether the replay used the settings in the answers.
    of: questions with positives. questions: of these, those that were replayed.
    same: questions in whose replay the best positive has the rank that it has in the output, of
    `compared`.
    """
    from argus.generative.failures.replay import Replay

    opened = NgramIndex.open(index)
    search = search_config(output.settings, model, config)
    _check_origin(output, opened, index, model, search)
    replayer = Replay(open_searcher(opened, model, search, device))
    able = [i for i, positives in enumerate(measured.positives) if positives]
    sample = _sample(measured.rows, able, config.questions)
    beams = search.decoding.beams
    decoding = output.settings.get("decoding")
    stored = decoding.get("beams") if isinstance(decoding, dict) else None
    as_searched = bool(output.settings) and config.beams in (None, stored)
    as_searched = as_searched and config.mode in (None, output.settings.get("mode"))
    same = compared = 0
    lost: list[dict[str, Any]] = []
    with progress(f"replaying {output.name}", len(sample)) as advance:
        for i in sample:
            row = measured.rows[i]
            replayed = replayer.replay(row["question"], measured.positives[i])
            measured.rows[i] = {**row, **replayed.row()}
            compared += row["first_correct"] is not None
            same += replayed.now == row["first_correct"] is not None
            lost += [{"query_id": row["query_id"], **ngram.row()} for ngram in replayed.lost]
            advance(1)
    summary = {
        "mode": str(search.mode), "beams": beams, "as_searched": as_searched,
        "questions": len(sample), "of": len(able), "same": same, "compared": compared,
    }  # fmt: skip
    return summary, lost


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
    other = [name for name in ("model", "index") if stored[name] != now[name]]
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
    try:
        decoding = _known(Decoding, settings.get("decoding"))
        mode = config.mode or Mode(str(settings.get("mode", Mode.SEAL)))
        scoring = _known(Scoring, settings.get("scoring"))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"settings of the search that cannot be read ({error})",
            expected="answers.jsonl as argus research generative search wrote it",
            fix="Give the DPR file from another folder, and --mode and --beams.",
            where="OUTPUT",
        ) from error
    if config.beams is not None:
        decoding = replace(decoding, beams=config.beams)
    return NgramSearchConfig(model=model, mode=mode, decoding=decoding, scoring=scoring)


def _known(kind: type[S], values: object) -> S:
    """Return settings of a kind from plain values, unknown names left out."""
    plain = values if isinstance(values, dict) else {}
    return kind(**{f.name: plain[f.name] for f in fields(kind) if f.name in plain})
