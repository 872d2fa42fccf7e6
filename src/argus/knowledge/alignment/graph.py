"""The relation graph on disk: entities by number, edges once each, degrees, and the sample."""

from __future__ import annotations

from collections.abc import Mapping

from argus.knowledge.alignment.database import Database

GRAPHS = ("wikidata", "triples", "hyperlink", "mention")
"""Sources of relations, the first that there is being the graph that is used."""
NO_ENTITY, SELF_LOOP, DUPLICATE = "to no entity", "self-loop", "duplicate"
NOT_SAMPLED = "not sampled"
"""The reason of what a sample leaves out, entities and relations."""


def number_relations(db: Database) -> dict[str, dict[str, int]]:
    """Make `rel` of the view `relations`: ends are numbers `n` of the table `entity` (n, id).

    rel: s, p, o, source, where p is the number of a property in the table `property` (p, name); no
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
    What is not kept leaves `rel`.
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
