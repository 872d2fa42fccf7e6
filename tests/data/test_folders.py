"""Folders of results: records, sections, tables, torn runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data import ArtifactFolder
from argus.data.folders import NOTE, check_one_run, torn_jobs
from argus.data.writing import PARTIAL, folder_aside, replacing, write_whole
from argus.errors import InputError, NotWritten


def opened(path: Path, *, fresh: bool = False) -> ArtifactFolder:
    folder = ArtifactFolder(path, fresh=fresh)
    folder.open()
    return folder


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            assert path.read_text() == "old"
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        fail()
    assert path.read_text() == "old"
    assert files(tmp_path) == {"results.txt"}

    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert files(tmp_path) == {"results.txt"}


def test_nothing_is_changed_once_a_file_has_taken_its_place(tmp_path, monkeypatch) -> None:
    """A note that a job writes last of all is then its last write: who is killed there has none."""
    removed: list[Path] = []
    monkeypatch.setattr(Path, "unlink", lambda path, **_: removed.append(path))
    with replacing(tmp_path / "told.json") as temporary:
        temporary.write_text("{}")
    assert (files(tmp_path), removed) == ({"told.json"}, [])


def test_a_link_is_replaced_and_a_device_or_a_pipe_is_refused(tmp_path: Path) -> None:
    link, target, pipe = tmp_path / "link", tmp_path / "target", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert not link.is_symlink() and link.read_text() == "new" and target.read_text() == "old"
    os.mkfifo(pipe)
    for place in (pipe, Path("/dev/full")):
        with pytest.raises(InputError, match="is a device or a pipe"), replacing(place):
            raise AssertionError("unreachable")
    assert pipe.is_fifo() and not Path("/dev/full").is_file()


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "unmounted" / "results")
    for fresh in (False, True):
        with pytest.raises(InputError, match=r"out: is a link to .+results, which is not there"):
            ArtifactFolder(tmp_path / "out", fresh=fresh)


def test_the_record_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch) -> None:
    def refused(file: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("argus.data.folders.hold", refused)  # of another user, in a shared folder
    with pytest.raises(NotWritten, match=r"\.argus: cannot be written \(Permission denied\)"):
        opened(tmp_path)


def test_what_a_killed_writer_left_of_a_folder_goes_with_the_next(tmp_path: Path) -> None:
    left, place = tmp_path / f".run.4711abcd{PARTIAL}", tmp_path / "000001-audit"
    left.mkdir()
    (left / "items.parquet").write_text("half")
    with folder_aside(tmp_path / "run") as aside:
        (aside / "run.json").write_text("{}")
        with folder_aside(tmp_path / "run"):
            assert aside.is_dir()  # another writer's, who is alive
        aside.rename(place)
    with pytest.raises(RuntimeError), folder_aside(tmp_path / "run"):
        raise RuntimeError
    assert files(tmp_path) == {"000001-audit/run.json"} and list(tmp_path.iterdir()) == [place]


def test_who_opens_a_folder_removes_what_a_killed_writer_left_there(tmp_path: Path) -> None:
    (tmp_path / f".misses.csv.4711abcd{PARTIAL}").write_text("half")  # which other settings write
    (tmp_path / ".mine.partial").write_text("whole")
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        opened(tmp_path)
    assert files(tmp_path) == {".argus", ".mine.partial", "a.txt"}


def test_a_record_that_is_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / ".argus").symlink_to(other)
    with pytest.raises(InputError, match="is a link, or no file"):
        opened(tmp_path)
    assert other.read_text() == "mine"
    (tmp_path / ".argus").unlink()
    os.mkfifo(tmp_path / ".argus")
    with pytest.raises(InputError, match="is a link, or no file"):
        opened(tmp_path)


@pytest.mark.parametrize("damage", [b"\xff", NOTE.encode() + b"\x00\n\xff\nkept\n"])
def test_a_damaged_record_ends_nothing(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / ".argus").write_bytes(damage)
    opened(tmp_path).write_json("summary.json", {})
    assert files(opened(tmp_path, fresh=True).path) == {".argus"}


def test_nothing_is_made_or_removed_before_the_folder_is_opened(tmp_path: Path) -> None:
    opened(tmp_path / "out").write_json("summary.json", {})
    ArtifactFolder(tmp_path / "out", fresh=True)
    ArtifactFolder(tmp_path / "other", fresh=True)
    assert files(tmp_path) == {"out/.argus", "out/summary.json"}


def test_fresh_removes_what_an_earlier_run_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = opened(out)
    folder.write_section("summary.json", "audit", {"k": 5})
    folder.write_section("manifest.json", "audit", {"argus": "0.1.0"})
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


def test_results_whose_hidden_record_was_not_copied_are_argus_own(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write_results("audit", {"k": 1}, {})
    (tmp_path / ".argus").unlink()
    opened(tmp_path).write_results("audit", {"k": 2}, {})
    assert ArtifactFolder(tmp_path).read_json("summary.json") == {"audit": {"k": 2}}


@pytest.mark.parametrize("last", ["slices.parquet", "summary.json"])
def test_files_of_two_runs_are_not_one_run(tmp_path: Path, last: str) -> None:
    for value in (1, 2):
        folder = opened(tmp_path)
        folder.write_table("slices", pa.table({"k": [value]}))
        if value == 2 and last == "slices.parquet":
            break  # stopped behind its table
        if value == 2:
            folder.write_section("summary.json", "audit", {"k": value})
            break
        folder.write_results("audit", {"k": value}, {})
        check_one_run(tmp_path)
    with pytest.raises(InputError, match="is not of the run of audit") as error:
        check_one_run(tmp_path)
    assert error.value.where in {tmp_path / last, tmp_path / "summary.json"}


def test_fresh_refuses_a_folder_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError) as caught:
        ArtifactFolder(tmp_path, fresh=True)
    assert str(caught.value).startswith(f"{tmp_path}: holds files that Argus did not write")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_fresh_refuses_a_folder_without_a_record(tmp_path: Path) -> None:
    (tmp_path / ".argus").write_text("Argus keeps its results here; --fresh deletes them.\n")
    (tmp_path / "embeddings").mkdir()
    with pytest.raises(InputError, match="did not record"):
        ArtifactFolder(tmp_path, fresh=True)
    assert opened(tmp_path).recorded() == frozenset()


def test_a_damaged_record_leads_nowhere_else(tmp_path: Path) -> None:
    folder = opened(tmp_path / "out")
    (tmp_path / "thesis.tex").write_text("years of work")
    with (folder / ".argus").open("a") as marker:
        marker.write("../thesis.tex\n/etc\n..\n.\n")
    opened(tmp_path / "out", fresh=True)
    assert (tmp_path / "thesis.tex").is_file() and (tmp_path / "out").is_dir()


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("x")
    with pytest.raises(InputError, match="is a file"):
        ArtifactFolder(path)
    with pytest.raises(InputError, match="cannot be written"):
        opened(path / "below")
    assert path.read_text() == "x"


@pytest.mark.parametrize(
    "value", [np.float32("nan"), np.array([1.0, np.nan]), {"deep": [{"inside": float("inf")}]}]
)
def test_nan_is_never_written_as_json(tmp_path: Path, value: object) -> None:
    folder = ArtifactFolder(tmp_path)
    folder.write_json("summary.json", {"mean": 0.5})
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.write_json("summary.json", {"mean": value})
    assert json.loads((tmp_path / "summary.json").read_text()) == {"mean": 0.5}
    assert files(tmp_path) == {".argus", "summary.json"}


def test_numpy_values_and_paths_become_plain_json(tmp_path: Path) -> None:
    values = [np.int64(3), np.float32(0.5), np.bool_(True), np.arange(3), Path("a/b"), "Zoë"]
    path = ArtifactFolder(tmp_path).write_json("x.json", {"values": values})
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {"values": [3, 0.5, True, [0, 1, 2], "a/b", "Zoë"]}
    assert "Zoë" in text


def test_a_table_is_written_as_parquet_and_on_request_as_csv(tmp_path: Path) -> None:
    folder = ArtifactFolder(tmp_path)
    table = pa.table({"id": ["a", "b"], "rps": pa.array([0.25, None], pa.float64())})
    path = folder.write_table("scores", table)
    assert path == tmp_path / "scores.parquet"
    assert files(tmp_path) == {".argus", "scores.parquet"}
    folder.write_table("scores", table, csv=True)
    assert pq.read_table(path).equals(table)
    assert (tmp_path / "scores.csv").read_text() == '"id","rps"\n"a",0.25\n"b",\n'


@pytest.mark.parametrize("letter", ["x", "é"])
def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path, letter: str) -> None:
    path = tmp_path / (letter * (254 // len(letter.encode())))
    write_whole(path, "1")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("2")
        raise KeyboardInterrupt
    assert files(tmp_path) == {path.name} and path.read_text() == "1"


def test_each_job_of_one_folder_names_its_own_tables_and_the_last_stands_last(tmp_path):
    folder, table = ArtifactFolder(tmp_path / "o"), pa.table({"id": ["a"]})
    folder.open()
    for job in ("audit", "questions", "audit"):
        folder.write_table(job, table)
        folder.write_results(job, {}, {})
    manifest = folder.read_json("manifest.json")
    assert {job: list(of["parts"]) for job, of in manifest.items()} == {
        "questions": ["summary.json", "questions.parquet"],
        "audit": ["summary.json", "audit.parquet"],
    }
    assert list(manifest) == ["questions", "audit"]


def test_a_table_that_another_job_wrote_again_is_no_longer_the_firsts(tmp_path):
    folder = ArtifactFolder(tmp_path / "o")
    folder.open()
    for job, ids in (("audit", ["a"]), ("exposure", ["b"]), ("audit", None)):
        if ids:
            folder.write_table("both", pa.table({"id": ids}))
        folder.write_results(job, {}, {})
    assert torn_jobs(tmp_path / "o") == {}
    manifest = folder.read_json("manifest.json")
    assert {job: list(of["parts"]) for job, of in manifest.items()} == {
        "exposure": ["summary.json", "both.parquet"],
        "audit": ["summary.json"],
    }
