import json
from pathlib import Path

import pytest

from argus.corpora.opening import open_corpus
from argus.data import Document, FieldNames
from argus.errors import InputError
from argus.knowledge import MENTIONS, Entity, KnowledgeBase, KnowledgeSource, read_knowledge
from argus.knowledge.load import read_entities

DOCUMENTS = [
    Document("b", "He built machines.", "Charles Babbage"),
    Document("a", "She wrote to Charles Babbage.", "Ada Lovelace"),
    Document("c", "A society.", "Royal Society"),
]


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def pairs(base: KnowledgeBase) -> set[tuple[str, str]]:
    ids = [e.id for e in base.entities]
    return {(ids[i], ids[j]) for i in range(len(ids)) for j in base.relations.neighbours(i)}


def test_documents_are_entities_and_mentions_relations() -> None:
    knowledge = read_knowledge(open_corpus(DOCUMENTS), KnowledgeSource())
    base = knowledge.base
    assert base.entities == [
        Entity("a", "Ada Lovelace", "She wrote to Charles Babbage."),
        Entity("b", "Charles Babbage", "He built machines."),
        Entity("c", "Royal Society", "A society."),
    ]
    assert base.index == {"a": 0, "b": 1, "c": 2}
    assert pairs(base) == {("a", "b"), ("b", "a")}
    assert knowledge.relations == MENTIONS == "mentions"


def test_edges_beside_the_corpus_are_picked_up_and_their_ends_have_to_be_known(
    tmp_path: Path,
) -> None:
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    file, edges = jsonl(tmp_path / "corpus.jsonl", *rows), tmp_path / "edges.tsv"
    edges.write_text("b\tknows\tc\n")
    for corpus in (tmp_path, file):
        knowledge = read_knowledge(open_corpus(corpus), KnowledgeSource())
        assert knowledge.relations == edges
        assert pairs(knowledge.base) == {("b", "c"), ("c", "b")}
    edges.write_text("b\tknows\tzzz\n")
    with pytest.raises(InputError, match=r"edges\.tsv, line 1, field 'object': 'zzz' is not"):
        read_knowledge(open_corpus(tmp_path), KnowledgeSource())


def test_an_entity_has_its_own_paragraph_or_a_documents_or_none(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "entities.jsonl",
        {"id": "own", "label": "Own", "paragraph": "Its own words.", "doc_id": "b"},
        {"id": "by-doc", "label": "By doc_id", "doc_id": "b"},
        {"id": "c", "label": "By its id"},
        {"id": "null", "label": "Null", "paragraph": None, "doc_id": None},
    )
    assert read_entities(path, DOCUMENTS) == [
        Entity("own", "Own", "Its own words."),
        Entity("by-doc", "By doc_id", "He built machines."),
        Entity("c", "By its id", "A society."),
        Entity("null", "Null", ""),
    ]


X = {"id": "x", "label": "X"}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([X, {"id": "y", "label": "Y", "doc_id": "zzz"}],
         ", line 2, field 'doc_id': 'zzz' is not the id of a document"),
        ([X, X], ", line 2, field 'id': id 'x' was already given"),
        ([X, {"id": "y", "text": "no label"}], ", line 2: no label field among 'id', 'text'"),
        ([{"id": 7, "label": "Seven"}], ", line 1, field 'id': 7 is a number"),
        ([], ": no entity in it"),
    ],
)  # fmt: skip
def test_bad_entities_are_refused_by_line_and_field(
    tmp_path: Path, rows: list[object], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_entities(path := jsonl(tmp_path / "e.jsonl", *rows), DOCUMENTS)
    assert str(caught.value).startswith(f"{path}{says}")


def test_coercion_reaches_entities_and_edges(tmp_path: Path) -> None:
    rows = [{"id": i, "label": str(i), "paragraph": "x"} for i in (1, 2)]
    jsonl(tmp_path / "edges.jsonl", {"subject": 1, "object": 2})
    source = KnowledgeSource(
        entities=jsonl(tmp_path / "e.jsonl", *rows), fields=FieldNames(coerce_ids=True)
    )
    base = read_knowledge(open_corpus(DOCUMENTS), source).base
    assert pairs(base) == {("1", "2"), ("2", "1")}
