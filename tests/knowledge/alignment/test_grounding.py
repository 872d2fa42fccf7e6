import random

import pyarrow as pa
import pytest

from argus.knowledge.alignment.tables import UNGROUNDED, ground_block, in_order


def block(number: int, rows: int = 2) -> pa.RecordBatch:
    ids = [f"{number:03d}-{row}" for row in range(rows)]
    return pa.record_batch(
        [
            *(ids, [f"Label {id_}" for id_ in ids], [""] * rows, [None] * rows),
            *([f"The Label {id_} is." for id_ in ids], [True] * rows, [1] * rows),
        ],
        schema=UNGROUNDED,
    )


@pytest.mark.parametrize("seed", range(2))
def test_blocks_that_come_long_before_their_turn_wait_on_disk(tmp_path, seed):
    n = 32
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
    assert most_on_disk == n - 1
    assert not list(tmp_path.iterdir())
