"""The engines' own queries: the rankings of the index's exact blend.

pgvector and the local mode of Qdrant's client run here. Elasticsearch and OpenSearch were never
run: a server on the loopback checks the documented shapes, and reckons their scripts.
"""

from __future__ import annotations

import ast
import json
import urllib.request

import numpy as np
import pytest

from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.retrievers.blended.queries import ENGINES, engine_queries
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
    assert [query.name for query in made.queries] == ["every record", "the nearest records"]
    with psycopg.connect(postgres, cursor_factory=psycopg.RawCursor, autocommit=True) as database:
        database.execute("SET hnsw.iterative_scan = strict_order")
        for query in QUERIES:
            vector = str(corrected(blended, query).tolist())
            for sql in made.queries:
                rows = database.execute(sql.body, [vector], prepare=False).fetchall()
                assert len(rows) == 20
                same_ranking(dict(rows), defined(blended, query))


def test_qdrant_ranks_as_the_index_does(blended):
    from qdrant_client import models

    client = in_memory(numbered(blended))._client
    made = engine_queries("qdrant", "docs_argus", REMEDY, k=20, records=ALL)
    for query in QUERIES:
        for engine_query in made.queries:
            assert engine_query.request == "POST /collections/docs_argus/points/query/groups"
            body = filled(engine_query.body, query, corrected(blended, query))
            request = models.QueryGroupsRequest.model_validate(body)
            answer = client.query_points_groups(
                "docs_argus", group_by=request.group_by, prefetch=request.prefetch,
                query=request.query, limit=request.limit, group_size=request.group_size,
                with_payload=request.with_payload,
            )  # fmt: skip
            scores = {str(group.id): group.hits[0].score for group in answer.groups}
            assert len(scores) == 20
            same_ranking(scores, defined(blended, query))


class Script:
    """Painless of one expression, reckoned in 64 bits for one record."""

    def __init__(self, source):
        self.tree = ast.parse(source, mode="eval").body

    def score(self, params, record):
        return self._value(self.tree, params, record)

    def _value(self, node, params, record):
        match node:
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() as kind, right):
                a, b = (self._value(side, params, record) for side in (left, right))
                return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(kind)]
            case ast.Call(ast.Name("cosineSimilarity"), [vector, field]):
                a, b = (np.asarray(self._value(v, params, record), float) for v in (vector, field))
                return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
            case ast.Attribute(ast.Name("params"), name):
                return params[name]
            case ast.Attribute(ast.Subscript(ast.Name("doc"), ast.Constant(name)), "value"):
                assert name in ("argus_scale", "argus_penalty")
                return record[name]
            case ast.Subscript(ast.Name("doc"), ast.Constant("vector")) | ast.Constant("vector"):
                return record["vector"]
        raise AssertionError(ast.dump(node))


class SearchEngine:
    """/INDEX/_search of Elasticsearch or OpenSearch, as far as the queries speak it."""

    def __init__(self, records, engine):
        self.records = [f | {"_id": i, "vector": v} for i, v, f in records]
        self.engine = engine

    def answer(self, body):
        assert set(body) == {"size", "_source", "collapse", "query"}
        assert body["collapse"] == {"field": "argus_parent"} and body["_source"] == ["argus_parent"]
        hits = sorted(self.scored(body["query"]), key=lambda hit: -hit[0])
        best = {}
        for score, record in hits:
            best.setdefault(record["argus_parent"], (score, record))
        rows = [
            {"_id": r["_id"], "_score": s, "_source": {"argus_parent": r["argus_parent"]}}
            for s, r in list(best.values())[: body["size"]]
        ]
        return {"hits": {"hits": rows}}

    def scored(self, query):
        ((kind, inner),) = query.items()
        assert kind == "script_score" and set(inner) == {"query", "script"}
        script = inner["script"]
        assert set(script) == {"source", "params"} and "shift" in script["params"]
        code = Script(script["source"])
        for record in self.matched(inner["query"]):
            score = np.float32(code.score(script["params"], record))
            assert score >= 0, "Lucene takes no score below zero"
            yield float(score), record

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


def posted(address, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_a_search_engine_is_asked_for_the_same_ranking(engine, blended, server):
    others = [(f"{i}-2", np.roll(v, 1), f) for i, v, f in numbered(blended, "blend-2")]
    running = SearchEngine([*numbered(blended), *others], engine)
    server.reply = lambda path, parameters, body, headers: (200, running.answer(body))
    made = engine_queries(engine, "docs_argus", REMEDY, k=20, records=ALL)
    assert any("never run against the product" in note for note in made.notes)
    for query in QUERIES[:3]:
        vector = corrected(blended, query)
        for engine_query in made.queries[:2]:
            method, path = engine_query.request.split()
            assert (method, path) == ("POST", "/docs_argus/_search")
            answer = posted(server.address + path, filled(engine_query.body, query, vector))
            rows = answer["hits"]["hits"]
            assert len(rows) == 20
            scores = {r["_source"]["argus_parent"]: r["_score"] - 2 for r in rows}
            same_ranking(scores, defined(blended, query))


def test_what_is_near_is_near_and_told_so(tmp_path):
    retriever = blended_index(tmp_path / "index", 40)
    running = SearchEngine(numbered(retriever), "elasticsearch")
    made = engine_queries("elasticsearch", "docs_argus", REMEDY, k=5, records=30)
    exact, near, fused = made.queries
    assert exact.holds.startswith("Equal") and "30 nearest" in near.holds
    assert fused.holds.startswith("Near")
    body = filled(near.body, QUERIES[0], corrected(retriever, QUERIES[0]))
    rows = running.answer(body)["hits"]["hits"]
    expected = defined(retriever, QUERIES[0])
    assert all(r["_score"] - 2 <= expected[r["_source"]["argus_parent"]] + 1e-6 for r in rows)


def test_words_are_weighed_as_the_blend_says():
    blend = Blend(bm25=0.25)
    *_, fused = engine_queries("elasticsearch", "c", REMEDY, blend=blend, records=300).queries
    linear = fused.body["retriever"]["linear"]
    assert linear["rank_window_size"] == 300 >= fused.body["size"]
    weights = [(part["weight"], part["normalizer"]) for part in linear["retrievers"]]
    assert weights == [(0.75, "minmax"), (0.25, "minmax")]
    words = linear["retrievers"][1]["retriever"]["standard"]["query"]["bool"]
    assert words["must"] == [{"multi_match": {"query": "{query}", "fields": ["title", "text"]}}]
    assert words["filter"] == [{"term": {"argus_remedy": REMEDY}}]
    made = engine_queries("opensearch", "c", REMEDY, blend=blend)
    fused = made.queries[-1]
    assert fused.request == "POST /c/_search?search_pipeline=argus_blend"
    assert len(fused.body["query"]["hybrid"]["queries"]) == 2
    (pipeline,) = [note for note in made.notes if "normalization-processor" in note]
    definition = json.loads(pipeline[pipeline.index("{") :].rstrip("."))
    (processor,) = definition["phase_results_processors"]
    combination = processor["normalization-processor"]["combination"]
    assert combination["parameters"] == {"weights": [0.75, 0.25]}
    for engine in ("elasticsearch", "opensearch"):
        assert len(engine_queries(engine, "c", REMEDY, blend=Blend(bm25=0)).queries) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_queries_are_json_and_markdown(engine):
    made = engine_queries(engine, "docs_argus", "it's", field="own", k=7)
    record = json.loads(json.dumps(made.as_dict()))
    assert record["engine"] == engine and record["k"] == 7
    text = made.markdown()
    assert all(f"### {query.name}" in text and query.holds in text for query in made.queries)
    assert "own" in text and ("'it''s'" in text or '"it\'s"' in text)


def test_another_engine_is_refused():
    with pytest.raises(InputError, match="elasticsearch") as error:
        engine_queries("solr", "docs", REMEDY)
    assert error.value.where == "--engine"
