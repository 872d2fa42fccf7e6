"""Every format of a log, as its own documentation writes it, to one record."""

import csv
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argus
from argus.data.fields import seconds
from tests.support.examples import write_rows


def write_lines(path, rows):
    write_rows(path, rows)
    return path


def read(path, **settings):
    reader = argus.traffic.read_traffic(path, argus.traffic.LogConfig(**settings))
    return list(reader), reader


def ids(exchange):
    return [result.id for result in exchange.results]


FOUND = (("d2", 0.9), ("d1", 0.4), ("d10", 0.2))


def spans():
    """Spans with attributes as OpenInference names them: a retriever's, and its parent's."""
    documents = {
        f"retrieval.documents.{i}.document.{name}": value
        for i, (id_, score) in enumerate(FOUND)
        for name, value in (("id", id_), ("score", score), ("content", f"text of {id_}"))
    }
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "what is a span?"}
    return [
        {
            "name": "retrieve",
            "start_time": "2026-03-01T10:00:00.123456789Z",
            "attributes": {**attributes, **documents, "session.id": "s1"},
        },
        {"name": "chain", "attributes": {"openinference.span.kind": "CHAIN"}},
    ]


def nested(flat):
    """Return attributes as Phoenix's API nests them, documents as a list."""
    return {
        "openinference": {"span": {"kind": flat["openinference.span.kind"]}},
        "input": {"value": flat["input.value"]},
        "session": {"id": "s1"},
        "retrieval": {
            "documents": [
                {"document": {"id": id_, "score": score, "content": "text"}} for id_, score in FOUND
            ]
        },
    }


def otlp(attributes):
    def value(one):
        if isinstance(one, list):
            return {"arrayValue": {"values": [value(inner) for inner in one]}}
        if isinstance(one, dict):
            return {
                "kvlistValue": {"values": [{"key": k, "value": value(v)} for k, v in one.items()]}
            }
        return {"doubleValue": one} if isinstance(one, float) else {"stringValue": one}

    pairs = [{"key": name, "value": value(one)} for name, one in attributes.items()]
    span = {"spanId": "0a", "startTimeUnixNano": "1772359200000000000", "attributes": pairs}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def as_phoenix_parquet(path):
    """Write spans as Phoenix's DataFrame holds them: a column an attribute, documents a list."""
    documents = [
        {"document.id": id_, "document.score": score, "document.content": "text"}
        for id_, score in FOUND
    ]
    rows = [
        {
            "span_kind": "RETRIEVER", "attributes.input.value": "what is a span?",
            "attributes.session.id": "s1", "attributes.retrieval.documents": documents,
            "start_time": "2026-03-01T10:00:00+00:00",
        },
        {"span_kind": "LLM", "attributes.input.value": "x"},
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_flat_csv(path):
    flat = spans()[0]["attributes"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["start_time", *(f"attributes.{name}" for name in flat)])
        writer.writerow(["2026-03-01T10:00:00", *flat.values()])
    return path


@pytest.mark.parametrize("shape", ["lines", "nested", "page", "otlp", "parquet", "csv", "text"])
def test_an_openinference_span_is_read_in_every_shape(tmp_path, shape):
    both, path = spans(), tmp_path / "spans.json"
    if shape == "lines":
        write_lines(path, both)
    elif shape == "nested":
        both[0]["attributes"] = nested(both[0]["attributes"])
        write_lines(path, both)
    elif shape == "page":
        path.write_text(json.dumps({"data": both, "next_cursor": None}))
    elif shape == "otlp":
        path.write_text(json.dumps(otlp(both[0]["attributes"]), indent=1))
    elif shape == "parquet":
        path = as_phoenix_parquet(tmp_path / "spans.parquet")
    elif shape == "csv":
        path = as_flat_csv(tmp_path / "spans.csv")
    else:  # documents as JSON in a text, as attributes of other tracers hold them
        documents = [{"document.id": "d2", "document.score": 0.9}, {"document.id": "d1"},
                     {"document.id": "d10"}]  # fmt: skip
        kinds = {"openinference.span.kind": "RETRIEVER", "input.value": "what is a span?",
                 "session.id": "s1", "retrieval.documents": json.dumps(documents)}  # fmt: skip
        write_lines(path, [{"attributes": kinds, "start_time": "2026-03-01T10:00:00Z"}, both[1]])
    exchanges, reader = read(path)
    assert [ids(one) for one in exchanges] == [["d2", "d1", "d10"]]
    one = exchanges[0]
    assert one.query == "what is a span?" and int(one.at) == 1772359200
    assert one.results[0].score == 0.9
    assert set(reader.tally.files.values()) == {"spans"}
    if shape not in ("otlp", "csv"):
        assert sum(reader.tally.skipped.values()) == 1


def test_question_time_and_results_are_found_inside_objects(tmp_path):
    hits = [{"chunk": {"id": id_, "text": "a query"}} for id_, _ in FOUND]
    event = {"request": {"user": "u1", "query": "what is a span?"}, "response": {"hits": hits}}
    row = {"level": "info", "event": {"at": "2026-03-01T10:00:00Z", **event}}
    (one,), _ = read(write_lines(tmp_path / "log.jsonl", [row]))
    assert (one.query, int(one.at), ids(one)) == (
        "what is a span?",
        1772359200,
        ["d2", "d1", "d10"],
    )


@pytest.mark.parametrize("flat", [True, False])
def test_a_gen_ai_span_is_read(tmp_path, flat):
    documents = [{"id": "d7", "score": 0.8}, {"id": "d8", "score": 0.5}]
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "how are goods taxed?",
        "gen_ai.retrieval.documents": json.dumps(documents) if flat else documents,
    }
    row = {"attributes": attributes, "start_time": 1772359200} if flat else otlp(attributes)
    (one,), _ = read(write_lines(tmp_path / "spans.jsonl", [row]))
    assert ids(one) == ["d7", "d8"]
    assert one.query == "how are goods taxed?" and one.at == 1772359200


def test_ubi_events_are_joined_to_queries(tmp_path):
    home = tmp_path / "ubi"
    home.mkdir()
    query = {
        "query_id": "1", "client_id": "c", "user_query": "toner", "timestamp": 1772359200000,
        "query_response_hit_ids": ["p1", "p2", "p3"], "application": "shop",
    }  # fmt: skip
    event = {"action_name": "item_click", "query_id": "1", "client_id": "c"}
    event["event_attributes"] = {"object": {"object_id": "p3"}, "position": {"ordinal": 3}}
    write_lines(home / "ubi_events.jsonl", [{"_source": event}, {**event, "action_name": "hover"},
                                            {**event, "query_id": "9"}])  # fmt: skip
    write_lines(home / "ubi_queries.jsonl", [query, {**query, "query_id": "2"}])
    result = argus.audit_traffic(home, out=tmp_path / "out")
    feedback = result.summary["feedback"]
    assert feedback["unknown"] == 1
    assert feedback["clicked"]["share"] == 0.5
    assert result.summary["log"]["skipped"] == {"events of no interest (hover)": 1}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"user_input": "q", "retrieved_context_ids": ["a", "b"], "response": "r"}, ["a", "b"]),
        ({"user_input": [{"type": "human", "content": "q"}, {"type": "ai", "content": "no"}],
          "retrieved_contexts": ["one text"], "reference": "r"}, [""]),
        ({"question": "q", "contexts": "['one', 'two']", "ground_truth": "x"}, ["", ""]),
    ],
)  # fmt: skip
def test_a_ragas_sample_is_read(tmp_path, row, expected):
    (one,), reader = read(write_lines(tmp_path / "set.jsonl", [row]))
    assert ids(one) == expected and one.query == "q"
    assert [*reader.tally.files.values()] == ["plain"]


def test_a_deepeval_data_set_is_matched_by_text(tmp_path):
    path = tmp_path / "goldens.json"
    rows = [{"input": "capital?", "actual_output": "Bern", "expected_output": "Bern",
             "retrieval_context": ["Bern is the capital.", "Not ours."]}]  # fmt: skip
    path.write_text(json.dumps(rows, indent=2))
    documents = [argus.Document("d1", "Bern is the capital."), argus.Document("d2", "Other.")]
    result = argus.audit_traffic(path, out=tmp_path / "out", corpus=documents)
    served = result.summary["documents"]
    assert served["unknown"] == 1 and served["never"] == 1
    assert served["hubs"][0]["id"] == "d1"


PLAIN = {"query": "how?", "ts": "2026-03-01 10:00:00", "hits": "d1, d2", "rating": "5"}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "jsonl.gz", "parquet"])
def test_a_plain_log_is_read_in_every_file_format(tmp_path, ending):
    path = tmp_path / f"log.{ending}"
    if ending in ("csv", "tsv"):
        with path.open("w", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if ending == "tsv" else ",")
            writer.writerows([PLAIN.keys(), PLAIN.values()])
    elif ending == "parquet":
        pq.write_table(pa.Table.from_pylist([PLAIN]), path)
    else:
        text = json.dumps(PLAIN).encode()
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    (one,), reader = read(path, good_from=4)
    assert one.query == "how?" and one.at == 1772359200
    assert ids(one) == ["d1", "d2"] and (one.good, one.bad) == (1, 0)
    assert not reader.tally.skipped


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T10:00:00Z", 1772359200), ("2026-03-01T11:00:00+01:00", 1772359200),
        (1772359200, 1772359200), ("1772359200000", 1772359200), (1772359200 * 10**9, 1772359200),
        ("01/Mar/2026:10:00:00 +0000", 1772359200), ("soon", None), (float("nan"), None),
        (20260301, 1772323200), ("20260301", 1772323200), (20260301.0, 1772323200),
        ("202603011000", 1772359200), (20260301100000, 1772359200), ("19991231", 946598400),
        ("2026", None), (2026, None), ("202603", None), (20261301, None), (1000, None),
        (1_140_000_000, 1_140_000_000), (1_772_359_200.5, 1_772_359_200.5), (2026.5, None),
        (True, None), (-5, None), ("9999-01-01", None), (10**400, None), ("²", None),
    ],
)  # fmt: skip
def test_times_are_read_as_logs_write_them(value, expected):
    assert seconds(value) == expected
