"""Files that Argus wrote come back, or their damage is named."""

from __future__ import annotations

import numpy as np
import pytest

from argus.data.reading import read_arrays
from argus.errors import InputError


def test_a_file_is_not_unpacked_beyond_its_own_size(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, a=np.zeros(1_000_000))
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match=r"8,000,128 bytes in a file of \d,\d{3}\)"):
        read_arrays(file, fix="Mend it.")
