"""Labels found in their paragraphs, on all workers, in the order of the entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.kb import ENTITIES
from argus.engine.protocol import Engine, Work
from argus.knowledge.mentions import ground

BLOCK = 20_000
"""Entities that a worker grounds at a time."""
HELD = 8
"""Blocks that wait in memory for one before them; more of them wait on disk."""
UNGROUNDED = pa.schema(
    [field for field in ENTITIES if field.name not in ("span_start", "span_end", "prepended")]
)


def ground_entities(
    engine: Engine, blocks: Iterator[pa.RecordBatch], folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of UNGROUNDED as ENTITIES, in their order (ARGUS §B.1).

    folder: for blocks that are done long before their turn; it is made when needed.
    """
    work: Work[None, pa.RecordBatch, pa.RecordBatch] = Work(
        setup=grounder, shared=None, what="grounding"
    )
    yield from in_order(engine.run(work, blocks), folder)


def grounder(_: None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return what grounds a block."""
    return ground_block


def ground_block(block: pa.RecordBatch) -> pa.RecordBatch:
    """Return a block of UNGROUNDED with where its labels are, as ENTITIES."""
    labels, paragraphs = block["label"].to_pylist(), block["paragraph"].to_pylist()
    places = [ground(*pair) for pair in zip(labels, paragraphs, strict=True)]
    new = {
        "span_start": [None if g.span is None else g.span.start for g in places],
        "span_end": [None if g.span is None else g.span.end for g in places],
        "prepended": [g.prepended for g in places],
    }
    columns = [
        pa.array(new[field.name], field.type) if field.name in new else block[field.name]
        for field in ENTITIES
    ]
    return pa.record_batch(columns, schema=ENTITIES)


def in_order(
    results: Iterator[tuple[int, pa.RecordBatch]], folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield results by their number; what comes early waits, past HELD of them in `folder`."""
    early: dict[int, pa.RecordBatch | Path] = {}
    turn = in_memory = 0
    for number, block in results:
        if number != turn and in_memory >= HELD:
            early[number] = _put_away(block, folder / f"{number}.parquet")
        else:
            early[number] = block
            in_memory += 1
        while turn in early:
            next_ = early.pop(turn)
            turn += 1
            if isinstance(next_, Path):
                yield _take_back(next_)
            else:
                in_memory -= 1
                yield next_


def _put_away(block: pa.RecordBatch, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([block]), path)
    return path


def _take_back(path: Path) -> pa.RecordBatch:
    table = pq.read_table(path, schema=ENTITIES).combine_chunks()
    path.unlink()
    return table.to_batches()[0]
