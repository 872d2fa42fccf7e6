"""Files are refused that are none, too large or of another encoding."""

import os
from pathlib import Path

import numpy as np
import pytest

from argus.data.reading import read_arrays, read_text
from argus.errors import InputError


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_text(path, "a recipe")
    return str(error.value)


def test_what_is_no_file_is_told_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert f"{tmp_path}/pipe: is a pipe or a device" in error_of(tmp_path / "pipe")
    assert "is a folder" in error_of(tmp_path)
    assert "no such file; expected a recipe. Check the path." in error_of(tmp_path / "none")
    assert "cannot be read (File name too long)" in error_of(tmp_path / ("a" * 300))


def test_bytes_of_another_encoding_name_their_line(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"a = 1\nb = '\xe9'\n")
    assert "line 2: byte 0xe9 at position 6 is not UTF-8" in error_of(tmp_path / "a.toml")
    assert "iconv -f LATIN1 -t UTF-8 a.toml > fixed.toml" in error_of(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_bytes("a = 1\n".encode("utf-16"))
    assert "iconv -f UTF-16 -t UTF-8 a.toml > fixed.toml" in error_of(tmp_path / "a.toml")


def test_a_file_is_not_unpacked_beyond_its_own_size(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, a=np.zeros(1_000_000))
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match=r"8,000,128 bytes in a file of \d,\d{3}\)"):
        read_arrays(file, fix="Mend it.")
