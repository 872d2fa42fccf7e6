"""The source of the package, parsed: what the reference reads in place of importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2]
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Name:
    """A public name, where it is defined, and what stands there."""

    name: str
    module: str
    """Below `argus`, with dots."""
    node: Definition
    doc: str

    @property
    def room(self) -> str:
        """The folder below `argus` that it is in, or its file."""
        return self.module.partition(".")[0]


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


def defined(module: str, name: str) -> Name:
    """Follow a name through modules that only hand it on. Raises LookupError for a lost one."""
    body = list(_statements(tree(module)))
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, Definition) and _is_called(node, name):
            return named(node, after, module)
        if isinstance(node, ast.ImportFrom) and (node.level or is_ours(node.module)):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return defined(_module(node, module), alias.name)
    raise LookupError(f"{name} is not in argus.{module}")


def named(node: Definition, after: ast.stmt | None, module: str) -> Name:
    """Return what a statement defines. after: the statement below it, perhaps its text."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return Name(ast.unparse(target), module, node, string_of(after))
    return Name(node.name, module, node, ast.get_docstring(node) or "")


def _is_called(node: Definition, name: str) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return ast.unparse(target) == name
    return node.name == name


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under `if` too (TYPE_CHECKING)."""
    for node in module.body:
        yield node
        if isinstance(node, ast.If):
            yield from node.body


def _module(node: ast.ImportFrom, inside: str) -> str:
    """Return the module, below `argus`, that an import names."""
    if not node.level:
        return (node.module or "").removeprefix("argus.")
    parts = inside.split(".")
    up = node.level - (1 if file_of(inside).stem == "__init__" else 0)
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def is_ours(module: str | None) -> bool:
    """Return whether an import is of this package."""
    return (module or "").partition(".")[0] == "argus"
