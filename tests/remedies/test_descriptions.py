import pytest

from argus.data.types import Document
from argus.remedies.synthesis import describe


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("Bern is a town on the Aare.", "Bern", "town on the Aare"),
        ("Bern or Berne is the de facto seat of it.", "Bern", "de facto seat of it"),
        ("John Lee, known as Yanni, is a pianist.", "Yanni", "pianist"),
        (
            "Teutberga( died 11 November 875) was a queen of Lotharingia by marriage.",
            "Teutberga",
            "queen of Lotharingia by marriage",
        ),
        (
            "Ann Lee (born 1950 (or 1951)) is an American actress, singer and model.",
            "Ann Lee (actress)",
            "American actress",
        ),
        (
            "Lambert was the second son of Adalbert II of Tuscany.",
            "Lambert",
            "second son of Adalbert II",
        ),
    ],
)
def test_the_first_sentence_says_what_the_entity_is(sentence, title, expected):
    assert describe(Document("p", sentence, title), title or "Tea") == expected


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("Bern lies on the Aare.", "Bern"),
        ("In 1191 a bear is a symbol.", "Bern"),  # of something else
        ("Bern grew fast. It is a town.", "Bern"),  # not the first sentence
        ("Bern is the name of several places.", "Bern"),
        ("Bern is a <b>town</b>.", "Bern"),
        ("Bern is a town\u200b.", "Bern"),
        ("Bern is a very very very very very very old town.", "Bern"),
        ("Bern, as one two three four five six seven eight nine ten told, is a town.", "Bern"),
    ],
)
def test_nothing_is_said_where_it_cannot_be_had_cleanly(sentence, title):
    assert describe(Document("p", sentence, title), title) is None
