import numpy as np
import pytest

from argus.data.types import View
from argus.errors import ArgusError, InputError
from argus.indexes.table import storage
from argus.indexes.views import ViewIndex


@pytest.mark.parametrize("surrogate", ["s\ud800", "\udcff"])
def test_an_id_that_is_no_unicode_text_is_named(tmp_path, surrogate):
    index = ViewIndex.create(tmp_path / "i", fingerprint="f", dim=2)
    index.add([View("a", "a", "original", "t")], np.eye(2, dtype=np.float32)[:1])
    with pytest.raises(InputError, match="an id holds characters that are no Unicode") as refused:
        index.views_of(surrogate)
    assert "Remove lone surrogates from the id" in str(refused.value)
    assert "space on the disk" not in str(refused.value)
    str(refused.value).encode()  # can be printed
    assert len(index) == 1


@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError])
def test_what_the_store_raises_names_folder_and_deed(tmp_path, error):
    with (
        pytest.raises(ArgusError, match=r"i: adding views failed \(no space left\).*as it was"),
        storage(tmp_path / "i", "adding views"),
    ):
        raise error("no space left, /build/lance/writer/structural.rs:258:9\nRust backtrace")


def test_the_next_writer_removes_what_a_killed_one_left_half_written(tmp_path):
    """The names are those that kills of `argus index build` left behind."""
    vectors = np.eye(2, dtype=np.float32)
    index = ViewIndex.create(tmp_path / "i", fingerprint="f", dim=2)
    index.add([View("a", "a", "original", "t")], vectors[:1])
    for name in ("data/.tmpbWzLOF", "_transactions/.tmpWPkxoH"):
        (tmp_path / "i" / "views.lance" / name).write_bytes(b"half")
    index.add([View("b", "b", "original", "t")], vectors[1:])
    assert not list(tmp_path.rglob(".tmp*"))
    assert [row["id"] for row in ViewIndex.open(tmp_path / "i").rows().to_pylist()] == ["a", "b"]
