"""Endpoints that YAML describes: an unknown engine, all it may do wrong, and the presets.

Requests and answers are those that the engines document; none of the products was run.
"""

import json
from pathlib import Path

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
        ((200, {"found": {"doc": 1}}), "without 'meta.doc'"),
        ((200, {"found": ["tea"]}), "answered in another shape: 'tea' at answer"),
        ((200, {"found": [{"meta": {"doc": "a"}, "weight": "high"}]}), "the score 'high'"),
        ((200, b'{"found": [{"meta": {"doc": "a"}, "weight": NaN}]}'), "the score nan"),
        ((200, b"[" * 100_000), "answered with no JSON"),
        ((200, b'{"found": [{"meta": {"doc": "a"}, "weight": 1%s}]}' % (b"0" * 400)), "the score"),
        ((200, 3), "answered with int, not an object"),
        ((200, {"found": [{"meta": {"doc": ["a"]}}]}), "the id .*neither text nor a whole number"),
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
            for url in ("http://u:p@h:99999/{query}", "ftp://h/{query}", "http://{query}.org/")
        ),
    ],
)
def test_a_description_that_is_wrong_says_where(tmp_path, text, problem):
    file = tmp_path / "engine.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) as error, opened(f"http:{file}"):
        pass
    assert "u:p" not in str(error.value)


# By preset: the request and the answer that its engine documents, for one query.
ENGINES = json.loads((Path(__file__).parent / "engines.json").read_text())


def without_vectors(value):
    if isinstance(value, dict):
        return {name: without_vectors(inner) for name, inner in value.items()}
    if isinstance(value, list) and len(value) == 384 and all(isinstance(x, float) for x in value):
        return "<vector>"
    return [without_vectors(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("preset", presets())
def test_a_preset_speaks_as_its_engine_documents(preset, server, tmp_path, monkeypatch, documents):
    engine = ENGINES[preset]
    monkeypatch.setenv("TYPESENSE_API_KEY", "secret-key")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    server.reply = lambda *_: (200, engine["answer"])
    file = tmp_path / "engine.yaml"
    file.write_text(f"preset: {preset}\nset: {{address: '{server.address}', {engine['set']}}}\n")
    with opened(f"http:{file}", documents=documents) as source:
        answers = source.ask([Query("q", 'hot "leaves", {k}')], 2)
    assert answers.run == {"q": {"coffee": 2.0, "ska": 1.0}} and not answers.failed
    ((path, parameters, body, headers),) = server.requests
    assert (path, parameters) == (engine["path"], engine["parameters"])
    assert without_vectors(body) == engine["body"] and headers.items() >= engine["headers"].items()
