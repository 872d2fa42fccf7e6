import numpy as np
import pytest

from argus.data.reading import read_arrays
from argus.errors import InputError


def test_arrays_come_back(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, a=np.arange(3), b=np.array("x"), c=np.zeros((0, 4)))
    arrays = read_arrays(file, fix="Mend it.")
    assert arrays["a"].tolist() == [0, 1, 2] and str(arrays["b"]) == "x"
    assert arrays["c"].shape == (0, 4)


def test_a_file_is_not_unpacked_beyond_its_own_size(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, a=np.zeros(10_000_000))
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match=r"80,000,128 bytes in a file of \d\d,\d{3}\)"):
        read_arrays(file, fix="Mend it.")
