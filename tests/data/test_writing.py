"""Files whole or not at all, one writer per folder, and locks."""

import json
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from argus.data import ArtifactFolder
from argus.data.writing import PARTIAL, one_writer, replacing
from argus.errors import ArgusError, NotWritten

BIG = np.zeros(1 << 18)


def as_tokenizer(path):
    Tokenizer(WordLevel({str(i): i for i in range(9000)}, unk_token="0")).save(str(path))


def as_numpy(path):
    with path.open("wb") as file:
        np.save(file, BIG)


WRITERS = {
    "text": lambda path: path.write_text("x" * 100_000),
    "numpy": as_numpy,
    "tofile": lambda path: BIG.tofile(path),
    "torch": lambda path: torch.save(torch.from_numpy(BIG), path),
    "safetensors": lambda path: save_file({"a": BIG}, path),
    "tokenizers": as_tokenizer,
}


@pytest.fixture
def small_files():
    """No file may grow beyond 4 KiB: every library's own words for a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_told_with_the_path_and_the_old_file_stays(tmp_path, small_files, writer):
    path = tmp_path / "file"
    path.write_text("old")
    told = r"file: cannot be written \(.*run the same command again"
    with pytest.raises(NotWritten, match=told), replacing(path) as temporary:
        WRITERS[writer](temporary)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


SECTIONS = """
import sys
from pathlib import Path
from argus.data import ArtifactFolder
folder = ArtifactFolder(Path(sys.argv[1]))
for n in range(12):
    folder.write_section("summary.json", f"{sys.argv[2]}-{n}", {"n": n, "text": "x" * 2000})
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
    assert set(sections) == {f"{name}-{n}" for name in names for n in range(12)}
    assert {p.name for p in tmp_path.iterdir()} == {".argus", "summary.json"}


def test_the_next_job_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / f".a.json.4711abcd{PARTIAL}").write_text("half")
    (tmp_path / f".run.4711abcd{PARTIAL}").mkdir()
    ArtifactFolder(tmp_path).open()
    assert [path.name for path in tmp_path.iterdir()] == [".argus"]


def test_a_folder_has_one_job_at_a_time(tmp_path):
    folder = ArtifactFolder(tmp_path)

    def at_once() -> None:
        with ThreadPoolExecutor(1) as pool, pytest.raises(ArgusError, match=refusal):
            pool.submit(job, ArtifactFolder(tmp_path)).result()

    refusal = f"^{tmp_path} is being written to by another run; wait for it, or give another --out."
    assert job(folder, then=at_once) == "done"
    assert job(ArtifactFolder(tmp_path)) == "done", "it is free when the job has ended"
