"""Records of output files as questions: and whatever may be amiss in them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from argus.generative.failures.reading import (
    BODY,
    QUERY,
    TITLE,
    Ngram,
    Positive,
    Problem,
    Problems,
    Reading,
    read_case,
    split_words,
    words,
)

PLAIN = Reading(split_words)


def read(record, reading: Reading = PLAIN, number: int = 7):
    """Return the case of a record, and the counts of what was amiss."""
    content = record if isinstance(record, bytes) else json.dumps(record).encode()
    problems = Problems()
    case = read_case(content, number, reading, problems)
    return case, dict(problems.counts), problems


def asked(**fields):
    """Return a record with nothing amiss but for `fields`."""
    passage = {"passage_id": "p1", "title": "Bern", "text": "The old town.", "score": 3.5}
    ctx = {**passage, "keys": [[" old town", 3, 2.5], ["</s> Bern @@", 1, 1.0]]}
    gold = {"passage_id": "p1", "title": "Bern", "text": "The old town."}
    record = {"id": "q", "question": "what is old?", "answers": ["town"]}
    return {**record, "positive_ctxs": [gold], "ctxs": [ctx], **fields}


def with_keys(*keys):
    return asked(ctxs=[{"passage_id": "p1", "title": "T", "text": "x", "keys": list(keys)}])


def weights(case):
    """Return text to weight of the first passage's n-grams."""
    keys = case.passages[0].keys
    return {case.ngrams[i].text: w for i, w in zip(keys.ngrams, keys.weights, strict=True)}


def test_a_record_is_read_with_all_that_it_says():
    case, amiss, _ = read(asked())
    assert amiss == {}
    assert (case.id, case.question, case.answers) == ("q", "what is old?", ("town",))
    assert case.question_tokens == ("what", "is", "old")
    assert case.positives == (Positive("p1", "Bern", "The old town."),)
    assert case.ngrams == (
        Ngram("old town", BODY, ("old", "town"), ("old", "town"), 3),
        Ngram("Bern", TITLE, ("bern",), ("bern",), 1),
    )
    (passage,) = case.passages
    assert (passage.id, passage.title, passage.text) == ("p1", "Bern", "The old town.")
    assert passage.correct is True
    assert passage.keys.ngrams.tolist() == [0, 1]
    assert passage.keys.weights.tolist() == [2.5, 1.0]
    assert (passage.keys.ngrams.dtype, passage.keys.weights.dtype) == (np.int64, np.float64)


@pytest.mark.parametrize(
    ("raw", "text", "view"),
    [
        (" old town", "old town", BODY),
        ("</s> Bern @@", "Bern", TITLE),
        (" || what is it @@", "what is it", QUERY),
        (" town @@", "town", BODY),
        ("a@@", "a@@", BODY),
        (" a </s> b || c", "a </s> b || c", BODY),
        ("</s> @@", "", TITLE),
    ],
)
def test_markers_say_where_an_ngram_is_from_and_are_taken_off(raw, text, view):
    case, _, _ = read(with_keys([raw, 1, 1.0]))
    assert case.ngrams == (Ngram(text, view, words(text), words(text), 1),)


@pytest.mark.parametrize(
    "key",
    ["[]", "7", '[" a"]', '[" a", 1, "heavy"]', '[" a", 1, NaN]', '[" a", -1, 1]',
     '[" a", 1.5, 1]', '[" a", true, 1]', '[null, 1, 1]', f'[" a", {2**63 - 1}, 1]',
     f'[" a", 1, {10**400}]'],
)  # fmt: skip
def test_keys_that_cannot_be_read_are_left_out_and_noted(key):
    content = json.dumps(with_keys("here", [" b", 1, 2.0])).replace('"here"', key).encode()
    case, amiss, problems = read(content)
    assert weights(case) == {"b": 2.0}
    assert [n.text for n in case.ngrams] == ["b"]
    assert amiss == {Problem.KEYS: 1}
    assert problems.listed()[Problem.KEYS]["first"].startswith("[7].ctxs[0].keys[0]: ")


def test_keys_have_more_forms_than_one_and_the_weights_of_one_listed_twice_are_added():
    case, amiss, _ = read(with_keys([" a", 4, 1.5], [" b", 4.0, 1.0, "body"], [" a", 4, 0.5]))
    assert weights(case) == {"a": 2.0, "b": 1.0}
    assert [ngram.count for ngram in case.ngrams] == [4, 4]
    assert amiss == {}


@pytest.mark.parametrize("name", ["passage_id", "id", "psg_id", "docid"])
def test_a_passage_listed_twice_counts_once_at_its_better_rank(name):
    ctxs = [{name: id_, "text": f"text {i}", "keys": []} for i, id_ in enumerate(["1", "2", 1])]
    case, amiss, problems = read(asked(ctxs=ctxs))
    assert [(p.id, p.text) for p in case.passages] == [("1", "text 0"), ("2", "text 1")]
    assert amiss[Problem.TWICE] == 1
    assert problems.listed()[Problem.TWICE]["first"] == "[7].ctxs[2]: 1"


def test_positives_without_ids_are_known_by_title_and_text():
    gold = [{"title": "BERN", "text": "the Old town"}, {"title": "Bern", "text": "The old town!"}]
    case, amiss, _ = read(asked(positive_ctxs=[*gold, {"psg_id": "p9", "text": "far"}, {}, 3]))
    assert case.positives == (Positive(None, "BERN", "the Old town"), Positive("p9", "", "far"))
    assert case.passages[0].correct is True
    assert amiss == {Problem.POSITIVES: 2}
    other, _, _ = read(asked(positive_ctxs=[{"title": "Basel", "text": "The old town."}]))
    assert other.passages[0].correct is False


def test_judgements_take_the_place_of_the_files_positives():
    reading = Reading(split_words, qrels={"q": {"p1": 0, "p2": 2, "p3": 1}, "none": {"p1": 0}})
    ctxs = [{"id": "p1", "text": "x"}, {"id": "p3", "title": "T", "text": "y"}]
    case, _, _ = read(asked(ctxs=ctxs), reading)
    assert case.positives == (Positive("p2", "", None), Positive("p3", "T", "y"))
    assert [p.correct for p in case.passages] == [False, True]
    assert read(asked(id="none"), reading)[0].positives == ()
    assert read(asked(id="unknown"), reading)[0].positives is None


def test_a_question_without_id_has_that_of_the_same_words():
    ids = {words("What is OLD"): "q"}
    judged = {"q": {"p1": 0, "p2": 1}, "7": {"p1": 1}}
    reading = Reading(split_words, qrels=judged, answers={"q": ("Bern",)}, ids=ids)
    nameless = asked()
    del nameless["id"]
    case, amiss, _ = read(nameless, reading)
    assert (case.id, case.answers) == ("q", ("Bern",))
    assert case.positives == (Positive("p2", "", None),)
    assert amiss == {}
    # An id of its own goes before it.
    assert read(asked(id="7"), reading)[0].id == "7"


def test_a_positive_listed_without_and_with_its_id_counts_once():
    ctxs = [{"title": "Bern", "text": "The old town."}, {"id": "p1", "text": "x"}]
    assert [p.correct for p in read(asked(ctxs=ctxs))[0].passages] == [True, False]
    # Of two that say the same, the passage without id is the one that no other passage can be.
    gold = [{"id": i, "title": "Bern", "text": "The old town."} for i in ("p1", "p2")]
    case, _, _ = read(asked(positive_ctxs=gold, ctxs=ctxs))
    assert [p.correct for p in case.passages] == [True, True]


FEW = st.fixed_dictionaries(
    {"title": st.sampled_from(["A", "a", "B"]), "text": st.sampled_from(["x", "X!", "y"])},
    optional={"id": st.sampled_from("123")},
)


@given(st.lists(FEW, min_size=1, max_size=5), st.lists(FEW, max_size=6))
def test_as_many_passages_are_correct_as_there_are_positives(gold, ctxs):
    case, _, _ = read(asked(positive_ctxs=gold, ctxs=ctxs))
    ids = {positive.id for positive in case.positives}

    def may_be(passage, positive):
        named = not passage.id.startswith("ctxs[")
        if named and passage.id in ids:
            return passage.id == positive.id
        same = words(passage.title), words(passage.text)
        other = words(positive.title), words(positive.text)
        return same == other and not (named and positive.id is not None)

    pairs = np.array([[may_be(p, g) for g in case.positives] for p in case.passages], bool)
    most = 0
    if len(pairs):
        most = int((maximum_bipartite_matching(csr_array(pairs), "column") >= 0).sum())
    assert sum(p.correct for p in case.passages) == most
    assert all(row.any() for row, p in zip(pairs, case.passages, strict=True) if p.correct)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[1]", "no question in [1]"),
        (b'{"question": " "}', "no question in {'question'"),
        (b'{"question": "a"', "EOF while parsing"),
        (b"[" * 100_000, "recursion limit exceeded"),
    ],
)
def test_what_is_no_question_gives_none_and_is_noted(content, found):
    case, amiss, problems = read(content)
    assert case is None
    assert amiss == {Problem.RECORDS: 1}
    assert problems.listed()[Problem.RECORDS]["first"].startswith(f"[7]: {found}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=3), v, max_size=3),
    max_leaves=10,
)
KEYS = st.lists(
    st.tuples(st.sampled_from([" a", " b", "</s> c", 3]), JSON, JSON) | JSON, max_size=5
)
CTX = st.fixed_dictionaries({}, optional={"id": JSON, "title": JSON, "text": JSON, "score": JSON,
                                          "keys": KEYS | JSON})  # fmt: skip
RECORD = st.fixed_dictionaries(
    {"question": st.just("who?")},
    optional={"id": JSON, "answers": JSON, "positive_ctxs": st.lists(CTX) | JSON,
              "ctxs": st.lists(CTX, max_size=4) | JSON},
)  # fmt: skip


@given(RECORD | JSON, st.sampled_from(["annotated", "answer"]))
def test_whatever_a_record_holds_is_read_or_noted(record, correct):
    case, amiss, _ = read(record, Reading(split_words, correct=correct))
    if case is None:
        assert amiss
        return
    ids = [passage.id for passage in case.passages]
    assert len(set(ids)) == len(ids)
    used = set()
    for passage in case.passages:
        if passage.keys is not None:
            places = passage.keys.ngrams.tolist()
            assert len(set(places)) == len(places) == len(passage.keys.weights)
            assert np.isfinite(passage.keys.weights).all()
            used |= set(places)
    assert used == set(range(len(case.ngrams)))
    assert all(n.count is None or n.count >= 0 for n in case.ngrams)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A long river. || is it long @@ || where is the nile @@ ", "A long river."),
        ("if a || b: return", "if a || b: return"),
        ("Write @@ || here", "Write @@ || here"),
    ],
)
def test_pseudo_queries_that_minder_appends_are_no_text(text, said):
    case, *_ = read(asked(ctxs=[{"passage_id": "p1", "title": "T", "text": text}]))
    assert case.passages[0].text == said
