"""Replay: what is pruned by its definition, ranks with it, and questions that have no replay."""

from dataclasses import replace
from itertools import chain, permutations

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from argus.data.types import Document
from argus.errors import InputError
from argus.generative.decode import Decoding
from argus.generative.evidence import aggregate
from argus.generative.failures.case import Positive
from argus.generative.failures.indexed import lookup_of
from argus.generative.failures.measures.columns import ReplayFigures
from argus.generative.failures.replay import Lost, Replay, Replayed
from argus.generative.failures.replay import replay as replay_module
from argus.generative.index import build_index
from argus.generative.keys import Key
from argus.generative.scoring import key_weights
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Mode, Scoring
from argus.generative.vocabulary import Vocabulary
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    log_probability,
    small_vocabulary,
    tiny_model,
    vast,
)

QUESTIONS = ["where is the tower", "which city in France is known for its tall towers"]
SMALL = {"beams": 3, "body_tokens": 4, "title_tokens": 8, "query_tokens": 12}
FREQUENCIES = Scoring(smoothing=0.01)
EVERYTHING = Scoring(smoothing=0)
COLUMNS = list(ReplayFigures.__annotations__)
"""Weighs every n-gram but the least probable: random weights have few above chance."""
LONGER = [*DOCUMENTS, Document("filler", "zz " * 3000)]
"""With it, one occurrence is rare enough for random n-grams to be above chance."""


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    vocabulary = small_vocabulary()
    folder = tmp_path_factory.mktemp("replay")
    index = build_index(LONGER, vocabulary, folder / "i", pseudo_queries=PSEUDO_QUERIES)
    return vocabulary, index, tiny_model(vocabulary)


def searcher_of(parts, scoring=FREQUENCIES, mode=Mode.MINDER, **decoding):
    _, index, model = parts
    index = vast(index) if scoring is EVERYTHING else index
    return GenerativeSearcher(index, model, mode, Decoding(**{**SMALL, **decoding}), scoring)


def plain_pruned(parts, searcher, question, document):
    """The definition: all n-grams of a passage, scored one by one, that weigh and are no key."""
    vocabulary, index, model = parts
    d = DOCUMENTS[document]
    (text,), end = vocabulary.encode([d.text]), vocabulary.title_end
    body = {
        tuple(text[a:b]) for a in range(len(text)) for b in range(a + 1, min(a + 4, len(text)) + 1)
    }
    title = [(index.border, *t, end) for t in vocabulary.encode([d.title]) if t and len(t) < 8]
    asked = [
        (vocabulary.query_start, *q, end)
        for q in vocabulary.encode(PSEUDO_QUERIES.get(d.id, []))
        if len(q) < 12
    ]
    (written,) = searcher.keys([question])
    have = {key.tokens for key in written.keys}
    plain, titled, of_query = (
        vocabulary.sources([question], marker)[0] for marker in (None, "title", "query")
    )
    found = {}
    for source, free, ngrams in ((plain, 0, body), (titled, 1, title), (of_query, 1, asked)):
        for ngram in ngrams:
            key = Key(ngram, min(0.0, log_probability(model, source, ngram[free:])), "any")
            weights = key_weights(
                [key], index.counts([ngram]), index.n_tokens, vocabulary.query_start,
                searcher.scoring,
            )  # fmt: skip
            if weights[0] > 0 and ngram not in have:
                found[ngram] = weights[0]
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("document", [0, 1, 4])
def test_what_is_pruned_is_what_the_definition_says(parts, question, document):
    searcher = searcher_of(parts)
    replayed = Replay(searcher).replay(question, [document])
    want = plain_pruned(parts, searcher, question, document)
    got = {pruned.key.tokens: pruned.weight for pruned in replayed.pruned}
    assert got == pytest.approx(want, abs=1e-3)
    weights = [pruned.weight for pruned in replayed.pruned]
    assert weights == sorted(weights, reverse=True)
    followed = [(lost.weight, lost.view) for lost in replayed.lost]
    assert followed == [(pruned.weight, pruned.key.view) for pruned in replayed.pruned[:50]]


def test_some_passages_of_the_tests_have_pruned_ngrams(parts):
    replay = Replay(searcher_of(parts))
    assert any(replay.replay(q, [d]).pruned for q in QUESTIONS for d in range(6))


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_is_followed_until_a_beam_keeps_it(parts, question):
    searcher = searcher_of(parts, EVERYTHING, beams=1)
    replayed = Replay(searcher, most_beams=64).replay(question, [0, 1, 4])
    sizes = (1, 2, 4, 8, 16, 32, 64)
    writes = {}
    for beams in sizes:
        (written,) = searcher_of(parts, EVERYTHING, beams=beams).keys([question])
        writes[beams] = {key.tokens for key in written.keys}
    assert {"body", "title"} <= {lost.view for lost in replayed.lost}
    assert len({lost.kept_by for lost in replayed.lost}) > 2
    for pruned, lost in zip(replayed.pruned, replayed.lost, strict=False):
        tokens, size = pruned.key.tokens, lost.kept_by
        assert 1 <= lost.at <= len(tokens)
        assert lost.rank > 1
        assert size == next((b for b in sizes if tokens in writes[b]), None)
        if size is not None:
            assert tokens in writes[size]
            assert tokens not in writes[size // 2]


def test_no_more_than_the_heaviest_fifty_are_followed(parts, tmp_path, monkeypatch):
    vocabulary, _, model = parts
    many = Document("many", " ".join(map(chr, range(33, 127))))
    index = build_index([*DOCUMENTS, many], vocabulary, tmp_path / "i")
    searcher = GenerativeSearcher(vast(index), model, Mode.SEAL, Decoding(**SMALL), EVERYTHING)
    replay = Replay(searcher, most_beams=12)
    replayed = replay.replay(QUESTIONS[0], [6])
    assert len(replayed.pruned) > len(replayed.lost) == 50
    weights = [lost.weight for lost in replayed.lost]
    assert weights == [pruned.weight for pruned in replayed.pruned[:50]]
    assert len(replayed.pruned) == replayed.row()["pruned"]
    monkeypatch.setattr(replay_module, "FOLLOWED", 7)
    fewer = replay.replay(QUESTIONS[0], [6])
    assert fewer.lost == replayed.lost[:7], "what is followed beside it changes nothing"


def test_texts_are_without_the_markers_that_rows_say_in_words(parts):
    replayed = Replay(searcher_of(parts, EVERYTHING, beams=1)).replay(QUESTIONS[1], [0, 4, 2])
    pairs = list(zip(replayed.pruned, replayed.lost, strict=False))
    raw = {lost.text: parts[0].decode(pruned.key.tokens) for pruned, lost in pairs}
    titles = {lost.text for lost in replayed.lost if lost.view == "title"}
    asked = {lost.text for lost in replayed.lost if lost.view == "query"}
    assert titles and titles <= {"Eiffel Tower", "City of Towers", "Paris"}
    assert asked and asked <= set(PSEUDO_QUERIES["eiffel"])
    assert all(raw[text] == f"</s> {text} @@" for text in titles)
    assert all(raw[text] == f" || {text} @@" for text in asked)
    for pruned, lost in pairs:
        if lost.view == "body":
            assert lost.text == parts[0].decode(pruned.key.tokens).strip()
    for _, lost in pairs:
        ending = {"body": "", "title": " (title)", "query": " (pseudo-query)"}[lost.view]
        heaviest_first = replace(replayed, lost=(lost,))
        assert heaviest_first.row()["pruned_ngram"] == lost.text + ending


def test_markers_at_the_ends_of_an_ngram_go_one_alone_stays(tmp_path):
    """Where ` @@` and ` ||` are ordinary tokens, texts hold them."""
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    ids = {word: i for i, word in enumerate([*names.values(), "a", "tower", "@@", "||"])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    vocabulary = Vocabulary(tokenizer, names)
    index = build_index([Document("a", "@@ tower || a @@")], vocabulary, tmp_path / "i")
    searcher = GenerativeSearcher(
        vast(index), tiny_model(vocabulary), Mode.SEAL,
        Decoding(beams=1, body_tokens=4, rescore=False, question_ngrams=False), EVERYTHING,
    )  # fmt: skip
    replayed = Replay(searcher, most_beams=1).replay("tower", [0])
    pairs = zip(replayed.pruned, replayed.lost, strict=True)
    texts = {vocabulary.decode(pruned.key.tokens): lost.text for pruned, lost in pairs}
    wanted = {
        "@@": "@@", "||": "||", "tower": "tower", "@@ tower": "tower", "tower ||": "tower",
        "@@ tower ||": "tower", "tower || a": "tower || a", "@@ tower || a": "tower || a",
        "tower || a @@": "tower || a", "|| a": "a", "|| a @@": "a", "a @@": "a", "a": "a",
    }  # fmt: skip
    assert texts == {ngram: wanted[ngram] for ngram in texts}
    assert len(texts) > 4


@pytest.mark.parametrize("rescore", [True, False])
@pytest.mark.parametrize("partial", [True, False])
def test_a_beam_as_large_as_all_candidates_prunes_nothing(parts, rescore, partial):
    searcher = searcher_of(
        parts, EVERYTHING, beams=600, title_tokens=20, query_tokens=40,
        rescore=rescore, partial_titles=partial,
    )  # fmt: skip
    replayed = Replay(searcher).replay(QUESTIONS[0], range(6))
    row = replayed.row()
    assert row["pruned"] == 0
    assert [row[name] for name in COLUMNS if name.startswith("pruned_")] == [None] * 5
    assert row["rank_unpruned"] == row["rank_now"] == 1
    small = Replay(searcher_of(parts, EVERYTHING, rescore=rescore, partial_titles=partial))
    assert small.replay(QUESTIONS[0], range(6)).row()["pruned"] > 0


def test_pruned_ngrams_are_keys_of_the_second_ranking(parts):
    searcher = searcher_of(parts, EVERYTHING)
    differ = hold = 0
    for question in QUESTIONS:
        (written,) = searcher.keys([question])
        for document in range(6):
            replayed = Replay(searcher).replay(question, [document])
            more = [p.key for p in replayed.pruned]
            both = [
                aggregate(searcher.index, keys, written.unigrams, searcher.scoring, 1500)
                for keys in (written.keys, [*written.keys, *more])
            ]
            now, unpruned = (r.documents.tolist().index(document) + 1 for r in both)
            assert (replayed.now, replayed.unpruned) == (now, unpruned)
            held = {m.tokens for m in chain(*both[1].matched)}
            hold += bool(held & {key.tokens for key in more})  # else stronger ones cover them
            differ += now != unpruned
    assert hold
    assert differ


def test_ranks_are_of_the_best_of_all_positives(parts):
    replay = Replay(searcher_of(parts, EVERYTHING))
    alone = [replay.replay(QUESTIONS[0], [d]).now for d in range(6)]
    assert replay.replay(QUESTIONS[0], [3, 5, 2, 0]).now == min(alone[d] for d in (3, 5, 2, 0))


def test_ngrams_are_of_the_first_three_positives_each_once(parts):
    replay = Replay(searcher_of(parts, EVERYTHING))
    three, five = (replay.replay(QUESTIONS[0], p) for p in ([0, 1, 2], [0, 1, 0, 2, 4, 3]))
    assert five.pruned == three.pruned
    assert five.lost == three.lost
    assert five.positives == (0, 1, 2, 4, 3)


def test_the_order_of_those_three_changes_nothing(parts):
    replay = Replay(searcher_of(parts, EVERYTHING))
    found = [replay.replay(QUESTIONS[1], p) for p in permutations([0, 1, 4])]
    for one in found:
        assert replace(one, positives=()) == replace(found[0], positives=())
    assert len(found[0].lost) > 1


def test_of_equally_heavy_ones_the_tokens_decide(parts):
    replayed = Replay(searcher_of(parts, EVERYTHING)).replay(QUESTIONS[0], [0, 1, 4])
    order = [(-pruned.weight, pruned.key.tokens) for pruned in replayed.pruned]
    assert order == sorted(order)


def test_positives_outside_the_index_take_no_place_of_three(parts):
    """Looked up in the order of a file: those that the index does not hold have no number."""
    ids = ("nowhere", "only", "gone", "eiffel", "no one", "paris", "bare")
    numbers = [lookup_of(parts[1]).number_of(Positive(id_, "", None)) for id_ in ids]
    positives = [number for number in numbers if number is not None]
    assert positives == [4, 0, 2, 3]
    replay = Replay(searcher_of(parts, EVERYTHING))
    replayed, three = (replay.replay(QUESTIONS[0], p) for p in (positives, (4, 0, 2)))
    assert replayed.pruned == three.pruned
    assert replayed.pruned != replay.replay(QUESTIONS[0], (4, 0)).pruned


def test_a_row_has_the_columns_of_the_model_in_their_order(parts):
    row = Replay(searcher_of(parts, EVERYTHING)).replay(QUESTIONS[0], [np.int64(0)]).row()
    assert list(row) == COLUMNS
    assert None not in (row["rank_without_titles"], row["rank_without_queries"])
    assert {type(row[name]) for name in ("pruned", "pruned_at", "pruned_rank", "rank_now")} == {int}


def test_rows_of_lost_ngrams_are_plain_values_heaviest_first(parts):
    replayed = Replay(searcher_of(parts, EVERYTHING)).replay(QUESTIONS[0], [0, 1])
    rows = replayed.lost_rows()
    assert len(rows) == len(replayed.lost) > 1
    for row, lost in zip(rows, replayed.lost, strict=True):
        assert list(row) == ["ngram", "view", "weight", "left_at", "rank", "kept_by"]
        assert Lost(*row.values()) == lost
        kinds = [type(value) for value in row.values()]
        assert kinds in ([str, str, float, int, int, int], [str, str, float, int, int, type(None)])
    first, row = rows[0], replayed.row()
    for name, column in (("left_at", "at"), ("rank", "rank"), ("kept_by", "kept_by")):
        assert row[f"pruned_{column}"] == first[name]
    assert row["pruned_weight"] == first["weight"] == max(r["weight"] for r in rows)


@pytest.mark.parametrize(("question", "positives"), [(QUESTIONS[0], []), (" ", [0]), ("", [0])])
def test_without_a_positive_or_words_nothing_is_replayed(parts, question, positives):
    replayed = Replay(searcher_of(parts)).replay(question, positives)
    assert replayed == Replayed(tuple(positives))
    assert replayed.row() == dict.fromkeys(COLUMNS)
    assert replayed.lost_rows() == []


def test_a_positive_of_nothing_but_a_title_is_replayed(parts):
    replayed = Replay(searcher_of(parts, EVERYTHING, beams=1)).replay(QUESTIONS[1], [4])
    assert {p.key.view for p in replayed.pruned} <= {"title"}


def test_an_index_without_titles_has_no_rank_without_them(parts, tmp_path):
    vocabulary, _, model = parts
    index = build_index(DOCUMENTS, vocabulary, tmp_path / "i", titles=False)
    searcher = GenerativeSearcher(vast(index), model, Mode.SEAL, Decoding(**SMALL), EVERYTHING)
    row = Replay(searcher).replay(QUESTIONS[0], [0]).row()
    assert (row["rank_without_titles"], row["rank_without_queries"]) == (None, None)
    assert row["rank_without_unigrams"] is not None


@pytest.mark.parametrize("number", [-1, 7])
def test_numbers_that_the_index_does_not_have_are_refused(parts, number):
    with pytest.raises(InputError, match=rf"passage number {number}; expected 0 to 6"):
        Replay(searcher_of(parts)).replay(QUESTIONS[0], [0, number])


def test_a_largest_beam_below_one_is_refused(parts):
    with pytest.raises(InputError, match="0 beams; expected at least 1"):
        Replay(searcher_of(parts), most_beams=0)
