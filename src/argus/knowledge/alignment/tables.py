"""Turn raw tables into those of a knowledge base: relations, a sample, grounded labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argus.data.kb import ALIASES, ENTITIES, REDIRECTS, RELATIONS
from argus.engine import Engine, Work
from argus.errors import InputError
from argus.knowledge.alignment.database import Database, database, fewer_words, is_blank
from argus.knowledge.alignment.raw_tables import RAW, AlignSettings, raw_folder
from argus.knowledge.mentions import ground
from argus.progress import announce

GRAPHS = ("wikidata", "triples", "hyperlink", "mention")
"""Sources of relations, the first that there is being the graph that is used."""
NO_ENTITY, SELF_LOOP, DUPLICATE = "to no entity", "self-loop", "duplicate"
NOT_SAMPLED = "not sampled"
"""The reason for entities and relations that a sample leaves out."""
DUPLICATE_ID, TOO_SHORT = "duplicate id", "paragraph too short"
BLOCK = 20_000
"""Entities that a worker grounds at a time."""
ROWS = 50_000
"""Rows of a batch, for the tables that are written as they are."""
UNGROUNDED = pa.schema(
    [field for field in ENTITIES if field.name not in ("span_start", "span_end", "prepended")]
)
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


WriteTable = Callable[[str, Iterator[pa.RecordBatch]], int]
"""Writes all rows of a table, given in its order. Returns how many there were."""


def finish(
    work: Path, write: WriteTable, engine: Engine, settings: AlignSettings
) -> dict[str, Any]:
    """Check the raw tables under `work/raw` and write those of a knowledge base. Return counts.

    What was read is the sum of what is kept and all reasons. Where an alias has two sources, the
    first in the alphabet is given. Raises InputError when no entity is left, ArgusError as
    `database`.

    Keys of the counts:
    entities, aliases, redirects: rows of the tables.
    targets: entities that can be audited.
    prepended: entities whose label was put before their paragraph.
    relations: source to rows of relations.
    graph: source of the relations that relate entities.
    dropped: rows that were dropped: of entities by reason, of relations by source and reason.
    """
    announce("Relating entities")
    with database(work, settings.memory_bytes) as db:
        dropped = _valid_entities(db, work, settings)
        lost = _number_relations(db)
        relations = _relations_by_source(db)
        _draw_sample(db, _first_graph(relations), settings.sample, settings.seed)
        sampled = _relations_by_source(db)
        graph = _first_graph(sampled)  # of the sample, nothing may be related by the one above
        db.run(
            f"""
            CREATE TABLE degree AS SELECT unnest([a, b]) AS n, count(*)::INTEGER AS related
            FROM (SELECT DISTINCT least(s, o) AS a, greatest(s, o) AS b FROM rel
                  WHERE source = '{graph}')
            GROUP BY n
            """
        )
        for source, reasons in lost.items():
            reasons[NOT_SAMPLED] = relations.get(source, 0) - sampled.get(source, 0)
        dropped[NOT_SAMPLED] = db.count("entity") - db.count("kept")
        announce("Grounding entities")
        rows = _write_all(db, work, write, engine)
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
    """Make the views of the raw tables and `entity` (n, id). Return what was dropped by reason."""
    lack = f"""
        (CASE WHEN coalesce(id, '') = '' THEN 'no id'
            WHEN {is_blank("label")} THEN 'no label'
            WHEN {is_blank("paragraph")} THEN 'no paragraph'
            WHEN {fewer_words("paragraph", settings.min_words)} THEN '{TOO_SHORT}'
            ELSE '' END)
    """
    folders = {name: raw_folder(work, name) for name in RAW}
    for name in ("relations", "aliases"):
        db.view(name, folders[name], RAW[name])
    db.view("redirects", folders["redirects"], RAW["redirects"], key="title")
    again = db.view(
        "entities", folders["entities"], RAW["entities"], key="id", where=f"{lack} = ''"
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


def _number_relations(db: Database) -> dict[str, dict[str, int]]:
    """Make `rel` of the view `relations`: ends are numbers `n` of the table `entity` (n, id).

    rel: s, p, o, source, where p is the number of a property in the table `property` (p, name). No
    row twice, and no loops. Returns how many were dropped by source and reason.
    """
    db.run(
        "CREATE TABLE property AS SELECT row_number() OVER (ORDER BY name)::INTEGER AS p, name"
        " FROM (SELECT DISTINCT coalesce(property, '') AS name FROM relations)"
    )
    db.run(
        """
        CREATE TABLE mapped AS SELECT a.n AS s, p, b.n AS o, source
        FROM relations
        LEFT JOIN entity a ON subject = a.id
        LEFT JOIN entity b ON object = b.id
        JOIN property ON coalesce(property, '') = name
        """
    )
    db.run("CREATE TABLE rel AS SELECT DISTINCT s, p, o, source FROM mapped WHERE s <> o")
    counts = db.rows(
        "SELECT source, count(*), count(*) FILTER (s IS NULL OR o IS NULL),"
        " count(*) FILTER (s = o) FROM mapped GROUP BY source ORDER BY source"
    )
    db.run("DROP TABLE mapped")
    unique = _relations_by_source(db)
    return {
        source: {
            NO_ENTITY: lost,
            SELF_LOOP: loops,
            DUPLICATE: read - lost - loops - unique.get(source, 0),
        }
        for source, read, lost, loops in counts
    }


def _relations_by_source(db: Database) -> dict[str, int]:
    return dict(db.rows("SELECT source, count(*) FROM rel GROUP BY source ORDER BY source"))


def _first_graph(sources: Mapping[str, int]) -> str:
    return next((name for name in GRAPHS if sources.get(name)), "mention")


def _draw_sample(db: Database, graph: str, sample: int | None, seed: int) -> None:
    """Make `kept` (n, drawn): entities drawn, and those that are related to them.

    A draw takes the entities whose md5 of "seed:id" is smallest, so it depends on nothing else.
    Other relations leave `rel`.
    """
    if sample is None:
        db.run("CREATE TABLE kept AS SELECT n, true AS drawn FROM entity")
        return
    db.run(
        "CREATE TABLE drawn AS SELECT n FROM entity ORDER BY md5(? || ':' || id), id LIMIT ?",
        *(str(seed), sample),
    )
    db.run(
        f"""
        CREATE TABLE kept AS
        SELECT n, true AS drawn FROM drawn
        UNION ALL
        SELECT n, false FROM (
            SELECT s AS n FROM rel WHERE source = '{graph}' AND o IN (FROM drawn)
            UNION SELECT o FROM rel WHERE source = '{graph}' AND s IN (FROM drawn)
        ) ANTI JOIN drawn USING (n)
        """
    )
    db.run(
        "CREATE TABLE fewer AS FROM rel"
        " WHERE s IN (SELECT n FROM kept) AND o IN (SELECT n FROM kept)"
    )
    db.run("DROP TABLE rel")
    db.run("ALTER TABLE fewer RENAME TO rel")


def _write_all(db: Database, work: Path, write: WriteTable, engine: Engine) -> dict[str, int]:
    targets = prepended = 0

    def tally(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            nonlocal targets, prepended
            targets += pc.sum(batch["target"]).as_py() or 0
            prepended += pc.sum(batch["prepended"]).as_py() or 0
            yield batch

    grounding: Work[None, pa.RecordBatch, pa.RecordBatch] = Work(
        setup=open_grounder, shared=None, what="grounding"
    )
    blocks = engine.run(grounding, db.batches(_ENTITIES, UNGROUNDED, BLOCK))
    entities = write("entities", tally(in_order(blocks, work / "database" / "grounded")))
    write("relations", db.batches(_RELATIONS, RELATIONS, ROWS))
    return {
        "entities": entities,
        "aliases": write("aliases", db.batches(_ALIASES, ALIASES, ROWS)),
        "redirects": write("redirects", db.batches(_REDIRECTS, REDIRECTS, ROWS)),
        "targets": targets,
        "prepended": prepended,
    }


def open_grounder(_: None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function that grounds a block. Called in every worker."""
    return ground_block


def ground_block(block: pa.RecordBatch) -> pa.RecordBatch:
    """Return a block of UNGROUNDED with where its labels are, as ENTITIES (ARGUS §B.1)."""
    labels, paragraphs = block["label"].to_pylist(), block["paragraph"].to_pylist()
    places = [ground(*pair) for pair in zip(labels, paragraphs, strict=True)]
    new = {
        "span_start": [None if g.span is None else g.span.start for g in places],
        "span_end": [None if g.span is None else g.span.end for g in places],
        "prepended": [g.prepended for g in places],
    }
    columns = [
        pa.array(new[field.name], field.type) if field.name in new else block[field.name]
        for field in ENTITIES
    ]
    return pa.record_batch(columns, schema=ENTITIES)


def in_order(
    results: Iterator[tuple[int, pa.RecordBatch]], folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield results by their number. Those that come before their turn wait in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    turn, early = 0, dict[int, Path]()
    for number, block in results:
        if number != turn:
            early[number] = folder / f"{number}.parquet"
            pq.write_table(pa.Table.from_batches([block]), early[number])
            continue
        yield block
        turn += 1
        while path := early.pop(turn, None):
            yield from pq.read_table(path, schema=ENTITIES).combine_chunks().to_batches()
            path.unlink()
            turn += 1


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in counts.items() if n}
