"""Stores of rows of different length: whole after a kill, bound to one encoder."""

import shutil

import numpy as np
import pytest

from argus.encoders import open_store
from argus.encoders import store as module
from argus.encoders.protocol import arrays_of
from argus.encoders.store import COLUMNS, ENDS, VALUES
from argus.errors import ArgusError
from tests.support.rows import DIM, KINDS, TERMS

WIDTH = {"sparse": TERMS, "tokens": DIM}
families = pytest.mark.parametrize("family", KINDS)


def key(i):
    return i.to_bytes(16, "little")


def opened(path, family, fingerprint="an encoder"):
    return open_store(family, path, fingerprint=fingerprint, dim=WIDTH[family])


def some_rows(family, n=6):
    return KINDS[family](np.random.default_rng(0), n, whole=False)


def same(a, b):
    pairs = zip(arrays_of(a), arrays_of(b), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


@families
def test_a_kill_at_any_byte_leaves_whole_rows(family, tmp_path):
    rows, names = some_rows(family), (VALUES, COLUMNS, ENDS, "keys.bin")
    with opened(tmp_path / "whole", family) as store:
        store.append([key(i) for i in range(3)], rows[:3])
        before = sizes(tmp_path / "whole", names)
        store.append([key(i) for i in range(3, 6)], rows[3:])
    after = sizes(tmp_path / "whole", names)
    written = sum(after.values()) - sum(before.values())
    for cut in range(0, written + 1, 7):
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "whole", copy)
        left = cut
        for name in after:  # in the order in which a batch is written
            new = min(left, after[name] - before[name])
            left -= new
            with (copy / name).open("r+b") as file:
                file.truncate(before[name] + new)
        with opened(copy, family) as store:
            n = len(store)
            assert 3 <= n <= 6 and (n == 6 or cut < written)
            assert same(store.gather([key(i) for i in range(n)]), rows[:n])
            store.append([key(i) for i in range(n, 6)], rows[n:])
            assert same(store.gather([key(i) for i in range(6)]), rows)
        shutil.rmtree(copy)


def sizes(folder, names):
    return {name: (folder / name).stat().st_size for name in names if (folder / name).exists()}


@families
def test_a_full_disk_leaves_what_was_there(family, tmp_path, full_disk):
    rows = some_rows(family)
    with opened(tmp_path, family) as store:
        store.append([key(0)], rows[:1])
        limit = (tmp_path / VALUES).stat().st_size + 5
        full_disk(module, "append_bytes", limit)
        with pytest.raises(ArgusError, match="whole"):
            store.append([key(i) for i in range(1, 6)], rows[1:])
        assert len(store) == 1 and same(store.gather([key(0)]), rows[:1])
