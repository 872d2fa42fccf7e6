from hypothesis import given
from hypothesis import strategies as st

from argus.generative.question_ngrams import question_ngram_tokens, question_ngrams
from argus.generative.vocabulary import train_vocabulary


def test_words_come_as_they_are_and_with_a_capital():
    assert question_ngrams("who sings") == [
        "who", "Who", "sings", "Sings",
        "who sings", "who Sings", "Who sings", "Who Sings",
    ]  # fmt: skip


def test_a_capital_stays_and_gives_no_second_spelling():
    assert question_ngrams("Reba 1993") == ["Reba", "1993", "Reba 1993"]


def test_three_words_have_eight_spellings_and_no_ngram_is_longer():
    ngrams = question_ngrams("does he love me")
    assert sum(len(ngram.split()) == 3 for ngram in ngrams) == 2 * 8
    assert max(len(ngram.split()) for ngram in ngrams) == 3
    assert "Love Me" in ngrams
    assert question_ngrams("does he love me", longest=1) == [
        "does", "Does", "he", "He", "love", "Love", "me", "Me",
    ]  # fmt: skip


def test_marks_between_words_stay_and_the_last_one_goes():
    assert question_ngrams("Paris,  France?") == ["Paris", "France", "Paris, France"]
    assert question_ngrams("Taylor's AT&T (U.S.)") == [
        "Taylor's", "AT&T", "U.S", "Taylor's AT&T", "AT&T (U.S", "Taylor's AT&T (U.S",
    ]  # fmt: skip


def test_letters_of_any_script_are_words():
    assert question_ngrams("où est 東京") == [
        "où", "Où", "est", "Est", "東京",
        "où est", "où Est", "Où est", "Où Est", "est 東京", "Est 東京",
        "où est 東京", "où Est 東京", "Où est 東京", "Où Est 東京",
    ]  # fmt: skip


def test_a_question_without_words_has_none():
    assert question_ngrams("") == question_ngrams(" ?! ... _ ") == []


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
