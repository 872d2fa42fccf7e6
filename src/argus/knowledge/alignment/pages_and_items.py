"""Turn pages and items of dumps into raw tables, and count why others are dropped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.knowledge.alignment.database import BLANK, Database, database, is_blank
from argus.knowledge.alignment.raw_tables import ITEMS, LINKS, PAGES, STATEMENTS, AlignSettings
from argus.progress import announce

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
