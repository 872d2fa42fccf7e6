"""Endpoints that YAML describes: an unknown engine, all it may do wrong, and the presets.

The server checks the shapes that the engines document; none of the products themselves was run.
"""

from __future__ import annotations

import json
import re
from contextlib import closing

import numpy as np
import pytest

from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.indexes.recipe import CORRECTION, QueryCorrection
from argus.retrievers import http as module
from argus.retrievers.config import AskingConfig
from argus.retrievers.http import HttpRetriever, load_endpoint, presets
from argus.retrievers.opening import OpenRetriever, opened
from argus.retrievers.session import AskingLoop
from tests.retrievers.conftest import by_words
from tests.support.retrievable import Picky

QUERIES = [Query(f"q{i}", f"hot leaves {i}") for i in range(8)]


SPEC = """
url: {address}/find
headers: {{X-Key: "${{ENGINE_KEY}}"}}
body: {{q: "{{query}}", n: "{{k}}"}}
answer: {{results: "found[]", id: meta.doc, score: weight}}
timeout_s: 60
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


def test_an_unknown_engine_needs_no_python(engine):
    answers = ask(engine)
    assert not answers.failed and len(engine.requests) == len(QUERIES)
    assert answers.run["q0"] == {"tea": 2.0, "coffee": 1.0, "ska": 0.0}


def test_pages_are_followed_until_k(engine):
    def reply(path, parameters, body, headers):
        start = int(body.get("from", 0))
        found = by_words(body["q"], 3)[start : start + body["n"]]
        more = str(start + body["n"]) if start + body["n"] < 3 else None
        return 200, {"found": [{"meta": {"doc": i}, "weight": s} for i, s in found], "next": more}

    engine.reply = reply
    text = SPEC.format(address=engine.address).replace('n: "{k}"', 'n: "{k}", from: "{page}"')
    engine.file.write_text(text + "paging: {next: next, size: 2}\n")
    answers = ask(engine)
    assert all(list(scores) == ["tea", "coffee", "ska"] for scores in answers.run.values())
    assert len(engine.requests) == 2 * len(QUERIES)
    engine.reply = lambda path, parameters, body, headers: (
        200, {"found": [{"meta": {"doc": "tea"}}], "next": "again"}
    )  # fmt: skip
    assert ask(engine).failed["q0"] == "pages in circles: 'again' came a second time"


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
        ((200, {"found": [{"meta": {"doc": "Key a-very-secret-key"}}]}), "repeats a key of the"),
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


def test_answers_of_another_address_or_key_are_asked_for(engine, tmp_path, monkeypatch):
    def kept(config=None):
        with opened(engine.spec, config=config, cache=tmp_path / "answers.sqlite") as source:
            return source.ask(QUERIES[:2], 3).kept

    assert (kept(), kept(AskingConfig(at_once=3))) == (0, 2)
    good = engine.reply
    engine.reply = lambda p, q, body, h: good(p, q, body, {"x-key": "a-very-secret-key"})
    monkeypatch.setenv("ENGINE_KEY", "another-tenants-key")
    assert kept() == 0


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


@pytest.mark.parametrize("status", [400, 401])
def test_a_key_in_the_body_is_not_repeated(engine, status):
    text = engine.file.read_text().replace(
        "q: ", "api_key: key-of-body, auth: {by: [in-a-list]}, q: "
    )
    engine.file.write_text(text + "parameters: {filter: {token: deep-token}}\n")
    content = "key-of-body in-a-list deep-token"
    spelled = "".join(f"\\u{ord(c):04X}" for c in "key-of-body a-very-secret-key")
    engine.reply = lambda *_: (status, f'{{"error": "wrong: {content} {spelled}"}}'.encode())
    try:
        told = str(ask(engine).failed)
    except ArgusError as refused:
        told = str(refused)
    assert f"HTTP {status}" in told and "wrong: *** *** *** ***" in told


def test_what_is_named_like_no_key_is_read(engine):
    text = engine.file.read_text().replace("q: ", "author: everybody, keywords: [everybody], q: ")
    engine.file.write_text(text)
    engine.reply = lambda *_: (200, {"found": [{"meta": {"doc": "everybody"}}]})
    assert list(ask(engine).run["q0"]) == ["everybody"]


def test_a_key_that_no_header_carries_is_told_by_its_name(engine, monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", "a-very-secret-key\r")
    with pytest.raises(InputError, match="ENGINE_KEY") as error:
        ask(engine)
    assert "a-very-secret" not in str(error.value)


def test_a_pause_that_the_server_asks_for_fails_no_query(engine):
    good, refused = engine.reply, []

    def reply(*request):
        if len(refused) < 4:
            refused.append(request)
            return 429, {}, {"retry-after": "4"}
        return good(*request)

    engine.reply = reply
    answers = ask(engine, AskingConfig(timeout_s=3, at_once=4))
    assert not answers.failed and len(engine.requests) == len(QUERIES) + 4


def test_an_empty_list_is_an_answer_and_absence_may_be(engine):
    engine.reply = lambda *_: (200, {"found": []})
    assert ask(engine).run == {q.id: {} for q in QUERIES}
    text = engine.file.read_text().replace("score: weight", "score: weight, may_be_absent: true")
    engine.file.write_text(text)
    engine.reply = lambda *_: (200, {})
    assert ask(engine).run == {q.id: {} for q in QUERIES}


def test_what_stands_at_its_errors_fails_a_query(engine):
    text = engine.file.read_text().replace("score: weight", 'score: weight, errors: "errors[]"')
    engine.file.write_text(text)
    engine.reply = lambda *_: (200, {"errors": [{"message": "no class"}], "found": []})
    failed = ask(engine).failed
    assert set(failed) == {q.id for q in QUERIES} and "no class" in failed["q0"]


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


def test_a_server_that_is_down_or_hangs_is_told(engine):
    engine.delay_s = 4
    answers = ask(engine, AskingConfig(timeout_s=0.2, at_once=8))
    assert set(answers.failed.values()) == {"no answer in 0.2 s"}
    engine.close()
    with pytest.raises(ArgusError, match="8 queries in a row; the last: no answer in 3 attempts"):
        ask(engine, AskingConfig(give_up_after=8))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "an empty file; expected a description of an endpoint with url, answer"),
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
        ("url: 'x{query}{page}'\nanswer: {results: r, id: i}", "{page} or paging alone"),
        (
            "url: 'x{query}${UNSET_KEY}'\nanswer: {results: r, id: i}",
            "variable UNSET_KEY is not set",
        ),
        ("url: 'x{query}'\nanswer: {results: r, id: i}\nat_once: 0", "0; expected a whole number"),
        ("url: [", "broken YAML"),
        (
            "url: 'x{query}{page}'\nanswer: {results: r, id: i}\npaging: {next: n, size: 2}",
            "{page} within a text",
        ),
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


def test_a_text_without_a_vector_is_one_failed_query(server, tmp_path):
    file = tmp_path / "engine.yaml"
    file.write_text(
        f"url: {server.address}\nbody: {{vector: '{{vector}}'}}\nencoder: words\n"
        "answer: {results: 'hits[]', id: id}\n"
    )
    server.reply = lambda *_: (200, {"hits": [{"id": "tea"}]})
    endpoint = HttpRetriever(load_endpoint(file), "engine", encoder=Picky("reggae"))
    queries = [Query("q1", "hot leaves"), Query("q2", "reggae")]
    with closing(AskingLoop()) as loop:
        answers = OpenRetriever(endpoint, "", AskingConfig(at_once=1), loop).ask(queries, 2)
    assert list(answers.run) == ["q1"] and "too much" in answers.failed["q2"]
    assert len(server.requests) == 1 and len(server.requests[0][2]["vector"]) == 24


def test_a_vector_is_corrected_before_it_is_sent(server, tmp_path, minilm):
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=(2, minilm.dim, 2)).astype(np.float32)
    correction = QueryCorrection(u, w, 1.0, minilm.fingerprint)
    (tmp_path / "adapt").mkdir()
    correction.save(tmp_path / "adapt" / CORRECTION)
    config = AskingConfig(correction=tmp_path / "adapt", at_once=1)
    file = tmp_path / "engine.yaml"
    answer = "answer: {results: 'hits[]', id: id}\n"
    file.write_text(
        f"url: {server.address}\nbody: {{vector: '{{vector}}'}}\nencoder: {minilm.name}\n{answer}"
    )
    server.reply = lambda *_: (200, {"hits": [{"id": "tea"}]})
    with opened(f"http:{file}", config=config) as source:
        assert source.name == f"http:{file} corrected"
        assert source.ask(QUERIES[:1], 1).run["q0"] == {"tea": 1.0}
    sent = np.array(server.requests[0][2]["vector"])
    plain = minilm.encode_queries([QUERIES[0].text])
    assert sent == pytest.approx(correction.apply(plain)[0], abs=1e-5)
    assert not np.allclose(sent, plain[0], atol=1e-2)
    file.write_text(f"url: {server.address}\nbody: {{q: '{{query}}'}}\n{answer}")
    with pytest.raises(InputError, match="sends no vector"), opened(f"http:{file}", config=config):
        pass


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
