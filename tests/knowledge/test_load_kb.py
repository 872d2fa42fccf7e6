from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora.opening import open_corpus, read_corpus
from argus.data import Document, FieldNames
from argus.data.kb import KnowledgeFolder
from argus.errors import InputError
from argus.knowledge import (
    Entity,
    Gazetteer,
    KnowledgeBase,
    KnowledgeSource,
    RelationGraph,
    load_knowledge,
    read_knowledge,
)
from argus.knowledge.base import WHITE_SPACE, ArrowEntities
from argus.knowledge.load import edges_beside, read_entities
from argus.remedies.config import ReferenceConfig
from argus.remedies.reference import read_passages
from tests.support.kb import PARAGRAPHS, write_kb

ENTITIES = [Entity(id_, *texts) for id_, texts in PARAGRAPHS.items()]


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return Path(write_kb(tmp_path / "kb"))


def pairs(base: KnowledgeBase) -> set[tuple[str, str]]:
    ids = [e.id for e in base.entities]
    related = {(ids[i], ids[j]) for i in range(len(ids)) for j in base.relations.neighbours(i)}
    assert related == {(j, i) for i, j in related}
    return {(i, j) for i, j in related if i < j}


def error_of(kb: Path, relations: str | Path, **source: object) -> str:
    with pytest.raises(InputError) as caught:
        load_knowledge(None, KnowledgeSource(relations=relations, **source), corpus=kb)
    return str(caught.value)


@pytest.mark.parametrize("name", ["", "kb.json"])
def test_a_knowledge_base_brings_its_entities_and_relations(kb: Path, name: str) -> None:
    base, relations = load_knowledge(None, KnowledgeSource(), corpus=kb / name)
    assert isinstance(base.entities, ArrowEntities)
    assert list(base.entities) == ENTITIES
    assert relations == "wikidata"
    assert pairs(base) == {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")}
    assert base.relations.triples == 3
    assert base.targets is None
    assert base.index == {id_: i for i, id_ in enumerate(PARAGRAPHS)}


@pytest.mark.parametrize(
    ("relations", "source", "expected"),
    [
        ("hyperlink", "hyperlink", {("Q1", "Q4"), ("Q3", "Q5")}),
        (Path("wikidata"), "wikidata", {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")}),
        ("all", "all", {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4"), ("Q1", "Q4"), ("Q3", "Q5")}),
        ("mentions", "mentions", {("Q1", "Q2"), ("Q3", "Q5"), ("Q1", "Q5")}),
        ("mention", "mentions", {("Q1", "Q2"), ("Q3", "Q5"), ("Q1", "Q5")}),
    ],
)
def test_relations_may_be_of_another_source(
    kb: Path, relations: str, source: str, expected: set[tuple[str, str]]
) -> None:
    base, origin = load_knowledge(None, KnowledgeSource(relations=relations), corpus=kb)
    assert (origin, pairs(base)) == (source, expected)


def test_the_documents_of_a_knowledge_base_may_be_given_too(kb: Path) -> None:
    documents = read_corpus(kb, limit=4)
    base, _ = load_knowledge(documents, KnowledgeSource(), corpus=kb / "kb.json")
    assert list(base.entities) == ENTITIES[:4]
    assert pairs(base) == {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")}
    limited, _ = load_knowledge(None, KnowledgeSource(relations="all"), corpus=kb, limit=4)
    assert pairs(limited) == pairs(base) | {("Q1", "Q4")}
    assert (limited.relations.triples, limited.relations.unknown) == (5, 1)


def test_other_documents_than_those_of_the_kb_are_a_mistake(kb: Path) -> None:
    with pytest.raises(ValueError, match="are not the first 1 of"):
        load_knowledge([Document("x", "words")], KnowledgeSource(), corpus=kb)
    with pytest.raises(ValueError, match="documents are needed"):
        load_knowledge(None, KnowledgeSource())


def test_mentions_that_the_build_found_are_taken_before_new_ones(tmp_path: Path) -> None:
    rows = [("Q4", "", "Q5", "mention")]
    kb = Path(write_kb(tmp_path / "kb", relations=rows, graph="mention"))
    for relations in (None, "mentions", "mention", "all"):
        base, origin = load_knowledge(None, KnowledgeSource(relations=relations), corpus=kb)
        assert pairs(base) == {("Q4", "Q5")}
        assert origin == ("all" if relations == "all" else "mentions")


def test_a_source_that_a_kb_lacks_is_refused_with_those_it_has(kb: Path, tmp_path: Path) -> None:
    assert error_of(kb, "triples") == (
        f"{kb}: 'triples' is neither a file nor a source of its relations; expected wikidata (3), "
        "hyperlink (2); all; or mentions. Choose another with --relations."
    )
    assert error_of(kb, "wikidta").startswith(f"{kb}: 'wikidta' is neither a file nor a source")
    bare = Path(write_kb(tmp_path / "bare", relations=[], graph="mention"))
    assert "expected mentions: it has no other. Choose" in error_of(bare, "all")
    base, origin = load_knowledge(None, KnowledgeSource(), corpus=bare)
    assert (origin, len(pairs(base))) == ("mentions", 3)


def test_a_source_is_no_file_of_another_corpus() -> None:
    documents = [Document("a", "x", "A"), Document("b", "y", "B")]
    with pytest.raises(InputError, match=r"--relations: 'wikidata' is a source of a knowledge bas"):
        load_knowledge(documents, KnowledgeSource(relations="wikidata"))


def test_a_file_of_relations_wins_over_those_of_the_kb(kb: Path, tmp_path: Path) -> None:
    edges = tmp_path / "mine.tsv"
    edges.write_text("Q1\tr\tQ5\nQ1\tr\tQ9\n")
    source = KnowledgeSource(relations=str(edges), skip_unknown=True)
    base, origin = load_knowledge(None, source, corpus=kb)
    assert (origin, pairs(base), base.relations.unknown) == (edges, {("Q1", "Q5")}, 1)
    assert "'Q9' is not the id of an entity" in error_of(kb, edges)


def test_edges_beside_a_knowledge_base_are_not_its_own(kb: Path) -> None:
    (kb / "edges.tsv").write_text("Q1\tr\tQ5\n")
    (kb.parent / "edges.tsv").write_text("Q1\tr\tQ5\n")
    for corpus in (kb, kb / "kb.json"):
        assert edges_beside(corpus) is None
        assert load_knowledge(None, KnowledgeSource(), corpus=corpus)[1] == "wikidata"


def test_entities_may_be_a_knowledge_base_beside_another_corpus(kb: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"_id": "d", "text": "Other words."}\n')
    source = KnowledgeSource(entities=kb)
    base, origin = load_knowledge(read_corpus(corpus), source, corpus=corpus)
    assert (origin, list(base.entities)) == ("wikidata", ENTITIES)
    assert list(read_entities(kb, [])) == ENTITIES
    read = read_knowledge(open_corpus(corpus, limit=2), source)
    assert list(read.base.entities) == ENTITIES[:2]
    assert read.inputs == {"corpus": corpus, "entities": kb / "kb.json", "relations": None}


def test_entities_of_a_file_take_no_relations_from_the_corpus(kb: Path, tmp_path: Path) -> None:
    entities = tmp_path / "e.jsonl"
    rows = [{"id": "x", "label": "X", "doc_id": "Q2"}, {"id": "y", "label": "Y", "doc_id": "Q3"}]
    entities.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_knowledge(open_corpus(kb), KnowledgeSource(entities=entities))
    assert [e.paragraph for e in read.base.entities] == [PARAGRAPHS["Q2"][1], PARAGRAPHS["Q3"][1]]
    assert (read.relations, read.corpus, read.entities) == ("mentions", kb / "kb.json", entities)


def test_a_knowledge_base_is_read_without_making_documents(
    kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(KnowledgeFolder, "documents")
    source = KnowledgeSource(relations="all")
    read = read_knowledge(open_corpus(str(kb)), source)
    assert (list(read.base.entities), read.relations) == (ENTITIES, "all")
    assert read.inputs == {"corpus": kb / "kb.json", "entities": None, "relations": None}
    base = read_knowledge(open_corpus(kb, limit=3), source).base
    assert (list(base.entities), pairs(base)) == (ENTITIES[:3], {("Q1", "Q2"), ("Q2", "Q3")})
    with pytest.raises(InputError, match="a column was named"):
        read_knowledge(open_corpus(kb), KnowledgeSource(fields=FieldNames(text="words")))


def test_other_corpora_are_read_as_ever(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"_id": f"d{i}", "title": f"T{i}", "text": "words"} for i in range(3)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "edges.tsv").write_text("d0\td1\nd1\td2\n")
    read = read_knowledge(open_corpus(tmp_path, limit=2), KnowledgeSource())
    edges = tmp_path / "edges.tsv"
    assert read.inputs == {"corpus": corpus, "entities": None, "relations": edges}
    assert (pairs(read.base), read.base.relations.unknown) == ({("d0", "d1")}, 1)


def test_targets_come_from_the_column_where_a_sample_was_drawn(tmp_path: Path) -> None:
    kb = Path(write_kb(tmp_path, targets=["Q2", "Q5"]))
    base, _ = load_knowledge(None, KnowledgeSource(), corpus=kb)
    assert base.targets is not None
    assert base.targets.dtype == bool
    assert base.targets.tolist() == [False, True, False, False, True]
    first = base.first(2)
    assert first.targets is not None
    assert first.targets.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"targets of shape \(2,\) for 5 entities"):
        KnowledgeBase(base.entities, base.relations, base.targets[:2])


def test_names_and_aliases_of_a_kb_are_found_in_texts(kb: Path) -> None:
    passages = read_passages(ReferenceConfig(kb=(kb,)))
    gazetteer = Gazetteer.from_documents(passages)
    text = "The Countess of Lovelace met the Royal Society."
    [mentions] = gazetteer.find([text])
    assert [(m.surface, m.entity_ids) for m in mentions] == [
        ("Countess of Lovelace", ("Q1",)),
        ("Royal Society", ("Q3",)),
    ]
    assert ReferenceConfig(kb=(kb,)).inputs() == {"kb 1": kb / "kb.json"}


def columns(*paragraphs: str | None, chunk: int = 2) -> pa.Table:
    rows = [{"id": f"e{i}", "label": f"L{i}", "paragraph": p} for i, p in enumerate(paragraphs)]
    schema = pa.schema([("id", pa.string()), ("label", pa.string()), ("paragraph", pa.string())])
    chunks = [rows[i : i + chunk] for i in range(0, len(rows), chunk)]
    return pa.concat_tables(
        [schema.empty_table(), *(pa.Table.from_pylist(part, schema) for part in chunks)]
    )


@given(st.lists(st.text(), max_size=7), st.integers(1, 3), st.data())
@settings(deadline=None)
def test_entities_in_columns_are_what_a_list_of_them_is(
    texts: list[str], chunk: int, data: st.DataObject
) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    lazy = ArrowEntities(columns(*texts, chunk=chunk))
    plain = [Entity(f"e{i}", f"L{i}", text) for i, text in enumerate(texts)]
    assert len(lazy) == len(plain)
    assert list(lazy) == plain
    assert [lazy[i] for i in range(-len(plain), len(plain))] == plain + plain
    with pytest.raises(IndexError):
        lazy[len(plain)]
    cut = data.draw(st.slices(len(plain)))
    assert list(lazy[cut]) == plain[cut]
    empty = RelationGraph.from_edges(len(plain), [], [])
    assert np.array_equal(KnowledgeBase(lazy, empty).has_text, KnowledgeBase(plain, empty).has_text)


def test_white_space_is_what_python_takes_for_it() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert {c for c in every if not c.strip()} == set(WHITE_SPACE)
    lazy = ArrowEntities(columns(*WHITE_SPACE, WHITE_SPACE, None, "", "\u200b"))
    assert lazy.has_text.tolist() == [False] * (len(WHITE_SPACE) + 3) + [True]
    assert lazy[len(WHITE_SPACE) + 1].paragraph == ""
