"""The public names: forty at most, light to import, each function with an example that runs."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import argus
from tests.support.examples import fill_store, write_files

PAGE = (Path(__file__).parents[1] / "docs/python.md").read_text(encoding="utf-8")
HEAVY = ["torch", "transformers", "sklearn", "numba", "pyarrow", "lancedb", "plotly", "xgboost",
         "numpy", "scipy"]  # fmt: skip


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import argus, sys; dir(argus); print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


def test_there_are_at_most_forty_names_and_each_says_what_it_is() -> None:
    assert len(argus.__all__) <= 40
    assert set(argus.__all__) <= set(dir(argus))
    assert all(getattr(argus, name).__doc__ for name in argus.__all__ if name != "__version__")


def test_every_function_has_an_example() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    functions = [name for name in argus.__all__ if inspect.isfunction(getattr(argus, name))]
    assert not [name for name in functions if f"argus.{name}(" not in code]


@pytest.mark.slow
def test_the_examples_run(tmp_path, monkeypatch, shared) -> None:
    write_files(tmp_path, shared("fb15k237"))
    monkeypatch.chdir(tmp_path)
    there: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        if "chroma:" in block:
            fill_store(tmp_path)
        exec(compile(block, "docs/python.md", "exec"), there)
    stored = argus.check("chroma:store/docs", log=Path("log.jsonl"), out="stored/")
    assert [*stored.parts] == ["exposure", "reach", "traffic"]
    tables = (there["merged"], *(there[name].to_pandas() for name in ("entities", "lost")))
    names = [name for table in tables for name in table.columns if name != "id"]
    assert len(names) == len(set(names)) and not [n for n in names if n.endswith(("_x", "_y"))]
    figures = argus.reports.figure_dicts("audited/").values()
    assert figures and all(figure["layout"]["title"]["text"] for figure in figures)
