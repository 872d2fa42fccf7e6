# mypy: disallow-untyped-calls=False
"""Search documents with side views by looking at few of these, at no loss.

Side views are sentences, which a blend mixes in, and scenarios. All vectors are unit rows, so
angles obey the triangle inequality on the sphere: a vector v within δ of an anchor a scores at
most `cos(max(0, θ - δ))` for a query at angle θ from a. A document's side views are bounded twice:
by its own views, and by themselves in eight bits a number (`Codes`), a quarter of the vectors to
read. With s_doc its own score and b a bound on the side views, its score is at most
`λ·s_doc + (1-λ)·max(s_doc, b)`, less the penalty of the blend.

Documents are scored first: those of one query by their codes, which bound s_doc and are read faster
than the vectors, those of several by one product of matrices. The side views of the best few give a
score that k documents reach. Then only documents whose bound reaches it can matter, best bound
first, until the next one's lies below the k-th score. Results are those of `fold.top_documents`.

Memory beyond the snapshot: the vectors of all views that are no side views once more, and a quarter
of all vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from argus.cores import available_cores, worker_threads
from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import starts_of
from argus.encoders.scoring import rounding_bound
from argus.indexes.fold import BoolArray, Folded, Layout, ranked

SEEDS = 64
"""Documents whose side views are scored to begin with, or 2k where that is more."""
HEAD = 512
"""Documents of the highest bounds, which are scored first. The rest that can still matter is read
in the order of memory, which is far faster where that is a large part of all."""
PART = 4_000
"""Documents of the rest that are worth a thread, for a single query."""
BY_CODES = 2
"""Queries at once, at most, whose documents are scored by codes."""
ROWS = 16_384
"""Rows that are coded at a time."""
GROUPS = 65_536
"""Groups of rows that are worth threads."""
AHEAD = 8
"""Rows that are prefetched before they are read. Twice and half of it gain less."""
MAX_PRODUCT = 2**30
"""Largest product of a query and a row in codes: half of 32 bits, so that rounding fits."""
TOLERANCE = 1e-3
"""Bound on rounding, in products of queries and codes and in the length of a row."""
LANES = 32
"""Codes that are multiplied at once."""
LINE = 64
"""Bytes that a processor reads from memory at once."""
INT8, INT32 = ir.IntType(8), ir.IntType(32)


class Codes(NamedTuple):
    """Rows divided by `scale` and rounded, (n_rows, dim).

    scale, error: (n_rows,). error is the length of the rounding: a unit query scores a row within
    that of `scale · (query · codes)`.
    """

    codes: npt.NDArray[np.int8]
    scale: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, vectors: FloatArray, rows: IntArray) -> Codes:
        """Return the codes of some rows."""
        codes = np.empty((len(rows), vectors.shape[1]), np.int8)
        scale, error = (np.empty(len(rows), np.float32) for _ in range(2))
        for start in range(0, len(rows), ROWS):
            part = slice(start, start + ROWS)
            block = vectors[rows[part]]
            scale[part] = np.maximum(np.abs(block).max(axis=1), np.float32(1e-12)) / np.float32(127)
            rounded = np.rint(block / scale[part, None])
            codes[part] = rounded
            error[part] = np.linalg.norm(block - scale[part, None] * rounded, axis=1)
        return cls(codes, scale, error * np.float32(1 + TOLERANCE) + np.float32(TOLERANCE / 10))

    def most(self, query: CodedQuery, starts: IntArray, threads: int = 1) -> FloatArray:
        """Return the most that any row of each group can score, (n_groups,).

        starts: (n_groups + 1,) over the rows. No group is empty. threads: how many read them.
        """
        most = np.empty(len(starts) - 1, np.float32)
        edges = np.linspace(0, len(most), threads + 1).astype(np.int64)

        def part(first: int, last: int) -> None:
            _most_of_groups(query, self, starts[first : last + 1], most[first:last])

        if threads == 1 or len(most) < GROUPS:
            part(0, len(most))
        else:
            list(worker_threads().map(part, edges[:-1], edges[1:]))
        return most


class CodedQuery(NamedTuple):
    """A unit query, (dim,), and its codes: divided by `scale` and rounded to sixteen bits.

    error: the most by which it moves the score of a coded row.
    """

    vector: FloatArray
    codes: npt.NDArray[np.int16]
    scale: np.float32
    error: np.float32

    @classmethod
    def of(cls, query: FloatArray) -> CodedQuery:
        """Return the codes of a query. Their products with a row's stay within 32 bits."""
        size = np.abs(query.astype(np.float64))
        scale = max(size.max(initial=0) / 32_767, size.sum() * 127 / MAX_PRODUCT, 1e-30)
        rounded = np.rint(query / scale)
        lost = float(np.linalg.norm(query - scale * rounded))
        # a coded row is less than 2 long
        return cls(query, rounded.astype(np.int16), np.float32(scale), np.float32(2 * lost))


@dataclass(frozen=True)
class SideViews:
    """Views of one kind that are weighed against the others of their documents.

    rows: their rows by document. starts: (n_documents + 1,) over those. codes: of those rows.
    angle: (n_documents, 2), cosine and sine of the greatest angle between a side view and the
    nearest own view. widest: the greatest of those angles.
    """

    rows: IntArray
    starts: IntArray
    codes: Codes
    angle: FloatArray
    widest: float


@dataclass(frozen=True)
class SideLayout:
    """A snapshot's views, laid out for the search once.

    own: (n_own, dim), the vectors of all views that are no side views, contiguous. own_rows: where
    they are in the snapshot. own_starts: (n_documents + 1,) over them. off_unit: the largest
    deviation of a row's length from 1.
    """

    own: FloatArray
    own_rows: IntArray
    own_starts: IntArray
    own_codes: Codes
    sentences: SideViews
    scenarios: SideViews
    off_unit: float

    @classmethod
    def of(cls, vectors: FloatArray, layout: Layout) -> SideLayout | None:
        """Return the layout, or None if a document has side views alone or rows are not unit."""
        off_unit, starts = off_unit_length(vectors), layout.starts

        def starts_among(mask: BoolArray) -> IntArray:
            """Return where each document's views of the mask begin among all views of it."""
            return starts_of(mask.astype(np.int64))[starts]

        own_starts = starts_among(~layout.sides)
        if (np.diff(own_starts) == 0).any() or not off_unit <= TOLERANCE:
            return None
        own_rows = np.flatnonzero(~layout.sides)
        own = np.ascontiguousarray(vectors[own_rows])

        def lay_out(mask: BoolArray | None) -> SideViews:
            mask = np.zeros(len(vectors), bool) if mask is None else mask
            rows, side_starts = np.flatnonzero(mask), starts_among(mask)
            owner = np.repeat(np.arange(len(starts) - 1), np.diff(side_starts))
            nearest = np.full(len(rows), -1.0, np.float32)
            for nth in range(int(np.diff(own_starts).max(initial=0))):
                there = np.flatnonzero(own_starts[owner] + nth < own_starts[owner + 1])
                anchor = own[own_starts[owner[there]] + nth]
                cosine = np.einsum("ij,ij->i", vectors[rows[there]], anchor)
                nearest[there] = np.maximum(nearest[there], cosine)
            # rounded up: too wide a bound only costs time
            angle = np.arccos(np.clip(nearest - 4 * TOLERANCE, -1, 1)).astype(np.float32)
            widest = np.zeros(len(starts) - 1, np.float32)
            np.maximum.at(widest, owner, angle)
            both = np.stack([np.cos(widest), np.sin(widest)], axis=1)
            most = float(widest.max(initial=0))
            return SideViews(rows, side_starts, Codes.of(vectors, rows), both, most)

        return cls(
            own, own_rows, own_starts, Codes.of(vectors, own_rows),
            lay_out(layout.sentence), lay_out(layout.scenario), off_unit,
        )  # fmt: skip


def top_documents_pruned(
    queries: FloatArray,
    vectors: FloatArray,
    layout: Layout,
    views: SideLayout,
    k: int,
) -> Folded:
    """Return the result of `fold.top_documents`.

    queries: (n_queries, dim), unit rows. vectors: (n_views, dim). Both λ must be above 0.
    """
    is_few, n = len(queries) <= BY_CODES, len(layout.starts) - 1
    k_there, threads = min(k, n), available_cores() if is_few else 1
    slack = rounding_bound(vectors.shape[1]) + 2 * views.off_unit
    penalty = np.zeros(n, np.float32) if layout.penalty is None else layout.penalty
    lightest = 0.0 if layout.penalty is None else float(penalty.min(initial=np.inf))
    sentences, scenarios = views.sentences, views.scenarios
    weights = (layout.sentence_weight, layout.weight)
    in_float32 = np.float32(layout.sentence_weight), np.float32(layout.weight)
    sides = zip((sentences, scenarios), weights, strict=True)
    there = [(side.widest, weight) for side, weight in sides if len(side.rows)]
    widest, least_weight = max(of for of, _ in there), float(np.prod([of for _, of in there]))

    def score(
        query: CodedQuery,
        own: FloatArray,
        documents: IntArray,
        bound: FloatArray,
        best: FloatArray,
        least: float,
    ) -> tuple[FloatArray, float]:
        """Return the scores of documents that can reach `least`, and its new value.

        best: (k,), the k best scores so far, ascending, updated in place.
        """
        return mixed_scores(  # type: ignore[no-any-return]
            query, vectors, views.own_rows, views.own_starts,
            sentences.rows, sentences.starts, sentences.codes,
            scenarios.rows, scenarios.starts, scenarios.codes,
            *in_float32, own, penalty, documents, bound, best, np.float32(slack), np.float32(least),
        )  # fmt: skip

    def candidates(query: CodedQuery, own: FloatArray) -> IntArray:
        """Return the documents that can be among the k best.

        own: (n_documents,), the most that they score without side views, nothing subtracted.
        """
        none = np.full(k_there, -np.inf, np.float32)
        seeds = min(n, max(SEEDS, 2 * k_there))
        first = np.argpartition(own - penalty, n - seeds)[n - seeds :]
        least = score(query, own, first, np.ones(seeds, np.float32), none.copy(), -np.inf)[1]
        lowest = reach(least + lightest - slack, widest, least_weight)
        near, bound = within(
            own, penalty, sentences.starts, sentences.angle, scenarios.starts, scenarios.angle,
            *in_float32, np.float32(lowest), np.float32(least), np.float32(slack),
        )  # fmt: skip
        scores, best = np.full(len(near), -np.inf, np.float32), none
        head = np.arange(len(near))
        if len(near) > HEAD:
            head = np.sort(np.argpartition(bound, len(near) - HEAD)[len(near) - HEAD :])
        scores[head], least = score(query, own, near[head], bound[head], best, least)
        is_rest = bound >= least
        is_rest[head] = False
        rest = np.flatnonzero(is_rest)

        def score_part(rows: IntArray) -> float:
            scores[rows], reached = score(query, own, near[rows], bound[rows], best.copy(), least)
            return reached

        parts = np.array_split(rest, max(1, min(threads, len(rest) // PART)))
        run = map if len(parts) == 1 else worker_threads().map
        documents: IntArray = near[scores >= max(run(score_part, parts))]
        return documents

    coded = map(CodedQuery.of, queries)
    if is_few:
        most, starts = views.own_codes.most, views.own_starts
        found = [candidates(query, most(query, starts, threads)) for query in coded]
    else:
        own = queries @ views.own.T
        if len(views.own) > len(views.own_starts) - 1:
            own = np.maximum.reduceat(own, views.own_starts[:-1], axis=1)
        found = list(worker_threads().map(candidates, coded, own))
    query = np.repeat(np.arange(len(queries)), [len(documents) for documents in found])
    return ranked(queries, vectors, layout, query, np.concatenate(found), k)


def off_unit_length(vectors: FloatArray) -> float:
    """Return the largest deviation of a row's length from 1, or NaN if a row is not finite."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return float(np.abs(lengths - 1).max(initial=0.0))


@intrinsic
def product_of_lanes(context, query, rows, row):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the product of a query with one of the rows, over whole LANES.

    query: int16, (dim,). rows: int8, (n, dim). Both are contiguous. The
    compiler's own loop multiplies half as many codes at once. Products of sixteen bits are summed
    by twos, for which processors have one instruction.
    """
    wide, half = (ir.VectorType(INT32, n) for n in (LANES, LANES // 2))

    def generate(target, builder, signature, values):  # type: ignore[no-untyped-def]
        left = target.make_array(signature.args[0])(target, builder, values[0])
        start, length = _row(target, builder, signature.args[1], values[1:])
        total = cgutils.alloca_once_value(builder, ir.Constant(half, None))
        with cgutils.for_range(builder, builder.udiv(length, length.type(LANES))) as block:
            at = builder.mul(block.index, length.type(LANES))
            codes = (_lanes(builder, builder.gep(place, [at])) for place in (left.data, start))
            product = builder.mul(*(builder.sext(of, wide) for of in codes))
            by_twos = (half([INT32(i) for i in range(first, LANES, 2)]) for first in (0, 1))
            even, odd = (builder.shuffle_vector(product, product, of) for of in by_twos)
            builder.store(builder.add(builder.load(total), builder.add(even, odd)), total)
        name = f"llvm.vector.reduce.add.v{LANES // 2}i32"
        kind = ir.FunctionType(INT32, [half])
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [builder.load(total)])

    return types.int32(query, rows, types.int64), generate


@intrinsic
def read_ahead(context, rows, row):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Prefetch one of the rows, (n, dim) of int8. It need not be there."""

    def generate(target, builder, signature, values):  # type: ignore[no-untyped-def]
        start, length = _row(target, builder, signature.args[0], values)
        place = INT8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [place, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        lines = builder.udiv(builder.add(length, length.type(LINE - 1)), length.type(LINE))
        with cgutils.for_range(builder, lines) as line:
            at = builder.gep(start, [builder.mul(line.index, length.type(LINE))])
            builder.call(prefetch, [builder.bitcast(at, place), INT32(0), INT32(3), INT32(1)])
        return target.get_dummy_value()

    return types.void(rows, types.int64), generate


def _row(target, builder, kind, values):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return where a row starts and how long it is."""
    rows = target.make_array(kind)(target, builder, values[0])
    length = builder.extract_value(rows.shape, 1)
    return builder.gep(rows.data, [builder.mul(values[1], length)]), length


def _lanes(builder, place):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return LANES codes from a place on."""
    kind = ir.VectorType(place.type.pointee, LANES).as_pointer()
    return builder.load(builder.bitcast(place, kind), align=1)


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def dot(left, right):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the product of two float32 vectors."""
    total = np.float32(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@numba.njit(cache=True, nogil=True, inline="always")
def most_of(query, rows, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the most that any of some rows can score, by the codes of both."""
    most = np.float32(-np.inf)
    codes, of_rows, scale, error = query.codes, rows.codes, rows.scale, rows.error
    for row in range(start, end):
        total = product_of_lanes(codes, of_rows, row)  # type: ignore[call-arg, var-annotated]
        for i in range(len(codes) // LANES * LANES, len(codes)):
            total = np.int32(total + np.int32(codes[i]) * np.int32(of_rows[row, i]))
        most = max(most, scale[row] * query.scale * np.float32(total) + error[row])
    return most + query.error


@numba.njit(cache=True, nogil=True)
def _most_of_groups(query, rows, starts, most):  # type: ignore[no-untyped-def]  # pragma: no cover
    for group in range(len(most)):
        read_ahead(rows.codes, starts[group] + AHEAD)  # type: ignore[call-arg]
        most[group] = most_of(query, rows, starts[group], starts[group + 1])


def reach(least: float, angle: float, weight: float) -> float:
    """Return the own score below which no document reaches `least`.

    It is the inverse of `highest`, mixed. weight: λ, or the product of both: a score mixed twice
    lies below one mixed once by that. Below cos δ the bound is `A·cos θ + B·sin θ = R·cos(θ - φ)`.
    """
    sine = max(0.0, float(np.sin(angle)))  # π in float32 is more than π
    across, beside = weight + (1 - weight) * np.cos(angle), (1 - weight) * sine
    if least >= weight * np.cos(angle) + 1 - weight:
        return float((least - (1 - weight)) / weight)
    turn = np.arctan2(beside, across)
    theta = turn + np.arccos(np.clip(least / np.hypot(across, beside), -1, 1))
    return float(np.cos(theta)) if theta < np.pi else -np.inf


@numba.vectorize(cache=True)
def highest(own, cosine, sine):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the most that a side view of a document of this score can score, at least `own`.

    cosine, sine: of the angle within which the side views lie.
    """
    if own >= cosine:
        return np.float32(1)
    return max(own, own * cosine + np.sqrt(max(np.float32(0), 1 - own * own)) * sine)


@numba.njit(cache=True, nogil=True)
def within(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    own, penalty, starts_1, angle_1, starts_2, angle_2, weight_1, weight_2, lowest, least, slack
):
    """Return the documents that can reach `least`, and their bounds. 1: sentences, 2: scenarios."""
    documents, bound = np.empty(len(own), np.int64), np.empty(len(own), np.float32)
    n = 0
    for d in range(len(own)):
        if own[d] < lowest:
            continue
        most = own[d]
        if starts_1[d + 1] > starts_1[d]:
            beside = highest(own[d], angle_1[d, 0], angle_1[d, 1])
            most = weight_1 * most + (1 - weight_1) * beside
        if starts_2[d + 1] > starts_2[d]:
            beside = highest(own[d], angle_2[d, 0], angle_2[d, 1])
            most = weight_2 * most + (1 - weight_2) * beside
        most = max(most, own[d]) - penalty[d] + slack
        if most >= least:
            documents[n], bound[n] = d, most
            n += 1
    return documents[:n], bound[:n]


@numba.njit(cache=True, nogil=True)
def _nearest(query, vectors, rows, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover
    nearest = np.float32(-np.inf)
    for row in range(start, end):
        nearest = max(nearest, dot(query, vectors[rows[row]]))
    return nearest


@numba.njit(cache=True, nogil=True)
def _insert(best, score):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Put a score among the k best, ascending, in place of the lowest."""
    at = 0
    while at + 1 < len(best) and best[at + 1] < score:
        best[at] = best[at + 1]
        at += 1
    best[at] = score


@numba.njit(cache=True, nogil=True, inline="always")
def _prefetch(rows, starts, documents, i):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Prefetch the side views of the i-th document, if there is one."""
    if i < len(documents):
        for row in range(starts[documents[i]], starts[documents[i] + 1]):
            read_ahead(rows.codes, row)  # type: ignore[call-arg]


@numba.njit(cache=True, nogil=True)
def mixed_scores(  # type: ignore[no-untyped-def]  # noqa: C901  # pragma: no cover - compiled
    query, vectors, own_rows, own_starts,
    rows_1, starts_1, codes_1, rows_2, starts_2, codes_2,
    weight_1, weight_2,
    most, penalty, documents, bound, best, slack, least,
):  # fmt: skip
    """Score documents in their order. Return scores and a bound that the k-th best reaches.

    1: sentences, 2: scenarios. most: the most that a document's own views score. A document that
    cannot reach `least`, which rises as scores come in, stays at -inf.
    """
    scores = np.full(len(documents), -np.inf, np.float32)
    rest_1, rest_2 = np.float32(1) - weight_1, np.float32(1) - weight_2
    for i in range(len(documents)):
        _prefetch(codes_1, starts_1, documents, i + 1)
        if bound[i] < least:
            continue
        d = documents[i]
        some_1, some_2 = starts_1[d + 1] > starts_1[d], starts_2[d + 1] > starts_2[d]
        score, most_1, most_2 = most[d], np.float32(-np.inf), np.float32(1)
        if some_1:
            most_1 = most_of(query, codes_1, starts_1[d], starts_1[d + 1])
            score = weight_1 * score + rest_1 * max(score, most_1)
        if some_2:
            most_2 = most_of(query, codes_2, starts_2[d], starts_2[d + 1])
            score = weight_2 * score + rest_2 * most_2
        if score - penalty[d] + slack < least:
            continue
        own = _nearest(query.vector, vectors, own_rows, own_starts[d], own_starts[d + 1])
        score = own
        if some_1:
            score = weight_1 * own + rest_1 * max(own, most_1)
        if some_2:
            score = weight_2 * score + rest_2 * most_2
        if score - penalty[d] + slack < least:
            continue
        score = own
        if some_1:
            nearest = _nearest(query.vector, vectors, rows_1, starts_1[d], starts_1[d + 1])
            score = weight_1 * own + rest_1 * max(own, nearest)
            if some_2 and (weight_2 * score + rest_2 * most_2 - penalty[d] + slack < least):
                continue
        if some_2:
            nearest = _nearest(query.vector, vectors, rows_2, starts_2[d], starts_2[d + 1])
            score = weight_2 * score + rest_2 * nearest
        score -= penalty[d]
        scores[i] = score
        if score > best[0]:
            _insert(best, score)
            least = max(least, best[0] - slack)
    return scores, least
