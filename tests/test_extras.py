"""What lacks is named with its extra; what no extra brings is left as it is."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from argus.errors import ArgusError
from argus.extras import EXTRAS, MissingPackage, naming_extras

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_an_import_that_fails_names_the_extra():
    named = r"argus-retrieval\[torch\]"
    with pytest.raises(MissingPackage, match=named) as raised, naming_extras():
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")
    assert raised.value.name == "torch"
    assert isinstance(raised.value, ImportError) and isinstance(raised.value, ArgusError)


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(extras)
    brought = {Requirement(line).name for lines in extras.values() for line in lines}
    assert {"torch", "numba", "duckdb", "ray", "peft", "lancedb"} <= brought & EXTRAS.keys()
