"""From what trials took to coefficients: slopes between a smaller and a larger run of each.

What every run pays once (start, imports, compilation, the pool of workers) cancels in them. Trials
whose size is more than one number differ in one of them at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from argus.planning.model import (
    GRAPHS_BYTES,
    ORDER_BYTES,
    RANKS_BYTES,
    displaced_s,
    projected_numbers,
)
from argus.planning.records import (
    AligningRates,
    AuditRates,
    AuditTrial,
    DisplacingTrial,
    DumpTrial,
    EncodingRates,
    EncodingTrial,
    GraphRates,
    GraphTrial,
    KnowledgeTrial,
    ProductRates,
    RankingTrial,
    WordRates,
    WordsTrial,
)

LEAST_S = 1e-14
"""In place of a slope that noise made zero or negative."""
KEPT_BYTES = GRAPHS_BYTES + RANKS_BYTES + ORDER_BYTES


def slope(more: float, units: float) -> float:
    """Return what a unit takes, where so many more of them took so much more; LEAST_S or more."""
    return max(more / units, LEAST_S)


def fastest(trials: Sequence[AuditTrial]) -> AuditTrial:
    """Return what several runs of the same trial took, undisturbed: the least of everything."""
    first = trials[0]
    return AuditTrial(
        entities=first.entities, pairs=first.pairs, dim=first.dim,
        seconds=min(trial.seconds for trial in trials),
        peak_bytes=min(trial.peak_bytes for trial in trials),
        stored_bytes=min(trial.stored_bytes for trial in trials),
    )  # fmt: skip


def of_encoding(trial: EncodingTrial) -> EncodingRates:
    """Return the coefficients of an encoder."""
    (few, many), (short_s, long_s) = trial.tokens, trial.seconds
    return {
        "encoder": trial.encoder,
        "encoder_parameters": trial.encoder_parameters,
        "encoder_window": trial.encoder_window,
        "accelerator": trial.accelerator,
        "base_bytes": trial.base_bytes,
        "encode_s": slope(long_s - short_s, many - few),
    }


def of_ranking(short: RankingTrial, long: RankingTrial, compared: RankingTrial) -> ProductRates:
    """Return the rates of products and comparisons.

    long has more queries than short; compared has more related entities than long, and is the same
    else.
    """
    rows = long.queries * long.candidates
    per_neighbour = slope(compared.seconds - long.seconds, compared.neighbours - long.neighbours)
    count_s = max(per_neighbour / rows, LEAST_S)
    per_query = slope(long.seconds - short.seconds, long.queries - short.queries)
    per_candidate = per_query / long.candidates
    multiply_s = max((per_candidate - long.neighbours * count_s) / long.dim, LEAST_S)
    return {"count_s": count_s, "multiply_s": multiply_s}


def of_displacing(few: DisplacingTrial, many: DisplacingTrial, multiply_s: float) -> float:
    """Return the rate of seeking the k best, partition_s."""
    per_query = slope(many.seconds - few.seconds, many.queries - few.queries)
    return max(per_query / many.entities - many.dim * multiply_s, LEAST_S)


def of_graph(few: GraphTrial, many: GraphTrial) -> GraphRates:
    """Return time and memory per relation."""
    more = many.edges - few.edges
    return {
        "edge_s": slope(many.seconds - few.seconds, more),
        "edge_bytes": _bytes(slope(many.peak_bytes - few.peak_bytes, more)),
    }


def of_audits(
    small: AuditTrial, large: AuditTrial, dense: AuditTrial, wide: AuditTrial, *,
    edge_s: float, multiply_s: float, partition_s: float,
) -> tuple[AuditRates, float]:  # fmt: skip
    """Return what pairs, entities and numbers of vectors take in an audit, and what it pays once.

    Of few dimensions, where pairs take more memory than the projection: small; dense, with more
    pairs; large, with more entities. wide has as many entities as large (all of which are
    projected), more dimensions, and so few pairs that the projection takes the memory.
    """
    trials = small, large, dense, wide
    seconds = [
        trial.seconds - _explained_s(trial, multiply_s, partition_s) - trial.pairs / 2 * edge_s
        for trial in trials
    ]
    pair_s, entity_s = _per_pair_and_entity(trials, seconds)
    more = seconds[3] - seconds[1] - pair_s * (wide.pairs - large.pairs)
    number_s = slope(more, _numbers(wide) - _numbers(large))
    entity_s = max(entity_s - number_s * small.dim, LEAST_S)
    once_s = seconds[0] - pair_s * small.pairs - entity_s * small.entities
    peaks = [trial.peak_bytes - KEPT_BYTES * trial.pairs for trial in trials]
    pair_bytes, entity_bytes = _per_pair_and_entity(trials, peaks)
    projecting = peaks[3] - peaks[1] + pair_bytes * large.pairs
    stored = [trial.stored_bytes for trial in trials]
    stored_pair, stored_entity = _per_pair_and_entity(trials, stored)
    return {
        "pair_s": pair_s,
        "entity_s": entity_s,
        "number_s": number_s,
        "pair_bytes": _bytes(pair_bytes),
        "entity_bytes": _bytes(entity_bytes),
        "number_bytes": _bytes(projecting / _numbers(wide)),
        "stored_pair_bytes": _bytes(stored_pair),
        "stored_entity_bytes": _bytes(stored_entity),
        "report_bytes": _bytes(
            stored[0] - stored_pair * small.pairs - stored_entity * small.entities
        ),
    }, max(once_s - number_s * _numbers(small), 0.0)


def of_knowledge(
    small: KnowledgeTrial, large: KnowledgeTrial, dense: KnowledgeTrial
) -> AligningRates:
    """Return what aligning takes, and its shards.

    dense has more pairs than small, large more entities.
    """
    pair = slope(dense.stored_bytes - small.stored_bytes, dense.pairs - small.pairs)
    apart = [trial.stored_bytes - pair * trial.pairs for trial in (small, large)]
    entity = (apart[1] - apart[0]) / (large.entities - small.entities)
    return {
        "align_s": slope(large.seconds - small.seconds, large.rows - small.rows),
        "kb_pair_bytes": _bytes(pair),
        "kb_entity_bytes": _bytes(entity),
    }


def of_words(few: WordsTrial, many: WordsTrial) -> WordRates:
    """Return what a word takes in the BM25 index."""
    more = many.words - few.words
    return {
        "words_s": slope(many.seconds - few.seconds, more),
        "word_bytes": _bytes(slope(many.peak_bytes - few.peak_bytes, more)),
        "stored_word_bytes": _bytes(slope(many.stored_bytes - few.stored_bytes, more)),
    }


def of_dump(once: DumpTrial, repeated: DumpTrial) -> float:
    """Return the rate of reading a dump, in seconds per byte."""
    return slope(repeated.seconds - once.seconds, repeated.bytes - once.bytes)


def _per_pair_and_entity(
    trials: tuple[AuditTrial, ...], values: Sequence[float]
) -> tuple[float, float]:
    """Return the shares of a pair and of an entity; trials as of `of_audits`."""
    small, large, dense, _ = trials
    pair = slope(values[2] - values[0], dense.pairs - small.pairs)
    rest = values[1] - values[0] - pair * (large.pairs - small.pairs)
    return pair, slope(rest, large.entities - small.entities)


def _numbers(trial: AuditTrial) -> float:
    return projected_numbers(trial.entities, trial.dim)


def _explained_s(trial: AuditTrial, multiply_s: float, partition_s: float) -> float:
    """Return what of a trial's time goes into saying who outranks the worst."""
    neighbours = trial.pairs / trial.entities
    return displaced_s(trial.entities, neighbours, trial.dim, multiply_s, partition_s)


def _bytes(value: float) -> int:
    return max(round(value), 1)
