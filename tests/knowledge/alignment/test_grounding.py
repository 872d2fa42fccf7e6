import random

import pyarrow as pa
import pytest

from argus.data.kb import ENTITIES
from argus.knowledge.alignment.tables import (
    HELD,
    UNGROUNDED,
    ground_block,
    ground_entities,
    in_order,
)
from tests.support.in_process_engine import InProcessEngine


def block(number: int, rows: int = 2) -> pa.RecordBatch:
    ids = [f"{number:03d}-{row}" for row in range(rows)]
    return pa.record_batch(
        [
            *(ids, [f"Label {id_}" for id_ in ids], [""] * rows, [None] * rows),
            *([f"The Label {id_} is." for id_ in ids], [True] * rows, [1] * rows),
        ],
        schema=UNGROUNDED,
    )


def test_a_block_gets_the_span_in_the_grounded_text():
    rows = [("Bern", "In Bern."), ("Bern", "A city."), ("C++", "C is older than C++.")]
    given_ = pa.record_batch(
        [["a", "b", "c"], *zip(*rows, strict=True), [""] * 3, [None] * 3, [True] * 3, [1] * 3],
        names=["id", "label", "paragraph", "description", "article", "target", "related"],
    ).select(UNGROUNDED.names)
    grounded = ground_block(given_.cast(UNGROUNDED))
    assert grounded.schema == ENTITIES
    assert grounded["span_start"].to_pylist() == [3, 0, 16]
    assert grounded["span_end"].to_pylist() == [7, 4, 19]
    assert grounded["prepended"].to_pylist() == [False, True, False]
    assert grounded["paragraph"].to_pylist() == [text for _, text in rows]  # as in the source


@pytest.mark.parametrize("n", [0, 1, 7])
def test_entities_stay_in_order_whatever_the_engine_does(tmp_path, n):
    blocks = list(ground_entities(InProcessEngine(), map(block, range(n)), tmp_path / "late"))
    assert [batch["id"][0].as_py() for batch in blocks] == [f"{i:03d}-0" for i in range(n)]
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize("seed", range(5))
def test_blocks_that_come_long_before_their_turn_wait_on_disk(tmp_path, seed):
    n = 4 * HELD
    order = list(range(n))
    random.Random(seed).shuffle(order)
    order.remove(0)
    order.append(0)  # the first comes last: all others wait
    most_on_disk = 0

    def results():
        nonlocal most_on_disk
        for number in order:
            yield number, ground_block(block(number))
            most_on_disk = max(most_on_disk, len(list(tmp_path.glob("*.parquet"))))

    blocks = list(in_order(results(), tmp_path))
    assert [batch.to_pylist() for batch in blocks] == [
        ground_block(block(i)).to_pylist() for i in range(n)
    ]
    assert most_on_disk == n - 1 - HELD
    assert not list(tmp_path.iterdir())
