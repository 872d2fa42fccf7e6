"""A disk that is full under one file: /dev/full answers every write as it does."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from argus.data import writing


@contextmanager
def full_disk_under(name: str) -> Iterator[None]:
    """Have what is written to take the place of a file `name` meet a full disk, inside."""
    sibling = writing._aside

    def on_full_disk(path):
        temporary = sibling(path)
        if path.name == name:
            temporary.symlink_to("/dev/full")
        return temporary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_aside", on_full_disk)
        yield
