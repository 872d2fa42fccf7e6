"""What lacks is named with its extra; what no extra brings is left as it is."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from argus.errors import ArgusError
from argus.extras import EXTRAS, MissingPackage, UnloadedLibrary, naming_extras

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_an_import_that_fails_names_the_extra():
    with (
        pytest.raises(MissingPackage, match=r"argus-retrieval\[encode\]") as raised,
        naming_extras(),
    ):
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")
    assert raised.value.name == "torch"
    assert isinstance(raised.value, ImportError) and isinstance(raised.value, ArgusError)


def test_a_library_that_the_system_does_not_load_is_told_from_a_fault():
    def cannot_be_loaded():
        raise ImportError("libarrow.so: failed to map segment from shared object", name="pyarrow")

    with pytest.raises(UnloadedLibrary, match=r"libarrow.so.*ulimit -v") as raised:
        naming_extras()(naming_extras()(cannot_be_loaded))()
    assert raised.value.name == "pyarrow" and isinstance(raised.value, ImportError)
    error = ImportError("cannot import name 'gone' from 'argus'", name="argus")
    with pytest.raises(ImportError) as kept, naming_extras():
        raise error
    assert kept.value is error


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(extras)
    brought = {Requirement(line).name for lines in extras.values() for line in lines}
    for package in ("torch", "numba", "duckdb", "ray", "peft", "lancedb"):
        assert package in brought and package in EXTRAS
