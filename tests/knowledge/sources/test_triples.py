import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.knowledge.triples import TripleFiles

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DBO, DBR = "http://dbpedia.org/ontology/", "http://dbpedia.org/resource/"
SKOS, FOAF = "http://www.w3.org/2004/02/skos/core#", "http://xmlns.com/foaf/0.1/"


def nt(subject, property_, object_):
    return f"<{subject}> <{property_}> {object_} ."


def res(name):
    return f"<{DBR}{name}>"


def test_all_of_fb15k237_is_read_with_its_entities_as_labels(shared, written):
    folder = shared("fb15k237")
    raw = written(TripleFiles(folder / "edges.tsv", folder / "entities.jsonl"))
    assert raw.counts == {"relation": 272_115, "entity": 14_541}
    assert raw.entities["/m/06rqw"]["label"] == "Ska"
    assert raw.entities["/m/06rqw"]["paragraph"].startswith("Ska is a music genre that originated")
    relations = pq.read_table(raw.work / "raw" / "relations")
    assert relations.num_rows == 272_115
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
    ("name", "lines", "says"),
    [
        ("t.tsv", ["a\tb\tc", "a\tb"], r"t.tsv, line 2: 2 columns; expected 3"),
        ("t.tsv", ["subject\trelation\tobject\tx", "a\tb\tc"], r"line 2"),
        ("t.tsv", ["a\tb\tc\td"], r"line 1: 4 columns; expected 3"),
        ("t.tsv", ["a\tb\t"], r"line 1, field 'object'"),
        ("t.ttl", ["x"], r"file type .ttl is not known"),
        ("t.nt", ["<a> <b> <c ."], r"t.nt, line 1"),
    ],
)
def test_bad_triples_are_said(file, written, name, lines, says):
    with pytest.raises(InputError, match=says):
        written(TripleFiles(file(name, *lines)))


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("l.tsv", ["a"], r"l.tsv, line 1: 'a'; expected id, tab, text"),
        ("l.tsv", ["\tA"], r"l.tsv, line 1: 'A'"),
        ("l.jsonl", ["{}"], "no id field"),
        ("l.xml", ["<a>"], r"file type .xml is not known"),
    ],
)  # fmt: skip
def test_bad_labels_are_said(file, written, name, lines, says):
    with pytest.raises(InputError, match=says):
        written(TripleFiles(file("t.tsv", "a\tp\tb"), file(name, *lines)))
