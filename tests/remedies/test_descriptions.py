import pytest

from argus.data.types import Document, Span
from argus.remedies.description_checks import is_supported, is_wording
from argus.remedies.descriptions import describe, shorten, stands_alone


def said(text, title="Bern", entity=None, **metadata):
    return describe(Document("p", text, title, metadata), entity or title)


@pytest.mark.parametrize("field", ["description", "short_description", "wikidata_description"])
def test_the_knowledge_bases_own_description_comes_first(field):
    assert said("Bern is a town.", **{field: "capital city of Switzerland"}) == (
        "capital city of Switzerland"
    )


def test_an_empty_or_foreign_description_field_is_passed_over():
    assert said("Bern is a town.", description=" ", short_description=3) == "town"


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("Bern is a town on the Aare.", "Bern", "town on the Aare"),
        ("Bern or Berne is the de facto seat of it.", "Bern", "de facto seat of it"),
        ("John Lee, known as Yanni, is a pianist.", "Yanni", "pianist"),
        ("Bern is a place where bears live.", "Bern", "place"),
        ("Ska is a music genre that originated in Jamaica in the 1950s.", "Ska", "music genre"),
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
            "The Beatles were an English rock band formed in 1960.",
            "The Beatles",
            "English rock band",
        ),
        ("Lambert was the second son of Adalbert II of Tuscany.", "Lambert", "second son"),
        ("Tea is a drink.", "", "drink"),
    ],
)
def test_the_first_sentence_says_what_the_entity_is(sentence, title, expected):
    found = said(sentence, title, entity=title or "Tea")
    assert found == expected


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("", "Bern"),
        ("Bern lies on the Aare.", "Bern"),
        ("In 1191 a bear is a symbol.", "Bern"),  # of something else
        ("Bern grew fast. It is a town.", "Bern"),  # not the first sentence
        ("Bern is the name of several places.", "Bern"),
        ("Bern is one of many.", "Bern"),
        ("Bern is a <b>town</b>.", "Bern"),
        ("Bern is a town\u200b.", "Bern"),
        ("Bern is a http://bern.example town.", "Bern"),
        ("Ann is an American stage, film and television actress.", "Ann"),
        ("Bern is a very very very very very very old town.", "Bern"),
        ("Bern, as one two three four five six seven eight nine ten told, is a town.", "Bern"),
        ("Bern is a Bern.", "Bern"),
    ],
)
def test_nothing_is_said_where_it_cannot_be_had_cleanly(sentence, title):
    assert said(sentence, title) is None


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("a city in the Canton of Bern in Switzerland", "city"),
        ("American basketball player and former head coach", "American basketball player"),
        ("private liberal arts and sciences research university", None),
        ("mountain range running along the western edge", "mountain range"),
        ("social science concerned with the study of x", "social science"),
        ("province of the People's Republic of China", None),
        ("species of flowering plant in the family of x", "species of flowering plant"),
        ("second son of Adalbert II of Tuscany", "second son"),
        ("a city in the U.S. state of Iowa", "city"),
        ("very very very very very very old town", None),
        ("An album: songs", "album"),
        ("city of", None),
        ("", None),
    ],
)
def test_long_phrases_are_cut_where_a_noun_phrase_ends(phrase, expected):
    assert shorten(phrase) == expected


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("in Bern, it", True),
        ("in Bern it", True),
        ("in Bern", True),
        ("the Bern Times", False),
        ("Bern 4, 1990", False),
        ("4 Bern 1990", False),
        ("4 Bern", False),
        ("Bern. Then", True),
    ],
)
def test_parts_of_longer_names_and_dates_do_not_stand_alone(text, alone):
    start = text.index("Bern")
    assert stands_alone(text, Span(start, start + 4)) is alone


def test_descriptions_of_a_real_knowledge_base_are_supported(shared):
    from argus.corpora.opening import read_corpus

    passages = read_corpus(shared("fb15k237") / "entities.jsonl", limit=3000)
    bare = [Document(p.id, p.text, p.title) for p in passages]
    texts = [(p, d) for p in bare if (d := describe(p, p.title))]
    assert len(texts) > 1600
    assert all(is_wording(d) and is_supported(d, [p.content]) for p, d in texts)
