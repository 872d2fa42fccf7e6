"""The n-grams of a passage that a search could write, by brute force."""

from argus.generative.failures.replay import gold_ngrams
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Decoding, Mode
from tests.support.generating import DOCUMENTS

DECODING = Decoding(beams=4, body_tokens=5, title_tokens=8, query_tokens=12)


def test_all_ngrams_of_a_text_are_wanted_and_titles_and_pseudo_queries_whole(parts):
    vocabulary, index, _, model = parts
    searcher = GenerativeSearcher(index, model, Mode.MINDER, DECODING)
    views = {view.name: view for view in searcher.views}
    want = {
        tuple(text[a:b])
        for text in vocabulary.encode([DOCUMENTS[0].text, DOCUMENTS[1].text])
        for a in range(len(text))
        for b in range(a + 1, min(a + 5, len(text)) + 1)
    }
    got = gold_ngrams(index, [0, 1], views["body"])
    assert len(got) == len(set(got))
    assert set(got) == want
    titles = gold_ngrams(index, range(6), views["title"])
    assert sorted(map(vocabulary.decode, titles)) == [
        "</s> City of Towers @@", "</s> Eiffel Tower @@", "</s> Paris @@", "</s> Tower @@",
    ]  # fmt: skip
    queries = gold_ngrams(index, range(6), views["query"])
    assert sorted(map(vocabulary.decode, queries)) == [
        " || what is tall @@", " || where does the tower stand @@",
    ]  # fmt: skip
    assert gold_ngrams(index, range(6), views["question"]) == []
