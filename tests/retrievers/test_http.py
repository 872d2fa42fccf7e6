"""Endpoints that YAML describes: an unknown engine, all it may do wrong, and the presets.

The server checks the shapes that the engines document; none of the products themselves was run.
"""

from __future__ import annotations

import json
import re

import pytest

from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.retrievers import http as module
from argus.retrievers.config import AskingConfig
from argus.retrievers.http import presets
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words

QUERIES = [Query(f"q{i}", f"hot leaves {i}") for i in range(8)]


SPEC = """
url: {address}/find
headers: {{X-Key: "${{ENGINE_KEY}}"}}
body: {{q: "{{query}}", n: "{{k}}"}}
answer: {{results: "found[]", id: meta.doc, score: weight}}
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "BACKOFF_S", 0.01)
    monkeypatch.setenv("ENGINE_KEY", "a-very-secret-key")


@pytest.fixture
def engine(server, tmp_path):
    def reply(path, parameters, body, headers):
        assert path == "/find" and headers["x-key"] == "a-very-secret-key"
        found = [{"meta": {"doc": id_}, "weight": s} for id_, s in by_words(body["q"], body["n"])]
        return 200, {"found": found}

    server.reply = reply
    file = tmp_path / "engine.yaml"
    file.write_text(SPEC.format(address=server.address))
    server.spec = f"http:{file}"
    server.file = file
    return server


def ask(engine, config=None):
    with opened(engine.spec, config=config) as source:
        return source.ask(QUERIES, 3)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((200, b"<html>"), "answered with no JSON: '<html>'"),
        ((200, {"error": "no shard"}), "without 'found\\[\\]'.*no shard"),
        ((200, {"found": None}), "without 'found\\[\\]'"),
        ((200, {"found": {"doc": 1}}), "without 'meta.doc'"),
        ((200, {"found": ["tea"]}), "answered in another shape: 'tea' at answer"),
        ((200, {"found": [{"meta": {}}]}), "without 'meta.doc'"),
        ((200, {"found": [{"meta": {"doc": "a"}, "weight": "high"}]}), "the score 'high'"),
        ((200, b'{"found": [{"meta": {"doc": "a"}, "weight": NaN}]}'), "the score nan"),
        ((200, b"[" * 100_000), "answered with no JSON"),
        ((200, b'{"found": [{"meta": {"doc": "a"}, "weight": 1%s}]}' % (b"0" * 400)), "the score"),
        ((200, 3), "answered with int, not an object"),
        ((200, {"found": [{"meta": {"doc": ["a"]}}]}), "the id .*neither text nor a whole number"),
        ((200, {"found": [{"meta": {"doc": {"a": 1}}}]}), "neither text nor a whole number"),
        ((200, {"found": [{"meta": {"doc": True}}]}), "the id true, neither text"),
        ((200, {"found": [{"meta": {"doc": ""}}]}), 'the id "", neither text'),
        ((206, {"found": [{"meta": {"doc": "tea"}}]}), "refused with HTTP 206"),
        ((400, {"error": "a-very-secret-key is odd"}), "HTTP 400: .*\\*\\*\\* is odd"),
        ((503, {}), "no answer in 3 attempts; last: HTTP 503"),
    ],
)
def test_what_is_no_answer_fails_the_query(engine, reply, reason):
    good = engine.reply
    engine.reply = lambda path, p, body, h: reply if "3" in body["q"] else good(path, p, body, h)
    answers = ask(engine)
    assert set(answers.failed) == {"q3"} and len(answers.run) == len(QUERIES) - 1
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(answers.failed["q3"])


@pytest.mark.parametrize(
    "reply",
    [
        (200, {"found": [{"meta": {"doc": "a"}, "weight": "a-very-secret-key"}]}),
        (200, {"found": ["a-very-secret-key"]}),
        (200, {"problem": "a-very-secret-key"}),
        (400, {"error": "x" * 278 + " a-very-secret-key"}),
        (200, b"x" * 50 + b"a-very-secret-key"),
    ],
)
def test_no_reason_holds_a_key_or_part_of_it(engine, reply):
    engine.reply = lambda *_: reply
    reasons = ask(engine).failed.values()
    assert len(reasons) == len(QUERIES) and not any("a-very" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((401, {"error": "key a-very-secret-key is wrong"}), "refused with HTTP 401"),
        ((404, {}), "refused with HTTP 404"),
        ((302, {}, {"location": "/elsewhere?key=1"}), "HTTP 302: a redirect to .*/elsewhere[.]"),
    ],
)
def test_a_refusal_of_all_stops_at_once_without_the_key(engine, reply, reason):
    engine.reply = lambda *_: reply
    with pytest.raises(ArgusError, match=reason) as error:
        ask(engine, AskingConfig(at_once=1))
    assert "a-very-secret-key" not in str(error.value) and len(engine.requests) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "nothing; expected a description of an endpoint with url, answer"),
        ("url: x", "no 'answer'"),
        ("preset: elasticsaerch-bm25", "no preset 'elasticsaerch-bm25'.*Did you mean 'elastic"),
        ("preset: elasticsearch-bm25", "nothing for {index}.*under set: index"),
        ("url: x\nanswer: {results: r, id: i}", "a request without a query"),
        ("url: 'x{query}'\nanswer: {results: 'r..', id: i}", "r.. is no path|'r..' is no path"),
        (
            "url: 'x{query}'\nanswer: {results: r, id: i}\nmethod: DELETE",
            "DELETE.*GET, POST or PUT",
        ),
        ("url: 'x{vector}'\nanswer: {results: r, id: i}", "{vector} without an encoder"),
        (
            "url: 'x{query}${UNSET_KEY}'\nanswer: {results: r, id: i}",
            "variable UNSET_KEY is not set",
        ),
        ("url: [", "broken YAML"),
        (
            "url: 'x{query}'\nanswer: {results: r, id: i}\nheaders: {X-Query: 'q={query}'}",
            "{query} in a header",
        ),
        ("url: 'x{query}'\nanswer: {results: r, id: i}\nheaders: {X: é}", "no HTTP header can"),
        *(
            (f"url: '{url}'\nanswer: {{results: r, id: i}}", "line 1.*an address such as")
            for url in (
                "http://u:p@h:99999/{query}",
                "ftp://h/{query}",
                "{query}",
                "//h/{query}",
                "http://{query}.org/",
                "http://h:{k}/{query}",
                "http://[::1/{query}",
            )
        ),
    ],
)
def test_a_description_that_is_wrong_says_where(tmp_path, text, problem):
    file = tmp_path / "engine.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) as error, opened(f"http:{file}"):
        pass
    assert "u:p" not in str(error.value)


DIM = 384
ASKED = [Query("q1", 'hot "leaves"'), Query("q2", "jamaica, {k} reggae")]


def hits(query: str, k: int) -> list[dict]:
    return [{"_id": id_, "_score": score} for id_, score in by_words(query, k)]


def is_vector(value) -> bool:
    return len(value) == DIM and all(isinstance(x, float) for x in value)


def search_api(body, parameters, headers):
    """Elasticsearch's and OpenSearch's /INDEX/_search, as far as the presets speak it."""
    assert body["_source"] is False
    words = []

    def walk(value, key=""):
        if key == "multi_match":
            assert set(value) == {"query", "fields"} and isinstance(value["fields"], list)
            words.append(value["query"])
        elif key == "knn" and "query_vector" in value:  # Elasticsearch
            assert set(value) == {"field", "query_vector", "k", "num_candidates"}
            assert value["k"] <= value["num_candidates"] and is_vector(value["query_vector"])
        elif key == "knn":  # OpenSearch: by field
            ((field, inner),) = value.items()
            assert (
                field == "vector" and set(inner) == {"vector", "k"} and is_vector(inner["vector"])
            )
        elif key == "rrf":
            assert body["size"] <= value["rank_window_size"]
            walk(value["retrievers"])
        elif isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, name)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    assert ("query" in body) + ("knn" in body) + ("retriever" in body) == 1
    walk(body)
    if "hybrid" in body.get("query", {}):
        assert parameters["search_pipeline"] == "fuse"
    return {"hits": {"hits": hits(words[0] if words else "jamaica,", body["size"])}}


def vespa(body, parameters, headers):
    assert re.fullmatch(r"select \* from docs where userQuery\(\)", body["yql"])
    children = [
        {"id": f"id:docs:docs::{id_}", "relevance": score, "fields": {"doc_id": id_}}
        for id_, score in by_words(body["query"], body["hits"])
    ]
    return {"root": {"children": children}}


def typesense(body, parameters, headers):
    assert body is None and headers["x-typesense-api-key"] == "secret-key"
    assert parameters["query_by"] == "title,text"
    found = by_words(parameters["q"], int(parameters["per_page"]))
    return {"hits": [{"document": {"id": id_}, "text_match": int(s)} for id_, s in found]}


def weaviate(body, parameters, headers):
    match = re.fullmatch(
        r'\{ Get \{ Docs\(hybrid: \{ query: (".*"), alpha: 0\.5 \}, limit: (\d+)\) '
        r"\{ doc_id _additional \{ id score \} \} \} \}",
        body["query"],
    )
    found = by_words(json.loads(match[1]), int(match[2]))
    return {
        "data": {"Get": {"Docs": [
            {"doc_id": id_, "_additional": {"id": "uuid", "score": str(s)}} for id_, s in found
        ]}}
    }  # fmt: skip


def vector_store(body, parameters, headers):
    assert headers["authorization"] == "Bearer secret-key" and body["rewrite_query"] is False
    assert set(body) == {"query", "max_num_results", "rewrite_query"}
    found = by_words(body["query"], body["max_num_results"])
    return {"data": [{"file_id": id_, "score": s, "attributes": {}} for id_, s in found]}


INDEX = "index: docs"


ENGINES = {
    "elasticsearch-bm25": ("/docs/_search", INDEX, search_api),
    "elasticsearch-knn": ("/docs/_search", INDEX, search_api),
    "elasticsearch-hybrid": ("/docs/_search", INDEX, search_api),
    "opensearch-bm25": ("/docs/_search", INDEX, search_api),
    "opensearch-knn": ("/docs/_search", INDEX, search_api),
    "opensearch-hybrid": ("/docs/_search", f"{INDEX}, pipeline: fuse", search_api),
    "vespa": ("/search/", "schema: docs", vespa),
    "typesense": ("/collections/docs/documents/search", "collection: docs", typesense),
    "weaviate": ("/v1/graphql", "class: Docs", weaviate),
    "openai-vector-store": ("/vector_stores/vs_1/search", "store: vs_1", vector_store),
}


@pytest.mark.parametrize("preset", presets())
def test_a_preset_speaks_as_its_engine_documents(preset, server, tmp_path, monkeypatch, documents):
    path, words, engine = ENGINES[preset]
    monkeypatch.setenv("TYPESENSE_API_KEY", "secret-key")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")

    def reply(at, parameters, body, headers):
        assert at == path
        return 200, engine(body, parameters, headers)

    server.reply = reply
    file = tmp_path / "engine.yaml"
    file.write_text(f"preset: {preset}\nset: {{address: '{server.address}', {words}}}\n")
    with opened(f"http:{file}", documents=documents) as source:
        answers = source.ask(ASKED, 2)
    assert not answers.failed
    firsts = [next(iter(answers.run[q.id])) for q in ASKED]
    assert firsts == (["ska", "ska"] if preset.endswith("-knn") else ["coffee", "ska"])
    assert all(len(scores) == 2 for scores in answers.run.values())
