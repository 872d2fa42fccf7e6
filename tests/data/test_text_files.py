"""Files that a person wrote: what is no file, too large or of another encoding is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from argus.data.reading import read_text
from argus.errors import InputError


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_text(path, "a recipe")
    return str(error.value)


def test_what_is_no_file_is_told_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert f"{tmp_path}/pipe: is a pipe or a device; expected a recipe" in error_of(
        tmp_path / "pipe"
    )
    assert "is a folder" in error_of(tmp_path)
    assert "no such file; expected a recipe. Check the path." in error_of(tmp_path / "none")
    assert "cannot be read (File name too long)" in error_of(tmp_path / ("a" * 300))


def test_bytes_of_another_encoding_name_their_line(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"a = 1\nb = '\xe9'\n")
    assert "line 2: byte 0xe9 at position 6 is not UTF-8" in error_of(tmp_path / "a.toml")
    assert "iconv -f LATIN1 -t UTF-8 a.toml > fixed.toml" in error_of(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_bytes("a = 1\n".encode("utf-16"))
    assert "iconv -f UTF-16 -t UTF-8 a.toml > fixed.toml" in error_of(tmp_path / "a.toml")
