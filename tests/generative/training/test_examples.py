"""Examples: what they may hold, what they are drawn from, and that they are drawn anew the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.generative.training.examples import build_examples, fingerprint
from argus.generative.training.settings import ExampleConfig
from argus.generative.training.slots import Source, View, title_key
from argus.generative.vocabulary import train_vocabulary
from tests.support.draws import examples
from tests.support.ngrams import QUERIES, QUESTIONS, ROWS

DOCUMENTS = [Document(r["_id"], r["text"], r["title"]) for r in ROWS]
ASKED = [Query(id_, text) for id_, text in QUESTIONS.items()]
QRELS = {"q1": {"bern": 1, "basel": 0, "gone": 1}, "q2": {"ada": 2}}
VOCABULARY = train_vocabulary([f"{d.title} {d.text}" for d in DOCUMENTS], 500)
CONFIG = ExampleConfig(validation_share=0.2)


def build(documents=DOCUMENTS, config=CONFIG, **given):
    return build_examples(documents, VOCABULARY, config, **given)


def full(**given):
    return build(queries=ASKED, qrels=QRELS, pseudo_queries=QUERIES, **given)


def pairs(examples, epoch=0):
    return examples.train.batch(epoch, range(len(examples.train)))


def texts(pair):
    """Return source (without marker) and target (without its end) as text."""
    source = VOCABULARY.decode([t for t in pair.source if t not in (0, VOCABULARY.border)])
    target = VOCABULARY.decode([t for t in pair.target if t != VOCABULARY.title_end])
    return source.partition(" || ")[0].strip(), target.strip()


def test_every_source_asks_for_every_view_of_its_passage():
    examples = full()
    counts = examples.counts
    assert (counts["questions"], counts["questions_without_gold"], counts["gold_unknown"]) == (
        2, 0, 1,
    )  # fmt: skip
    for name in ("title_to_body", "span_to_body", "span_to_title", "span_to_query",
                 "pseudo_to_body", "pseudo_to_title", "question_to_body"):  # fmt: skip
        assert counts[name] > 0, name
    assert counts["pseudo_to_query"] == 0
    assert examples.views == ["body", "title", "query"]
    assert counts["train"] == len(examples.train) and examples.validation


def test_spans_are_ten_words_and_titles_and_queries_end():
    examples = full()
    by_id = {i: d for i, d in enumerate(DOCUMENTS)}
    for (_, view, document, _), pair in zip(examples.train.slots, pairs(examples), strict=True):
        _, target = texts(pair)
        if view == View.BODY:
            words = by_id[document].text.split()
            assert target.split() in [words[i : i + 10] for i in range(max(1, len(words) - 9))]
            assert VOCABULARY.title_end not in pair.target and not pair.forced
        else:
            assert pair.target[-1] == VOCABULARY.title_end
            wanted = [by_id[document].title] if view == View.TITLE else QUERIES[by_id[document].id]
            assert target in wanted
        assert pair.view == View(view).name.lower()
        assert VOCABULARY.border not in pair.target


def test_a_target_is_an_ngram_of_its_passage_in_the_index():
    for (_, view, document, _), pair in zip(full().train.slots, pairs(full()), strict=True):
        d = DOCUMENTS[document]
        title, text = VOCABULARY.encode([d.title, d.text])
        tokens = [*title, VOCABULARY.title_end, *text]
        if view != View.QUERY:
            n = len(pair.target)
            assert any(tokens[i : i + n] == [*pair.target] for i in range(len(tokens) - n + 1))


def test_examples_hang_on_seed_epoch_and_number_alone():
    examples, again = full(), full()
    n = len(examples.train)
    whole = pairs(examples, 3)
    assert again.train.batch(3, [*reversed(range(n))]) == whole[::-1]
    assert [again.train.batch(3, [i])[0] for i in range(n)] == whole
    assert pairs(examples, 4) != whole
    other = build(config=ExampleConfig(validation_share=0.2, seed=1))
    assert fingerprint(examples) == fingerprint(again) != fingerprint(other)
    assert fingerprint(build(DOCUMENTS[:-1])) != fingerprint(build())


def test_sources_carry_the_sign_of_their_view_and_kind():
    examples = full()
    plain = 0
    for (origin, view, _, _), pair in zip(examples.train.slots, pairs(examples), strict=True):
        text = VOCABULARY.decode(pair.source)
        sign = "+" if origin in (Source.QUESTION, Source.TITLE) else "p"
        if view == View.BODY and "||" not in text:
            plain += 1
        else:
            assert text.endswith(f" || {View(view).name.lower()} || {sign}</s>")
    assert 0 < plain < (examples.train.slots[:, 1] == View.BODY).sum()
    unasked = build()  # no question: a model must know the sign that it is searched with
    assert not any("|| p" in VOCABULARY.decode(p.source) for p in pairs(unasked))


def test_half_of_the_pseudo_queries_follow_a_given_marker():
    config = ExampleConfig(validation_share=0.2, unsupervised=30)
    found = build(config=config, pseudo_queries=QUERIES)
    forced = [p.forced for p in pairs(found) if p.view == "query"]
    assert set(forced) == {(), (VOCABULARY.query_start,)}
    assert 0.3 < sum(map(bool, forced)) / len(forced) < 0.7


word = st.sampled_from(["rain", "iron", "tea", "rope", "salt", "clay", "Rain", "the", "of"])
text = st.lists(word, max_size=25).map(" ".join)
title = st.lists(word, max_size=3).map(" ".join)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(title, text), min_size=2, max_size=8),
    st.sets(st.integers(0, 7), max_size=4),
    st.lists(title, max_size=3),
)
def test_held_out_titles_are_never_asked_nor_written(given_documents, held, asked):
    documents = [Document(str(i), b, t) for i, (t, b) in enumerate(given_documents)]
    hidden = {title_key(d.title) for i, d in enumerate(documents) if i in held and d.title}
    examples = build(
        documents,
        queries=[Query(f"q{i}", q) for i, q in enumerate(asked)],
        qrels={f"q{i}": {"0": 1} for i in range(len(asked))},
        pseudo_queries={"1": asked},
        held_out=[str(i) for i in held],
    )
    everything = [(r, p) for r, p in zip(examples.train.slots, pairs(examples), strict=True)]
    everything += [((None, None), p) for p in examples.validation]
    for row, pair in everything:
        source, target = texts(pair)
        if pair.view != "body":
            assert title_key(target) not in hidden
        if row[0] is not None and row[0] != Source.SPAN:
            assert title_key(source) not in hidden
        assert pair.target


def test_what_is_validated_with_is_not_learnt():
    examples = full()
    seen = {texts(p)[1] for p in pairs(examples) if p.view == "title"}
    checked = {texts(p)[1] for p in examples.validation if p.view == "title"}
    assert checked and not seen & checked
    sources = {texts(p)[0] for p in pairs(examples)}
    bodies = {texts(p)[0] for p in examples.validation if p.view == "body"}
    questions = bodies & set(QUESTIONS.values())
    assert questions and not sources & questions


def test_passages_alone_teach_and_some_are_validated_with():
    documents = [Document(str(i), f"one two three four five six {i}") for i in range(6)]
    examples = build(documents)
    assert examples.views == ["body"] and len(examples.train) + len(examples.validation) == 6
    assert examples.validation


def test_long_sources_and_targets_are_cut_and_the_marker_stays():
    config = ExampleConfig(validation_share=0.2, source_tokens=10, target_tokens=4)
    for pair in pairs(build(config=config)):
        assert len(pair.source) <= 10 and len(pair.target) <= 4
        assert pair.source[-1] == VOCABULARY.border


def test_few_of_many_questions_are_validated_with():
    documents = [Document(str(i), "a b c d e", f"t {i}") for i in range(900)]
    examples = build(documents, ExampleConfig(validation_share=0.5, validation_most=7))
    names = {texts(p)[1] for p in examples.validation if p.view == "title"}
    assert len(names) == 7 and len(examples.validation) <= 35


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("span_words", 0, "span_words"),
        ("bodies", 0, "--bodies"),
        ("unsupervised", -1, "--unsupervised"),
        ("source_tokens", 7, "--source-tokens"),
        ("plain_share", 1.5, "plain_share"),
        ("most_words", 3, "most_words"),
        ("validation_share", 0, "validation_share"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(name, value, where):
    with pytest.raises(InputError) as caught:
        ExampleConfig(**{name: value})
    assert caught.value.where == where
