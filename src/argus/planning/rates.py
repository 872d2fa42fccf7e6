"""From what trials took to coefficients: slopes between a smaller and a larger run of each.

What every run pays once (start, imports, compilation, the pool of workers) cancels in them. Trials
whose size is more than one number differ in one of them at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from argus.planning.model import (
    GRAPHS_BYTES,
    ORDER_BYTES,
    RANKS_BYTES,
    displaced_s,
    projected_numbers,
)

Trial = Mapping[str, Any]
LEAST_S = 1e-14
"""In place of a slope that noise made zero or negative."""
KEPT_BYTES = GRAPHS_BYTES + RANKS_BYTES + ORDER_BYTES


def slope(small: Trial, large: Trial, what: str, unit: str) -> float:
    """Return what a unit more takes, LEAST_S or more."""
    more: float = (large[what] - small[what]) / (large[unit] - small[unit])
    return max(more, LEAST_S)


def fastest(trials: Sequence[Trial]) -> Trial:
    """Return what several runs of the same trial took, undisturbed: the least of everything."""
    return {name: min(trial[name] for trial in trials) for name in trials[0]}


def of_encoding(few: Trial, many: Trial) -> dict[str, float]:
    """Return the rate of an encoder. Trials: tokens, seconds."""
    return {"encode_s": slope(few, many, "seconds", "tokens")}


def of_ranking(short: Trial, long: Trial, compared: Trial) -> dict[str, float]:
    """Return the rates of products and comparisons.

    Trials: queries, candidates, neighbours, dim, seconds. long has more queries than short;
    compared has more related entities than long, and is the same else.
    """
    rows = long["queries"] * long["candidates"]
    count_s = max(slope(long, compared, "seconds", "neighbours") / rows, LEAST_S)
    per_query = slope(short, long, "seconds", "queries") / long["candidates"]
    multiply_s = max((per_query - long["neighbours"] * count_s) / long["dim"], LEAST_S)
    return {"count_s": count_s, "multiply_s": multiply_s}


def of_displacing(few: Trial, many: Trial, multiply_s: float) -> dict[str, float]:
    """Return the rate of seeking the k best. Trials: asked, entities, dim, seconds."""
    per_candidate = slope(few, many, "seconds", "asked") / many["entities"]
    return {"partition_s": max(per_candidate - many["dim"] * multiply_s, LEAST_S)}


def of_graph(few: Trial, many: Trial) -> dict[str, Any]:
    """Return time and memory per relation. Trials: edges, seconds, peak_bytes."""
    return {
        "edge_s": slope(few, many, "seconds", "edges"),
        "edge_bytes": _bytes(slope(few, many, "peak_bytes", "edges")),
    }


def of_audits(
    small: Trial, large: Trial, dense: Trial, wide: Trial, *, measured: Mapping[str, float]
) -> dict[str, Any]:
    """Return what pairs, entities and numbers of vectors take in an audit.

    Trials: entities, pairs, dim, seconds (all but ranking), peak_bytes (all but vectors),
    stored_bytes (all but vectors). Of few dimensions, where pairs take more memory than the
    projection: small; dense, with more pairs; large, with more entities. wide has as many
    entities as large (all of which are projected), more dimensions, and so few pairs that the
    projection takes the memory. measured: edge_s, multiply_s, partition_s.
    """
    trials = small, large, dense, wide
    seconds = [trial["seconds"] - _known_s(trial, measured) for trial in trials]
    pair_s, entity_s = _per_pair_and_entity(trials, seconds)
    more = seconds[3] - seconds[1] - pair_s * (wide["pairs"] - large["pairs"])
    number_s = max(more / (_numbers(wide) - _numbers(large)), LEAST_S)
    entity_s = max(entity_s - number_s * small["dim"], LEAST_S)
    peaks = [float(trial["peak_bytes"] - KEPT_BYTES * trial["pairs"]) for trial in trials]
    pair_bytes, entity_bytes = _per_pair_and_entity(trials, peaks)
    projecting = peaks[3] - peaks[1] + pair_bytes * large["pairs"]
    stored = [float(trial["stored_bytes"]) for trial in trials]
    stored_pair, stored_entity = _per_pair_and_entity(trials, stored)
    report = stored[0] - stored_pair * small["pairs"] - stored_entity * small["entities"]
    return {
        "pair_s": pair_s,
        "entity_s": entity_s,
        "number_s": number_s,
        "once_s": max(
            seconds[0] - pair_s * small["pairs"] - entity_s * small["entities"]
            - number_s * _numbers(small), 0.0,
        ),
        "pair_bytes": _bytes(pair_bytes),
        "entity_bytes": _bytes(entity_bytes),
        "number_bytes": _bytes(projecting / _numbers(wide)),
        "stored_pair_bytes": _bytes(stored_pair),
        "stored_entity_bytes": _bytes(stored_entity),
        "report_bytes": _bytes(report),
    }  # fmt: skip


def of_knowledge(small: Trial, large: Trial, dense: Trial) -> dict[str, Any]:
    """Return what aligning takes, and its shards.

    Trials: entities, pairs, rows (entities, statements and links), seconds, stored_bytes. dense has
    more pairs than small, large more entities.
    """
    pair = slope(small, dense, "stored_bytes", "pairs")
    apart = [trial["stored_bytes"] - pair * trial["pairs"] for trial in (small, large)]
    entity = (apart[1] - apart[0]) / (large["entities"] - small["entities"])
    return {
        "align_s": slope(small, large, "seconds", "rows"),
        "kb_pair_bytes": _bytes(pair),
        "kb_entity_bytes": _bytes(entity),
    }


def of_words(few: Trial, many: Trial) -> dict[str, Any]:
    """Return what a word takes in the BM25 index. Trials: words, seconds, *_bytes."""
    return {
        "words_s": slope(few, many, "seconds", "words"),
        "word_bytes": _bytes(slope(few, many, "peak_bytes", "words")),
        "stored_word_bytes": _bytes(slope(few, many, "stored_bytes", "words")),
    }


def of_dump(kind: str, once: Trial, repeated: Trial) -> dict[str, float]:
    """Return the rate of reading a dump. Trials: bytes, seconds."""
    return {f"{kind}_byte_s": slope(once, repeated, "seconds", "bytes")}


def _per_pair_and_entity(trials: tuple[Trial, ...], values: list[float]) -> tuple[float, float]:
    """Return the shares of a pair and of an entity; trials as of `of_audits`."""
    small, large, dense, _ = trials
    pair = max((values[2] - values[0]) / (dense["pairs"] - small["pairs"]), LEAST_S)
    rest = values[1] - values[0] - pair * (large["pairs"] - small["pairs"])
    return pair, max(rest / (large["entities"] - small["entities"]), LEAST_S)


def _numbers(trial: Trial) -> float:
    return projected_numbers(trial["entities"], trial["dim"])


def _known_s(trial: Trial, measured: Mapping[str, float]) -> float:
    """Return what of a trial's time has rates of its own: relations read, the worst explained."""
    neighbours = trial["pairs"] / trial["entities"]
    explained = displaced_s(
        trial["entities"], neighbours, trial["dim"], measured["multiply_s"], measured["partition_s"]
    )
    return explained + float(trial["pairs"]) / 2 * measured["edge_s"]


def _bytes(value: float) -> int:
    return max(round(value), 1)
