"""Folders of results: records, sections, tables, torn runs."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from argus.data import ArtifactFolder
from argus.data.folders import NOTE
from argus.data.writing import replacing
from argus.errors import InputError


def opened(path: Path, *, fresh: bool = False) -> ArtifactFolder:
    folder = ArtifactFolder(path, fresh=fresh)
    folder.open()
    return folder


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="killed"), replacing(path) as temporary:
        temporary.write_text("half of the n")
        raise RuntimeError("killed")
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert files(tmp_path) == {"results.txt"}


def test_a_link_is_replaced_and_a_device_or_a_pipe_is_refused(tmp_path: Path) -> None:
    link, target, pipe = tmp_path / "link", tmp_path / "target", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert not link.is_symlink() and link.read_text() == "new" and target.read_text() == "old"
    os.mkfifo(pipe)
    for place in (pipe, Path("/dev/full")):
        with pytest.raises(InputError, match="is a pipe or a device"), replacing(place):
            raise AssertionError("unreachable")
    assert pipe.is_fifo() and not Path("/dev/full").is_file()


@pytest.mark.parametrize("damage", [b"\xff", NOTE.encode() + b"\x00\n\xff\nkept\n"])
def test_a_damaged_record_ends_nothing(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / ".argus").write_bytes(damage)
    opened(tmp_path).write_json("summary.json", {})
    assert files(opened(tmp_path, fresh=True).path) == {".argus"}


def test_fresh_removes_what_an_earlier_run_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = opened(out)
    folder.write_section("summary.json", "audit", {"k": 5})
    folder.write_table("retrievability", pa.table({"id": ["a"]}), csv=True)
    folder.own("embeddings").mkdir()
    (out / "embeddings" / "vectors.bin").write_bytes(b"x")
    (out / "notes.txt").write_text("a person's own file")
    folder = opened(out, fresh=True)
    assert files(out) == {".argus", "notes.txt"}
    folder.write_json("summary.json", {})
    folder.open()  # a second opening clears nothing
    assert files(out) == {".argus", "notes.txt", "summary.json"}


def test_a_persons_file_is_never_written_over(tmp_path: Path) -> None:
    out, queries = tmp_path / "out", tmp_path / "queries.csv"
    out.mkdir()
    queries.write_text("mine, too")
    (out / "per_query.csv").symlink_to(queries)
    folder = opened(out)
    (out / "summary.json").write_text("mine")
    for write in (
        lambda: folder.write_table("per_query", pa.table({"id": ["a"]}), csv=True),
        lambda: ArtifactFolder(out).own("summary.json"),
        ArtifactFolder(out).open,
    ):
        with pytest.raises(InputError, match="Argus did not write it"):
            write()
    assert (out / "summary.json").read_text() == "mine" and queries.read_text() == "mine, too"


def test_fresh_refuses_a_folder_of_others_or_without_a_record(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=f"{tmp_path}: holds files that Argus did not write"):
        ArtifactFolder(tmp_path, fresh=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    (tmp_path / ".argus").write_text("Argus keeps its results here; --fresh deletes them.\n")
    (tmp_path / "embeddings").mkdir()
    with pytest.raises(InputError, match="did not record"):
        ArtifactFolder(tmp_path, fresh=True)
    assert opened(tmp_path).recorded() == frozenset()


@pytest.mark.parametrize("value", [np.array([1.0, np.nan]), {"deep": [{"inside": float("inf")}]}])
def test_nan_is_never_written_as_json(tmp_path: Path, value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        ArtifactFolder(tmp_path).write_json("summary.json", {"mean": value})
    assert not (tmp_path / "summary.json").exists()
