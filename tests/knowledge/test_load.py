from __future__ import annotations

import json
from pathlib import Path

import pytest

from argus.corpora.opening import open_corpus
from argus.data import Document, FieldNames
from argus.errors import InputError
from argus.knowledge import (
    MENTIONS,
    Entity,
    KnowledgeBase,
    KnowledgeSource,
    read_knowledge,
)
from argus.knowledge.load import read_entities

DOCUMENTS = [
    Document("b", "He built machines.", "Charles Babbage"),
    Document("a", "She wrote to Charles Babbage.", "Ada Lovelace"),
    Document("c", "A society.", "Royal Society"),
]


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def corpus_in(folder: Path) -> Path:
    return jsonl(
        folder / "corpus.jsonl",
        *({"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS),
    )


def pairs(base: KnowledgeBase) -> set[tuple[str, str]]:
    ids = [e.id for e in base.entities]
    return {(ids[i], ids[j]) for i in range(len(ids)) for j in base.relations.neighbours(i)}


def entities_error(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_entities(path, DOCUMENTS)
    return str(caught.value)


def test_documents_are_entities_and_mentions_relations() -> None:
    knowledge = read_knowledge(open_corpus(DOCUMENTS), KnowledgeSource())
    base, source = knowledge.base, knowledge.relations
    assert base.entities == [
        Entity("a", "Ada Lovelace", "She wrote to Charles Babbage."),
        Entity("b", "Charles Babbage", "He built machines."),
        Entity("c", "Royal Society", "A society."),
    ]
    assert base.index == {"a": 0, "b": 1, "c": 2}
    assert pairs(base) == {("a", "b"), ("b", "a")}
    assert source == MENTIONS == "mentions"


@pytest.mark.parametrize("in_folder", [True, False])
def test_edges_beside_the_corpus_are_picked_up(tmp_path: Path, in_folder: bool) -> None:
    file = corpus_in(tmp_path)
    (tmp_path / "edges.tsv").write_text("b\tknows\tc\n")
    corpus = tmp_path if in_folder else file
    knowledge = read_knowledge(open_corpus(corpus), KnowledgeSource())
    assert knowledge.relations == tmp_path / "edges.tsv"
    assert pairs(knowledge.base) == {("b", "c"), ("c", "b")}


def test_an_edge_to_an_unknown_id_is_refused_unless_skipped(tmp_path: Path) -> None:
    corpus_in(tmp_path)
    (tmp_path / "edges.tsv").write_text("b\tknows\tzzz\n")
    with pytest.raises(InputError, match=r"edges\.tsv, line 1, field 'object': 'zzz' is not"):
        read_knowledge(open_corpus(tmp_path), KnowledgeSource())


def test_an_entity_has_its_own_paragraph_or_a_documents_or_none(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "entities.jsonl",
        {"id": "own", "label": "Own", "paragraph": "Its own words.", "doc_id": "b"},
        {"id": "by-doc", "label": "By doc_id", "doc_id": "b"},
        {"id": "c", "label": "By its id"},
        {"id": "none", "label": "Neither"},
        {"id": "null", "label": "Null", "paragraph": None, "doc_id": None},
    )
    assert read_entities(path, DOCUMENTS) == [
        Entity("own", "Own", "Its own words."),
        Entity("by-doc", "By doc_id", "He built machines."),
        Entity("c", "By its id", "A society."),
        Entity("none", "Neither", ""),
        Entity("null", "Null", ""),
    ]


def test_bad_entities_are_refused_by_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    good = {"id": "x", "label": "X"}
    jsonl(path, good, {"id": "y", "label": "Y", "doc_id": "zzz"})
    assert entities_error(path).startswith(
        f"{path}, line 2, field 'doc_id': 'zzz' is not the id of a document"
    )
    jsonl(path, good, good)
    assert entities_error(path).startswith(f"{path}, line 2, field 'id': id 'x' was already given")
    jsonl(path, good, {"id": "y", "text": "no label"})
    assert entities_error(path).startswith(f"{path}, line 2: no label field among 'id', 'text'")
    jsonl(path, {"id": 7, "label": "Seven"})
    assert entities_error(path).startswith(f"{path}, line 1, field 'id': 7 is a number")
    jsonl(path)
    assert entities_error(path).startswith(f"{path}: no entity in it")


def test_coercion_reaches_entities_and_edges(tmp_path: Path) -> None:
    entities = jsonl(
        tmp_path / "e.jsonl",
        {"id": 1, "label": "One", "paragraph": "x"},
        {"id": 2, "label": "Two", "paragraph": "y"},
    )
    jsonl(tmp_path / "edges.jsonl", {"subject": 1, "object": 2})
    source = KnowledgeSource(entities=entities, fields=FieldNames(coerce_ids=True))
    base = read_knowledge(open_corpus(DOCUMENTS), source).base
    assert pairs(base) == {("1", "2"), ("2", "1")}
