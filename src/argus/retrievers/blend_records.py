"""Rank a vector store's documents by the best of their sentence vectors (the records of a blend).

`argus tune apply blend --store` wrote them. Each document has a record of its own vector and one
per sentence, whose vector is the unit of λ·document + (1-λ)·sentence. A document scores the maximum
of `cosine · scale` over its records. The store ranks records by cosine alone, so
`BlendRecords.search` asks it for many more records than documents, and keeps the best record of
each. `argus.retrievers.blended` and `argus.retrievers.dense` search through it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.encoders import Encoder, EncoderConfig, load_encoder
from argus.encoders.protocol import unit_rows
from argus.errors import EncoderMismatch, InputError
from argus.progress import progress
from argus.stores.protocol import (
    ENCODER,
    FIELDS,
    PARENT,
    REMEDY,
    SCALE,
    Entries,
    Filter,
    Hits,
    Payload,
    Records,
    Store,
    WritableStore,
    values_of,
    whole_rows,
)

# Records in one reading of a store.
PAGE = 1000
# Records per document wanted, and per query at least and at most. Every store returns as many.
PER_DOCUMENT, MIN_RECORDS, MAX_RECORDS = 30, 1000, 4096
# Seconds between readings of all records on account of unknown ones.
REREAD_S = 30.0
# Searches that tell how a store scores, results of each, and noise in their queries.
PROBES, PROBE_RESULTS, NOISE = 4, 16, 0.5
# Difference of a score from a cosine, as quantised vectors have it.
TOLERANCE = 0.02
Scores = dict[str, float]
Doubles = npt.NDArray[np.float64]
Cosines = Callable[[Doubles], Doubles]

# Cosines from cosines, and from the negative cosine distance, squared L2 and plain L2.
CONVERSIONS: tuple[Cosines, ...] = (
    lambda scores: scores,
    lambda scores: 1 + scores,
    lambda scores: 1 + scores / 2,
    lambda scores: 1 - scores * scores / 2,
)


@dataclass
class Numbers:
    """The numbers of one remedy's records, read once, in the store's order."""

    # Record to row.
    row: dict[str, int] = field(default_factory=dict)
    # (n,), the document of each record.
    document: list[str] = field(default_factory=list)
    scale: Doubles = field(default_factory=lambda: np.empty(0))
    # The user's own fields of each document.
    fields: dict[str, Payload] = field(default_factory=dict)
    # Fingerprint of the encoder of their vectors. None if no record says it.
    encoder: str | None = None


class BlendRecords:
    """The records of one remedy in a store.

    remedy: None takes `own` if there are records of it, otherwise the only one there is. A remedy
    has another id in a store than in an index, since it hashes fields and vectors as well. where:
    the user's filter. id_fields: where the id of a record's document is: the first that the record
    has. exact: True lets the store compare every vector. Raises InputError if there are no such
    records, for several remedies without a name, and for a store whose scores are no cosines.
    """

    def __init__(
        self,
        store: Store,
        remedy: str | None = None,
        where: Filter | None = None,
        *,
        own: str | None = None,
        id_fields: Sequence[str] = (PARENT,),
        exact: bool = False,
    ) -> None:
        self.store, self.where, self.id_fields = store, where or {}, id_fields
        self.exact = exact and store.can_search_exactly
        self.remedy, self.numbers = read_numbers(store, remedy, id_fields, own)
        self._matching = {REMEDY: self.remedy, **self.where}
        self._reread = -np.inf  # when unknown records caused the last reading
        pages = store.iterate(PAGE)
        page = next(page for page in pages if any(id_ in self.numbers.row for id_ in page.ids))
        self._cosines = cosines_of(store, page)

    def loaded_encoder(self, encoder: Encoder | EncoderConfig | str) -> Encoder:
        """Return the encoder. Raises EncoderMismatch if another one made the vectors."""
        stored, loaded = self.numbers.encoder, load_encoder(encoder)
        if stored is not None and stored != loaded.fingerprint:
            where, given = Path(self.store.name), loaded.fingerprint
            raise EncoderMismatch(where, stored=stored, given=given)
        return loaded

    def refresh(self) -> None:
        """Read the numbers again, after another run of the remedy or changes of documents."""
        self.numbers = read_numbers(self.store, self.remedy, self.id_fields)[1]

    def search(self, vectors: FloatArray, k: int) -> list[Scores]:
        """Return the k best documents of each of (n, dim) queries, best first, ties by id.

        If unknown records come back, all numbers are read again, once in REREAD_S seconds.
        """
        limit = min(len(self.numbers.row), MAX_RECORDS, max(MIN_RECORDS, PER_DOCUMENT * k))
        answers = self.store.search(vectors, limit, matching=self._matching, exact=self.exact)
        is_new = any(id_ not in self.numbers.row for hits in answers for id_, _ in hits)
        if is_new and time.monotonic() - self._reread > REREAD_S:
            self.refresh()
            self._reread = time.monotonic()
        return [self._fold(hits, k) for hits in answers]

    def _fold(self, hits: Hits, k: int) -> Scores:
        """Return the k best documents of some records."""
        numbers, best = self.numbers, Scores()
        cosines = self._cosines(np.array([score for _, score in hits], np.float64))
        for (id_, _), cosine in zip(hits, cosines.tolist(), strict=True):
            if (row := numbers.row.get(id_)) is not None:  # others are too new
                score = float(cosine * numbers.scale[row])
                document = numbers.document[row]
                best[document] = max(score, best.get(document, -np.inf))
        order = sorted(best, key=lambda document: (-best[document], document))[:k]
        return {document: best[document] for document in order}


def check_filter(where: Mapping[str, Any]) -> None:
    """Raise InputError for a filter of fields that the remedy wrote itself."""
    if ours := set(FIELDS).intersection(where):
        got = f"a filter of {', '.join(sorted(ours))}"
        fix = "Leave it out; remedy= names the remedy."
        raise InputError(got, expected="fields of your own documents", fix=fix, where="where")


def read_numbers(
    store: Store, remedy: str | None, id_fields: Sequence[str], own: str | None = None
) -> tuple[str, Numbers]:
    """Return the remedy and the numbers of its records. Arguments as for `BlendRecords`."""
    entries: Iterable[Entries] = ()
    if not isinstance(store, WritableStore):
        entries = ((page.ids, page.payloads) for page in store.iterate(PAGE))
    elif store.columns is None or REMEDY in store.columns:  # without vectors, of the remedy alone
        entries = store.payloads(PAGE, None if remedy is None else {REMEDY: remedy})
    found: dict[str, Numbers] = {}
    scales: dict[str, list[float]] = {}
    with progress("reading the records of the blend", None) as advance:
        for ids, payloads in entries:
            for id_, payload in zip(ids, payloads, strict=True):
                of = payload.get(REMEDY)
                if not isinstance(of, str) or remedy not in (None, of):
                    continue
                numbers = found.setdefault(of, Numbers())
                values = (value for name in id_fields for value in values_of(payload, name))
                document = next(values, None)
                if document is None:
                    raise _broken_record(store, id_, id_fields[0], payload)
                scale: Any = payload.get(SCALE)
                try:
                    scales.setdefault(of, []).append(float(scale))
                except (TypeError, ValueError):
                    raise _broken_record(store, id_, SCALE, payload) from None
                numbers.encoder = numbers.encoder or payload.get(ENCODER)
                numbers.row[id_] = len(numbers.document)
                numbers.document.append(str(document))
                if str(document) not in numbers.fields:
                    numbers.fields[str(document)] = {
                        name: value for name, value in payload.items() if name not in FIELDS
                    }
            advance(len(ids))
    name = own if own in found else next(iter(found), None)
    if len(found) > 1 and name != own:
        got, expected = f"records of {len(found)} remedies", f"one of {', '.join(sorted(found))}"
        raise InputError(got, expected=expected, fix="Name it with remedy=.", where=store.name)
    if name is None:
        got = f"no record of {remedy}" if remedy else "no record of a blend"
        expected = "the collection into which a blend was written, such as NAME_argus"
        fix = "Name that collection, or write the blend into the store first."
        raise InputError(got, expected=expected, fix=fix, where=store.name)
    numbers = found[name]
    numbers.scale = np.array(scales[name], np.float64)
    return name, numbers


def _broken_record(store: Store, id_: str, name: str, payload: Payload) -> InputError:
    got = f"record {id_!r} has {payload.get(name)!r} as {name}"
    expected = "records of a blend, as Argus wrote them"
    fix = "Roll the remedy back in the store, and write it again."
    return InputError(got, expected=expected, fix=fix, where=store.name)


def cosines_of(store: Store, page: Records) -> Cosines:
    """Return the conversion of a store's scores to cosines, told by searches near known vectors.

    page: some of its records. Raises InputError if no known conversion fits.
    """
    rows, _ = whole_rows(page, range(len(page.ids)))
    pairs: list[tuple[float, float]] = []  # score and cosine
    if rows:
        rng = np.random.default_rng(0)
        some = rng.choice(rows, PROBES)
        noise = unit_rows(rng.normal(size=(PROBES, page.vectors.shape[1])).astype(np.float32))
        queries: FloatArray = unit_rows(unit_rows(page.vectors[some]) + np.float32(NOISE) * noise)
        vectors = {page.ids[row]: unit_rows(page.vectors[row : row + 1])[0] for row in rows}
        for query, hits in zip(queries, store.search(queries, PROBE_RESULTS), strict=True):
            pairs += [
                (score, float(vectors[id_].astype(float) @ query.astype(float)))
                for id_, score in hits
                if id_ in vectors
            ]
    why = "no record is found near its own vector"
    if pairs:
        scores, cosines = np.array(pairs, np.float64).T
        errors = [float(np.abs(convert(scores) - cosines).max()) for convert in CONVERSIONS]
        best = int(np.argmin(errors))
        if errors[best] <= TOLERANCE:
            return CONVERSIONS[best]
        why = f"scores are {errors[best]:.3f} off a cosine, whatever they are"
    got = f"does not score by cosine: {why}"
    expected = "unit vectors that are ranked by cosine, dot product or L2"
    fix = "Write the records into a collection that ranks by cosine."
    raise InputError(got, expected=expected, fix=fix, where=store.name)
