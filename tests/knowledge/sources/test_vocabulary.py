import pytest

from argus.knowledge.sources.raw import label_from_id, language_rank


@pytest.mark.parametrize(
    ("id_", "label"),
    [
        ("http://dbpedia.org/resource/Ada_Lovelace", "Ada Lovelace"),
        ("http://dbpedia.org/resource/Caf%C3%A9_(bar)", "Café (bar)"),
        ("http://x.org/onto#Big_Thing", "Big Thing"),
        ("http://x.org/a/", "a"),
        ("http://x.org/", "x.org"),
        ("http://x.org/a#", "a"),
        ("urn:isbn:0451450523", "0451450523"),
        ("Q42", "Q42"),
        ("Alan_Turing", "Alan Turing"),
        ("/m/02_x", "/m/02 x"),
        ("___", "___"),
    ],
)
def test_an_id_says_a_label(id_, label):
    assert label_from_id(id_) == label


@pytest.mark.parametrize(
    ("tag", "language", "rank"),
    [("en", "en", 0), ("EN", "en", 0), ("en-GB", "en", 1), ("", "en", 2), ("mul", "en", 2),
     ("de", "en", None), ("eng", "en", None), ("en", "en-gb", None)],
)  # fmt: skip
def test_languages_are_preferred_in_order(tag, language, rank):
    assert language_rank(tag, language) == rank
