"""Files that Argus wrote come back, or their damage is named."""

from __future__ import annotations

import numpy as np
import pytest
from typing_extensions import TypedDict

from argus.data.reading import read_arrays, read_record
from argus.errors import InputError, Location


class Count(TypedDict):
    n: int


@pytest.mark.parametrize(
    ("value", "section", "field"),
    [([], "", None), ([], "audit", "audit"), ({"n": "1"}, "", "n"), ({}, "audit", "audit.n")],
)
def test_the_place_that_does_not_fit_is_named(tmp_path, value, section, field):
    path = tmp_path / "summary.json"
    with pytest.raises(InputError) as error:
        read_record(Count, value, where=path, section=section)
    assert error.value.where == Location(path, field=field)


def test_a_file_is_not_unpacked_beyond_its_own_size(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, a=np.zeros(1_000_000))
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match=r"8,000,128 bytes in a file of \d,\d{3}\)"):
        read_arrays(file, fix="Mend it.")
