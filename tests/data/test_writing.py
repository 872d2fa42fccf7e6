import errno
import os
import resource

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from argus.data import ArtifactFolder
from argus.data.writing import one_writer, replacing, writable
from argus.errors import NotWritten
from argus.training.loop import replacing_folder

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


def test_it_is_an_os_error_too_and_keeps_its_number(tmp_path):
    with pytest.raises(OSError, match="No space left") as raised, writable(tmp_path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == str(tmp_path)


def test_other_errors_are_as_they_were(tmp_path):
    with pytest.raises(FileNotFoundError), writable(tmp_path):
        (tmp_path / "none").read_text()
    with pytest.raises(ValueError, match="other"), writable(tmp_path):
        raise ValueError("other")


def test_a_job_names_its_folder_where_a_library_names_nothing(tmp_path):
    @one_writer
    def job():
        ArtifactFolder(tmp_path).open()
        raise RuntimeError("[enforce fail at inline_container.cc] . PytorchStreamWriter failed")

    with pytest.raises(NotWritten, match=f"{tmp_path}: cannot be written"):
        job()


def test_a_folder_that_a_killed_run_had_put_aside_comes_back(tmp_path):
    (tmp_path / ".model.old").mkdir()
    (tmp_path / ".model.old" / "weights").write_text("old")
    with pytest.raises(ZeroDivisionError), replacing_folder(tmp_path / "model") as temporary:
        (temporary / "weights").write_text("new")
        1 / 0  # noqa: B018
    assert (tmp_path / "model" / "weights").read_text() == "old"
