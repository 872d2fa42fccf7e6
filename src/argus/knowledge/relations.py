"""Build the graph of relations between entities, from index pairs or a file of triples.

`read_relations`: TSV, CSV, Parquet or JSONL and an index of ids -> `RelationGraph`, sorted
neighbour lists. `argus research audit` asks which related entities find each other. Relations by
names in texts are made in `argus.knowledge.names`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from argus.data.reading import read_lines
from argus.data.rows import Row, file_format, id_value, pick_field, read_rows, text_value
from argus.data.types import IntArray
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
