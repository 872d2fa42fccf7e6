from hypothesis import given
from hypothesis import strategies as st

from argus.generative.searcher import question_ngram_tokens, question_ngrams
from argus.generative.vocabulary import train_vocabulary


def test_three_words_have_eight_spellings_and_no_ngram_is_longer():
    ngrams = question_ngrams("does he love me")
    assert sum(len(ngram.split()) == 3 for ngram in ngrams) == 2 * 8
    assert max(len(ngram.split()) for ngram in ngrams) == 3
    assert "Love Me" in ngrams
    assert question_ngrams("does he love me", longest=1) == [
        "does", "Does", "he", "He", "love", "Love", "me", "Me",
    ]  # fmt: skip


@given(st.text(max_size=40))
def test_every_ngram_is_in_the_question_but_for_capitals(question):
    ngrams = question_ngrams(question)
    whole = " ".join(question.split()).upper()
    assert len(set(ngrams)) == len(ngrams)
    assert all(ngram.upper() in whole for ngram in ngrams)


def test_tokens_are_those_of_the_passages():
    vocabulary = train_vocabulary(["who sings does he love me with reba"] * 3, 300)
    tokens = question_ngram_tokens("who Sings", vocabulary)
    assert [vocabulary.decode(t) for t in tokens] == [
        " who", " Who", " Sings", " who Sings", " Who Sings",
    ]  # fmt: skip
    assert question_ngram_tokens("?", vocabulary) == []
