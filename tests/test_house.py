"""The plan of the house: no circle, no folder over its budget."""

import ast
import runpy
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.conftest import TOGETHER

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
SIZE = runpy.run_path(str(ROOT / "scripts" / "size.py"))
BODIES = SIZE["BODIES"]


def test_no_folder_is_over_its_budget():
    """Budgets only ever go down: `python scripts/size.py --lower`."""
    assert SIZE["exceeded"]() == []


def test_what_runs_together_is_there():
    parts = [ROOT / "tests" / part for parts in TOGETHER.values() for part in parts]
    assert [p for p in parts if not (p.is_dir() or p.with_suffix(".py").is_file())] == []


def test_no_two_files_import_each_other():
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def imports() -> dict[str, set[str]]:
    """Return which modules each module imports, those for types alone included."""
    parts = {path: path.relative_to(SRC).with_suffix("").parts for path in SRC.rglob("*.py")}
    paths = {".".join(names).removesuffix(".__init__"): path for path, names in parts.items()}
    graph: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
        for node in nodes:  # statements alone
            nodes += (child for part in BODIES for child in getattr(node, part, ()))
            targets = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                above = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level])
                base = ".".join(filter(None, (above if node.level else "", node.module)))
                targets = [f"{base}.{alias.name}" for alias in node.names]
                targets = [target if target in paths else base for target in targets]
            graph[name] |= {target for target in targets if target in paths and target != name}
    return graph
