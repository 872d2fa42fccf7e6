"""The presets send what the engines document, and read what they document to answer.

The server checks the documented shapes; none of the products themselves was run.
"""

from __future__ import annotations

import json
import re

import pytest

from argus.data.types import Query
from argus.retrievers.http.load import presets
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words

DIM = 384
QUERIES = [Query("q1", 'hot "leaves"'), Query("q2", "jamaica, {k} reggae")]


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


def test_every_preset_is_tried():
    assert set(ENGINES) == set(presets())


@pytest.mark.parametrize("preset", ENGINES)
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
        answers = source.ask(QUERIES, 2)
    assert not answers.failed
    firsts = [next(iter(answers.run[q.id])) for q in QUERIES]
    assert firsts == (["ska", "ska"] if preset.endswith("-knn") else ["coffee", "ska"])
    assert all(len(scores) == 2 for scores in answers.run.values())
