import numpy as np
import pytest

from argus.data.kb import KbWriter, KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import LexicalIndex
from argus.kb import findings as module
from argus.kb.findings import SHOWN, findings, related_histogram, write_words
from tests.support.kb import batches, entity_rows


def plain_histogram(related):
    """Return what holds how many, one at a time."""
    bars = {}
    for n in related:
        low = 1 << (int(n).bit_length() - 1) if n else 0
        bars[low] = bars.get(low, 0) + 1
    return bars


@pytest.fixture
def kb(tmp_path, monkeypatch):
    """A knowledge base of a thousand entities in ten shards."""
    monkeypatch.setattr("argus.data.kb.SHARD_ROWS", 100)
    paragraphs = {f"Q{i:04d}": (f"Town {i}", f"Town {i} is {i * 7919:x}.") for i in range(1000)}
    rows = [{**row, "related": i % 97} for i, row in enumerate(entity_rows(paragraphs, []))]
    writer = KbWriter(tmp_path / "kb")
    writer.write("entities", batches("entities", rows, 64))
    for table in ("relations", "aliases", "redirects"):
        writer.write(table, [])
    writer.finish("mention", {})
    return KnowledgeFolder.open(tmp_path / "kb")


def test_the_histogram_counts_in_powers_of_two_over_all_parts():
    related = np.random.default_rng(0).geometric(0.01, 5000) - 1
    related[0] = 2**31 - 1
    bars = related_histogram(iter(np.array_split(related.astype(np.int32), 7)))
    assert {b["from"]: b["entities"] for b in bars if b["entities"]} == plain_histogram(related)
    assert [b["to"] for b in bars[:4]] == [0, 1, 3, 7] and bars[-1]["entities"] == 1
    assert related_histogram([]) == []


def test_only_the_paragraphs_that_are_shown_are_read(kb, monkeypatch):
    rows = []
    read = KnowledgeFolder._read

    def noted(self, table, shard, columns):
        part = read(self, table, shard, columns)
        rows.append((part.num_rows, "paragraph" in columns))
        return part

    monkeypatch.setattr(KnowledgeFolder, "_read", noted)
    monkeypatch.setattr(module, "SHOWN", 3)
    shards = findings(kb)
    assert [e["id"] for e in shards["shown"]] == ["Q0000", "Q0499", "Q0999"]
    assert [n for n, texts in rows if texts] == [100, 100, 100]
    assert {b["from"]: b["entities"] for b in shards["related"]} == plain_histogram(
        [i % 97 for i in range(1000)]
    )


def test_as_many_entities_are_shown_as_there_are_up_to_thirty(kb):
    shown = findings(kb)["shown"]
    assert len(shown) == SHOWN and shown[-1]["paragraph"] == f"Town 999 is {999 * 7919:x}."


def test_words_are_those_of_labels_and_paragraphs_batch_by_batch(kb, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 33)
    write_words(kb, tmp_path / "words", made_of="k")
    table = kb.entities(["id", "label", "paragraph"]).to_pylist()
    contents = [Document(r["id"], r["paragraph"], r["label"]).content for r in table]
    plain = LexicalIndex.build([r["id"] for r in table], contents)
    opened = LexicalIndex.open(tmp_path / "words")
    queries = ["town 7", contents[500], "nothing"]
    assert opened.search(queries, 50) == plain.search(queries, 50) and opened.made_of == "k"
