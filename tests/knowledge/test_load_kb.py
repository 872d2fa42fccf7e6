import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora.opening import open_corpus
from argus.errors import InputError
from argus.knowledge import (
    Entity,
    Gazetteer,
    KnowledgeBase,
    KnowledgeSource,
    RelationGraph,
    read_knowledge,
)
from argus.knowledge.base import ArrowEntities
from argus.remedies.config import ReferenceConfig
from argus.remedies.reference import read_passages
from tests.support.kb import PARAGRAPHS, write_kb


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return Path(write_kb(tmp_path / "kb"))


def pairs(base: KnowledgeBase) -> set[tuple[str, str]]:
    ids = [e.id for e in base.entities]
    related = {(ids[i], ids[j]) for i in range(len(ids)) for j in base.relations.neighbours(i)}
    assert related == {(j, i) for i, j in related}
    return {(i, j) for i, j in related if i < j}


@pytest.mark.parametrize("name", ["", "kb.json"])
def test_a_knowledge_base_brings_its_entities_and_relations(kb: Path, name: str) -> None:
    knowledge = read_knowledge(open_corpus(kb / name), KnowledgeSource())
    base = knowledge.base
    assert list(base.entities) == [Entity(id_, *texts) for id_, texts in PARAGRAPHS.items()]
    assert (knowledge.relations, base.relations.triples, base.targets) == ("wikidata", 3, None)
    assert pairs(base) == {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")}


@pytest.mark.parametrize(
    ("relations", "source", "expected"),
    [
        ("hyperlink", "hyperlink", {("Q1", "Q4"), ("Q3", "Q5")}),
        (Path("wikidata"), "wikidata", {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")}),
        ("all", "all", {("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4"), ("Q1", "Q4"), ("Q3", "Q5")}),
        ("mentions", "mentions", {("Q1", "Q2"), ("Q3", "Q5"), ("Q1", "Q5")}),
    ],
)
def test_relations_may_be_of_another_source(
    kb: Path, relations: str, source: str, expected: set[tuple[str, str]]
) -> None:
    knowledge = read_knowledge(open_corpus(kb), KnowledgeSource(relations=relations))
    assert (knowledge.relations, pairs(knowledge.base)) == (source, expected)


def test_a_source_that_a_kb_lacks_is_refused_with_those_it_has(kb: Path, tmp_path: Path) -> None:
    bare = Path(write_kb(tmp_path / "bare", relations=[], graph="mentions"))
    for folder, name, says in (
        (kb, "triples", f"{kb}: 'triples' is neither a file nor a source of its relations; expected"
         " wikidata (3), hyperlink (2); all; or mentions. Choose another with --relations."),
        (bare, "all", "expected mentions: it has no other. Choose"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=re.escape(says)):
            read_knowledge(open_corpus(folder), KnowledgeSource(relations=name))
    knowledge = read_knowledge(open_corpus(bare), KnowledgeSource())
    assert (knowledge.relations, len(pairs(knowledge.base))) == ("mentions", 3)


def test_names_and_aliases_of_a_kb_are_found_in_texts(kb: Path) -> None:
    gazetteer = Gazetteer.from_documents(read_passages(ReferenceConfig(kb=(kb,))))
    [mentions] = gazetteer.find(["The Countess of Lovelace met the Royal Society."])
    assert [(m.surface, m.entity_ids) for m in mentions] == [
        ("Countess of Lovelace", ("Q1",)), ("Royal Society", ("Q3",)),
    ]  # fmt: skip
    assert ReferenceConfig(kb=(kb,)).inputs() == {"kb 1": kb / "kb.json"}


@given(st.lists(st.text(), max_size=7), st.integers(1, 3), st.data())
@settings(deadline=None)
def test_entities_in_columns_are_what_a_list_of_them_is(
    texts: list[str], chunk: int, data: st.DataObject
) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    plain = [Entity(f"e{i}", f"L{i}", text) for i, text in enumerate(texts)]
    table = pa.table({name: pa.array([getattr(e, name) for e in plain], pa.string())
                      for name in ("id", "label", "paragraph")})  # fmt: skip
    lazy = ArrowEntities(pa.Table.from_batches(table.to_batches(chunk), table.schema))
    assert len(lazy) == len(plain)
    assert list(lazy) == plain
    assert [lazy[i] for i in range(-len(plain), len(plain))] == plain + plain
    with pytest.raises(IndexError):
        lazy[len(plain)]
    cut = data.draw(st.slices(len(plain)))
    assert list(lazy[cut]) == plain[cut]
    empty = RelationGraph.from_edges(len(plain), [], [])
    assert np.array_equal(KnowledgeBase(lazy, empty).has_text, KnowledgeBase(plain, empty).has_text)
