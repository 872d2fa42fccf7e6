"""The engines' own queries: the rankings of the index's exact blend.

pgvector and the local mode of Qdrant's client run here. Elasticsearch and OpenSearch were never
run: a stand-in checks the documented shapes, and computes their scripts.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.retrievers.engine_queries import engine_queries
from tests.support.blended import REMEDY, blended_index, defined, numbered, queries, same_ranking
from tests.support.blended_stores import in_memory, pgvector

QUERIES = queries()
ALL = 10_000


def corrected(retriever, query):
    vectors = retriever.encoder.encode_queries([query.text])
    return retriever.recipe.correct(vectors)[0]


@pytest.fixture(params=[(0, Blend()), (1, Blend(weight=0.3, hubs=1)), (2, Blend(weight=1, hubs=0))])
def blended(request, tmp_path):
    """An index of its own per blend and seed."""
    seed, blend = request.param
    return blended_index(tmp_path / "index", 40, blend, seed=seed, corrects=seed == 1)


def filled(body, query, vector):
    """Put a query's text and vector into a body."""
    if isinstance(body, dict):
        return {key: filled(value, query, vector) for key, value in body.items()}
    if isinstance(body, list):
        return [filled(value, query, vector) for value in body]
    values = {"{vector}": vector.tolist(), "{query}": query.text}
    return values.get(body, body) if isinstance(body, str) else body


def test_postgresql_ranks_as_the_index_does(blended, postgres):
    import psycopg

    name = pgvector(postgres, numbered(blended)).rpartition("/")[2]
    made = engine_queries("pgvector", f"public.{name}", REMEDY, k=20, records=ALL)
    assert [query["name"] for query in made["queries"]] == ["every record", "the nearest records"]
    with psycopg.connect(postgres, cursor_factory=psycopg.RawCursor, autocommit=True) as database:
        database.execute("SET hnsw.iterative_scan = strict_order")
        for query in QUERIES:
            vector = str(corrected(blended, query).tolist())
            for sql in made["queries"]:
                rows = database.execute(sql["body"], [vector], prepare=False).fetchall()
                assert len(rows) == 20
                same_ranking(dict(rows), defined(blended, query))


def test_qdrant_ranks_as_the_index_does(blended):
    from qdrant_client import models

    client = in_memory(numbered(blended))._client
    made = engine_queries("qdrant", "docs_argus", REMEDY, k=20, records=ALL)
    for query in QUERIES:
        for engine_query in made["queries"]:
            assert engine_query["request"] == "POST /collections/docs_argus/points/query/groups"
            body = filled(engine_query["body"], query, corrected(blended, query))
            request = models.QueryGroupsRequest.model_validate(body)
            answer = client.query_points_groups(
                "docs_argus", group_by=request.group_by, prefetch=request.prefetch,
                query=request.query, limit=request.limit, group_size=request.group_size,
                with_payload=request.with_payload,
            )  # fmt: skip
            scores = {str(group.id): group.hits[0].score for group in answer.groups}
            assert len(scores) == 20
            same_ranking(scores, defined(blended, query))


class SearchEngine:
    """/INDEX/_search of Elasticsearch or OpenSearch, as far as the queries speak it."""

    def __init__(self, records, engine):
        self.records = [f | {"_id": i, "vector": v} for i, v, f in records]
        self.engine = engine

    def scores(self, body):
        """Return the best score of each parent; scripts are computed in 64 bits."""
        assert set(body) == {"size", "_source", "collapse", "query"}
        assert body["collapse"] == {"field": "argus_parent"} and body["_source"] == ["argus_parent"]
        ((kind, inner),) = body["query"].items()
        assert kind == "script_score" and set(inner) == {"query", "script"}
        source, params = inner["script"]["source"], inner["script"]["params"]
        (vector,) = (value for name, value in params.items() if name != "shift")
        cosine, _, rest = source.partition(")" if self.engine == "elasticsearch" else "])")
        assert cosine.startswith("cosineSimilarity(params.query_v") and "vector" in cosine
        code = "cosine" + re.sub(r"doc\['(argus_\w+)'\]\.value", r"\1", rest)
        best = {}
        for record in self.matched(inner["query"]):
            near = float(np.dot(vector, record["vector"]) / np.linalg.norm(vector))
            names = {n: record[n] for n in ("argus_scale", "argus_penalty")} | {"cosine": near}
            score = eval(code.replace("params.shift", str(params["shift"])), {}, names)
            assert score >= 0, "Lucene takes no score below zero"
            parent = record["argus_parent"]
            best[parent] = max(score, best.get(parent, 0.0))
        ranked = sorted(best.items(), key=lambda pair: -pair[1])
        return dict(ranked[: body["size"]])

    def matched(self, query):
        ((kind, inner),) = query.items()
        if kind == "bool":
            assert set(inner) == {"filter"}
            return self.passed(inner["filter"][0])
        assert kind == "knn"
        if self.engine == "elasticsearch":
            assert set(inner) == {"field", "query_vector", "k", "num_candidates", "filter"}
            assert inner["k"] <= inner["num_candidates"] <= 10_000 and inner["field"] == "vector"
            vector = inner["query_vector"]
        else:
            ((field, inner),) = inner.items()
            assert set(inner) == {"vector", "k", "filter"} and field == "vector"
            vector = inner["vector"]
        near = sorted(self.passed(inner["filter"]), key=lambda r: -float(r["vector"] @ vector))
        return near[: inner["k"]]

    def passed(self, term):
        ((field, value),) = term["term"].items()
        return [record for record in self.records if record[field] == value]


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_a_search_engine_is_asked_for_the_same_ranking(engine, blended):
    others = [(f"{i}-2", np.roll(v, 1), f) for i, v, f in numbered(blended, "blend-2")]
    running = SearchEngine([*numbered(blended), *others], engine)
    made = engine_queries(engine, "docs_argus", REMEDY, k=20, records=ALL)
    for query in QUERIES[:3]:
        vector = corrected(blended, query)
        for engine_query in made["queries"][:2]:
            assert engine_query["request"] == "POST /docs_argus/_search"
            scores = running.scores(filled(engine_query["body"], query, vector))
            assert len(scores) == 20
            same_ranking({i: score - 2 for i, score in scores.items()}, defined(blended, query))


def test_another_engine_is_refused():
    with pytest.raises(InputError, match="elasticsearch") as error:
        engine_queries("solr", "docs", REMEDY)
    assert error.value.where == "--engine"
