"""Write the queries by which an engine serves a blend itself, over the records that hold it.

engines.yaml beside this module has them: per engine a query that scores every record, equal to the
blend without BM25, one that scores the records of an approximate search, and if the engine can, one
with words. Each says how near it is to the blend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.retrievers.config import ENGINES, RECORDS
from argus.retrievers.http import fill, without_none
from argus.settings import TOP_K

WITH_BM25 = "with BM25"


def engine_queries(
    engine: str,
    collection: str,
    remedy: str,
    *,
    field: str | None = None,
    k: int = TOP_K,
    records: int = RECORDS,
    blend: Blend | None = None,
) -> dict[str, Any]:
    """Return the queries that serve a blend in an engine (`ENGINES`), with what they are for.

    collection: of the records. field: of their vectors. None takes the usual name. records: of an
    approximate search. blend: has the weight of BM25. Raises InputError for another engine.

    engine, collection, remedy, k: as they were given.
    queries: name, holds (how near it is to the blend), request (method and path, "" of SQL) and
    body (SQL, or JSON in which {vector} and {query} stand) of each.
    notes: requirements, and how the queries were tested.
    """
    if engine not in ENGINES:
        fix = "For any other, rank with argus.BlendedRetriever."
        expected = f"one of {', '.join(ENGINES)}"
        raise InputError(f"engine {engine!r}", expected=expected, fix=fix, where="--engine")
    templates = files("argus.retrievers").joinpath("engines.yaml").read_text(encoding="utf-8")
    made = yaml.safe_load(templates)[engine]
    bm25 = (blend or Blend()).bm25
    values: dict[str, Any] = {
        "collection": collection, "remedy": remedy, "k": k, "records": records,
        "field": made["field"] if field is None else field or None,
        "records_shown": f"{records:,}", "shares": f"{1 - bm25:.4g}, {bm25:.4g}",
        "vector_weight": round(1 - bm25, 4), "word_weight": round(bm25, 4),
    }  # fmt: skip
    if engine == "pgvector":
        values["remedy"] = "'" + remedy.replace("'", "''") + "'"
        for name, parts in (
            ("field", [values["field"] or ""]),
            ("collection", collection.split(".")),
        ):
            values[name] = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    queries = [query for query in made["queries"] if bm25 or query["name"] != WITH_BM25]
    whole = {"queries": queries, "notes": made["notes"]}
    filled = without_none(fill(whole, {f"{{{name}}}": value for name, value in values.items()}))
    return {"engine": engine, "collection": collection, "remedy": remedy, "k": k, **filled}


def markdown(made: Mapping[str, Any]) -> str:
    """Return queries of `engine_queries` as a section of Markdown."""
    lines = [f"## {made['engine']}: {made['remedy']} in {made['collection']}", ""]
    lines += [f"* {note}" for note in made["notes"]]
    for query in made["queries"]:
        lines += ["", f"### {query['name']}", "", query["holds"], ""]
        if isinstance(query["body"], str):
            lines += ["```sql", f"{query['body']};", "```"]
        else:
            lines += ["```http", query["request"], "", json.dumps(query["body"], indent=2), "```"]
    return "\n".join(lines) + "\n"
