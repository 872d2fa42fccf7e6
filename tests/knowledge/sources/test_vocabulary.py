import pytest

from argus.knowledge.triples import label_from_id


@pytest.mark.parametrize(
    ("id_", "label"),
    [
        ("http://dbpedia.org/resource/Ada_Lovelace", "Ada Lovelace"),
        ("http://dbpedia.org/resource/Caf%C3%A9_(bar)", "Café (bar)"),
        ("http://x.org/onto#Big_Thing", "Big Thing"),
        ("http://x.org/a/", "a"),
        ("Alan_Turing", "Alan Turing"),
        ("/m/02_x", "/m/02 x"),
        ("___", "___"),
    ],
)
def test_an_id_says_a_label(id_, label):
    assert label_from_id(id_) == label
