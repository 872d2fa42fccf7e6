"""What tests of repairs look at."""

import pyarrow.parquet as pq

from argus.indexes.views import ViewIndex


def receipt(result):
    return pq.read_table(result.folder / "receipt.parquet").to_pylist()


def timeless(summary):
    """A summary without the moment at which views were made."""
    return summary | {"made": {k: v for k, v in summary["made"].items() if k != "at"}}


def own_of(result):
    return {name: result.summary[name] for name in ("seconds", "added", "index")}


def remedies(index):
    return [r.id for r in ViewIndex.open(index).remedies()]
