"""The first step, for dumps: pages and items to raw tables."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.errors import InputError
from argus.knowledge.alignment.database import BLANK, Database, database
from argus.knowledge.alignment.fates import Dropped, fates_of_both, fates_of_items, fates_of_pages
from argus.knowledge.alignment.redirects import LOOP, NO_PAGE
from argus.knowledge.alignment.settings import AlignSettings
from argus.knowledge.dumps.item_rows import ITEMS, STATEMENTS
from argus.knowledge.dumps.page_rows import LINKS, PAGES
from argus.progress import announce

LINK = "link"
"""The property of hyperlinks."""


class Fates(TypedDict):
    """What became of the rows of a dump: those that are not dropped, by reason, are entities.

    read: rows that were read.
    dropped: rows that are no entity, by reason.
    """

    read: int
    dropped: Dropped


class DumpFates(TypedDict):
    """The rows of the dumps that there were.

    pages: what became of the pages of Wikipedia.
    items: what became of the items of Wikidata.
    """

    pages: NotRequired[Fates]
    items: NotRequired[Fates]


class AlignCounts(DumpFates):
    """What became of dumps, and how many entities they gave.

    entities: entities that they gave.
    """

    entities: int


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


def align(work: Path, settings: AlignSettings) -> AlignCounts:
    """Turn the tables of dumps under `work` into raw tables under `work/raw`, all or none.

    work: pages/, links/ (PAGES, LINKS), items/, statements/ (ITEMS, STATEMENTS) of Parquet files;
    pages or items may be missing (docs/dumps.md). Returns counts: "entities", and
    for "pages" and "items" what was "read" and "dropped" by reason, so that what was read is the
    sum of entities and all reasons. Raises InputError when there are neither, or no entity comes of
    them, ArgusError as `database`.
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
                raise _none_left(fates, settings)
            for table, query in _raw_queries(has).items():
                db.write(query, partial / table / "000000.parquet")
        shutil.rmtree(raw, ignore_errors=True)
        partial.rename(raw)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {**fates, "entities": entities}


def _fates(db: Database, work: Path, has: Mapping[str, bool]) -> DumpFates:
    db.view("links", work / "links", LINKS)
    db.view("statements", work / "statements", STATEMENTS)
    again_items = db.view("items", work / "items", ITEMS, key="id")
    again_pages = db.view("pages", work / "pages", PAGES, key="title")
    fates: DumpFates = {}
    if has["pages"] and has["items"]:
        pages, items = fates_of_both(db)
    elif has["pages"]:
        pages, items = fates_of_pages(db), {}
    else:
        pages, items = {}, fates_of_items(db)
    if has["pages"]:
        again = {"duplicate title": again_pages} if again_pages else {}
        fates["pages"] = {"read": db.count("all_pages"), "dropped": pages | again}
    if has["items"]:
        again = {"duplicate id": again_items} if again_items else {}
        fates["items"] = {"read": db.count("all_items"), "dropped": items | again}
    return fates


def _none_left(fates: DumpFates, settings: AlignSettings) -> InputError:
    dropped = {"pages": fates.get("pages"), "items": fates.get("items")}
    reasons = [
        f"{name}: " + (", ".join(f"{n:,} {r}" for r, n in rows["dropped"].items()) or "none usable")
        for name, rows in dropped.items()
        if rows is not None
    ]
    return InputError(
        f"no entity is left ({'; '.join(reasons)})",
        expected="at least one article, or item, that can be used",
        fix=(
            "Give dumps of one language and of about the same day, and that language with --lang "
            f"(now {settings.language}); --min-words and --limit leave pages out, too."
        ),
    )


def _raw_queries(has: Mapping[str, bool]) -> dict[str, str]:
    """Return what the raw tables hold, from `owner` (id, page), the views and `landing`."""
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
