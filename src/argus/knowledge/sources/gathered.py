"""Relations and texts about ids, in any order, brought together into one entity an id.

A dump of DBpedia says label, abstract and redirect of one thing in three files. They go to disk as
they come; a database sorts them in bounded memory, and the entities are read off in one pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from argus.data.kb import RELATIONS
from argus.knowledge.alignment.database import Database, database
from argus.knowledge.sources.raw import ROWS_PER_PART, PartWriter, RawWriter
from argus.knowledge.sources.vocabulary import (
    ALIAS,
    DESCRIPTION,
    LABEL,
    PARAGRAPH,
    label_from_id,
)

MEMORY_BYTES = 2 << 30
DOUBLINGS = 3
"""Redirects are followed 2 ** DOUBLINGS = 8 steps."""

_REDIRECT = "redirect"
_END = "end"
_TEXTS = pa.schema(
    [
        ("id", pa.string()),
        ("kind", pa.string()),
        ("rank", pa.int64()),
        ("number", pa.int64()),
        ("text", pa.string()),
    ]
)
_ROWS = pa.schema([("id", pa.string()), ("kind", pa.string()), ("text", pa.string())])


class Gathered:
    """Takes texts and relations of ids and makes entities of them; `folder` is its own."""

    def __init__(self, folder: Path, *, memory_bytes: int = MEMORY_BYTES) -> None:
        self._folder, self._memory_bytes = folder, memory_bytes
        self._texts = PartWriter(folder / "texts", _TEXTS)
        self._relations = PartWriter(folder / "relations", RELATIONS)
        self._number = self._before_file = 0
        self.add_relation = self._relations.add
        """Take subject, property, object and source."""

    def begin_file(self) -> None:
        """Say that what follows comes from another file, for `meet`."""
        self._before_file = self._number

    def add(self, id_: str, kind: str, text: str, rank: int = 0) -> None:
        """Take a text; of two of one kind the smaller rank is used, then the one given first."""
        self._number += 1
        self._texts.add(id_, kind, rank, self._number, text)

    def add_redirect(self, id_: str, target: str) -> None:
        """Take that `id_` is no entity: it leads to another id."""
        self.add(id_, _REDIRECT, target)

    def meet(self) -> tuple[str | None, str | None, str | None]:
        """Return ids that this file has texts of: with a relation, any; and any with a relation."""
        with self._opened() as db:
            db.run(
                "CREATE VIEW named AS SELECT id FROM texts"
                f" WHERE number > {self._before_file} AND kind <> '{_REDIRECT}'"
            )
            with_both, with_text, with_relation = db.rows(
                "SELECT (SELECT min(id) FROM (FROM named INTERSECT FROM ends)),"
                " (SELECT min(id) FROM named), (SELECT min(id) FROM ends)"
            )[0]
        return with_both, with_text, with_relation

    def write(self, into: RawWriter, *, only_labelled: bool = False) -> Counter[str]:
        """Write an entity for every id with a text or a relation; return counts per reason.

        Relations are led through redirects. only_labelled: leave out ids without a label.
        """
        counts: Counter[str] = Counter()
        with self._opened() as db:
            counts["redirect loop"] = _follow_redirects(db)
            if db.count("redirects"):
                led = db.batches(_LED, RELATIONS, ROWS_PER_PART)
                into.tables["relations"].add_batches(led)
                db.run(f"CREATE OR REPLACE VIEW ends AS {_ENDS.format(f'({_LED})')}")
            for id_, texts in _grouped(db):
                _write_one(id_, texts, into, counts, only_labelled=only_labelled)
            if not db.count("redirects"):
                into.tables["relations"].adopt(self._relations)
        return counts

    @contextmanager
    def _opened(self) -> Iterator[Database]:
        self._texts.flush()
        self._relations.flush()
        with database(self._folder, self._memory_bytes) as db:
            db.view("texts", self._texts.folder, _TEXTS)
            db.view("relations", self._relations.folder, RELATIONS)
            db.run(f"CREATE VIEW ends AS {_ENDS.format('relations')}")
            yield db


_ENDS = "SELECT subject AS id FROM {0} UNION SELECT object AS id FROM {0}"
_LED = (
    "SELECT coalesce(s.target, r.subject) AS subject, r.property,"
    " coalesce(o.target, r.object) AS object, r.source FROM relations r"
    " LEFT JOIN redirects s ON r.subject = s.id LEFT JOIN redirects o ON r.object = o.id"
)


def _follow_redirects(db: Database) -> int:
    """Make the table `redirects` (id, target in the end); return how many lead nowhere."""
    db.run(
        "CREATE TABLE redirects AS SELECT id, arg_min(text, number) AS target"
        f" FROM texts WHERE kind = '{_REDIRECT}' GROUP BY id"
    )
    for _ in range(DOUBLINGS):
        db.run(
            "CREATE OR REPLACE TABLE redirects AS SELECT a.id, coalesce(b.target, a.target)"
            " AS target FROM redirects a LEFT JOIN redirects b ON a.target = b.id"
        )
    all_ = db.count("redirects")
    # What still leads to a redirect is in a loop, or longer than 8 steps.
    db.run("DELETE FROM redirects WHERE target IN (SELECT id FROM redirects)")
    return all_ - db.count("redirects")


def _grouped(db: Database) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each id with its `(kind, text)` in order of rank, ids in order."""
    query = (
        f"SELECT id, kind, rank, number, text FROM texts WHERE kind <> '{_REDIRECT}'"
        f" UNION ALL SELECT id, '{_REDIRECT}', 0, 0, target FROM redirects"
        f" UNION ALL SELECT id, '{_END}', 0, 0, '' FROM ends"
    )
    ordered = f"SELECT id, kind, text FROM ({query}) ORDER BY id, rank, number"
    rows = (
        row
        for batch in db.batches(ordered, _ROWS, ROWS_PER_PART)
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    for id_, group in groupby(rows, itemgetter(0)):
        yield id_, [(kind, text) for _, kind, text in group]


def _write_one(
    id_: str,
    texts: list[tuple[str, str]],
    into: RawWriter,
    counts: Counter[str],
    *,
    only_labelled: bool,
) -> None:
    first: dict[str, str] = {}
    for kind, text in texts:
        first.setdefault(kind, text)
    label = first.get(LABEL) or label_from_id(id_)
    if _REDIRECT in first:
        target = first[_REDIRECT]
        into.add_redirect(label, label_from_id(target), target)
        into.add_alias(target, label, "redirect")
        counts["redirect"] += 1
        return
    if LABEL not in first:
        if only_labelled:
            counts["without a label"] += 1
            return
        counts["label from id"] += 1
    if _END not in first:
        counts["in no triple"] += 1
    description = first.get(DESCRIPTION, "")
    into.add_entity(id_, label, first.get(PARAGRAPH, description), description=description)
    counts["entity"] += 1
    for name in dict.fromkeys(text for kind, text in texts if kind in (LABEL, ALIAS)):
        if name != label:
            into.add_alias(id_, name)
