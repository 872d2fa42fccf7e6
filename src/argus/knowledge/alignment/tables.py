"""Turn raw tables into those of a knowledge base: relations, a sample, grounded labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from argus.data.kb import ALIASES, ENTITIES, REDIRECTS, RELATIONS
from argus.engine.protocol import Engine, Work
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


def number_relations(db: Database) -> dict[str, dict[str, int]]:
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
    unique = relations_by_source(db)
    return {
        source: {
            NO_ENTITY: lost,
            SELF_LOOP: loops,
            DUPLICATE: read - lost - loops - unique.get(source, 0),
        }
        for source, read, lost, loops in counts
    }


def relations_by_source(db: Database) -> dict[str, int]:
    """Return how many relations `rel` holds of each source."""
    return dict(db.rows("SELECT source, count(*) FROM rel GROUP BY source ORDER BY source"))


def choose_graph(sources: Mapping[str, int]) -> str:
    """Return the source whose relations are used, "mention" where there are none at all."""
    return next((name for name in GRAPHS if sources.get(name)), "mention")


def draw_sample(db: Database, graph: str, sample: int | None, seed: int) -> None:
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


def count_related(db: Database, graph: str) -> None:
    """Make `degree` (n, related): how many entities one is related to, in either direction."""
    db.run(
        f"""
        CREATE TABLE degree AS SELECT unnest([a, b]) AS n, count(*)::INTEGER AS related
        FROM (SELECT DISTINCT least(s, o) AS a, greatest(s, o) AS b FROM rel
              WHERE source = '{graph}')
        GROUP BY n
        """
    )


BLOCK = 20_000
"""Entities that a worker grounds at a time."""
HELD = 8
"""Blocks that wait in memory for one before them. More of them wait on disk."""
UNGROUNDED = pa.schema(
    [field for field in ENTITIES if field.name not in ("span_start", "span_end", "prepended")]
)


def ground_entities(
    engine: Engine, blocks: Iterator[pa.RecordBatch], folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of UNGROUNDED as ENTITIES, in their order (ARGUS §B.1).

    folder: for blocks that are done long before their turn. It is made when needed.
    """
    work: Work[None, pa.RecordBatch, pa.RecordBatch] = Work(
        setup=grounder, shared=None, what="grounding"
    )
    yield from in_order(engine.run(work, blocks), folder)


def grounder(_: None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function that grounds a block."""
    return ground_block


def ground_block(block: pa.RecordBatch) -> pa.RecordBatch:
    """Return a block of UNGROUNDED with where its labels are, as ENTITIES."""
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
    """Yield results by their number. Early results wait, past HELD of them in `folder`."""
    early: dict[int, pa.RecordBatch | Path] = {}
    turn = in_memory = 0
    for number, block in results:
        if number != turn and in_memory >= HELD:
            early[number] = _put_away(block, folder / f"{number}.parquet")
        else:
            early[number] = block
            in_memory += 1
        while turn in early:
            next_ = early.pop(turn)
            turn += 1
            if isinstance(next_, Path):
                yield _take_back(next_)
            else:
                in_memory -= 1
                yield next_


def _put_away(block: pa.RecordBatch, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([block]), path)
    return path


def _take_back(path: Path) -> pa.RecordBatch:
    table = pq.read_table(path, schema=ENTITIES).combine_chunks()
    path.unlink()
    return table.to_batches()[0]


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
    """Counts of dropped rows: entities by reason, relations by source, too.

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
    """Counts of a knowledge base.

    relations: source to how many relations.
    graph: source of the relations that relate entities.
    """

    relations: dict[str, int]
    graph: str
    dropped: DroppedRows


class TableWriter(Protocol):
    """Writer of the tables of a knowledge base."""

    def write(self, table: str, batches: Iterator[pa.RecordBatch]) -> int:
        """Write all rows of a table, given in its order. Return how many there were."""
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
    """Make the views of the raw tables and `entity` (n, id). Return what was dropped by reason."""
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
