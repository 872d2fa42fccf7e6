"""Questions and passages in the formats of DPR and KILT."""

import gzip
import json
from functools import partial

import pytest

from argus.data.documents import (
    DprPassage,
    DprResult,
    TopicFormat,
    json_items,
    read_topics,
    write_dpr,
)
from argus.data.types import Query, Topic
from argus.errors import InputError

KEYS = (("</s> Bern @@", 1, 5.5), (" old town", 12, 0.25))
RESULT = DprResult(
    Topic(Query("q7", "Where is the old town?"), ("Bern",), {"positive_ctxs": [{"title": "B"}]}),
    (DprPassage("d 1", "Bern", "The old town …\nlies\u2028there.", 7.25, KEYS),),
)


def test_a_result_is_written_in_the_published_form(tmp_path):
    (item,) = json.loads(write_dpr(tmp_path / "dpr.json", [RESULT]).read_text("utf-8"))
    assert item == {
        "id": "q7", "question": "Where is the old town?", "answers": ["Bern"],
        "positive_ctxs": [{"title": "B"}],
        "ctxs": [{
            "title": "Bern", "text": "The old town …\nlies\u2028there.", "score": 7.25,
            "passage_id": "d 1", "keys": [["</s> Bern @@", 1, 5.5], [" old town", 12, 0.25]],
        }],
    }  # fmt: skip


def test_results_are_streamed_and_a_break_leaves_the_old_file(tmp_path):
    before = write_dpr(path := tmp_path / "dpr.json", [RESULT]).read_bytes()

    def broken():
        yield RESULT
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_dpr(path, broken())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["dpr.json"]


def test_questions_are_read_with_their_different_answers(tmp_path):
    path = tmp_path / "dev.jsonl"
    output = [{"answer": "x"}, {"provenance": []}, {"answer": "x"}, {"answer": "y"}]
    rows = [{"id": "a", "input": "who?", "output": output}, {"id": "b", "input": "why?"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    wanted = [Topic(Query("a", "who?"), ("x", "y")), Topic(Query("b", "why?"))]
    assert read_topics(path) == wanted


ASKED = {
    "topics.json": json.dumps([{"question": "who?", "answers": ["Ann"]}]),
    "nq.tsv": "who?\t['Ann']\n",
    "nq.jsonl": json.dumps({"question": "who?", "answer": ["Ann"]}),
    "dev.jsonl": json.dumps({"id": "a", "input": "who?", "output": [{"answer": "Ann"}]}),
    "queries.tsv": "_id\ttext\na\twho?\n",
}


@pytest.mark.parametrize("name", ASKED)
def test_the_format_is_told_by_the_file(tmp_path, name):
    (tmp_path / name).write_text(ASKED[name])
    (topic,) = read_topics(tmp_path / name)
    assert topic.query.text == "who?"
    assert topic.answers == (() if name.startswith("queries") else ("Ann",))


def test_questions_and_answers_alone_have_their_place_as_id(tmp_path):
    rows = [{"question": "who?", "answer": ["Ann", "Bo"]}, {"question": "why?", "answer": []}]
    (file := tmp_path / "NQ-open.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read_topics(file) == [
        Topic(Query("0", "who?"), ("Ann", "Bo")),
        Topic(Query("1", "why?")),
    ]
    file.write_text(json.dumps(rows[0] | {"topic": "1"}))
    with pytest.raises(InputError, match="no id field"):
        read_topics(file)


BROKEN = {
    ("t.json", read_topics): {
        '[{"question": "a"}': "broken JSON",
        '[{"question": "a"}, "b"]': "item 2 is 'b'",
        '[{"query": "a"}]': r"item 1 is \{'query': 'a'\}",
        '[{"question": "a\\ud83d"}]': "half a surrogate pair",
        "[" * 100_000: "broken JSON",
        "[]": "no question in it",
        '[{"id": "1", "question": "a"}, {"question": "b"}]': "two of them have the id '1'",
    },
    ("t.tsv", partial(read_topics, kind=TopicFormat.QAS)): {
        "who sang it": "line 1: cannot read 'who sang it'",
        "\t['Ann']": "line 1: .*no question",
        "a\t['b']\nwho\t['Ann'": "line 2: cannot read",
        "who\t__import__('os')": "cannot read",
        "who\t'Ann'": "no list of strings",
        "who\t" + "[" * 9999: "cannot read",
    },
    ("t.jsonl", partial(read_topics, kind=TopicFormat.KILT)): {
        '{"id": "b"}': "line 1: no question field among 'id'",
        '{"id": "b", "input": "x", "output": "y"}': "'y'; expected a list of objects",
        '{"id": "b", "input": ["x"]}': r"\['x'\] is of type list",
    },
    ("t.txt", read_topics): {"who?": "file type .txt is not known"},
}  # fmt: skip
CASES = [
    (*place, content, text) for place, many in BROKEN.items() for content, text in many.items()
]


@pytest.mark.parametrize(("name", "reader", "content", "message"), CASES)
def test_a_broken_file_is_refused_with_its_place(tmp_path, name, reader, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        list(reader(tmp_path / name))
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("indent", [None, 4])
def test_a_list_is_read_up_to_the_place_where_it_breaks_off(tmp_path, monkeypatch, indent):
    monkeypatch.setattr("argus.data.documents.BLOCK", 3)
    records = [{"question": 'the "é\\"?'}, {}, {"ctxs": [{"keys": ["],"]}]}]
    content = json.dumps(records, indent=indent, ensure_ascii=False)
    (tmp_path / "whole.json").write_bytes(gzip.compress(content.encode()))
    assert [json.loads(item) for item in json_items(tmp_path / "whole.json")] == records
    for end in range(len(content)):
        (tmp_path / "cut.json").write_text(content[:end])
        found = []
        with pytest.raises(InputError):
            found.extend(map(json.loads, json_items(tmp_path / "cut.json")))
        assert found == records[: len(found)]
