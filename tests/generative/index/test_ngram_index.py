"""The n-gram index against plain scans of the passages."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Document
from argus.errors import InputError
from argus.generative.index import NgramIndex, build_index
from argus.generative.index.ngram_index import open_segment
from argus.generative.index.segment import write_segment
from argus.generative.vocabulary import train_vocabulary
from tests.support import in_memory_index
from tests.support.draws import examples
from tests.support.plain_index import PlainIndex

BORDER = 0


def in_memory(passages, size, segments=1):
    """An index over passages of tokens (borders left out), cut into so many segments."""
    cuts = np.linspace(0, len(passages), segments + 1).astype(int)[1:-1].tolist()
    return in_memory_index.in_memory(passages, size, BORDER, cuts=cuts)


@st.composite
def corpora(draw):
    """Passages over alphabets of 2 to 70,000 symbols: some repeated, some ends of others."""
    size = draw(st.sampled_from([2, 3, 5, 50, 60_000, 70_000]))
    token = st.integers(1, size - 1)
    passages = draw(st.lists(st.lists(token, min_size=1, max_size=12), min_size=1, max_size=12))
    for source in draw(st.lists(st.integers(0, len(passages) - 1), max_size=4)):
        passage = passages[source]
        start = draw(st.integers(0, len(passage) - 1))
        passages.append(passage[start:])  # a repeated passage, or a title that is part of another
    return passages, size


@st.composite
def corpora_and_ngrams(draw):
    passages, size = draw(corpora())
    whole = [[BORDER, *p, BORDER] for p in passages]
    ngrams = [[], [BORDER], [BORDER, BORDER], [size - 1, BORDER, 1], [size], [-1]]
    for _ in range(draw(st.integers(1, 8))):
        passage = draw(st.sampled_from(whole))
        start = draw(st.integers(0, len(passage) - 1))
        ngrams.append(passage[start : start + draw(st.integers(1, 11))])
        ngrams.append(draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5)))
    joined = [t for p in whole[:2] for t in p[:-1]]  # over a border
    return passages, size, [*ngrams, joined], draw(st.integers(1, 3))


@given(corpora_and_ngrams())
@settings(max_examples=examples(200), deadline=None)
def test_all_that_an_index_tells_agrees_with_a_plain_scan(case):
    passages, size, ngrams, segments = case
    index, plain = in_memory(passages, size, segments), PlainIndex(passages, BORDER)
    assert index.n_tokens == plain.n_tokens
    assert index.n_documents == plain.n_documents
    assert index.counts(ngrams).tolist() == plain.counts(ngrams).tolist()
    assert [index.count(n) for n in ngrams] == plain.counts(ngrams).tolist()
    for most in (2, 10**9):
        for got, want in zip(
            index.occurrences(ngrams, most), plain.occurrences(ngrams, most), strict=True
        ):
            assert got.tolist() == want.tolist()
    for ngram in ngrams:
        assert index.documents(ngram).tolist() == plain.documents(ngram).tolist()
        for got, want in zip(index.continuations(ngram), plain.continuations(ngram), strict=True):
            assert got.tolist() == want.tolist()


@given(corpora_and_ngrams())
@settings(max_examples=examples(100), deadline=None)
def test_stepping_by_tokens_reaches_the_rows_of_the_ngram(case):
    passages, size, ngrams, segments = case
    index = in_memory(passages, size, segments)
    inside = [n for n in ngrams if n and BORDER not in n[1:] and min(n) >= 0 and max(n) < size]
    for ngram in inside:
        rows = index.rows((), 2)
        for token in ngram:
            rows = index.step(rows, np.array([token, token]))
        assert rows.counts.tolist() == [index.count(ngram)] * 2
        pointers, tokens, counts = index.next_tokens(rows)
        expected_tokens, expected_counts = index.continuations(ngram)
        assert pointers.tolist() == [0, len(expected_tokens), 2 * len(expected_tokens)]
        assert tokens.tolist() == expected_tokens.tolist() * 2
        assert counts.tolist() == expected_counts.tolist() * 2


def test_an_ngram_that_ends_in_the_border_cannot_go_on():
    index = in_memory([[1, 2], [1, 3]], 4)
    rows = index.rows((), 1)
    counts = []
    for token in (1, 2, BORDER, 1, 3, BORDER):
        rows = index.step(rows, np.array([token]))
        counts.append(int(rows.counts[0]))
    assert counts == [2, 1, 1, 0, 0, 0]


def test_tokens_with_thousands_of_rows_have_lists():
    rng = np.random.default_rng(0)
    passages = [rng.choice([1, 1, 1, 2, 3, 4], rng.integers(1, 40)).tolist() for _ in range(900)]
    index, plain = in_memory(passages, 6, segments=2), PlainIndex(passages, BORDER)
    lists = index.segments[0].list_pointers
    assert np.diff(lists)[1] > 0, "the corpus is too small to make a list"
    assert np.diff(lists)[5] == 0
    for ngram in ([1], [2], [1, 1], [1, 2], [1, 5], [1, 0], [1, 4, 4], [2, 1, 1, 1]):
        assert index.count(ngram) == plain.count(ngram)
        for got, want in zip(index.continuations(ngram), plain.continuations(ngram), strict=True):
            assert got.tolist() == want.tolist()


@given(corpora(), st.integers(1, 3))
@settings(max_examples=examples(50), deadline=None)
def test_passages_come_back_as_they_went_in(case, segments):
    passages, size = case
    index = in_memory(passages, size, segments)
    which = np.arange(len(passages))[::-1]
    pointers, tokens = index.tokens_of(which)
    got = [tokens[a:b].tolist() for a, b in pairwise(pointers)]
    assert got == [[BORDER, *p] for p in passages[::-1]]
    assert [index.id_of(i) for i in which] == index.ids()[::-1]


def test_a_damaged_index_is_an_error_that_names_the_file(tmp_path):
    write_segment(in_memory([[1, 2], [3]], 4).segments[0], tmp_path / "s")
    path = tmp_path / "s" / "suffixes.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"suffixes\.npy.*--fresh"):
        open_segment(tmp_path / "s")
    for content in ("{", "[]", '{"version": 1}'):
        (tmp_path / "ngram.json").write_text(content)
        with pytest.raises(InputError, match="no manifest of an n-gram index"):
            NgramIndex.open(tmp_path)


DOCUMENTS = [
    Document("a", "The tower stands in Paris.", "Eiffel Tower"),
    Document("b", "A tower.", "Tower"),
    Document("c", "", "Title only"),
    Document("d", "  \n", ""),
    Document("e", "No title here."),
]


@pytest.fixture(scope="module")
def vocabulary():
    return train_vocabulary([f"{d.title} {d.text}" for d in DOCUMENTS], 300)


def test_special_tokens_written_in_a_text_are_text(tmp_path, vocabulary):
    index = build_index(
        [Document("a", "one </s> two @@ three || four"), Document("b", "five")],
        vocabulary,
        tmp_path / "i",
    )
    assert index.count([vocabulary.border]) == 2
    assert index.count([vocabulary.query_start]) == 0
    assert index.title_and_text(0)[1] == "one </s> two @@ three || four"


def test_a_corpus_that_lost_or_gained_a_document_is_refused(tmp_path, vocabulary):
    build_index(DOCUMENTS, vocabulary, tmp_path / "i")
    changed = [*DOCUMENTS[1:], Document("f", "More.")]
    with pytest.raises(InputError, match=r"1 new \(f\).*1 missing \(a\)"):
        build_index(changed, vocabulary, tmp_path / "i")


def test_segments_answer_like_one(tmp_path, vocabulary, monkeypatch):
    whole = build_index(DOCUMENTS, vocabulary, tmp_path / "w")
    monkeypatch.setattr("argus.generative.passages.BLOCK", 2)
    parted = build_index(DOCUMENTS, vocabulary, tmp_path / "i", segment_tokens=1)
    assert len(parted.segments) == 3
    assert parted.ids() == whole.ids()
    for text in ("tower", "Tower", "The tower stands", "title", "."):
        ngram = vocabulary.encode([text])[0]
        assert parted.count(ngram) == whole.count(ngram)
        assert parted.documents(ngram).tolist() == whole.documents(ngram).tolist()
        for a, b in zip(parted.continuations(ngram), whole.continuations(ngram), strict=True):
            assert a.tolist() == b.tolist()
