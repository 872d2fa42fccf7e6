"""Define a knowledge base: entities with their paragraphs, and the graph of their relations.

`argus.knowledge.load` makes a `KnowledgeBase` from a file, a corpus or a built knowledge base.
`argus research audit` and `probe predict` read it. `read_relations`: TSV, CSV, Parquet or JSONL and
an index of ids -> `RelationGraph`, sorted neighbour lists over the positions of the entities.
Relations by names in texts are made in `argus.knowledge.names`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from argus.data.documents import check_limit
from argus.data.reading import read_lines
from argus.data.rows import Row, file_format, id_value, pick_field, read_rows, text_value
from argus.data.types import Document, IntArray
from argus.errors import InputError, Location

SUBJECT_FIELDS = ("subject", "head", "source", "s", "from")
OBJECT_FIELDS = ("object", "tail", "target", "o", "to")
PROPERTY_FIELDS = ("relation", "property", "predicate", "p", "rel")
HEADER_HINT = " If this line is a header, call its columns subject, relation, object."


@dataclass(frozen=True)
class RelationGraph:
    """Neighbour lists over entities `0..n-1`. `indices[indptr[i]:indptr[i+1]]` is sorted.

    `T_x` of ARGUS §3.2 is `neighbours(x)`: entities connected to x by any property, in either
    direction (§B.2). The counters are of the triples that were read.
    """

    indptr: IntArray
    indices: IntArray
    triples: int = 0
    self_loops: int = 0
    unknown: int = 0

    @classmethod
    def from_edges(
        cls, n: int, subjects: IntArray, objects: IntArray, *, unknown: int = 0
    ) -> RelationGraph:
        """Build from edge endpoints, each of shape (n_triples,), values in `0..n-1`.

        Takes 40 bytes per triple beside its input, and a sort.
        """
        subjects, objects = np.asarray(subjects, np.int64), np.asarray(objects, np.int64)
        proper = subjects != objects
        self_loops = len(proper) - int(np.count_nonzero(proper))
        s, o = (subjects[proper], objects[proper]) if self_loops else (subjects, objects)
        keys = np.empty(2 * len(s), np.int64)  # both directions
        for ends, out in (((s, o), keys[: len(s)]), ((o, s), keys[len(s) :])):
            np.multiply(ends[0], n, out=out)
            out += ends[1]
        keys.sort()  # np.unique would hash, which takes twenty times as long
        first = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        keys = keys[first]
        indptr = np.searchsorted(keys, np.arange(n + 1) * n)
        np.remainder(keys, max(n, 1), out=keys)
        return cls(
            indptr,
            keys,
            triples=len(subjects) + unknown,
            self_loops=self_loops,
            unknown=unknown,
        )

    @property
    def n(self) -> int:
        """Number of entities."""
        return len(self.indptr) - 1

    @property
    def n_pairs(self) -> int:
        """Number of directed pairs (x, t): twice the number of edges."""
        return len(self.indices)

    @property
    def degree(self) -> IntArray:
        """Number of related entities of each entity, shape (n,)."""
        return np.diff(self.indptr)

    def neighbours(self, i: int) -> IntArray:
        """Return the entities related to entity `i`, sorted."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def restrict(self, keep: np.ndarray) -> RelationGraph:
        """Return the graph among the entities where `keep` (bool, shape (n,)) is true.

        Entities are renumbered in order. Edges to dropped entities are gone. The counters go on
        counting the triples read. Where all are to stay it is the graph itself.
        """
        if keep.all():
            return self
        new = np.cumsum(keep) - 1
        s = np.repeat(np.arange(self.n), self.degree)
        both = keep[s] & keep[self.indices]
        part = RelationGraph.from_edges(int(keep.sum()), new[s[both]], new[self.indices[both]])
        return replace(part, triples=self.triples, self_loops=self.self_loops, unknown=self.unknown)


def read_relations(
    path: Path, index: Mapping[str, int], *, skip_unknown: bool = False, coerce_ids: bool = False
) -> RelationGraph:
    """Read a triples file (TSV, CSV, Parquet or JSONL) over the entities of `index`.

    index: id to position. A file has a header (subject, relation, object). A TSV file may have
    none: then three columns are subject, relation, object, and two are subject, object. Raises
    InputError for a line of another width and for an id that is not among the entities, unless
    `skip_unknown`, which counts and drops such edges.
    """
    edges, unknown = array("q"), 0
    for row, subject, _, object_ in read_edges(path):
        fields = (subject, object_)
        ids = [id_value(row, field, coerce=coerce_ids) for field in fields]
        ends = [index[id_] for id_ in ids if id_ in index]
        if len(ends) == 2:
            edges.extend(ends)
        elif skip_unknown:
            unknown += 1
        else:
            pairs = zip(fields, ids, strict=True)
            field, id_ = next((field, id_) for field, id_ in pairs if id_ not in index)
            hint = HEADER_HINT if row.line == 1 else ""
            raise InputError(
                f"{id_!r} is not the id of an entity",
                expected=f"one of the {len(index)} ids read",
                fix="Add the entity, mend the id, or pass --skip-unknown." + hint,
                where=row.at(field),
            )
    subjects, objects = np.frombuffer(edges, np.int64).reshape(-1, 2).T
    return RelationGraph.from_edges(len(index), subjects, objects, unknown=unknown)


def read_edges(path: Path) -> Iterator[tuple[Row, str, str, str]]:
    """Yield rows of a triples file with their subject's field, property, and object's field."""
    ends = (SUBJECT_FIELDS, OBJECT_FIELDS)
    headless = False
    if path.is_file() and file_format(path) == ".tsv":
        header = next(read_lines(path), (1, ""))[1].rstrip("\r\n").split("\t")
        headless = any(set(header).isdisjoint(fields) for fields in ends)
    width = 0
    for number, line in read_lines(path) if headless else ():
        fields = line.rstrip("\r\n").split("\t")
        if fields == [""]:
            continue
        width = width or len(fields)
        if len(fields) != width or width not in (2, 3):
            raise InputError(
                f"{len(fields)} columns",
                expected=f"{width if width in (2, 3) else '3 (subject, relation, object)'} columns",
                fix="Separate columns by one tab, or give the file a header.",
                where=Location(path, number),
            )
        row = Row({"subject": fields[0], "object": fields[-1]}, path, number)
        yield row, "subject", fields[1] if width == 3 else "", "object"
    names: list[str] = []
    for row in () if headless else read_rows(path):
        names = names or [pick_field(row, fields, what="edge's end") for fields in ends]
        property_ = next((name for name in PROPERTY_FIELDS if name in row.values), "")
        yield row, names[0], text_value(row, property_) if property_ else "", names[1]


BATCH_ROWS = 10_000
# Characters that str.strip removes. Arrow by itself knows other characters as white space.
WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that documents are about: ARGUS §3.1's `x` with its first paragraph `w_x`."""

    id: str
    label: str
    paragraph: str = ""
    embedded: str = ""
    """The text that was embedded, where its vector comes with the corpus."""

    @classmethod
    def from_document(cls, document: Document, *, embedded: bool = False) -> Entity:
        """Take a document as the paragraph of the entity that its title names."""
        content = document.content if embedded else ""
        return cls(document.id, document.title, document.text, content)


class ArrowEntities(Sequence[Entity]):
    """Entities that lie in Arrow columns and are made when they are asked for.

    Millions take the memory of their texts. table: columns id, label, paragraph. Null is empty.
    """

    def __init__(self, table: pa.Table) -> None:
        names = ("id", "label", "paragraph")
        columns = {name: table[name].fill_null("") for name in names}
        self._table = pa.table(columns)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, at: int) -> Entity: ...

    @overload
    def __getitem__(self, at: slice) -> ArrowEntities: ...

    def __getitem__(self, at: int | slice) -> Entity | ArrowEntities:
        if isinstance(at, slice):
            return ArrowEntities(self._table.take(np.arange(len(self))[at]))
        return Entity(*(column[at].as_py() for column in self._table.columns))

    def __iter__(self) -> Iterator[Entity]:
        for batch in self._table.to_batches(max_chunksize=BATCH_ROWS):
            columns = (column.to_pylist() for column in batch.columns)
            yield from map(Entity, *columns)

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        ids: list[str] = self._table["id"].to_pylist()
        return ids

    @property
    def has_text(self) -> npt.NDArray[np.bool_]:
        """Mask of entities whose paragraph is more than white space, shape (n,)."""
        paragraphs = self._table.select(["paragraph"]).to_batches(max_chunksize=BATCH_ROWS)
        trimmed = (pc.utf8_trim(batch[0], characters=WHITE_SPACE) for batch in paragraphs)
        parts = [pc.not_equal(part, "").to_numpy(zero_copy_only=False) for part in trimmed]
        return np.concatenate([np.zeros(0, bool), *parts])


@dataclass(frozen=True)
class KnowledgeBase:
    """Entities in a fixed order, and the undirected graph of their relations over that order.

    targets: which entities an audit is about, shape (n,). None where all are. The others are there
    as what they are related to, and as neutrals.
    """

    entities: Sequence[Entity]
    relations: RelationGraph
    targets: npt.NDArray[np.bool_] | None = None

    @cached_property
    def has_text(self) -> npt.NDArray[np.bool_]:
        """Mask of entities with a paragraph, shape (n,)."""
        if isinstance(self.entities, ArrowEntities):
            return self.entities.has_text
        return np.array([bool(entity.paragraph.strip()) for entity in self.entities], bool)

    def first(self, limit: int) -> KnowledgeBase:
        """Return the first `limit` entities and the relations among them."""
        check_limit(limit)
        keep = np.arange(len(self.entities)) < limit
        targets = None if self.targets is None else self.targets[:limit]
        return KnowledgeBase(self.entities[:limit], self.relations.restrict(keep), targets)

    @cached_property
    def is_embedded(self) -> bool:
        """Whether the vectors of entities come with the corpus: nothing of them is pooled here."""
        return not isinstance(self.entities, ArrowEntities) and any(
            entity.embedded for entity in self.entities
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """Entity id to its position."""
        return {id_: i for i, id_ in enumerate(ids_of(self.entities))}


def ids_of(entities: Sequence[Entity]) -> list[str]:
    """Return the ids of entities, in order."""
    if isinstance(entities, ArrowEntities):
        return entities.ids
    return [entity.id for entity in entities]
