"""Locks where the file is odd, or the file system has none."""

import errno
import fcntl
import os
import signal

import pytest

from argus.data import ArtifactFolder
from argus.data.writing import one_writer, take_lock
from argus.errors import ArgusError, InputError


@pytest.fixture
def no_wait():
    """End a test that waits; it is no measure of time."""

    def late(*_):
        raise TimeoutError("waited for a lock's file")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_pipe_is_no_wait(tmp_path, no_wait):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(InputError, match="lock: is a pipe"):
        take_lock(tmp_path / "lock", busy="busy")


def test_a_folder_is_an_error_of_the_system(tmp_path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(IsADirectoryError):
        take_lock(tmp_path / "lock", busy="busy")


def test_what_a_dead_process_left_is_no_lock(tmp_path):
    (tmp_path / "lock").write_text("4194304\n")
    with take_lock(tmp_path / "lock", busy="busy"), pytest.raises(ArgusError, match="busy"):
        take_lock(tmp_path / "lock", busy="busy")
    assert (tmp_path / "lock").read_text() == "4194304\n"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_job_runs_where_the_file_system_has_no_locks(tmp_path, monkeypatch, number):
    def without(*_):  # no such file system can be mounted in a test
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", without)

    @one_writer
    def job():
        folder = ArtifactFolder(tmp_path / "out")
        folder.open()
        folder.write_section("summary.json", "audit", {"n": 1})

    job()
    assert ArtifactFolder(tmp_path / "out").read_json("summary.json") == {"audit": {"n": 1}}
