"""Two at once on one folder: nothing that either wrote is lost, and none writes into the other."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from argus.data import ArtifactFolder
from argus.data.writing import hold, one_writer, replacing
from argus.errors import ArgusError

SECTIONS = """
import sys
from pathlib import Path
from argus.data import ArtifactFolder
folder = ArtifactFolder(Path(sys.argv[1]))
for n in range(40):
    folder.write_section("summary.json", f"{sys.argv[2]}-{n}", {"n": n, "text": "x" * 2000})
"""
HALF = """
import sys, time
from pathlib import Path
from argus.data.writing import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


@one_writer
def job(folder: ArtifactFolder, *, then=lambda: None) -> str:
    folder.open()
    then()
    return "done"


def test_sections_that_several_processes_write_are_all_there(tmp_path):
    ArtifactFolder(tmp_path).open()
    names = ("audit", "exposure", "reach")
    running = [subprocess.Popen([sys.executable, "-c", SECTIONS, tmp_path, n]) for n in names]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    sections = json.loads((tmp_path / "summary.json").read_text())
    assert set(sections) == {f"{name}-{n}" for name in names for n in range(40)}
    assert {p.name for p in tmp_path.iterdir()} == {".argus", "summary.json"}


def test_two_that_write_one_file_leave_one_of_the_two(tmp_path):
    path = tmp_path / "a.json"
    with replacing(path) as first:
        first.write_text("first")
        with replacing(path) as second:
            assert second != first
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_the_next_writer_removes_what_a_killed_one_left_and_not_what_is_being_written(tmp_path):
    path = tmp_path / "a.json"
    half = subprocess.Popen([sys.executable, "-c", HALF, path], stdout=subprocess.PIPE)
    assert half.stdout is not None and half.stdout.readline() == b"ready\n"
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert len(list(tmp_path.iterdir())) == 2, "the other one is still at it"
    half.send_signal(signal.SIGKILL)
    half.wait()
    half.stdout.close()
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_has_one_job_at_a_time(tmp_path):
    folder = ArtifactFolder(tmp_path)
    refused = []

    def other() -> None:
        try:
            job(ArtifactFolder(tmp_path))
        except ArgusError as error:
            refused.append(str(error))

    def at_once() -> None:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    assert job(folder, then=at_once) == "done"
    assert refused == [
        f"{tmp_path} is being written to by another run; wait for it, or give another --out. "
        "Nothing was changed."
    ]
    assert job(ArtifactFolder(tmp_path)) == "done", "it is free when the job has ended"


def test_a_job_within_a_job_shares_its_folder(tmp_path):
    folder = ArtifactFolder(tmp_path)
    assert job(folder, then=lambda: job(ArtifactFolder(tmp_path))) == "done"


def test_a_job_that_fails_lets_go_of_its_folder(tmp_path):
    def fail() -> None:
        raise ValueError("kept by its traceback")

    with pytest.raises(ValueError, match="traceback") as kept:
        job(ArtifactFolder(tmp_path), then=fail)
    thread_result = []
    thread = threading.Thread(target=lambda: thread_result.append(job(ArtifactFolder(tmp_path))))
    thread.start()
    thread.join()
    assert thread_result == ["done"] and kept.tb is not None


def test_nothing_is_held_outside_of_a_job(tmp_path):
    hold(Path(tmp_path / "lock"), busy="never")
    assert not (tmp_path / "lock").exists()


def test_a_folder_that_took_the_place_of_the_jobs_own_is_not_written_to(tmp_path):
    out = tmp_path / "out"
    folder = ArtifactFolder(out)

    def replaced() -> None:
        folder.write_json("before.json", {})
        out.rename(tmp_path / "moved")
        other = ArtifactFolder(out)
        out.mkdir()
        other.write_json("summary.json", {"of": "another"})
        folder.write_json("summary.json", {"of": "this"})

    with pytest.raises(ArgusError, match="was replaced by another folder"):
        job(folder, then=replaced)
    assert json.loads((out / "summary.json").read_text()) == {"of": "another"}
    assert (tmp_path / "moved" / "before.json").is_file()
