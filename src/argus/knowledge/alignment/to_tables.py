"""The second step, for every source: raw tables to those of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import TypedDict

from argus.data.kb import ALIASES, REDIRECTS, RELATIONS
from argus.engine.protocol import Engine
from argus.errors import InputError
from argus.knowledge.alignment.database import Database, database, fewer_words, is_blank
from argus.knowledge.alignment.graph import (
    NOT_SAMPLED,
    choose_graph,
    count_related,
    draw_sample,
    number_relations,
    relations_by_source,
)
from argus.knowledge.alignment.grounding import BLOCK, UNGROUNDED, ground_entities
from argus.knowledge.alignment.raw_tables import RAW, raw_folder
from argus.knowledge.alignment.settings import AlignSettings
from argus.progress import announce

ROWS = 50_000
"""Rows of a batch, for the tables that are written as they are."""
DUPLICATE_ID, TOO_SHORT = "duplicate id", "paragraph too short"

_ENTITIES = """
    SELECT id, label, coalesce(description, '') AS description, article, paragraph,
        drawn AND related IS NOT NULL AS target, coalesce(related, 0) AS related
    FROM kept JOIN entity USING (n) JOIN entities USING (id) LEFT JOIN degree USING (n)
    ORDER BY id
"""
_RELATIONS = """
    SELECT a.id AS subject, name AS property, b.id AS object, source
    FROM rel JOIN entity a ON s = a.n JOIN entity b ON o = b.n JOIN property USING (p)
    ORDER BY s, rel.p, o, source
"""
_ALIASES = f"""
    SELECT id, alias, min(source) AS source
    FROM aliases JOIN entity USING (id) SEMI JOIN kept USING (n) JOIN entities USING (id)
    WHERE alias <> label AND NOT {is_blank("alias")}
    GROUP BY id, alias ORDER BY id, alias
"""
_REDIRECTS = """
    SELECT title, target, CASE WHEN kept.n IS NULL THEN NULL ELSE redirects.id END AS id
    FROM redirects LEFT JOIN entity ON redirects.id = entity.id LEFT JOIN kept USING (n)
    ORDER BY title
"""


class DroppedRows(TypedDict):
    """What is in no table of the knowledge base: entities by reason, relations by source, too.

    entities: reason to how many entities.
    relations: source to reason to how many relations.
    """

    entities: dict[str, int]
    relations: dict[str, dict[str, int]]


class WrittenRows(TypedDict):
    """Rows of the tables.

    entities: rows of entities.
    aliases: rows of other names.
    redirects: rows of redirects.
    targets: entities that can be audited.
    prepended: entities whose label was put before their paragraph.
    """

    entities: int
    aliases: int
    redirects: int
    targets: int
    prepended: int


class KbCounts(WrittenRows):
    """What a knowledge base holds.

    relations: source to how many relations.
    graph: source of the relations that relate entities.
    """

    relations: dict[str, int]
    graph: str
    dropped: DroppedRows


class TableWriter(Protocol):
    """Where the tables of a knowledge base go."""

    def write(self, table: str, batches: Iterator[pa.RecordBatch]) -> int:
        """Write all rows of a table, given in its order; return how many there were."""
        ...


def finish(work: Path, writer: TableWriter, engine: Engine, settings: AlignSettings) -> KbCounts:
    """Check the raw tables under `work/raw` and write those of a knowledge base.

    What was read is the sum of what is kept and all reasons. Where an alias has two sources, the
    first in the alphabet is given. Raises InputError when no entity is left, ArgusError as
    `database`.
    """
    announce("Relating entities")
    with database(work, settings.memory_bytes) as db:
        dropped = _valid_entities(db, work, settings)
        lost = number_relations(db)
        relations = relations_by_source(db)
        graph = choose_graph(relations)
        draw_sample(db, graph, settings.sample, settings.seed)
        sampled = relations_by_source(db)
        graph = choose_graph(sampled)  # of the sample, nothing may be related by the one above
        count_related(db, graph)
        for source, reasons in lost.items():
            reasons[NOT_SAMPLED] = relations.get(source, 0) - sampled.get(source, 0)
        dropped[NOT_SAMPLED] = db.count("entity") - db.count("kept")
        announce("Grounding entities")
        rows = _write_all(db, work, writer, engine)
    return {
        **rows,
        "relations": sampled,
        "graph": graph,
        "dropped": {
            "entities": _some(dropped),
            "relations": {s: _some(r) for s, r in lost.items() if any(r.values())},
        },
    }


def _valid_entities(db: Database, work: Path, settings: AlignSettings) -> dict[str, int]:
    """Make the views of the raw tables and `entity` (n, id); return what was dropped by reason."""
    lack = _lack(settings.min_words)
    for table in ("relations", "aliases"):
        db.view(table, raw_folder(work, table), RAW[table])
    db.view("redirects", raw_folder(work, "redirects"), RAW["redirects"], key="title")
    again = db.view(
        *("entities", raw_folder(work, "entities"), RAW["entities"]),
        key="id",
        where=f"{lack} = ''",
    )
    db.run(
        "CREATE TABLE entity AS"
        " SELECT (row_number() OVER (ORDER BY id) - 1)::INTEGER AS n, id FROM entities"
    )
    reasons = db.rows(
        f"SELECT {lack} AS reason, count(*) FROM all_entities GROUP BY reason ORDER BY reason"
    )
    dropped = {**{str(r): int(n) for r, n in reasons if r}, DUPLICATE_ID: again}
    if not db.count("entity"):
        why = ", ".join(f"{reason}: {n}" for reason, n in _some(dropped).items())
        raise InputError(
            f"no entity is left ({why or 'there was none'})",
            expected="at least one with an id, a label and a paragraph",
            fix=(
                "Triples need --abstracts, rows a paragraph or description; texts have to be in "
                f"the language that is asked for ({settings.language}), and of --min-words words."
            ),
        )
    return dropped


def _lack(min_words: int) -> str:
    """Return SQL for the reason why a row is no entity, '' where it is one."""
    return f"""
        (CASE WHEN coalesce(id, '') = '' THEN 'no id'
            WHEN {is_blank("label")} THEN 'no label'
            WHEN {is_blank("paragraph")} THEN 'no paragraph'
            WHEN {fewer_words("paragraph", min_words)} THEN '{TOO_SHORT}'
            ELSE '' END)
    """


def _write_all(db: Database, work: Path, writer: TableWriter, engine: Engine) -> WrittenRows:
    targets = prepended = 0

    def tally(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            nonlocal targets, prepended
            targets += pc.sum(batch["target"]).as_py() or 0
            prepended += pc.sum(batch["prepended"]).as_py() or 0
            yield batch

    blocks = db.batches(_ENTITIES, UNGROUNDED, BLOCK)
    grounded = ground_entities(engine, blocks, work / "database" / "grounded")
    entities = writer.write("entities", tally(grounded))
    writer.write("relations", db.batches(_RELATIONS, RELATIONS, ROWS))
    aliases = writer.write("aliases", db.batches(_ALIASES, ALIASES, ROWS))
    redirects = writer.write("redirects", db.batches(_REDIRECTS, REDIRECTS, ROWS))
    return {
        "entities": entities,
        "aliases": aliases,
        "redirects": redirects,
        "targets": targets,
        "prepended": prepended,
    }


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in counts.items() if n}
