"""The source of the package, parsed: what the reference reads in place of importing it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2]


@cache
def tree(module: str) -> ast.Module:
    """Return a module below `argus`, parsed."""
    return ast.parse(file_of(module).read_text("utf-8"))


def file_of(module: str) -> Path:
    """Return the file of a module below `argus`; of a lazy package its stub."""
    path = SOURCE.joinpath(*module.split("."))
    places = path / "__init__.pyi", path / "__init__.py", path.with_name(f"{path.name}.py")
    return next(place for place in places if place.is_file())


def string_of(node: ast.stmt | None) -> str:
    """Return the text of a statement that is nothing but a string, such as a field's docstring."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""
