"""Questions out of any file: the format is told by what stands in it."""

from __future__ import annotations

import json

import pytest

from argus.data.topics import TopicFormat, read_topics
from argus.errors import InputError

ASKED = {
    "topics.json": json.dumps([{"question": "who?", "answers": ["Ann"]}]),
    "nq.tsv": "who?\t['Ann']\n",
    "nq.qas.csv": "who?\t['Ann']\n",
    "dev.jsonl": json.dumps({"id": "a", "input": "who?", "output": [{"answer": "Ann"}]}),
    "queries.jsonl": json.dumps({"_id": "a", "text": "who?"}),
    "queries.tsv": "_id\ttext\na\twho?\n",
}


@pytest.mark.parametrize("name", ASKED)
def test_the_format_is_told_by_the_file(tmp_path, name):
    (tmp_path / name).write_text(ASKED[name])
    (topic,) = read_topics(tmp_path / name)
    assert topic.query.text == "who?"
    assert topic.answers == (() if name.startswith("queries") else ("Ann",))


def test_a_folder_stands_for_its_queries(tmp_path):
    (tmp_path / "queries.jsonl").write_text(ASKED["queries.jsonl"])
    assert [topic.query.id for topic in read_topics(tmp_path)] == ["a"]


def test_only_the_first_are_read_with_a_limit(tmp_path):
    path = tmp_path / "nq.tsv"
    path.write_text("a\t['x']\nb\t['y']\nbroken\n")
    assert [topic.query.text for topic in read_topics(path, limit=2)] == ["a", "b"]


def test_a_named_format_is_not_guessed(tmp_path):
    (tmp_path / "nq.jsonl").write_text("who?\t['Ann']\n")
    assert read_topics(tmp_path / "nq.jsonl", TopicFormat.QAS)[0].answers == ("Ann",)
    with pytest.raises(InputError, match="broken JSON"):
        read_topics(tmp_path / "nq.jsonl", TopicFormat.QUERIES)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", "[]", "no question in it"),
        ("t.jsonl", "", "no query in it"),
        (
            "t.json",
            '[{"id": "1", "question": "a"}, {"question": "b"}]',
            "two questions have the id '1'.*an id, or none",
        ),
        ("t.txt", "who?\n", "file type .txt is not known"),
    ],
)
def test_empty_files_and_repeated_ids_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_topics(tmp_path / name)


def test_a_missing_file_and_a_folder_without_queries_differ(tmp_path):
    with pytest.raises(InputError, match="no such file; expected questions"):
        read_topics(tmp_path / "none.json")
    with pytest.raises(InputError, match="the folder holds no queries file"):
        read_topics(tmp_path)
