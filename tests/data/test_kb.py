import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.data import Document
from argus.data import kb as kb_module
from argus.data.kb import KbWriter, KnowledgeFolder
from argus.errors import ArgusError, InputError
from tests.support.draws import examples
from tests.support.kb import PARAGRAPHS, RELATIONS, batches, entity_rows, named, write_kb

IDS = list(PARAGRAPHS)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return Path(write_kb(tmp_path / "kb", targets=["Q1", "Q2"]))


def pairs(folder: KnowledgeFolder, *given: str, **options: int) -> list[tuple[str, str]]:
    subjects, objects = folder.relations(*given, **options)
    return [(IDS[s], IDS[o]) for s, o in zip(subjects, objects, strict=True)]


def test_documents_are_paragraphs_with_labels_and_aliases(kb: Path) -> None:
    documents = KnowledgeFolder.open(kb).documents()
    assert [d.id for d in documents] == IDS
    label, paragraph = PARAGRAPHS["Q1"]
    facts = {"description": "about Ada Lovelace", "article": "Ada_Lovelace", "target": True}
    names = ["Countess of Lovelace", "Ada King"]
    assert documents[0] == Document("Q1", paragraph, label, facts | {"aliases": names})
    assert [d.metadata["target"] for d in documents] == [True, True, False, False, False]
    assert KnowledgeFolder.open(kb).documents(2) == documents[:2]


def test_relations_are_positions_of_one_source_or_of_all(kb: Path) -> None:
    folder = KnowledgeFolder.open(kb)
    assert (folder.graph, folder.sources) == ("wikidata", {"wikidata": 3, "hyperlink": 2})
    assert pairs(folder) == [("Q1", "Q2"), ("Q2", "Q3"), ("Q2", "Q4")]
    assert pairs(folder, "hyperlink") == [("Q1", "Q4"), ("Q3", "Q5")]
    assert sorted(pairs(folder, "all")) == sorted((s, o) for s, _, o, _ in RELATIONS)
    assert pairs(folder, "all", limit=3) == [("Q1", "Q2"), ("Q2", "Q3")]


@settings(max_examples=examples(15), deadline=None)  # each writes a folder of files
@given(st.integers(1, 12), st.integers(1, 6), st.data())
def test_shards_and_batches_change_nothing(n: int, size: int, data: st.DataObject) -> None:
    names = [f"e{i:03d}" for i in range(n)]
    ends = st.sampled_from(names)
    row = st.tuples(ends, ends, st.sampled_from(["wikidata", "hyperlink"]))
    drawn = data.draw(st.lists(row, max_size=20))
    rows = named("relations", [(s, "r", o, source) for s, o, source in drawn])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kb_module, "SHARD_ROWS", data.draw(st.integers(1, 5)))
        patch.setattr(kb_module, "LOOKUP_SHARDS", data.draw(st.integers(1, 3)))
        writer = KbWriter(location := Path(tempfile.mkdtemp()))
        entities = entity_rows({name: ("L", "P") for name in names}, names)
        assert writer.write("entities", batches("entities", entities, size)) == len(names)
        assert writer.write("relations", batches("relations", rows, size)) == len(rows)
        writer.finish("all", {})
    folder = KnowledgeFolder.open(location)
    assert folder.rows("relations") == len(drawn)
    assert folder.entities(["id"])["id"].to_pylist() == names
    for source in ("wikidata", "hyperlink", "all"):
        subjects, objects = folder.relations(source)
        pairs = [(names[s], names[o]) for s, o in zip(subjects, objects, strict=True)]
        expected = [(s, o) for s, o, of in drawn if source in (of, "all")]
        assert sorted(pairs) == sorted(expected)
    shutil.rmtree(location)


def test_a_full_disk_leaves_no_half_shard_and_says_what_is_whole(
    tmp_path: Path, full_disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kb_module, "SHARD_ROWS", 2)
    full_disk(kb_module, "write_whole", 100, when=lambda path, _: path.stem.endswith("00001"))
    writer = KbWriter(tmp_path)
    with pytest.raises(ArgusError, match=f"^{tmp_path}/entities/part-00001.parquet: "):
        writer.write("entities", batches("entities", entity_rows(PARAGRAPHS, [])))
    assert [path.name for path in tmp_path.glob("*/*")] == ["part-00000.parquet"]
    with pytest.raises(InputError, match="was not finished"):
        read_corpus(tmp_path)


def test_shards_that_are_missing_or_cut_are_named(kb: Path) -> None:
    shard = kb / "relations" / "part-00000.parquet"
    data = shard.read_bytes()
    cut = (
        f"{shard}: has {len(data) - 10:,} bytes, not {len(data):,}; expected the knowledge base as "
        "its kb.json describes it. Copy the folder again, or run the same kb build again."
    )
    for damage, says in (
        (lambda: shard.write_bytes(data[:-10]), cut),
        (shard.unlink, f"{shard}: is missing;"),
        (lambda: (kb / "kb.json").write_text("{"), f"{kb}/kb.json: is not as Argus wrote it ("),
    ):
        damage()
        with pytest.raises(InputError, match=re.escape(says)):
            KnowledgeFolder.open(kb)
