from collections import Counter

import pyarrow.parquet as pq
import pytest

from argus.knowledge.raw import RawWriter


class Raw:
    """What a source wrote, and what it counted."""

    def __init__(self, work, counts):
        self.work, self.counts = work, Counter(counts)

    def rows(self, table):
        folder = self.work / "raw" / table
        return [
            row
            for path in sorted(folder.glob("*.parquet"))
            for row in pq.read_table(path).to_pylist()
        ]

    @property
    def entities(self):
        return {row["id"]: row for row in self.rows("entities")}

    @property
    def relations(self):
        return Counter(tuple(row.values()) for row in self.rows("relations"))

    @property
    def aliases(self):
        return {tuple(row.values()) for row in self.rows("aliases")}

    @property
    def redirects(self):
        return {tuple(row.values()) for row in self.rows("redirects")}


@pytest.fixture
def written(tmp_path):
    """Lets a source write, and returns what it wrote."""

    def write(source, work=tmp_path / "work", **options):
        with RawWriter(work, **options) as into:
            counts = source.write(into)
        return Raw(work, counts)

    return write


@pytest.fixture
def file(tmp_path):
    """Writes a file of lines, and returns its path."""

    def make(name, *lines, encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
        return path

    return make
