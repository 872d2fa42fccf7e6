"""Where titles lead: redirects followed to the page at their end."""

from __future__ import annotations

from argus.knowledge.alignment.database import Database

DOUBLINGS = 3
"""A chain is followed to 2**3 = 8 steps; one that is longer counts as a loop."""
IS_REDIRECT = "(redirect IS NOT NULL AND reason IN ('', 'redirect'))"
LOOP, NO_PAGE = "redirect loop", "redirect to no page"


def follow_redirects(db: Database) -> None:
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
