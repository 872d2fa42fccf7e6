"""The records of a blend in a vector store, and the exact fold of what a search of them returns.

Each document has a record of its own vector and one per sentence, whose vector is the unit of
λ·document + (1-λ)·sentence. Then the blend's score is a maximum of `cosine · scale - penalty`.

The store ranks records by cosine alone. A record that it has not returned has no higher cosine than
the last that it returned, so its score is bounded; once k documents score above that bound they
are certain, given what the store returned. Until then twice as many records are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.encoders import Encoder, EncoderConfig, loaded_encoder
from argus.errors import FingerprintMismatch, InputError
from argus.progress import progress
from argus.retrievers.blended.cosines import Cosines, Float64Array, cosines_of
from argus.retrievers.blended.fields import ENCODER, FIELDS, PARENT, PENALTY, REMEDY, SCALE
from argus.stores.protocol import Entries, Filter, Hits, Payload, Records, Store, WritableStore
from argus.stores.records import matches, values_of

PAGE = 1000
"""Records read at a time."""
PER_DOCUMENT = 3
"""Records asked for at first, per document wanted."""
MOST = 4096
"""Records asked for at most, per query: what every store gives at once."""
ROUNDING = 1e-6
"""By how much scores of one vector may differ, as stores reckon in float32."""
AGAIN = 30.0
"""Seconds between readings of all records for the sake of some that are unknown."""
Scores = dict[str, float]


@dataclass(frozen=True)
class Numbers:
    """What counts of each record, read once. Rows in the store's order."""

    row: Mapping[str, int]
    """Record to row."""
    document: Sequence[str]
    """(n,), the document that a record stands for."""
    scale: Float64Array
    penalty: Float64Array
    fields: Mapping[str, Payload]
    """The user's own fields of each document."""
    encoder: str | None = None
    """Fingerprint of the encoder of their vectors; None where no record says it."""


@dataclass(frozen=True)
class Bound:
    """What records that were not returned score at most; rows in order, so it costs no pass."""

    scale: Float64Array
    penalty: Float64Array
    by_scale: npt.NDArray[np.intp]
    """Rows that a filter shows, the largest scale first."""
    by_penalty: npt.NDArray[np.intp]
    """The same rows, the smallest penalty first."""

    @classmethod
    def of(cls, numbers: Numbers, shown: npt.NDArray[np.bool_]) -> Bound:
        """Sort the rows that are shown."""
        rows = np.flatnonzero(shown)
        return cls(
            numbers.scale, numbers.penalty,
            rows[np.argsort(-numbers.scale[rows], kind="stable")],
            rows[np.argsort(numbers.penalty[rows], kind="stable")],
        )  # fmt: skip

    def beyond(self, cosine: float, seen: Collection[int]) -> float:
        """Return it for those outside `seen`, of no higher cosine; -inf where there are none."""
        cheapest = next((row for row in self.by_penalty if row not in seen), None)
        if cheapest is None:
            return -np.inf
        order = self.by_scale if cosine > 0 else self.by_scale[::-1]
        extreme = next(row for row in order if row not in seen)
        return float(cosine * self.scale[extreme] - self.penalty[cheapest])


@dataclass
class BlendRecords:
    """The records of one remedy in a store.

    where: the user's filter. exact: True has the store compare every vector; False takes what comes
    as it serves it; None does so, and compares all where what came leaves the result open.
    """

    store: Store
    remedy: str
    cosines: Cosines
    numbers: Numbers
    where: Filter
    id_fields: Sequence[str] = (PARENT,)
    """Where the id of a record's document stands: the first of these that the record has."""
    exact: bool | None = None
    most: int = MOST
    uncertain: int = 0
    """Queries whose first k were not certain after `most` records."""
    matching: Filter = field(init=False)
    bound: Bound = field(init=False)
    """Of the records that the filter showed when they were read."""
    total: int = field(init=False)
    _reread: float = field(default=-np.inf, init=False)
    """When records that were unknown had all read again."""

    def __post_init__(self) -> None:
        self.matching = {REMEDY: self.remedy, **self.where}
        self._count()

    def loaded_encoder(self, encoder: Encoder | EncoderConfig | str) -> Encoder:
        """Return the encoder, in the precision of their vectors where it names none.

        Raises FingerprintMismatch where another encoder made them.
        """
        stored = self.numbers.encoder
        loaded = loaded_encoder(encoder, stored=stored)
        if stored not in (None, loaded.fingerprint):
            raise FingerprintMismatch(
                Path(self.store.name), stored=str(stored), given=loaded.fingerprint
            )
        return loaded

    def refresh(self) -> None:
        """Read the numbers again: after another run of the remedy, or changes of documents."""
        self.numbers = read_records(self.store, self.remedy, self.id_fields)[1]
        self._count()

    def search(self, vectors: FloatArray, k: int) -> list[Scores]:
        """Return the k best documents of each of (n, dim) queries, best first, ties by id."""
        exact = self.exact is True and self.store.can_search_exactly
        answers, left = self._until_certain(vectors, k, exact=exact)
        if left and self.exact is None and self.store.can_search_exactly:
            again, still = self._until_certain(vectors[left], k, exact=True)
            for query, answer in zip(left, again, strict=True):
                answers[query] = answer
            left = still
        self.uncertain += len(left) if self.exact is not False else 0
        return answers

    def _until_certain(
        self, vectors: FloatArray, k: int, *, exact: bool
    ) -> tuple[list[Scores], list[int]]:
        """Return the answers, and which queries are open after all that the store gives.

        Those that are open after `most` records are counted: another search gives no more of them.
        """
        answers: list[Scores] = [{} for _ in vectors]
        pending = list(range(len(vectors)))
        left: list[int] = []
        limit = PER_DOCUMENT * k + 1
        while pending and self.total:
            limit = min(limit, self.total, self.most)
            hits = self._hits(vectors[pending], limit, exact=exact)
            again: list[int] = []
            for query, records in zip(pending, hits, strict=True):
                answers[query], is_certain = self._fold(records, k)
                is_all = exact and len(records) < limit
                if is_certain or is_all:
                    continue
                if len(records) < limit:
                    left.append(query)
                elif limit < min(self.most, self.total):
                    again.append(query)
                else:
                    self.uncertain += self.exact is not False
            pending, limit = again, 2 * limit
        return answers, left

    def _hits(self, vectors: FloatArray, limit: int, *, exact: bool) -> list[Hits]:
        """Search; where it returns what was written since, all is read, once in AGAIN seconds."""
        answers = self.store.search(vectors, limit, matching=self.matching, exact=exact)
        row = self.numbers.row
        is_new = any(id_ not in row for hits in answers for id_, _ in hits)
        if is_new and time.monotonic() - self._reread > AGAIN:
            self.refresh()
            self._reread = time.monotonic()
        return answers

    def _fold(self, hits: Hits, k: int) -> tuple[Scores, bool]:
        """Return the k best documents of some records, and whether no other record changes them."""
        numbers = self.numbers
        lowest = hits[-1:]
        hits = [hit for hit in hits if hit[0] in numbers.row]  # others: removed, or too new
        rows = [numbers.row[id_] for id_, _ in hits]
        cosines = self.cosines(np.array([score for _, score in hits], np.float64))
        best: Scores = {}
        for row, score in zip(
            rows, (cosines * numbers.scale[rows] - numbers.penalty[rows]).tolist(), strict=True
        ):
            document = numbers.document[row]
            best[document] = max(score, best.get(document, -np.inf))
        order = sorted(best, key=lambda document: (-best[document], document))[:k]
        last = self.cosines(np.array([score for _, score in lowest], np.float64))
        bound = self.bound.beyond(float(last[0]), frozenset(rows)) if lowest else np.inf
        kth = best[order[-1]] if len(order) == k else -np.inf
        is_certain = bound + ROUNDING < kth or bound == -np.inf
        return {document: best[document] for document in order}, is_certain

    def _count(self) -> None:
        shown = {
            document for document, fields in self.numbers.fields.items()
            if not self.where or matches(fields, self.where)
        }  # fmt: skip
        is_shown = np.array([document in shown for document in self.numbers.document], bool)
        self.bound = Bound.of(self.numbers, is_shown)
        self.total = int(is_shown.sum())


def check_filter(where: Mapping[str, Any]) -> None:
    """Raise InputError for a filter of fields that the remedy wrote itself."""
    if ours := FIELDS.intersection(where):
        raise InputError(
            f"a filter of {', '.join(sorted(ours))}", expected="fields of your own documents",
            fix="Leave it out; remedy= names the remedy.", where="where",
        )  # fmt: skip


def open_records(
    store: Store,
    remedy: str | None,
    where: Filter | None = None,
    *,
    own: str | None = None,
    id_fields: Sequence[str] = (PARENT,),
    exact: bool | None = None,
    most: int = MOST,
) -> BlendRecords:
    """Read what the records of a remedy count.

    None takes the index's `own` remedy where records of it are there, else the only one there is: a
    store's remedy has another id than an index's, since it hashes fields and vectors as well.

    Raises InputError where there are none of it, of several remedies without a name, and for a
    store whose scores are no cosines.
    """
    remedy, numbers = read_records(store, remedy, id_fields, own)
    cosines = cosines_of(store, _some(store, numbers))
    return BlendRecords(store, remedy, cosines, numbers, where or {}, id_fields, exact, most)


def read_records(
    store: Store, remedy: str | None, id_fields: Sequence[str], own: str | None = None
) -> tuple[str, Numbers]:
    """Return the remedy, and what its records count.

    remedy: None for `own` where it is there, else the only one.
    """
    tables: dict[str, _Table] = {}
    with progress("reading the records of the blend", None) as advance:
        for ids, payloads in _entries(store, remedy):
            for id_, payload in zip(ids, payloads, strict=True):
                of = payload.get(REMEDY)
                if isinstance(of, str) and remedy in (None, of):
                    tables.setdefault(of, _Table(store.name)).add(id_, payload, id_fields)
            advance(len(ids))
    name = own if own in tables else next(iter(tables), None)
    if name is None or (len(tables) > 1 and name != own):
        raise _no_remedy(store, remedy, sorted(tables))
    return name, tables[name].numbers()


def _entries(store: Store, remedy: str | None) -> Iterator[Entries]:
    """Yield ids and payloads; without vectors, and of the remedy alone, where a store can."""
    if not isinstance(store, WritableStore):
        yield from ((page.ids, page.payloads) for page in store.iterate(PAGE))
    elif store.columns is None or REMEDY in store.columns:
        yield from store.payloads(PAGE, None if remedy is None else {REMEDY: remedy})


def _some(store: Store, numbers: Numbers) -> Records:
    """Return the first page, with vectors, that holds some of the records."""
    pages = store.iterate(PAGE)
    return next(page for page in pages if any(id_ in numbers.row for id_ in page.ids))


@dataclass
class _Table:
    """The numbers of one remedy's records, as they are read."""

    store: str
    row: dict[str, int] = field(default_factory=dict)
    document: list[str] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)
    penalty: list[float] = field(default_factory=list)
    fields: dict[str, Payload] = field(default_factory=dict)
    encoder: str | None = None

    def add(self, id_: str, payload: Payload, id_fields: Sequence[str]) -> None:
        values = (value for name in id_fields for value in values_of(payload, name))
        document = next(values, None)
        if document is None:
            raise self._broken(id_, id_fields[0], payload)
        self.scale.append(self._number(id_, payload, SCALE))
        self.penalty.append(self._number(id_, payload, PENALTY))
        self.encoder = self.encoder or payload.get(ENCODER)
        self.row[id_] = len(self.document)
        self.document.append(str(document))
        if str(document) not in self.fields:
            own = {name: value for name, value in payload.items() if name not in FIELDS}
            self.fields[str(document)] = own

    def _number(self, id_: str, payload: Payload, name: str) -> float:
        value: Any = payload.get(name)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self._broken(id_, name, payload) from None

    def _broken(self, id_: str, name: str, payload: Payload) -> InputError:
        return InputError(
            f"record {id_!r} has {payload.get(name)!r} as {name}",
            expected="records of a blend, as Argus wrote them",
            fix="Roll the remedy back in the store, and write it again.",
            where=self.store,
        )

    def numbers(self) -> Numbers:
        scale, penalty = np.array(self.scale, np.float64), np.array(self.penalty, np.float64)
        return Numbers(self.row, self.document, scale, penalty, self.fields, self.encoder)


def _no_remedy(store: Store, remedy: str | None, there: Sequence[str]) -> InputError:
    if there:
        return InputError(
            f"records of {len(there)} remedies", expected=f"one of {', '.join(there)}",
            fix="Name it with remedy=.", where=store.name,
        )  # fmt: skip
    return InputError(
        f"no record of {remedy}" if remedy else "no record of a blend",
        expected="the collection into which a blend was written, such as NAME_argus",
        fix="Name that collection, or write the blend into the store first.",
        where=store.name,
    )
