"""What every result can do: show itself in a few lines, and give its tables."""

import importlib
import pkgutil
from dataclasses import dataclass, fields

import pytest

import argus
from argus.errors import InputError
from argus.jobs.result import Result


@dataclass(frozen=True, repr=False)
class Plain(Result):
    """A result of a few lines, without a folder."""

    lines: tuple[str, ...] = ("mean 0.5 <b>",)

    def headline(self):
        yield from self.lines


@dataclass(frozen=True, repr=False)
class Tabled(Plain):
    """A result of two tables."""

    TABLES = ("table", "misses")


def test_a_notebook_gets_the_lines_escaped():
    assert "mean 0.5 &lt;b&gt;" in Plain()._repr_html_()
    assert "href" not in Plain()._repr_html_()


@pytest.mark.parametrize(("result", "name"), [(Plain(), None), (Tabled(), "lines")])
def test_a_table_that_there_is_not_is_refused(result, name):
    with pytest.raises(InputError) as refused:
        result.to_pandas(name)
    assert refused.value.where == "table"
    assert ", ".join(result.TABLES) in refused.value.expected


def _all_of(kind):
    return {one for sub in kind.__subclasses__() for one in (sub, *_all_of(sub))}


def test_every_result_shows_itself():
    for module in pkgutil.walk_packages(argus.__path__, "argus."):
        if module.name.rpartition(".")[2] in ("job", "jobs", "checks", "health", "project"):
            importlib.import_module(module.name)
    results = {one for one in _all_of(Result) if one.__module__.startswith("argus.")}
    assert len(results) > 20
    for result in results:
        name = result.__name__
        assert result.__repr__ is Result.__repr__, f"{name}: declare it with repr=False"
        parts = {field.name for field in fields(result)} | set(dir(result))
        assert parts.issuperset(result.TABLES), name
