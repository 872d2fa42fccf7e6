"""What follows coverage reads its inputs as the blind fuzzing does, and says how to get atheris."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import pytest

from argus.errors import ArgusError
from benchmarks.faults.coverage import PARSERS, Inputs, covered, first_inputs, missing, shaped
from benchmarks.faults.fuzz import Reader, bounds
from benchmarks.faults.readers import READERS

BY_NAME = {reader.name: reader for reader in READERS}


def test_every_parser_is_a_reader_and_begins_with_its_seeds():
    assert set(PARSERS) <= set(BY_NAME)
    for name in PARSERS:
        reader = BY_NAME[name]
        assert {seed[: 1 << 14] for seed in reader.seeds()} <= set(first_inputs(reader))


def test_plain_text_becomes_streams_of_bz2():
    packed = shaped("dump bz2", b"<page>\x00</page>")
    assert packed.count(b"BZh") == 2 and bz2.decompress(packed) == b"<page></page>"
    assert shaped("dump bz2", packed) == packed
    assert shaped("wikitext", b"a\x00b") == b"a\x00b"


def test_what_escapes_is_counted_and_its_shortest_input_kept(tmp_path: Path):
    def read(path: Path) -> object:
        data = path.read_bytes()
        if b"raw" in data:
            raise KeyError("raw")
        if b"no" in data:
            raise ArgusError("refused")
        return None

    reader = Reader("strange", ".x", lambda: [b"seed"], read)
    inputs = Inputs(reader, tmp_path / "told.json", tmp_path)
    with bounds():
        for data in (b"fine", b"no", b"a raw one", b"raw", b"a long raw one"):
            inputs.read(data)
    record = json.loads((tmp_path / "told.json").read_text())
    assert (record["tries"], record["refused"], record["escaped"]) == (5, 1, 3)
    assert [bytes.fromhex(data) for data in record["by"].values()] == [b"raw"]


def test_without_atheris_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert missing() == (
        "coverage-guided fuzzing needs atheris: pip install atheris "
        "(wheels for CPython 3.11 to 3.13 on Linux)"
    )


@pytest.mark.skipif(missing() != "", reason="atheris is optional")
def test_a_parser_is_followed_in_a_process_of_its_own():
    ((name, record),) = covered(2, 1, lambda name: name == "json list")
    assert name == "json list" and record["tries"] > 20 and record["escaped"] == 0
    assert record["edges"] >= record["edges_first"] > 50
