"""The n-grams of a passage that a search could write, by brute force."""

from argus.generative.failures.replay import gold_ngrams
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Decoding, Mode
from tests.support.generating import DOCUMENTS

SMALL = {"beams": 4, "body_tokens": 5, "title_tokens": 8, "query_tokens": 12}


def searcher_of(parts):
    return GenerativeSearcher(parts[1], parts[3], Mode.MINDER, Decoding(**SMALL))


def view_of(searcher, name):
    return next(view for view in searcher.views if view.name == name)


def test_a_text_gives_all_ngrams_that_the_search_could_write(parts):
    vocabulary, index, *_ = parts
    texts = vocabulary.encode([DOCUMENTS[0].text, DOCUMENTS[1].text])
    want = {
        tuple(text[a:b])
        for text in texts
        for a in range(len(text))
        for b in range(a + 1, min(a + 5, len(text)) + 1)
    }
    got = gold_ngrams(index, [0, 1], view_of(searcher_of(parts), "body"))
    assert len(got) == len(set(got))
    assert set(got) == want
    assert all(index.count(ngram) for ngram in got)


def test_titles_and_pseudo_queries_are_wanted_whole(parts):
    vocabulary, index, *_ = parts
    searcher = searcher_of(parts)
    titles = gold_ngrams(index, range(6), view_of(searcher, "title"))
    assert sorted(map(vocabulary.decode, titles)) == [
        "</s> City of Towers @@", "</s> Eiffel Tower @@", "</s> Paris @@", "</s> Tower @@",
    ]  # fmt: skip
    queries = gold_ngrams(index, range(6), view_of(searcher, "query"))
    assert sorted(map(vocabulary.decode, queries)) == [
        " || what is tall @@", " || where does the tower stand @@",
    ]  # fmt: skip
    assert gold_ngrams(index, range(6), view_of(searcher, "question")) == []
