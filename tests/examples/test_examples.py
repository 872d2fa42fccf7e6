"""Examples and guides run as they say, on real parts, and print what they show."""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import os
import re
import shutil
import signal
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.stores.conftest import postgres
from tests.support import console, vectors

__all__ = ["postgres"]  # a fixture
DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS.parent / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))
MOST_LINES = 80


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Return what copies an example, with the data beside it, and goes there."""
    shutil.copytree(EXAMPLES / "data", tmp_path / "data")

    def enter(name: str) -> Path:
        shutil.copytree(EXAMPLES / name, tmp_path / name)
        shutil.copytree(EXAMPLES / "policies", tmp_path / "policies", dirs_exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name

    return enter


def test_each_folder_is_listed_and_short():
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    assert len(NAMES) == 6 and all(f"]({name})" in listed for name in NAMES)
    for name in NAMES:
        files = [f for f in (EXAMPLES / name).iterdir() if f.suffix in (".py", ".yaml", ".yml")]
        code = sum(bool(line.strip()) for f in files for line in f.read_text("utf-8").splitlines())
        assert code <= MOST_LINES, f"{name}: {code} lines"


def python_of(page: Path) -> list[str]:
    """Return the blocks of Python of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_langchain_in_chroma_as_the_tutorial_has_it(example, monkeypatch):
    vectors.fill_once(monkeypatch)
    example("langchain-chroma")
    console.check(DOCS / "tutorial.md")
    (code,) = python_of(DOCS / "tutorial.md")  # it says of them that they are repaired.py
    assert Path("repaired.py").read_text("utf-8").endswith(f'"""\n\n{code}')


GUIDES = DOCS / "guides"
# Commands that exit with 1, as their page says.
FAILS = frozenset({"argus authority lint --queries questions.jsonl --retriever search.py:plain"})
# By which share a number may differ: that guide reads these pages themselves.
MOVES = {"guides/build-a-knowledge-base": 1 / 6}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("langchain-chroma", ("guides/audit-a-store",)),
        (
            "langchain-chroma",
            ("guides/explain-a-miss", "traffic", "guides/repair-and-undo", "serve"),
        ),
        ("langchain-chroma", ("operate",)),
        ("langchain-chroma", ("guides/build-a-knowledge-base",)),
        ("langchain-chroma", ("guides/n-grams",)),
        ("policies", ("guides/keep-current",)),
        (".", ("concepts",)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_guides_print_what_they_show(folder, names, tmp_path, monkeypatch):
    """In a copy of the source: pages read its examples, and one of them the pages."""
    vectors.fill_once(monkeypatch)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shutil.copytree(DOCS, tmp_path / "docs")
    monkeypatch.chdir(tmp_path / "examples" / folder)
    try:
        for name in names:
            assert console.check(DOCS / f"{name}.md", fails=FAILS, moves=MOVES.get(name, 0))
    finally:
        if (service := Path("serve.pid")).is_file():  # one that a failed test has left
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(service.read_text()), signal.SIGTERM)


def test_every_guide_is_run():
    marks = test_guides_print_what_they_show.pytestmark
    run = {name for mark in marks if mark.args for _, names in mark.args[1] for name in names}
    guides = {f"guides/{path.stem}" for path in GUIDES.glob("*.md")} - {"guides/README"}
    assert run == {*guides, "concepts", "operate", "serve", "traffic"}


def test_nothing_is_shown_that_is_not_run():
    """Blocks are of commands that `console` runs, or of Python that a test here runs."""
    root = DOCS.parent
    pages = [root / "README.md", DOCS / "tutorial.md", *GUIDES.glob("*.md")]
    for page in [*pages, *EXAMPLES.glob("**/README.md")]:
        blocks = set(re.findall(r"^```(\w+)$", page.read_text("utf-8"), re.MULTILINE))
        allowed = {"console", "python"} if page in pages[:2] else {"console"}
        assert blocks <= allowed, page


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["langchain-chroma", "llamaindex-pgvector", "policies"])
def test_a_folder_prints_what_its_readme_shows(name, example, request, monkeypatch):
    vectors.fill_once(monkeypatch)
    if name == "llamaindex-pgvector":
        monkeypatch.setenv("HANDBOOK", request.getfixturevalue("postgres"))
    console.check(example(name) / "README.md", fails=FAILS)
    gc.collect()  # LlamaIndex leaves its connections open: found here, not in a later test


def test_the_notebook_brings_what_it_shows(example):
    names: dict[str, object] = {}
    notebook = json.loads((example("notebook") / "audit-to-tune.ipynb").read_text("utf-8"))
    for cell in (one for one in notebook["cells"] if one["cell_type"] == "code"):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop()
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        shown = "".join(cell["outputs"][-1]["data"]["text/plain"])
        if shown == "Figure":
            assert value.layout.title.text
        else:
            console.compare(console.Step("a cell", tuple(shown.splitlines())), repr(value))


def test_openinference_to_a_gate(example):
    folder = example("openinference-gate")
    console.check(folder / "README.md")
    assert (folder / "junit.xml").is_file() and "pass" in (folder / "summary.md").read_text()
    workflow = yaml.safe_load((folder / "workflow.yml").read_text("utf-8"))
    lines = [step["run"] for step in workflow["jobs"]["argus"]["steps"] if "run" in step]
    assert [console.run(line, {}).code for line in lines if line.startswith("argus ")] == [0, 0]


def test_an_engine_by_yaml(example, monkeypatch):
    folder = example("engine-by-yaml")
    monkeypatch.syspath_prepend(str(folder))
    import engine

    with ThreadingHTTPServer(("127.0.0.1", 0), engine.Engine) as server:
        monkeypatch.setenv("ENGINE_PORT", str(server.server_port))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        console.check(folder / "README.md")
        server.shutdown()
    del sys.modules["engine"]
