"""Names of files and stores whose paths are of Windows: a drive's colon is no separator."""

from pathlib import PureWindowsPath

import pytest

from argus.errors import InputError
from argus.python_file import is_own, split_name, split_spec
from argus.stores.spec import parse_store

FILE = PureWindowsPath("C:/work/my search.py")


@pytest.mark.parametrize("name", ["", "hybrid"])
@pytest.mark.parametrize("file", [str(FILE), FILE.as_posix(), "search.py", "../search.py"])
def test_a_file_and_its_name_are_parted_behind_any_drive(file, name):
    spec = f"{file}:{name}" if name else file
    assert split_name(spec) == (file, name) and is_own(spec)


def test_a_file_that_is_not_there_is_named_with_its_drive():
    for spec in (str(FILE), f"{FILE}:hybrid"):
        with pytest.raises(InputError) as refused:
            split_spec(spec)
        assert str(refused.value.where) == str(FILE)


@pytest.mark.parametrize("kind", ["faiss", "chroma", "lancedb", "sqlite-vec"])
def test_the_place_of_a_store_keeps_its_drive(kind):
    place = str(PureWindowsPath("C:/stores/db"))
    spec = parse_store(f"{kind}:{place}" if kind == "faiss" else f"{kind}:{place}/docs")
    assert (spec.kind, spec.place) == (kind, place)
    assert spec.collection == ("" if kind == "faiss" else "docs")
