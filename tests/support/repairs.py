"""What tests of repairs look at."""

import pyarrow.parquet as pq

from argus.indexes.views import ViewIndex


def receipt(result):
    return pq.read_table(result.folder / "receipt.parquet").to_pylist()


def remedies(index):
    return [r.id for r in ViewIndex.open(index).remedies()]
