"""Merge Wikipedia pages and Wikidata items into entities with relations, aliases and redirects.

The second step of `argus research kb build`, after `argus.kb.reading`, over tables on disk
(docs/knowledge.md). `align` turns the tables of dumps into raw tables. `finish` turns raw tables,
of dumps or of any other source, into those of a knowledge base. DuckDB does the joins and holds no
more in memory than it is allowed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.kb import ALIASES, ENTITIES, REDIRECTS, RELATIONS, SOURCES
from argus.errors import InputError
from argus.knowledge.names import ground
from argus.knowledge.raw import (
    BLANK,
    ITEMS,
    LINKS,
    PAGES,
    RAW,
    STATEMENTS,
    Database,
    database,
    fewer_words,
    is_blank,
)
from argus.progress import announce

IS_REDIRECT = "(redirect IS NOT NULL AND reason IN ('', 'redirect'))"
LOOP, NO_PAGE = "redirect loop", "redirect to no page"
TAKEN = "article of another item"
# The property of hyperlinks.
LINK = "link"
# Without items every page has one: its title is the id.
_ITEMS_OF_PAGES = f"""
    CREATE OR REPLACE VIEW items AS SELECT title AS id,
        coalesce(nullif(regexp_replace(title, '{BLANK}*\\([^()]*\\)$', ''), ''), title) AS label,
        '' AS description, []::VARCHAR[] AS aliases, title AS article, false AS disambiguation
    FROM pages WHERE NOT {IS_REDIRECT}
"""
# Without pages an item's description is the paragraph of its article.
_PAGES_OF_ITEMS = f"""
    CREATE OR REPLACE VIEW pages AS SELECT article AS title, NULL::VARCHAR AS redirect,
        CASE WHEN {is_blank("paragraph")} THEN 'no description' ELSE '' END AS reason, paragraph
    FROM (SELECT article, min_by(description, id) AS paragraph FROM items
          WHERE article IS NOT NULL GROUP BY article)
"""
_FOLLOW = (
    """
    CREATE TABLE longer AS SELECT a.title, coalesce(b.at, a.at) AS at
    FROM hop a LEFT JOIN hop b ON a.at = b.title
    """,
    "DROP TABLE hop",
    "ALTER TABLE longer RENAME TO hop",
)
_OWNERS = (
    # title, reason of every page but redirects
    f"""
    CREATE TABLE page AS SELECT title, CASE
        WHEN reason IN ('broken XML', 'not an article') OR told.article IS NULL THEN reason
        ELSE 'disambiguation' END AS reason
    FROM pages LEFT JOIN (SELECT DISTINCT article FROM items WHERE disambiguation) told
        ON title = told.article
    WHERE NOT {IS_REDIRECT}
    """,
    # A chain is followed to 2**3 = 8 steps. One that is longer counts as a loop.
    f"CREATE TABLE hop AS SELECT title, redirect AS at FROM pages WHERE {IS_REDIRECT}",
    *(_FOLLOW * 3),
    # of every title: page, where it lands; reason, of that page, or why there is none; direct,
    # whether it is the page
    f"""
    CREATE TABLE landing AS
    SELECT title, title AS page, reason, true AS direct FROM page
    UNION ALL
    SELECT hop.title, hop.at, CASE
        WHEN again.title IS NOT NULL THEN '{LOOP}'
        WHEN page.title IS NULL THEN '{NO_PAGE}'
        ELSE page.reason END, false
    FROM hop LEFT JOIN page ON hop.at = page.title LEFT JOIN hop again ON hop.at = again.title
    """,
    f"""
    CREATE TABLE fate AS SELECT id, TRY_CAST(substr(id, 2) AS BIGINT) AS number, page, direct, CASE
        WHEN article IS NULL THEN 'no article'
        WHEN {is_blank("label")} THEN 'no label'
        WHEN title IS NULL THEN 'article not in the dump'
        WHEN reason <> '' THEN reason
        WHEN disambiguation THEN 'disambiguation'
        ELSE '' END AS reason
    FROM items LEFT JOIN landing ON article = title
    """,
    # An item that names the article directly comes first, then one with a smaller number.
    """
    CREATE TABLE owner AS
    SELECT page, arg_min(id, (NOT direct, coalesce(number, 1e18), id)) AS id
    FROM fate WHERE reason = '' GROUP BY page
    """,
)
_LOST = {
    "items": f"""
    SELECT reason FROM fate WHERE reason <> ''
    UNION ALL
    SELECT '{TAKEN}' FROM fate ANTI JOIN owner USING (id) WHERE reason = ''
    """,
    # A page that has no reason of its own lacks an item, or its label.
    "pages": f"""
    SELECT CASE WHEN reason IN ('{LOOP}', '{NO_PAGE}') THEN reason ELSE 'redirect' END AS reason
    FROM landing WHERE NOT direct
    UNION ALL
    SELECT CASE WHEN page.reason <> '' THEN page.reason
        WHEN unlabelled.page IS NOT NULL THEN 'no label' ELSE 'no item' END
    FROM page ANTI JOIN owner ON page.title = owner.page
    LEFT JOIN (SELECT DISTINCT page FROM fate WHERE reason = 'no label') unlabelled
        ON page.title = unlabelled.page
    """,
}
_RAW = {
    "entities": """
    SELECT id, label, description, title AS article, paragraph
    FROM owner JOIN items USING (id) JOIN pages ON owner.page = pages.title
    """,
    "relations": f"""
    SELECT subject, property, object, 'wikidata' AS source FROM statements
    UNION ALL
    SELECT a.id AS subject, '{LINK}' AS property, b.id AS object, 'hyperlink' AS source
    FROM links LEFT JOIN owner a ON links.source = a.page
    LEFT JOIN landing ON links.target = landing.title LEFT JOIN owner b ON landing.page = b.page
    """,
    "aliases": """
    SELECT id, page AS alias, 'title' AS source FROM owner
    UNION ALL
    SELECT id, unnest(aliases), 'alias' FROM items JOIN owner USING (id)
    UNION ALL
    SELECT id, title, 'redirect' FROM landing JOIN owner USING (page) WHERE NOT direct
    """,
    "redirects": f"""
    SELECT title, page AS target, id FROM landing LEFT JOIN owner USING (page)
    WHERE NOT direct AND reason NOT IN ('{LOOP}', '{NO_PAGE}')
    """,
}


def align(work: Path, *, memory_bytes: int) -> dict[str, Any]:
    """Turn the tables of dumps under `work` into raw tables under `work/raw`, all or none.

    work: pages/, links/ (PAGES, LINKS), items/, statements/ (ITEMS, STATEMENTS) of Parquet files.
    Pages or items may be missing (docs/knowledge.md). memory_bytes: memory of the database before
    it writes to disk; the process needs about 0.5 GB on top. Raises InputError when there are
    neither, or no entity comes of them, ArgusError as `database`.

    Keys of the counts that are returned:
    entities: entities that the dumps gave.
    pages, items: of a dump that there was, rows that were read, and dropped by reason. What was
    read is the sum of entities and all reasons.
    """
    announce("Aligning pages and items")
    has = [name for name in ("pages", "items") if any((work / name).glob("*.parquet"))]
    if not has:
        raise InputError(
            "no page and no item was read",
            expected="Parquet files in pages/ or items/",
            fix="Give a dump with --wikipedia, --wikidata, or both.",
            where=work,
        )
    raw, partial = work / "raw", work / "raw.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with database(work, memory_bytes) as db:
            db.view("links", work / "links", LINKS)
            db.view("statements", work / "statements", STATEMENTS)
            again = {
                "items": ("duplicate id", db.view("items", work / "items", ITEMS, key="id")),
                "pages": ("duplicate title", db.view("pages", work / "pages", PAGES, key="title")),
            }
            if has == ["pages"]:
                db.run(_ITEMS_OF_PAGES)
            if has == ["items"]:
                db.run(_PAGES_OF_ITEMS)
            for statement in _OWNERS:
                db.run(statement)
            counts: dict[str, Any] = {
                name: {
                    "read": db.count(f"all_{name}"),
                    "dropped": _some(db.groups(_LOST[name], "reason") | dict([again[name]])),
                }
                for name in has
            }
            counts["entities"] = db.count("owner")
            if not counts["entities"]:
                reasons = (f"{n:,} {r}" for name in has for r, n in counts[name]["dropped"].items())
                raise InputError(
                    f"no entity is left ({', '.join(reasons) or 'none usable'})",
                    expected="at least one article, or item, that can be used",
                    fix="Give dumps of one language and of about the same day, and that language "
                    "with --lang; --min-words and --limit leave pages out, too.",
                )
            for table, query in _RAW.items():
                db.write(query, partial / table / "000000.parquet")
        shutil.rmtree(raw, ignore_errors=True)
        partial.rename(raw)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return counts


# Rows of a batch.
ROWS = 50_000
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
_REDIRECTS_OF_ALL = """
    SELECT title, target, CASE WHEN kept.n IS NULL THEN NULL ELSE redirects.id END AS id
    FROM redirects LEFT JOIN entity ON redirects.id = entity.id LEFT JOIN kept USING (n)
    ORDER BY title
"""


WriteTable = Callable[[str, Iterator[pa.RecordBatch]], int]
"""Writes all rows of a table, given in its order. Returns how many there were."""


def finish(
    work: Path,
    write: WriteTable,
    *,
    memory_bytes: int,
    sample: int | None = None,
    seed: int = 0,
    min_words: int = 1,
) -> dict[str, Any]:
    """Check the raw tables under `work/raw` and write those of a knowledge base. Return counts.

    What was read is the sum of what is kept and all reasons. Where an alias has two sources, the
    first in the alphabet is given. sample: how many entities are drawn as targets, None for all;
    seed: of the draw. min_words: an entity whose paragraph has fewer is dropped; 1 for dumps, whose
    pages are judged when they are read. Raises InputError when no entity is left, ArgusError as
    `database`.

    Keys of the counts:
    entities, aliases, redirects: rows of the tables.
    targets: entities that can be audited.
    relations: source to rows of relations.
    graph: source of the relations that relate entities.
    dropped: rows that were dropped: of entities by reason, of relations by source and reason.
    """
    announce("Relating entities")
    with database(work, memory_bytes) as db:
        dropped = _valid_entities(db, work, min_words)
        lost = _number_relations(db)
        relations = db.groups("FROM rel", "source")
        _draw_sample(db, _first_graph(relations), sample, seed)
        sampled = db.groups("FROM rel", "source")
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
            reasons["not sampled"] = relations.get(source, 0) - sampled.get(source, 0)
        dropped["not sampled"] = db.count("entity") - db.count("kept")
        announce("Grounding entities")
        entities = db.batches(_ENTITIES, UNGROUNDED, ROWS)
        entity_rows = write("entities", map(ground_block, entities))
        write("relations", db.batches(_RELATIONS, RELATIONS, ROWS))
        return {
            "entities": entity_rows,
            "relations": sampled,
            "aliases": write("aliases", db.batches(_ALIASES, ALIASES, ROWS)),
            "redirects": write("redirects", db.batches(_REDIRECTS_OF_ALL, REDIRECTS, ROWS)),
            "targets": db.count("kept JOIN degree USING (n) WHERE drawn"),
            "graph": graph,
            "dropped": {
                "entities": _some(dropped),
                "relations": {s: _some(r) for s, r in lost.items() if any(r.values())},
            },
        }


def _valid_entities(db: Database, work: Path, min_words: int) -> dict[str, int]:
    """Make the views of the raw tables and `entity` (n, id). Return what was dropped by reason."""
    lack = f"""
        (CASE WHEN coalesce(id, '') = '' THEN 'no id'
            WHEN {is_blank("label")} THEN 'no label'
            WHEN {is_blank("paragraph")} THEN 'no paragraph'
            WHEN {fewer_words("paragraph", min_words)} THEN 'paragraph too short'
            ELSE '' END)
    """
    folders = {name: work / "raw" / name for name in RAW}
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
    reasons = db.groups(f"SELECT {lack} AS reason FROM all_entities", "reason")
    dropped = {**{reason: n for reason, n in reasons.items() if reason}, "duplicate id": again}
    if not db.count("entity"):
        why = ", ".join(f"{reason}: {n}" for reason, n in _some(dropped).items())
        raise InputError(
            f"no entity is left ({why or 'there was none'})",
            expected="at least one with an id, a label and a paragraph",
            fix="Triples need --abstracts, rows a paragraph or description; texts have to be in "
            "the language of --lang, and of --min-words words.",
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
    unique = db.groups("FROM rel", "source")
    return {
        source: {
            "to no entity": lost,
            "self-loop": loops,
            "duplicate": read - lost - loops - unique.get(source, 0),
        }
        for source, read, lost, loops in counts
    }


def _first_graph(sources: Mapping[str, int]) -> str:
    return next((name for name in SOURCES if sources.get(name)), "mentions")


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


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in counts.items() if n}
