"""DPR JSON: what is written can be read by anything, and what is read says where it is broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.topics import (
    DprKey,
    DprPassage,
    DprResult,
    Topic,
    as_item,
    looks_like_qas,
    read_dpr,
    read_dpr_topics,
    read_qas,
    write_dpr,
)
from argus.data.types import Query
from argus.errors import InputError

KEYS = (DprKey("</s> Bern @@", 1, 5.5), DprKey(" old town", 12, 0.25))
RESULT = DprResult(
    Topic(Query("q7", "Where is the old town?"), ("Bern",), {"positive_ctxs": [{"title": "B"}]}),
    (DprPassage("d 1", "Bern", "The old town …\nlies\u2028there.", 7.25, KEYS),),
)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
number = st.floats(allow_nan=False, allow_infinity=False)
keys = st.builds(DprKey, text, st.integers(0, 9), number)
passages = st.builds(
    DprPassage, text, text, text, number, st.none() | st.lists(keys, max_size=3).map(tuple)
)
topics = st.builds(
    Topic,
    st.builds(Query, text, text),
    st.lists(text, max_size=2).map(tuple),
    st.dictionaries(text, text, max_size=2),
)
results = st.builds(DprResult, topics, st.lists(passages, max_size=3).map(tuple))


def test_a_result_is_written_in_the_published_form(tmp_path):
    (item,) = json.loads(write_dpr(tmp_path / "dpr.json", [RESULT]).read_text("utf-8"))
    assert item == {
        "id": "q7",
        "question": "Where is the old town?",
        "answers": ["Bern"],
        "positive_ctxs": [{"title": "B"}],
        "ctxs": [
            {
                "title": "Bern",
                "text": "The old town …\nlies\u2028there.",
                "score": 7.25,
                "passage_id": "d 1",
                "keys": [["</s> Bern @@", 1, 5.5], [" old town", 12, 0.25]],
            }
        ],
    }


@given(st.lists(results, max_size=3))
def test_results_give_the_bytes_of_json_for_the_whole_list(tmp_path_factory, results):
    path = tmp_path_factory.mktemp("dpr") / "dpr.json"
    items = [as_item(result) for result in results]
    whole = json.dumps(items, ensure_ascii=False, indent=4)
    written = write_dpr(path, iter(results)).read_text("utf-8")
    assert written == (whole + "\n" if results else "[\n]\n")
    assert json.loads(write_dpr(path, results, indent=None).read_text("utf-8")) == items


def test_results_are_streamed_and_a_break_leaves_the_old_file(tmp_path):
    path = tmp_path / "dpr.json"
    write_dpr(path, [RESULT])
    before = path.read_bytes()

    def broken():
        yield RESULT
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_dpr(path, broken())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["dpr.json"]


def test_a_score_that_is_no_number_is_never_written(tmp_path):
    bad = DprResult(Topic(Query("q", "?")), (DprPassage("d", "", "", float("nan")),))
    with pytest.raises(ValueError, match="JSON"):
        write_dpr(tmp_path / "dpr.json", [bad])
    assert not list(tmp_path.iterdir())


def test_questions_keep_ids_answers_and_all_other_fields(tmp_path):
    path = tmp_path / "topics.json"
    rows = [
        {"question": "a?", "answers": ["x", "y"], "positive_ctxs": [1], "ctxs": ["old"]},
        {"id": "n7", "question": "b?"},
    ]
    path.write_text(json.dumps(rows))
    assert list(read_dpr_topics(path)) == [
        Topic(Query("0", "a?"), ("x", "y"), {"positive_ctxs": [1]}),
        Topic(Query("n7", "b?")),
    ]


def test_what_was_written_is_read_as_questions_again(tmp_path):
    assert list(read_dpr_topics(write_dpr(tmp_path / "dpr.json", [RESULT]))) == [RESULT.topic]


@given(st.lists(results, max_size=3))
def test_results_are_read_as_they_were_written(tmp_path_factory, results):
    path = tmp_path_factory.mktemp("dpr") / "dpr.json"
    named = [r for r in results if r.topic.query.id]
    own = {"id", "question", "answers", "ctxs", "_id", "query_id", "qid"}
    plain = [r for r in named if not own & set(r.topic.given)]
    assert list(read_dpr(write_dpr(path, plain))) == plain


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{}", r"\[0\]\.ctxs'?: None; expected ctxs: a list"),
        ('{"ctxs": [7]}', r"ctxs\[0\].*7 \(KeyError: 'passage_id'\)"),
        ('{"ctxs": [{"passage_id": null, "score": 1}]}', "neither text nor a whole number"),
        ('{"ctxs": [{"passage_id": "a", "score": "x"}]}', "ValueError"),
        ('{"ctxs": [{"passage_id": "a", "score": 1, "keys": [["a", 1]]}]}', "not enough values"),
        ('{"ctxs": [{"passage_id": "a", "score": 1, "keys": 3}]}', "not iterable"),
    ],
)
def test_results_that_are_broken_are_refused_with_their_place(tmp_path, item, message):
    path = tmp_path / "dpr.json"
    path.write_text(json.dumps([{"question": "a", **json.loads(item)}]))
    with pytest.raises(InputError, match=message) as caught:
        list(read_dpr(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"question": "a"}', "broken JSON"),
        ('{"question": "a"}', "a JSON dict"),
        ('[{"question": "a"}, "b"]', "item 2 is 'b'"),
        ('[{"query": "a"}]', r"item 1 is \{'query': 'a'\}"),
        ('[{"question": "a", "answers": "b"}]', r"\[0\]\.answers'?: 'b'; expected a list"),
        ('[{"question": "a", "answers": [1]}]', "expected a list of strings"),
        ('[{"question": "a", "id": 7}]', "7 is a number"),
        ('[{"question": "a\\ud83d"}]', "half a surrogate pair"),
        ("[" * 100_000, "broken JSON"),
    ],
)
def test_a_broken_file_of_questions_is_refused_with_its_place(tmp_path, content, message):
    path = tmp_path / "topics.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        list(read_dpr_topics(path))
    assert str(path) in str(caught.value)


def test_whole_numbers_become_ids_on_request(tmp_path):
    path = tmp_path / "topics.json"
    path.write_text('[{"question": "a", "id": 7}]')
    assert [topic.query.id for topic in read_dpr_topics(path, coerce_ids=True)] == ["7"]


def test_questions_with_python_lists_are_read(tmp_path):
    path = tmp_path / "nq.tsv"
    path.write_text(
        'who sang it\t[\'Ann\', "O\'Neil"]\n\nin which year\t("1999",)\r\n'
        'he said\t"[\'a ""b""\']"\n'
    )
    assert looks_like_qas(path)
    assert list(read_qas(path)) == [
        Topic(Query("0", "who sang it"), ("Ann", "O'Neil")),
        Topic(Query("2", "in which year"), ("1999",)),
        Topic(Query("3", "he said"), ('a "b"',)),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("who sang it", "without a tab"),
        ("\t['Ann']", "without a question"),
        ("who\t['Ann'", "no Python list"),
        ("who\tAnn", "no Python list"),
        ("who\t[{[]}]", "no Python list"),
        ("who\t__import__('os')", "no Python list"),
        ("who\t[1999]", "no list of strings"),
        ("who\t'Ann'", "no list of strings"),
        ("who\t" + "[" * 9999, "no Python list"),
    ],
)
def test_a_line_that_is_no_question_with_answers_is_named(tmp_path, line, message):
    path = tmp_path / "nq.tsv"
    path.write_text(f"who sang it\t['Ann']\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_qas(path))
    assert f"{path}, line 2" in str(caught.value)
    assert "question<TAB>['answer', ...]" in str(caught.value)


def test_a_header_is_not_taken_for_questions_with_lists(tmp_path):
    path = tmp_path / "queries.tsv"
    path.write_text("_id\ttext\nq1\t[1] what is it\n")
    assert not looks_like_qas(path)
    path.write_text("")
    assert not looks_like_qas(path)
