"""Write the queries by which an engine serves a blend itself, over the records that hold it.

A document scores `max(cosine · argus_scale - argus_penalty)` over its records. Each engine gets a
query that scores every record, equal to the blend without BM25, one that scores the records of an
approximate search, and if the engine can, one with words. Each says how near it is to the blend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.retrievers.config import ENGINES, RECORDS, Engine
from argus.settings import TOP_K
from argus.stores.records import KIND, PARENT, PENALTY, REMEDY, SCALE

VECTOR_FIELDS: Mapping[str, str] = {
    "pgvector": "embedding", "qdrant": "", "elasticsearch": "vector", "opensearch": "vector",
}  # fmt: skip
"""Usual name of the field of vectors."""
VECTOR, QUERY = "{vector}", "{query}"
"""Placeholders in JSON: the query's vector, corrected if the index corrects queries, and text."""
SHIFT = 2.0
"""Added to scores that must not be negative: a cosine is at least -1, a penalty at most 1."""
EVERY, NEAREST = "every record", "the nearest records"
EXACT = (
    "Equal to the blend without BM25, up to the rounding of 32-bit numbers: every record is scored."
)
NEAR = (
    "Near: equal wherever the best records of the first documents are among the {n:,} nearest by "
    "cosine."
)
WORDS = (
    "Near: words are counted by the engine's own analysis, over records (a document has as many as "
    "it has sentences), and each score is scaled within the first {n:,} records, not 100 "
    "documents. BM25's weight does not follow the question here."
)
CORRECTED = "is the query's vector; corrected, if the index corrects queries. Your own filter goes"
UNTRIED = "Made from its documentation; never run against the product."
Queries: TypeAlias = list[tuple[str, str, str, str | Mapping[str, Any]]]
"""Fields of `EngineQuery`s."""


@dataclass(frozen=True)
class EngineQuery:
    """One query. holds: how near it is to the blend. request: method and path, "" of SQL."""

    name: str
    holds: str
    request: str
    body: str | Mapping[str, Any]


@dataclass(frozen=True)
class EngineQueries:
    """The queries of one engine. notes: requirements, and how the queries were tested."""

    engine: Engine
    collection: str
    remedy: str
    k: int
    queries: tuple[EngineQuery, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return asdict(self)

    def markdown(self) -> str:
        """Return them as a section of Markdown."""
        lines = [f"## {self.engine}: {self.remedy} in {self.collection}", ""]
        lines += [f"* {note}" for note in self.notes]
        for query in self.queries:
            lines += ["", f"### {query.name}", "", query.holds, ""]
            if isinstance(query.body, str):
                lines += ["```sql", f"{query.body};", "```"]
            else:
                lines += ["```http", query.request, "", json.dumps(query.body, indent=2), "```"]
        return "\n".join(lines) + "\n"


def engine_queries(
    engine: str,
    collection: str,
    remedy: str,
    *,
    field: str | None = None,
    k: int = TOP_K,
    records: int = RECORDS,
    blend: Blend | None = None,
    text_fields: tuple[str, ...] = ("title", "text"),
) -> EngineQueries:
    """Return the queries that serve a blend in an engine (`ENGINES`).

    collection: of the records. field: of their vectors. None takes the usual name. records: of an
    approximate search. blend: has the weight of BM25. text_fields: searched by words. Raises
    InputError for another engine.
    """
    if engine not in ENGINES:
        got, fix = f"engine {engine!r}", "For any other, rank with argus.BlendedRetriever."
        raise InputError(got, expected=f"one of {', '.join(ENGINES)}", fix=fix, where="--engine")
    field = VECTOR_FIELDS[engine] if field is None else field
    if engine == "pgvector":
        queries, notes = _pgvector(collection, remedy, field, k, records)
    elif engine == "qdrant":
        queries, notes = _qdrant(collection, remedy, field, k, records)
    else:
        bm25 = (blend or Blend()).bm25
        queries, notes = _search_engine(
            engine, collection, remedy, field, k, records, bm25, text_fields
        )
    made = tuple(EngineQuery(*query) for query in queries)
    return EngineQueries(engine, collection, remedy, k, made, tuple(notes))


def _pgvector(
    collection: str, remedy: str, field: str, k: int, records: int
) -> tuple[Queries, list[str]]:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    field, table = quoted(field), ".".join(map(quoted, collection.split(".")))
    score = f"(1 - ({field} <=> $1)) * {SCALE} - {PENALTY}"
    literal = "'" + remedy.replace("'", "''") + "'"
    where = f"WHERE {REMEDY} = {literal}  -- AND your own filter"
    order = f'ORDER BY score DESC, {PARENT} COLLATE "C"\nLIMIT {k}'
    exact = (
        f"SELECT {PARENT}, max({score}) AS score\nFROM {table}\n{where}\nGROUP BY {PARENT}\n{order}"
    )
    near = (
        f"WITH nearest AS (\n  SELECT {PARENT}, {score} AS score\n  FROM {table}\n  {where}\n"
        f"  ORDER BY {field} <=> $1\n  LIMIT {records}\n)\n"
        f"SELECT {PARENT}, max(score) AS score\nFROM nearest\nGROUP BY {PARENT}\n{order}"
    )
    return [(EVERY, EXACT, "", exact), (NEAREST, NEAR.format(n=records), "", near)], [
        "$1 is the query's vector, as a `vector`; corrected, if the index corrects queries.",
        "With an HNSW index set `hnsw.iterative_scan = strict_order`, or `hnsw.ef_search` to as "
        "many as the inner LIMIT: else it brings 40 records.",
        "PostgreSQL has no BM25: fuse with `argus.BlendedRetriever`, which has the index's.",
        "Tested against PostgreSQL 18 with pgvector 0.8.",
    ]


def _qdrant(
    collection: str, remedy: str, field: str, k: int, records: int
) -> tuple[Queries, list[str]]:
    prefetch: dict[str, Any] = {
        "query": VECTOR,
        "filter": {"must": [{"key": REMEDY, "match": {"value": remedy}}]},
        "limit": records,
    }
    if field:
        prefetch["using"] = field
    formula = {"sum": [{"mult": ["$score", SCALE]}, {"neg": PENALTY}]}
    near = {
        "prefetch": prefetch,
        "query": {"formula": formula, "defaults": {SCALE: 1.0, PENALTY: 0.0}},
        "group_by": PARENT, "group_size": 1, "limit": k, "with_payload": [PARENT],
    }  # fmt: skip
    exact = near | {"prefetch": prefetch | {"params": {"exact": True}}}
    path = f"POST /collections/{collection}/points/query/groups"
    holds = f"{EXACT} Where `prefetch.limit` is no less than the records that the filter shows."
    return [(EVERY, holds, path, exact), (NEAREST, NEAR.format(n=records), path, near)], [
        f"{VECTOR} {CORRECTED} into `prefetch.filter.must`.",
        f"Index the payload: {REMEDY} and {PARENT} as keyword, {SCALE} and {PENALTY} as float. "
        "Needs Qdrant 1.14.",
        "BM25 is not in the records: fuse with `argus.BlendedRetriever`, which has the index's.",
        "Tested in the client's local mode; never run against a server.",
    ]


def _search_engine(
    engine: str,
    collection: str,
    remedy: str,
    field: str,
    k: int,
    records: int,
    bm25: float,
    text_fields: tuple[str, ...],
) -> tuple[Queries, list[str]]:
    """Return the queries and notes of Elasticsearch or OpenSearch."""
    is_elastic = engine == "elasticsearch"
    of_remedy = {"term": {REMEDY: remedy}}
    words = {"multi_match": {"query": QUERY, "fields": list(text_fields)}}
    worded = {"bool": {"must": [words], "filter": [of_remedy]}}
    knn: dict[str, Any]
    if is_elastic:
        vector, at, kind = "query_vector", f"'{field}'", "dense_vector"
        knn = {"field": field, "query_vector": VECTOR, "k": records, "num_candidates": records,
               "filter": of_remedy}  # fmt: skip
    else:
        vector, at, kind = "query_value", f"doc['{field}']", "knn_vector"
        knn = {field: {"vector": VECTOR, "k": records, "filter": of_remedy}}
    source = (
        f"cosineSimilarity(params.{vector}, {at}) * doc['{SCALE}'].value - doc['{PENALTY}'].value "
        "+ params.shift"
    )
    script = {"source": source, "params": {vector: VECTOR, "shift": SHIFT}}
    every, near = (
        {"script_score": {"query": query, "script": script}}
        for query in ({"bool": {"filter": [of_remedy]}}, {"knn": knn})
    )
    path = f"POST /{collection}/_search"
    ending = {"size": k, "_source": [PARENT], "collapse": {"field": PARENT}}
    queries: Queries = [
        (EVERY, EXACT, path, {"query": every} | ending),
        (NEAREST, NEAR.format(n=records), path, {"query": near} | ending),
    ]
    notes = [
        f"{VECTOR} {CORRECTED} beside the term of the remedy.",
        f"Mapping: {REMEDY}, {PARENT} and {KIND} as keyword, {SCALE} and {PENALTY} as double, "
        f"{field} as {kind}.",
        f"Scores are {SHIFT:g} higher than the blend's, since none may be below zero.",
    ]
    fused: dict[str, Any]
    if is_elastic:
        retrievers = [
            {"retriever": {"standard": {"query": query}}, "weight": round(weight, 4),
             "normalizer": "minmax"}
            for query, weight in ((every, 1 - bm25), (worded, bm25))
        ]  # fmt: skip
        fused = {"retriever": {"linear": {"rank_window_size": records, "retrievers": retrievers}}}
        fused_path = path
        notes.append(
            "Fused in the engine: Elasticsearch 8.18 and later. The first two: 8.12 and later."
        )
    else:
        fused = {"query": {"hybrid": {"queries": [every, worded], "pagination_depth": records}}}
        fused_path = f"{path}?search_pipeline=argus_blend"
        notes += [
            "The pipeline argus_blend: PUT /_search/pipeline/argus_blend with "
            '{"phase_results_processors": [{"normalization-processor": {"normalization": '
            '{"technique": "min_max"}, "combination": {"technique": "arithmetic_mean", '
            f'"parameters": {{"weights": [{1 - bm25:.4g}, {bm25:.4g}]}}}}}}}}]}}.',
            "Fused in the engine: OpenSearch 3.1 and later, which collapses hybrid queries.",
        ]
    if bm25:
        queries.append(("with BM25", WORDS.format(n=records), fused_path, fused | ending))
    return queries, [*notes, UNTRIED]
