"""Set decoding: words of one span in any order, against a plain reading."""

from __future__ import annotations

from itertools import pairwise

import pytest

from argus.data.types import Document
from argus.generative.decode.beams import Search
from argus.generative.index import NgramIndex, append, build_index
from argus.generative.vocabulary import train_vocabulary
from tests.support.generating import (
    DOCUMENTS,
    decoded,
    next_log_probabilities,
    tiny_model,
)

TOM = Document("tom", "Tom likes pizza and tomatoes. Tom likes Paris.", "Tom")
QUESTIONS = ["does Tom like tomatoes", "Paris?"]


@pytest.fixture(scope="module", params=[1, 2], ids=["one-segment", "two-segments"])
def parts(request, tmp_path_factory):
    texts = [f"{d.title} {d.text}" for d in (*DOCUMENTS, TOM, TOM)]
    vocabulary = train_vocabulary(texts, 420)  # words of one or two tokens
    folder = tmp_path_factory.mktemp("sets") / "i"
    documents = [*DOCUMENTS, TOM]
    build_index(documents[: len(documents) // request.param], vocabulary, folder)
    append(folder, documents)
    index = NgramIndex.open(folder)
    assert len(index.segments) == request.param
    return vocabulary, index, tiny_model(vocabulary)


def passages_of(index):
    pointers, tokens = index.tokens_of(range(index.n_documents))
    return [tokens[a:b].tolist() for a, b in pairwise(pointers)]


def decode(parts, search, observer=None):
    vocabulary, index, model = parts
    return decoded(vocabulary, index, model, search, QUESTIONS, observer)[0]


def places_after(passages, opens, border, state, longest):
    """(token, passage, positions in the order written) for all that may follow, one by one."""
    for number, passage in enumerate(passages):
        if not state:
            yield from ((t, number, (at,)) for at, t in enumerate(passage) if t != border)
            continue
        for written in state.get(number, ()):
            after = written[-1] + 1
            mid_word = after < len(passage) and not opens[passage[after]]
            for at in [after] if mid_word else range(1, len(passage)):
                if at in written or at >= len(passage):
                    continue
                wide = max(*written, at) - min(*written, at) + 1
                if wide <= longest and (at == after or opens[passage[at]]):
                    yield passage[at], number, (*written, at)


def plain_sets(parts, source, search):
    """Set decoding by its definition: {shortest spans, at most two of a hypothesis}, by step."""
    vocabulary, index, model = parts
    passages, opens = passages_of(index), vocabulary.word_starts()
    live, kept = [((), 0.0, {})], {}
    for _ in range(search.longest):
        pool = []
        for ngram, total, state in live:
            logs = next_log_probabilities(model, source, ngram)[-1]
            by_token = {}
            for token, number, positions in places_after(
                passages, opens, index.border, state, search.longest
            ):
                if token not in search.barred:
                    by_token.setdefault(token, {}).setdefault(number, []).append(positions)
            pool += [
                ((*ngram, t), total + float(logs[t]), places) for t, places in by_token.items()
            ]
        pool.sort(key=lambda c: -c[1])
        different = {}
        for candidate in pool[: 4 * search.beams]:
            different.setdefault(words(candidate[0], opens), candidate)
        best = list(different.values())[: 2 * search.beams]
        for _, total, places in best:
            for span in shortest(passages, places):
                kept.setdefault(span, total)
        live = best[: search.beams]
    return kept


def words(ngram, opens):
    whole = []
    for token in ngram:
        if opens[token] or not whole:
            whole.append([])
        whole[-1].append(token)
    return tuple(sorted(map(tuple, whole)))


def shortest(passages, places):
    spans = {}
    for number, all_positions in places.items():
        for p in all_positions:
            span = tuple(passages[number][min(p) : max(p) + 1])
            spans.setdefault(len(span), {})[span] = None
    return set(spans[min(spans)])


@pytest.mark.parametrize("beams", [2, 6])
def test_sets_are_those_of_the_definition(parts, beams):
    vocabulary, index, _ = parts
    search = Search(6, beams, barred=frozenset({index.border}), any_order=True)
    for question, mine in zip(QUESTIONS, decode(parts, search), strict=True):
        want = plain_sets(parts, vocabulary.sources([question], "body")[0], search)
        got = dict(zip(mine.ngrams, mine.log_probabilities, strict=True))
        assert len(got) == len(mine.ngrams)
        assert got.keys() <= want.keys()
        assert max(abs(got[n] - want[n]) for n in got) < 1e-5
        assert len(got) >= 0.8 * len(want)  # of more than two equally short spans two are kept


def test_words_apart_are_written_as_the_span_between(parts):
    vocabulary, index, _ = parts
    search = Search(6, 300, barred=frozenset({index.border}), any_order=True)
    mine = decode(parts, search, lambda pool: pool.written.shape[1] < 2)[0]
    assert index.counts(mine.ngrams).min() > 0
    texts = {text.strip() for text in vocabulary.decode_all(mine.ngrams)}
    assert {"likes pizza and tomatoes", "likes Paris", "Tom likes"} <= texts
    plain = decode(parts, search.plain, lambda pool: pool.written.shape[1] < 2)[0]
    assert max(map(len, plain.ngrams)) == 2  # two steps are two words side by side there


def test_no_span_is_longer_than_a_plain_ngram(parts):
    _, index, _ = parts
    (mine, _) = decode(parts, Search(5, 20, barred=frozenset({index.border}), any_order=True))
    assert max(map(len, mine.ngrams)) <= 5
    assert all(index.border not in ngram for ngram in mine.ngrams)


def test_frequent_words_go_on_as_plain_ones_do(parts, monkeypatch):
    _, index, _ = parts
    monkeypatch.setattr("argus.generative.decode.any_order.MOST_PLACES", 0)
    plain = Search(5, 8, barred=frozenset({index.border}))
    sets = Search(5, 8, barred=frozenset({index.border}), any_order=True)
    for mine, other in zip(decode(parts, sets), decode(parts, plain), strict=True):
        assert {n for n in mine.ngrams if len(n) == 1} == {n for n in other.ngrams if len(n) == 1}
        assert index.counts(mine.ngrams).min() > 0
