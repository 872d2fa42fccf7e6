import numpy as np
import pytest

from argus.data.kb import KbWriter, KnowledgeFolder
from argus.kb.build import related_histogram
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
    writer.finish("mentions", {})
    return KnowledgeFolder.open(tmp_path / "kb")


def test_the_histogram_counts_in_powers_of_two_over_all_parts():
    related = np.random.default_rng(0).geometric(0.01, 5000) - 1
    related[0] = 2**31 - 1
    bars = related_histogram(iter(np.array_split(related.astype(np.int32), 7)))
    assert {b["from"]: b["entities"] for b in bars if b["entities"]} == plain_histogram(related)
    assert [b["to"] for b in bars[:4]] == [0, 1, 3, 7] and bars[-1]["entities"] == 1
    assert related_histogram([]) == []
