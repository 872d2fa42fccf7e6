import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.remedies.reference import PassageLookup

PASSAGES = [
    Document("moon", "The crater Bern lies on the Moon; Bern, Bern and Bern again.", "Craters"),
    Document("bern", "Bern is the capital of Switzerland.", "Bern"),
    Document("aare", "The Aare is a river in Switzerland that runs around Bern.", "Aare"),
    Document("blank", " \n"),
    Document("title", "", "Thun"),
]


@pytest.fixture(scope="module")
def lookup():
    return PassageLookup(PASSAGES)


def ids(passages):
    return [[passage.id for passage in found] for found in passages]


def test_words_find_frequent_names_and_titles_find_subjects(lookup):
    [by_words] = lookup.by_words(["Bern"], 2)
    by_title = lookup.by_title("", ("bern",), 2)
    found = ids([by_words, by_title])
    assert found == [["moon", "bern"], ["bern"]], "the crater has the name four times"
    assert [p.linked for p in (*by_words, *by_title)] == [False, False, True]


def test_surface_forms_are_linked_as_a_gazetteer_does(lookup):
    kb = [
        Document("planet", "Mercury is a planet.", "Mercury  (planet)"),
        Document("god", "Mercury is a god.", "Mercury (god)", {"aliases": "Hermes|Mercurius"}),
        Document("bare", " ", "Mercury"),
        Document("zurich", "It is a city.", "Zu\u0308rich", {"aliases": ["Turicum"]}),
    ]
    linked = PassageLookup(kb)
    asked = ["Mercury", "Mercury (god)", "Hermes", "Turicum", "Z\u00fcrich", "mercury", "Bern", ""]
    assert ids(map(linked.by_title, asked)) == [
        ["planet", "god"], ["god"], ["god"], ["zurich"], ["zurich"], [], [], [],
    ]  # fmt: skip
    assert ids([linked.by_title("Mercury", k=1)]) == [["planet"]]
    assert lookup.by_title("Thun") == []
    with pytest.raises(InputError, match="aliases '7' of document 'a'"):
        PassageLookup([Document("a", "x", "A", {"aliases": 7})]).by_title("A")
