"""Count the code of Argus against its budgets: `python scripts/size.py [--lower]`.

Code lines leave out blanks, comments and docstrings. budgets.txt beside this file has a line per
folder of src/argus, and one each for tests and benchmarks: name, most lines, most files. --lower
writes what is there now wherever that is less: a budget never rises. Exits 1 where one is exceeded.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).with_name("budgets.txt")
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
Sizes = dict[str, tuple[int, int]]


def code_lines(text: str) -> int:
    """Return how many lines of a module hold code."""
    documented: set[int] = set()
    nodes: list[ast.AST] = [ast.parse(text)]
    for node in nodes:  # statements alone: their expressions hold no docstring
        nodes += (child for name in BODIES for child in getattr(node, name, ()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    numbered = enumerate(text.splitlines(), 1)
    return len({n for n, line in numbered if line.strip()[:1] not in ("", "#")} - documented)


def sizes(root: Path = ROOT) -> Sizes:
    """Return lines and files of each folder of src/argus, of tests and of benchmarks."""
    lines, files = Counter[str](), Counter[str]()
    for above, depth in (("src/argus", 1), ("tests", 0), ("benchmarks", 0)):
        for path in (root / above).rglob("*.py"):
            name = path.relative_to(root / above).parts[0] if depth else above
            lines[name] += code_lines(path.read_text(encoding="utf-8"))
            files[name] += 1
    return {name: (lines[name], files[name]) for name in sorted(lines)}


def budgets() -> Sizes:
    """Return the most lines and files of each."""
    rows = (line.split() for line in BUDGETS.read_text(encoding="utf-8").splitlines())
    return {name: (int(lines), int(files)) for name, lines, files in rows}


def exceeded() -> list[str]:
    """Return a line per folder that is larger than its budget, or has none."""
    most = budgets()
    return [
        f"{name}: {got[0]:,} lines in {got[1]} files; at most {most.get(name, (0, 0))}"
        for name, got in sizes().items()
        if name not in most or any(a > b for a, b in zip(got, most[name], strict=True))
    ]


if __name__ == "__main__":
    now = sizes()
    if "--lower" in sys.argv:
        least = {n: tuple(map(min, got, budgets().get(n, got))) for n, got in now.items()}
        BUDGETS.write_text("".join(f"{n} {a} {b}\n" for n, (a, b) in least.items()))
    rooms = [got for name, got in now.items() if name not in ("tests", "benchmarks")]
    print(*(f"{name:24}{got[0]:8,}{got[1]:6}" for name, got in now.items()), sep="\n")
    lines, files = map(sum, zip(*rooms, strict=True))
    print(f"src/argus: {lines:,} lines in {files:,} files")
    sys.exit("\n".join(exceeded()) or 0)
