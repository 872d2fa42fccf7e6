"""What becomes of every page and item: an entity, or the one reason why not.

Each function works on the views `pages` and `items` and makes the table `owner` (id of an entity,
page: title of its article), and returns how many were dropped by reason.
"""

from __future__ import annotations

from argus.knowledge.alignment.database import Database, is_blank
from argus.knowledge.alignment.redirects import IS_REDIRECT, LOOP, NO_PAGE, follow_redirects

Dropped = dict[str, int]

NO_ITEM = "no item"
TAKEN = "article of another item"
_ITEM = f"""
    SELECT id, TRY_CAST(substr(id, 2) AS BIGINT) AS number, article, disambiguation,
        NOT {is_blank("label")} AS labelled, NOT {is_blank("description")} AS described
    FROM items
"""

_REDIRECTS = f"""
    SELECT CASE WHEN reason IN ('{LOOP}', '{NO_PAGE}') THEN reason ELSE 'redirect' END AS reason
    FROM landing WHERE NOT direct
"""


def fates_of_both(db: Database) -> tuple[Dropped, Dropped]:
    """Give items the articles that their links lead to; return what was dropped: pages, items."""
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
    follow_redirects(db)
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
    _one_item_for_every_page(db)
    items = _by_reason(db, "SELECT reason FROM fate WHERE reason <> ''")
    losers = db.count("loser")
    return _pages_of_both(db), {**items, **({TAKEN: losers} if losers else {})}


def fates_of_pages(db: Database) -> Dropped:
    """Make every article an entity, its title being the id; return the pages that were dropped."""
    db.run(f"CREATE TABLE page AS SELECT title, reason FROM pages WHERE NOT {IS_REDIRECT}")
    follow_redirects(db)
    db.run("CREATE TABLE owner AS SELECT title AS id, title AS page FROM page WHERE reason = ''")
    return _by_reason(db, f"{_REDIRECTS} UNION ALL SELECT reason FROM page WHERE reason <> ''")


def fates_of_items(db: Database) -> Dropped:
    """Make every item with label and description an entity; return the items that were dropped."""
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


def _one_item_for_every_page(db: Database) -> None:
    """Make `owner`, and `loser` of the items whose article is another's.

    An item that names the article directly comes first, then one with a smaller number.
    """
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


def _pages_of_both(db: Database) -> Dropped:
    """Count pages that are no entity: what has no reason of its own lacks an item, or its label."""
    return _by_reason(
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


def _by_reason(db: Database, query: str) -> Dropped:
    rows = db.rows(f"SELECT reason, count(*) FROM ({query}) GROUP BY reason ORDER BY reason")
    return {str(reason): int(n) for reason, n in rows}
