"""Trials of `argus kb build`: dumps read, pages and items aligned, paragraphs indexed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.provenance import peak_memory_bytes
from argus.data.storage import bytes_in
from argus.engine import EngineConfig, open_engine
from argus.planning.records import DumpTrial, KnowledgeTrial, Trial, WordsTrial
from argus.planning.synthetic import random_ends, random_texts, timed

SPLIT_BYTES = 1 << 20
"""Of the trial dumps, which are small: there is then work for all cores."""


def knowledge(folder: str, entities: str, neighbours: str) -> KnowledgeTrial:
    """Align pages and items; each edge is stated by an item and linked by a page."""
    from argus.data.kb import KbWriter
    from argus.knowledge.alignment import AlignSettings, align, finish
    from argus.knowledge.alignment.to_tables import KbCounts

    work, shards = Path(folder) / "work", Path(folder) / "shards"
    n = int(entities)
    ends = random_ends(n, float(neighbours))
    _write_dumps(work, n, ends)
    settings = AlignSettings()

    def run() -> KbCounts:
        align(work, settings)
        writer = KbWriter(shards)
        with open_engine(EngineConfig()) as engine:
            counts = finish(work, writer, engine, settings)
        writer.finish(counts["graph"], {})
        return counts

    seconds, counts = timed(run)
    return KnowledgeTrial(
        entities=n, pairs=2 * counts["relations"]["wikidata"], rows=n + 2 * ends.shape[1],
        seconds=seconds, stored_bytes=bytes_in(shards),
    )  # fmt: skip


def words(folder: str, texts: str) -> WordsTrial:
    """Index so many texts by their words, as `kb build` does, and save the index."""
    from argus.indexes.lexical import LexicalIndex

    contents = random_texts(int(texts))
    ids = [f"Q{i:09d}" for i in range(len(contents))]
    out = Path(folder) / "words"
    out.parent.mkdir(parents=True, exist_ok=True)
    seconds, _ = timed(lambda: LexicalIndex.build(ids, contents).save(out))
    return WordsTrial(
        words=sum(len(text.split()) for text in contents), seconds=seconds,
        peak_bytes=peak_memory_bytes(), stored_bytes=bytes_in(out),
    )  # fmt: skip


def dump(kind: str, location: str, folder: str, copies: str) -> DumpTrial:
    """Read a dump so many times over, on all cores."""
    from argus.kb.config import KbConfig
    from argus.kb.parts import DumpParts
    from argus.kb.reading import read_wikidata, read_wikipedia, site_of

    piece, work = Path(location), Path(folder)
    work.mkdir(parents=True)
    path = work / piece.name
    with path.open("wb") as file:  # compressed streams, one after another, are one
        for _ in range(int(copies)):
            file.write(piece.read_bytes())
    config = KbConfig(split_bytes=SPLIT_BYTES)
    parts = DumpParts(work, kind)

    def run() -> None:
        with open_engine(EngineConfig()) as engine:
            if kind == "wikipedia":
                read_wikipedia(str(path), site_of(str(path), config), parts, config, engine)
            else:
                read_wikidata(str(path), parts, config, engine)

    return DumpTrial(bytes=path.stat().st_size, seconds=timed(run)[0])


def _write_dumps(work: Path, n: int, ends: np.ndarray) -> None:
    """Write what reading two dumps leaves: an item and a page for every entity."""
    from argus.knowledge.dumps.item_rows import ITEMS, STATEMENTS
    from argus.knowledge.dumps.page_rows import LINKS, PAGES

    texts = random_texts(n)
    ids = np.array([f"Q{i:09d}" for i in range(n)])
    titles = np.array([f"{text.split(' ', 1)[0]} page" for text in texts])
    aliases = [[f"{title} alias"] for title in titles]
    labels = [text.split(" ", 1)[0] for text in texts]
    none, empty = [None] * n, [""] * n
    tables = {
        "pages": (PAGES, [range(n), titles, none, empty, texts]),
        "links": (LINKS, [titles[ends[0]], titles[ends[1]]]),
        "items": (ITEMS, [ids, labels, empty, aliases, titles, [False] * n]),
        "statements": (STATEMENTS, [ids[ends[0]], ["P31"] * ends.shape[1], ids[ends[1]]]),
    }  # fmt: skip
    for name, (schema, columns) in tables.items():
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        (work / name).mkdir(parents=True)
        pq.write_table(pa.table(arrays, schema=schema), work / name / "000000.parquet")


JOBS: dict[str, Callable[..., Trial]] = {
    "knowledge": knowledge,
    "words": words,
    "dump": dump,
}
