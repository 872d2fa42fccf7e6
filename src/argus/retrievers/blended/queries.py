"""The query that an engine needs to serve a blend itself, over the records that hold it.

A document's score is `max(cosine · argus_scale - argus_penalty)` over its records. Of each engine
there is a query that scores every record, equal to the blend without BM25, one that scores those
that an approximate search brings, and where the engine can, one with words in it. What is equal and
what is near stands beside each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

from typing_extensions import TypedDict

from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.retrievers.blended.fields import KIND, PARENT, PENALTY, REMEDY, SCALE
from argus.settings import TOP_K

Engine = Literal["pgvector", "qdrant", "elasticsearch", "opensearch"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
VECTOR = "{vector}"
"""Where the query's vector stands in JSON, corrected if the index corrects queries; `{query}`: its
text."""
QUERY = "{query}"
RECORDS = 1000
"""Records that an approximate search brings."""
SHIFT = 2.0
"""Added to scores where none may be below zero: a cosine is at least -1, a penalty at most 1."""
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


@dataclass(frozen=True)
class EngineQuery:
    """One query. holds: what it is equal to, or near. request: method and path, "" of SQL."""

    name: str
    holds: str
    request: str
    body: str | Mapping[str, Any]


@dataclass(frozen=True)
class EngineQueries:
    """The queries of one engine. notes: what it needs, and what was tried."""

    engine: Engine
    collection: str
    remedy: str
    k: int
    queries: tuple[EngineQuery, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> EngineQueriesRecord:
        """Return everything as plain JSON values."""
        return cast(EngineQueriesRecord, asdict(self))

    def markdown(self) -> str:
        """Return them as a section of Markdown."""
        lines = [f"## {self.engine}: {self.remedy} in {self.collection}", ""]
        lines += [f"* {note}" for note in self.notes]
        for query in self.queries:
            lines += ["", f"### {query.name}", "", query.holds, "", *_block(query)]
        return "\n".join(lines) + "\n"


class EngineQueryRecord(TypedDict):
    """See `EngineQuery`."""

    name: str
    holds: str
    request: str
    body: str | dict[str, Any]


class EngineQueriesRecord(TypedDict):
    """See `EngineQueries`."""

    engine: str
    collection: str
    remedy: str
    k: int
    queries: list[EngineQueryRecord]
    notes: list[str]


@dataclass(frozen=True)
class _Of:
    """What the queries are made of."""

    collection: str
    remedy: str
    field: str
    k: int
    records: int
    bm25: float
    text_fields: tuple[str, ...]


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

    collection: of the records. field: that holds their vectors; None takes the usual name. records:
    that an approximate search brings. blend: how much BM25 counts. text_fields: what is searched by
    words. Raises InputError for another engine.
    """
    if engine not in _MAKERS:
        raise InputError(
            f"engine {engine!r}", expected=f"one of {', '.join(ENGINES)}",
            fix="For any other, rank with argus.BlendedRetriever.", where="--engine",
        )  # fmt: skip
    usual, maker = _MAKERS[engine]
    bm25 = (blend or Blend()).bm25
    of = _Of(collection, remedy, usual if field is None else field, k, records, bm25, text_fields)
    queries, notes = maker(of)
    return EngineQueries(cast(Engine, engine), collection, remedy, k, queries, notes)


Made = tuple[tuple[EngineQuery, ...], tuple[str, ...]]


def _pgvector(of: _Of) -> Made:
    field, table = _name(of.field), ".".join(map(_name, of.collection.split(".")))
    score = f"(1 - ({field} <=> $1)) * {SCALE} - {PENALTY}"
    where = f"WHERE {REMEDY} = {_literal(of.remedy)}  -- AND your own filter"
    order = f'ORDER BY score DESC, {PARENT} COLLATE "C"\nLIMIT {of.k}'
    exact = (
        f"SELECT {PARENT}, max({score}) AS score\nFROM {table}\n{where}\nGROUP BY {PARENT}\n{order}"
    )
    near = (
        f"WITH nearest AS (\n  SELECT {PARENT}, {score} AS score\n  FROM {table}\n  {where}\n"
        f"  ORDER BY {field} <=> $1\n  LIMIT {of.records}\n)\n"
        f"SELECT {PARENT}, max(score) AS score\nFROM nearest\nGROUP BY {PARENT}\n{order}"
    )
    queries = (
        EngineQuery("every record", EXACT, "", exact),
        EngineQuery("the nearest records", NEAR.format(n=of.records), "", near),
    )
    return queries, (
        "$1 is the query's vector, as a `vector`; corrected, if the index corrects queries.",
        "With an HNSW index set `hnsw.iterative_scan = strict_order`, or `hnsw.ef_search` to as "
        "many as the inner LIMIT: else it brings 40 records.",
        "PostgreSQL has no BM25: fuse with `argus.BlendedRetriever`, which has the index's.",
        "Tested against PostgreSQL 18 with pgvector 0.8.",
    )


def _qdrant(of: _Of) -> Made:
    def body(*, exact: bool) -> dict[str, Any]:
        prefetch: dict[str, Any] = {
            "query": VECTOR,
            "filter": {"must": [{"key": REMEDY, "match": {"value": of.remedy}}]},
            "limit": of.records,
        }
        if of.field:
            prefetch["using"] = of.field
        if exact:
            prefetch["params"] = {"exact": True}
        formula = {"sum": [{"mult": ["$score", SCALE]}, {"neg": PENALTY}]}
        return {
            "prefetch": prefetch,
            "query": {"formula": formula, "defaults": {SCALE: 1.0, PENALTY: 0.0}},
            "group_by": PARENT, "group_size": 1, "limit": of.k, "with_payload": [PARENT],
        }  # fmt: skip

    path = f"POST /collections/{of.collection}/points/query/groups"
    all_ = f"{EXACT} Where `prefetch.limit` is no less than the records that the filter shows."
    return (
        EngineQuery("every record", all_, path, body(exact=True)),
        EngineQuery("the nearest records", NEAR.format(n=of.records), path, body(exact=False)),
    ), (
        f"{VECTOR} is the query's vector; corrected, if the index corrects queries. Your own "
        "filter goes into `prefetch.filter.must`.",
        f"Index the payload: {REMEDY} and {PARENT} as keyword, {SCALE} and {PENALTY} as float. "
        "Needs Qdrant 1.14.",
        "BM25 is not in the records: fuse with `argus.BlendedRetriever`, which has the index's.",
        "Tested in the client's local mode; never run against a server.",
    )  # fmt: skip


def _elasticsearch(of: _Of) -> Made:
    knn = {"knn": {"field": of.field, "query_vector": VECTOR, "k": of.records,
                   "num_candidates": of.records, "filter": _of_remedy(of)}}  # fmt: skip
    script = f"cosineSimilarity(params.query_vector, '{of.field}') * doc['{SCALE}'].value"
    every, near = (_scripted(query, script, "query_vector") for query in (_filtered(of), knn))
    parts = [(every, 1 - of.bm25), (_worded(of), of.bm25)]
    linear = {"rank_window_size": of.records, "retrievers": [
        {"retriever": {"standard": {"query": query}}, "weight": round(weight, 4),
         "normalizer": "minmax"} for query, weight in parts
    ]}  # fmt: skip
    return _searches(of, every, near, {"retriever": {"linear": linear}}, "") , (
        *_notes(of, "dense_vector"),
        "Fused in the engine: Elasticsearch 8.18 and later. The first two: 8.12 and later.",
        "Made from its documentation; never run against the product.",
    )  # fmt: skip


def _opensearch(of: _Of) -> Made:
    knn = {"knn": {of.field: {"vector": VECTOR, "k": of.records, "filter": _of_remedy(of)}}}
    script = f"cosineSimilarity(params.query_value, doc['{of.field}']) * doc['{SCALE}'].value"
    every, near = (_scripted(query, script, "query_value") for query in (_filtered(of), knn))
    hybrid = {"query": {"hybrid": {"queries": [every, _worded(of)],
                                   "pagination_depth": of.records}}}  # fmt: skip
    pipeline = (
        "The pipeline argus_blend: PUT /_search/pipeline/argus_blend with "
        '{"phase_results_processors": [{"normalization-processor": {"normalization": '
        '{"technique": "min_max"}, "combination": {"technique": "arithmetic_mean", "parameters": '
        f'{{"weights": [{1 - of.bm25:.4g}, {of.bm25:.4g}]}}}}}}}}]}}.'
    )
    return _searches(of, every, near, hybrid, "?search_pipeline=argus_blend"), (
        *_notes(of, "knn_vector"),
        pipeline,
        "Fused in the engine: OpenSearch 3.1 and later, which collapses hybrid queries.",
        "Made from its documentation; never run against the product.",
    )


def _searches(
    of: _Of, every: Any, near: Any, fused: dict[str, Any], parameters: str
) -> tuple[EngineQuery, ...]:
    path = f"POST /{of.collection}/_search"
    ending = {"size": of.k, "_source": [PARENT], "collapse": {"field": PARENT}}
    queries = [
        EngineQuery("every record", EXACT, path, {"query": every} | ending),
        EngineQuery("the nearest records", NEAR.format(n=of.records), path,
                    {"query": near} | ending),
    ]  # fmt: skip
    if of.bm25:
        holds = WORDS.format(n=of.records)
        queries.append(EngineQuery("with BM25", holds, path + parameters, fused | ending))
    return tuple(queries)


def _scripted(query: dict[str, Any], cosine: str, vector: str) -> dict[str, Any]:
    source = f"{cosine} - doc['{PENALTY}'].value + params.shift"
    script = {"source": source, "params": {vector: VECTOR, "shift": SHIFT}}
    return {"script_score": {"query": query, "script": script}}


def _of_remedy(of: _Of) -> dict[str, Any]:
    return {"term": {REMEDY: of.remedy}}


def _filtered(of: _Of) -> dict[str, Any]:
    return {"bool": {"filter": [_of_remedy(of)]}}


def _worded(of: _Of) -> dict[str, Any]:
    words = {"multi_match": {"query": QUERY, "fields": list(of.text_fields)}}
    return {"bool": {"must": [words], "filter": [_of_remedy(of)]}}


def _notes(of: _Of, kind: str) -> tuple[str, ...]:
    return (
        f"{VECTOR} is the query's vector; corrected, if the index corrects queries. Your own "
        "filter goes beside the term of the remedy.",
        f"Mapping: {REMEDY}, {PARENT} and {KIND} as keyword, {SCALE} and {PENALTY} as double, "
        f"{of.field} as {kind}.",
        f"Scores are {SHIFT:g} higher than the blend's, since none may be below zero.",
    )


_MAKERS: dict[str, tuple[str, Callable[[_Of], Made]]] = {
    "pgvector": ("embedding", _pgvector),
    "qdrant": ("", _qdrant),
    "elasticsearch": ("vector", _elasticsearch),
    "opensearch": ("vector", _opensearch),
}
"""The usual name of the field of vectors, and what makes the queries."""


def _block(query: EngineQuery) -> list[str]:
    import json

    if isinstance(query.body, str):
        return ["```sql", f"{query.body};", "```"]
    return ["```http", query.request, "", *json.dumps(query.body, indent=2).splitlines(), "```"]


def _name(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
