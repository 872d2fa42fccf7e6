import pytest

from argus.data.writing import take_lock
from argus.errors import ArgusError


def test_a_lock_is_held_until_its_file_is_closed(tmp_path):
    file = tmp_path / "lock"
    with take_lock(file, busy="wait"), pytest.raises(ArgusError, match="wait"):
        take_lock(file, busy="wait")
    take_lock(file, busy="wait").close()
    assert file.is_file()


def test_a_folder_that_is_not_there_is_left_to_the_caller(tmp_path):
    with pytest.raises(FileNotFoundError):
        take_lock(tmp_path / "none" / "lock", busy="wait")
