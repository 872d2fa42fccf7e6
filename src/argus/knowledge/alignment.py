"""Make one of pages and items: entities, relations, aliases, redirects (docs/dumps.md).

Two steps over tables on disk, by a database that holds no more in memory than it is allowed:
`align` turns the tables of dumps into raw tables, `finish` turns raw tables, of dumps or of any
other source, into those of a knowledge base.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.data.kb import ALIASES, ENTITIES, REDIRECTS, RELATIONS
from argus.engine import Engine, Work
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
from argus.settings import Ge, check_settings

MIN_MEMORY_BYTES = 128 << 20


@dataclass(frozen=True, kw_only=True)
class AlignSettings:
    """Settings of aligning pages and items.

    language: of the dumps, for messages. sample: how many entities are drawn as targets, None for
    all; seed: of the draw. min_words: an entity whose paragraph has fewer is dropped; 1 for dumps,
    whose pages are judged when they are read. memory_bytes: memory of the database before it
    writes to disk; the process needs about 0.5 GB on top. Raises InputError.
    """

    language: str = "en"
    sample: Annotated[int | None, Ge(1)] = None
    seed: int = 0
    min_words: Annotated[int, Ge(1)] = 1
    memory_bytes: Annotated[int, Ge(MIN_MEMORY_BYTES)] = 2 << 30

    def __post_init__(self) -> None:
        check_settings(self)


DOUBLINGS = 3
"""A chain is followed to 2**3 = 8 steps. One that is longer counts as a loop."""
IS_REDIRECT = "(redirect IS NOT NULL AND reason IN ('', 'redirect'))"
LOOP, NO_PAGE = "redirect loop", "redirect to no page"
NO_ITEM = "no item"
TAKEN = "article of another item"
LINK = "link"
"""The property of hyperlinks."""
Dropped = dict[str, int]
"""Rows by reason."""
_ITEM = f"""
    SELECT id, TRY_CAST(substr(id, 2) AS BIGINT) AS number, article, disambiguation,
        NOT {is_blank("label")} AS labelled, NOT {is_blank("description")} AS described
    FROM items
"""
_REDIRECTS = f"""
    SELECT CASE WHEN reason IN ('{LOOP}', '{NO_PAGE}') THEN reason ELSE 'redirect' END AS reason
    FROM landing WHERE NOT direct
"""
_TITLE_AS_LABEL = f"coalesce(nullif(regexp_replace(title, '{BLANK}*\\([^()]*\\)$', ''), ''), title)"
_ENTITIES_OF_BOTH = """
    SELECT id, label, description, title AS article, paragraph
    FROM owner JOIN items USING (id) JOIN pages ON owner.page = pages.title
"""
_ENTITIES_OF_PAGES = f"""
    SELECT title AS id, {_TITLE_AS_LABEL} AS label, '' AS description, title AS article, paragraph
    FROM owner JOIN pages ON owner.page = pages.title
"""
_ENTITIES_OF_ITEMS = """
    SELECT id, label, description, article, description AS paragraph
    FROM owner JOIN items USING (id)
"""


def align(work: Path, settings: AlignSettings) -> dict[str, Any]:
    """Turn the tables of dumps under `work` into raw tables under `work/raw`, all or none.

    work: pages/, links/ (PAGES, LINKS), items/, statements/ (ITEMS, STATEMENTS) of Parquet files.
    Pages or items may be missing (docs/dumps.md). Raises InputError when there are neither, or no
    entity comes of them, ArgusError as `database`.

    Keys of the counts that are returned:
    entities: entities that the dumps gave.
    pages, items: of a dump that there was, rows that were read, and dropped by reason. What was
    read is the sum of entities and all reasons.
    """
    announce("Aligning pages and items")
    has = {name: any((work / name).glob("*.parquet")) for name in ("pages", "items")}
    if not any(has.values()):
        raise InputError(
            "no page and no item was read",
            expected="Parquet files in pages/ or items/",
            fix="Give a dump with --wikipedia, --wikidata, or both.",
            where=work,
        )
    raw, partial = work / "raw", work / "raw.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with database(work, settings.memory_bytes) as db:
            fates = _fates(db, work, has)
            entities = db.count("owner")
            if not entities:
                reasons = "; ".join(
                    f"{name}: "
                    + (", ".join(f"{n:,} {r}" for r, n in rows["dropped"].items()) or "none usable")
                    for name, rows in fates.items()
                )
                raise InputError(
                    f"no entity is left ({reasons})",
                    expected="at least one article, or item, that can be used",
                    fix="Give dumps of one language and of about the same day, and that language "
                    f"with --lang (now {settings.language}); --min-words and --limit leave pages "
                    "out, too.",
                )
            for table, query in _raw_queries(has).items():
                db.write(query, partial / table / "000000.parquet")
        shutil.rmtree(raw, ignore_errors=True)
        partial.rename(raw)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {**fates, "entities": entities}


def _fates(db: Database, work: Path, has: dict[str, bool]) -> dict[str, Any]:
    """Make `owner` (id, page) and `landing`. Return what was read and dropped of each dump."""
    db.view("links", work / "links", LINKS)
    db.view("statements", work / "statements", STATEMENTS)
    again = {
        "items": {"duplicate id": db.view("items", work / "items", ITEMS, key="id")},
        "pages": {"duplicate title": db.view("pages", work / "pages", PAGES, key="title")},
    }
    dropped: dict[str, Dropped] = {}
    if has["pages"] and has["items"]:
        dropped["pages"], dropped["items"] = _fates_of_both(db)
    elif has["pages"]:
        dropped["pages"] = _fates_of_pages(db)
    else:
        dropped["items"] = _fates_of_items(db)
    return {
        name: {
            "read": db.count(f"all_{name}"),
            "dropped": reasons | {reason: n for reason, n in again[name].items() if n},
        }
        for name, reasons in dropped.items()
    }


def _follow_redirects(db: Database) -> None:
    """Make the table `landing` of every title, from the view `pages` and the table `page`.

    page: title, reason of every page but redirects, unique titles. landing: title; page, the title
    where it lands; reason, of that page, or why there is none; direct, whether it is the page.
    """
    db.run(f"CREATE TABLE hop AS SELECT title, redirect AS at FROM pages WHERE {IS_REDIRECT}")
    for _ in range(DOUBLINGS):
        db.run(
            "CREATE TABLE longer AS SELECT a.title, coalesce(b.at, a.at) AS at"
            " FROM hop a LEFT JOIN hop b ON a.at = b.title"
        )
        db.run("DROP TABLE hop")
        db.run("ALTER TABLE longer RENAME TO hop")
    db.run(
        f"""
        CREATE TABLE landing AS
        SELECT title, title AS page, reason, true AS direct FROM page
        UNION ALL
        SELECT hop.title, hop.at, CASE
            WHEN again.title IS NOT NULL THEN '{LOOP}'
            WHEN page.title IS NULL THEN '{NO_PAGE}'
            ELSE page.reason END, false
        FROM hop LEFT JOIN page ON hop.at = page.title LEFT JOIN hop again ON hop.at = again.title
        """
    )
    db.run("DROP TABLE hop")


def _fates_of_both(db: Database) -> tuple[Dropped, Dropped]:
    """Give items the articles that their links lead to. Return what was dropped: pages, items."""
    db.run(f"CREATE TABLE item AS {_ITEM}")
    db.run(
        f"""
        CREATE TABLE page AS SELECT title, CASE
            WHEN reason IN ('broken XML', 'not an article') OR told.article IS NULL THEN reason
            ELSE 'disambiguation' END AS reason
        FROM pages LEFT JOIN (SELECT DISTINCT article FROM item WHERE disambiguation) told
            ON title = told.article
        WHERE NOT {IS_REDIRECT}
        """
    )
    _follow_redirects(db)
    db.run(
        """
        CREATE TABLE fate AS SELECT id, number, page, direct, labelled, CASE
            WHEN article IS NULL THEN 'no article'
            WHEN NOT labelled THEN 'no label'
            WHEN title IS NULL THEN 'article not in the dump'
            WHEN reason <> '' THEN reason
            WHEN disambiguation THEN 'disambiguation'
            ELSE '' END AS reason
        FROM item LEFT JOIN landing ON article = title
        """
    )
    # An item that names the article directly comes first, then one with a smaller number.
    db.run(
        """
        CREATE TABLE loser AS SELECT id FROM (
            SELECT id, row_number() OVER
                (PARTITION BY page ORDER BY direct DESC, number NULLS LAST, id) AS rank
            FROM fate
            SEMI JOIN (SELECT page FROM fate WHERE reason = '' GROUP BY page HAVING count(*) > 1)
                USING (page)
            WHERE reason = ''
        ) WHERE rank > 1
        """
    )
    db.run(
        "CREATE TABLE owner AS SELECT id, page FROM fate ANTI JOIN loser USING (id)"
        " WHERE reason = ''"
    )
    items = _by_reason(db, "SELECT reason FROM fate WHERE reason <> ''")
    if losers := db.count("loser"):
        items[TAKEN] = losers
    # A page that has no reason of its own lacks an item, or its label.
    pages = _by_reason(
        db,
        f"""
        {_REDIRECTS}
        UNION ALL
        SELECT CASE WHEN page.reason <> '' THEN page.reason
            WHEN unlabelled.page IS NOT NULL THEN 'no label' ELSE '{NO_ITEM}' END
        FROM page ANTI JOIN owner ON page.title = owner.page
        LEFT JOIN (SELECT DISTINCT page FROM fate WHERE reason = 'no label') unlabelled
            ON page.title = unlabelled.page
        """,
    )
    return pages, items


def _fates_of_pages(db: Database) -> Dropped:
    """Make every article an entity, its title being the id. Return the pages that were dropped."""
    db.run(f"CREATE TABLE page AS SELECT title, reason FROM pages WHERE NOT {IS_REDIRECT}")
    _follow_redirects(db)
    db.run("CREATE TABLE owner AS SELECT title AS id, title AS page FROM page WHERE reason = ''")
    return _by_reason(db, f"{_REDIRECTS} UNION ALL SELECT reason FROM page WHERE reason <> ''")


def _fates_of_items(db: Database) -> Dropped:
    """Make every item with label and description an entity. Return the items that were dropped."""
    db.run(
        f"""
        CREATE TABLE fate AS SELECT id, article AS page, CASE
            WHEN NOT labelled THEN 'no label'
            WHEN disambiguation THEN 'disambiguation'
            WHEN NOT described THEN 'no description'
            ELSE '' END AS reason
        FROM ({_ITEM})
        """
    )
    db.run("CREATE TABLE owner AS SELECT id, page FROM fate WHERE reason = ''")
    return _by_reason(db, "SELECT reason FROM fate WHERE reason <> ''")


def _by_reason(db: Database, query: str) -> Dropped:
    rows = db.rows(f"SELECT reason, count(*) FROM ({query}) GROUP BY reason ORDER BY reason")
    return {str(reason): int(n) for reason, n in rows}


def _raw_queries(has: dict[str, bool]) -> dict[str, str]:
    """Return a query per raw table, from `owner` (id, page), the views and `landing`."""
    aliases = ["SELECT id, page AS alias, 'title' AS source FROM owner WHERE page IS NOT NULL"]
    relations = []
    redirects = "SELECT '' AS title, '' AS target, '' AS id WHERE false"
    if has["items"]:
        aliases.append("SELECT id, unnest(aliases), 'alias' FROM items JOIN owner USING (id)")
        relations.append("SELECT subject, property, object, 'wikidata' AS source FROM statements")
    if has["pages"]:
        aliases.append(
            "SELECT id, title, 'redirect' FROM landing JOIN owner USING (page) WHERE NOT direct"
        )
        relations.append(
            f"SELECT a.id AS subject, '{LINK}' AS property, b.id AS object, 'hyperlink' AS source"
            " FROM links LEFT JOIN owner a ON links.source = a.page"
            " LEFT JOIN landing ON links.target = landing.title"
            " LEFT JOIN owner b ON landing.page = b.page"
        )
        redirects = (
            "SELECT title, page AS target, id FROM landing LEFT JOIN owner USING (page)"
            f" WHERE NOT direct AND reason NOT IN ('{LOOP}', '{NO_PAGE}')"
        )
    entities = _ENTITIES_OF_ITEMS
    if has["pages"]:
        entities = _ENTITIES_OF_BOTH if has["items"] else _ENTITIES_OF_PAGES
    return {
        "entities": entities,
        "relations": " UNION ALL ".join(relations),
        "aliases": " UNION ALL ".join(aliases),
        "redirects": redirects,
    }


GRAPHS = ("wikidata", "triples", "hyperlink", "mention")
"""Sources of relations, the first that there is being the graph that is used."""
NO_ENTITY, SELF_LOOP, DUPLICATE = "to no entity", "self-loop", "duplicate"
NOT_SAMPLED = "not sampled"
"""The reason for entities and relations that a sample leaves out."""
DUPLICATE_ID, TOO_SHORT = "duplicate id", "paragraph too short"
BLOCK, ROWS = 20_000, 50_000
"""Rows of a batch: of entities, which a worker grounds, and of the other tables."""
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
    work: Path, write: WriteTable, engine: Engine, settings: AlignSettings
) -> dict[str, Any]:
    """Check the raw tables under `work/raw` and write those of a knowledge base. Return counts.

    What was read is the sum of what is kept and all reasons. Where an alias has two sources, the
    first in the alphabet is given. Raises InputError when no entity is left, ArgusError as
    `database`.

    Keys of the counts:
    entities, aliases, redirects: rows of the tables.
    targets: entities that can be audited.
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
        rows = _write_all(db, write, engine)
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


def _write_all(db: Database, write: WriteTable, engine: Engine) -> dict[str, int]:
    def grounded() -> Iterator[pa.RecordBatch]:
        turn, early = 0, dict[int, pa.RecordBatch]()
        for number, block in engine.run(grounding, db.batches(_ENTITIES, UNGROUNDED, BLOCK)):
            early[number] = block
            while turn in early:
                yield early.pop(turn)
                turn += 1

    grounding: Work[None, pa.RecordBatch, pa.RecordBatch] = Work(
        setup=open_grounder, shared=None, what="grounding"
    )
    return {
        "entities": write("entities", grounded()),
        "relations": write("relations", db.batches(_RELATIONS, RELATIONS, ROWS)),
        "aliases": write("aliases", db.batches(_ALIASES, ALIASES, ROWS)),
        "redirects": write("redirects", db.batches(_REDIRECTS_OF_ALL, REDIRECTS, ROWS)),
        "targets": db.count("kept JOIN degree USING (n) WHERE drawn"),
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


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in counts.items() if n}
