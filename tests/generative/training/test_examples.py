"""Examples: what they may hold, what they are drawn from, and that they are drawn anew the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Document, Query
from argus.generative.settings import ExampleConfig
from argus.generative.training.examples import (
    Inputs,
    Source,
    View,
    build_examples,
    fingerprint,
    title_key,
)
from argus.generative.vocabulary import train_vocabulary
from tests.support.draws import examples
from tests.support.ngrams import QUERIES, QUESTIONS, ROWS

DOCUMENTS = [Document(r["_id"], r["text"], r["title"]) for r in ROWS]
ASKED = [Query(id_, text) for id_, text in QUESTIONS.items()]
QRELS = {"q1": {"bern": 1, "basel": 0, "gone": 1}, "q2": {"ada": 2}}
VOCABULARY = train_vocabulary([f"{d.title} {d.text}" for d in DOCUMENTS], 500)
CONFIG = ExampleConfig(validation_share=0.2)


def build(
    documents=DOCUMENTS, config=CONFIG, queries=(), qrels=None, pseudo_queries=None, held_out=()
):
    inputs = Inputs(documents, queries, qrels or {}, pseudo_queries or {}, {})
    return build_examples(inputs, VOCABULARY, config, held_out)


def full(**given):
    return build(queries=ASKED, qrels=QRELS, pseudo_queries=QUERIES, **given)


def pairs(examples, epoch=0):
    return examples.train.batch(epoch, range(len(examples.train)))


def texts(pair):
    """Return source (without marker) and target (without its end) as text."""
    source = VOCABULARY.decode([t for t in pair.source if t not in (0, VOCABULARY.border)])
    target = VOCABULARY.decode([t for t in pair.target if t != VOCABULARY.title_end])
    return source.partition(" || ")[0].strip(), target.strip()


def test_targets_are_spans_of_ten_words_or_whole_titles_and_queries_of_their_passages():
    examples = full()
    counts = examples.counts
    assert (counts["questions"], counts["gold_unknown"], counts["pseudo_to_query"]) == (2, 1, 0)
    for name in ("title_to_body", "span_to_body", "span_to_title", "span_to_query",
                 "pseudo_to_body", "pseudo_to_title", "question_to_body"):  # fmt: skip
        assert counts[name] > 0, name
    for (_, view, number, _), pair in zip(examples.train.slots, pairs(examples), strict=True):
        document = DOCUMENTS[number]
        _, target = texts(pair)
        title, text = VOCABULARY.encode([document.title, document.text])
        tokens, n = [*title, VOCABULARY.title_end, *text], len(pair.target)
        if view != View.QUERY:  # an n-gram of the passage in the index
            assert any(tokens[i : i + n] == [*pair.target] for i in range(len(tokens) - n + 1))
        if view == View.BODY:
            words = document.text.split()
            assert target.split() in [words[i : i + 10] for i in range(max(1, len(words) - 9))]
            assert VOCABULARY.title_end not in pair.target and not pair.forced
        else:
            assert pair.target[-1] == VOCABULARY.title_end
            assert target in ([document.title] if view == View.TITLE else QUERIES[document.id])
        assert pair.view == View(view).name.lower()
        assert VOCABULARY.border not in pair.target


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
