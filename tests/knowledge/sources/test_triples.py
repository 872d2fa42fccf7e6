from itertools import islice

import pytest

from argus.errors import InputError
from argus.knowledge.triples import TripleFiles, label_from_id

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DBO, DBR = "http://dbpedia.org/ontology/", "http://dbpedia.org/resource/"
SKOS, FOAF = "http://www.w3.org/2004/02/skos/core#", "http://xmlns.com/foaf/0.1/"


def nt(subject, property_, object_):
    return f"<{subject}> <{property_}> {object_} ."


def res(name):
    return f"<{DBR}{name}>"


def test_triples_of_fb15k237_are_read_with_its_entities_as_labels(shared, file, written):
    folder = shared("fb15k237")
    with (folder / "edges.tsv").open(encoding="utf-8") as lines:
        edges = file("edges.tsv", *(line.strip() for line in islice(lines, 5_001)))
    raw = written(TripleFiles(edges, folder / "entities.jsonl"))
    assert raw.counts == {"relation": 5_000, "entity": 14_541}
    assert raw.entities["/m/06rqw"]["label"] == "Ska"
    assert raw.entities["/m/06rqw"]["paragraph"].startswith("Ska is a music genre that originated")
    assert ("/m/027rn", "r026", "/m/06cx9", "triples") in raw.relations


DBPEDIA = [
    "# as DBpedia writes it",
    nt(f"{DBR}Ada", RDFS + "label", '"Ada Lovelace"@en'),
    nt(f"{DBR}Ada", RDFS + "label", '"Ada Lovelace (de)"@de'),
    nt(f"{DBR}Ada", FOAF + "name", '"Augusta Ada King"@en'),
    nt(f"{DBR}Ada", SKOS + "altLabel", '"Countess of Lovelace"'),
    nt(f"{DBR}Ada", RDFS + "comment", '"Short."@en'),
    nt(f"{DBR}Ada", DBO + "abstract", '"Ada was the daughter of Byron."@en'),
    nt(f"{DBR}Ada", "https://schema.org/description", '"mathematician"@en'),
    nt(f"{DBR}Ada", DBO + "birthYear", '"1815"^^<http://www.w3.org/2001/XMLSchema#gYear>'),
    nt(f"{DBR}Ada", DBO + "child", res("Byron_King")),
    nt(f"{DBR}Ada", DBO + "knows", "_:b1"),
    nt(f"{DBR}Ada", DBO + "wikiPageWikiLink", res("Engine")),
    nt(f"{DBR}Engine", "http://schema.org/name", '"Engine"'),
    nt(f"{DBR}Engine", "http://schema.org/description", '"A machine of brass."@en-GB'),
    nt(f"{DBR}Caf%C3%A9_(bar)", DBO + "near", res("Engine")),
    '_:b1 <http://x.org/p> "of a blank node" .',
    f'_:b1 <{RDFS}label> "a blank node" .',
    nt(f"{DBR}Ada", RDFS + "comment", '" "@en'),
]


def test_n_triples_hold_labels_texts_and_relations(file, written):
    raw = written(TripleFiles(file("dbpedia.nt", *DBPEDIA)))
    ada = raw.entities[DBR + "Ada"]
    assert (ada["label"], ada["paragraph"]) == ("Ada Lovelace", "Ada was the daughter of Byron.")
    assert ada["description"] == "mathematician"
    assert raw.entities[DBR + "Engine"]["paragraph"] == "A machine of brass."
    assert raw.entities[DBR + "Caf%C3%A9_(bar)"]["label"] == "Café (bar)"
    assert raw.aliases == {
        (DBR + "Ada", "Augusta Ada King", "alias"),
        (DBR + "Ada", "Countess of Lovelace", "alias"),
    }
    assert set(raw.relations) == {
        (DBR + "Ada", DBO + "child", DBR + "Byron_King", "triples"),
        (DBR + "Ada", DBO + "wikiPageWikiLink", DBR + "Engine", "hyperlink"),
        (DBR + "Caf%C3%A9_(bar)", DBO + "near", DBR + "Engine", "triples"),
    }
    assert set(raw.entities) == {
        DBR + n for n in ("Ada", "Byron_King", "Engine", "Caf%C3%A9_(bar)")
    }
    assert raw.counts == {"relation": 3, "label from id": 2, "entity": 4}


@pytest.mark.parametrize(
    ("triples", "labels", "says"),
    [
        ("a\tb\tc\na\tb", None, r"t.tsv, line 2: 2 columns; expected 3"),
        ("subject\trelation\tobject\tx\na\tb\tc", None, r"line 2"),
        ("a\tp\tb", ("l.tsv", "a"), r"l.tsv, line 1: 'a'; expected id, tab, text"),
        ("a\tp\tb", ("l.jsonl", "{}"), "no id field"),
        ("a\tp\tb", ("l.xml", "<a>"), r"file type .xml is not known"),
    ],
)
def test_bad_triples_and_labels_are_said(file, written, triples, labels, says):
    with pytest.raises(InputError, match=says):
        written(TripleFiles(file("t.tsv", triples), labels and file(*labels)))


def test_an_id_says_a_label():
    for id_, label in (
        ("http://x.org/Caf%C3%A9_(bar)", "Café (bar)"), ("http://x.org/o#Big_Thing", "Big Thing"),
        ("http://x.org/a/", "a"), ("/m/02_x", "/m/02 x"), ("___", "___"),
    ):  # fmt: skip
        assert label_from_id(id_) == label
