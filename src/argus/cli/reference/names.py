"""The pages of the public names of `argus`: signature, fields, and the docstring's first paragraph.

Read from the source as it is written, so nothing heavy is imported.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from argus.cli.reference.made import MOST_WORDS, first_paragraph, page, wrapped

LONGEST = 90
"""Characters of a signature on one line."""
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


def name_pages() -> dict[str, str]:
    """Return a page per room, and the list of them."""
    texts: dict[str, str] = {}
    rows = []
    for room, names in groupby(sorted(public_names(), key=_place), key=lambda one: one.room):
        for i, part in enumerate(_parts([_entry(one) for one in names])):
            file = f"{room}{f'-{i + 1}' if i else ''}.md"
            texts[file] = page(f"argus: {file.removesuffix('.md')}", "\n".join(e[1] for e in part))
            links = ", ".join(f"`{name}`" for name, _ in part)
            rows.append(f"{wrapped(f'* [{file[:-3]}]({file}): {links}')}\n")
    about = "Every name of `import argus`, by the folder it is in.\n\n"
    return {"overview.md": page("Python names", about + "".join(rows))} | texts


def public_names() -> Iterator[Name]:
    """Yield what `argus/__init__.pyi` exports, followed to where it is defined."""
    stub = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                yield _defined(node.module or "", alias.name)


def _place(name: Name) -> tuple[str, str, str]:
    return name.room, name.module, name.name


def _defined(module: str, name: str) -> Name:
    """Follow a name through modules that only hand it on. Raises LookupError for a lost one."""
    tree = _tree(module)
    body = list(_statements(tree))
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name == name:
                return Name(name, module, node, ast.get_docstring(node) or "")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                return Name(name, module, node, _string(after))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _defined(_module(node, module), alias.name)
    raise LookupError(f"{name} is not in argus.{module}")


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under `if` too (TYPE_CHECKING)."""
    for node in tree.body:
        yield node
        if isinstance(node, ast.If):
            yield from node.body


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_text("utf-8"))


def _file(module: str) -> Path:
    path = SOURCE.joinpath(*module.split("."))
    places = path / "__init__.pyi", path / "__init__.py", path.with_name(f"{path.name}.py")
    return next(place for place in places if place.is_file())


def _module(node: ast.ImportFrom, inside: str) -> str:
    """Return the module, below `argus`, that an import names."""
    if not node.level:
        return (node.module or "").removeprefix("argus.")
    parts = inside.split(".")
    up = node.level - (1 if _file(inside).stem == "__init__" else 0)
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def _string(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value) if isinstance(node.value.value, str) else ""
    return ""


def _entry(name: Name) -> tuple[str, str]:
    """Return the name, and its part of a page."""
    doc = first_paragraph(name.doc)
    place = f"`argus.{name.module}`"
    code = f"```python\n{_signature(name)}\n```"
    return name.name, f"## {name.name}\n\n{code}\n\n{doc}{' ' if doc else ''}In {place}.\n"


def _signature(name: Name) -> str:
    node = name.node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _function(node)
    if isinstance(node, ast.ClassDef):
        return "\n".join(_class(node))
    return ast.unparse(node)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return `def name(...)`, its arguments on lines of their own where it is long."""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = list(_arguments(_Plain().visit(node.args)))
    line = f"{word} {node.name}({', '.join(arguments)}){returns}"
    if len(line) <= LONGEST:
        return line
    inner = ",\n    ".join(arguments)
    return f"{word} {node.name}(\n    {inner},\n){returns}"


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    """Yield each argument as it is written."""
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    yield from map(_argument, plain, [*missing, *arguments.defaults])
    if arguments.vararg:
        yield f"*{_argument(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from map(_argument, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        yield f"**{_argument(arguments.kwarg, None)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def _class(node: ast.ClassDef) -> Iterator[str]:
    """Yield the lines of a class: its bases, its fields, and the names of its methods."""
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    yield f"class {node.name}{f'({bases})' if bases else ''}"
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_"):
            yield f"    {ast.unparse(_Plain().visit(one))}"
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and _is_shown(one.name):
            yield textwrap.indent(_method(one), "    ")


def _is_shown(method: str) -> bool:
    return not method.startswith("_") or method in ("__init__", "__call__")


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return a method without its body; a property as a field is written."""
    returns = ast.unparse(node.returns) if node.returns else ""
    if any(ast.unparse(one).endswith("property") for one in node.decorator_list):
        return f"{node.name}: {returns}  # property"
    return _function(node)


class _Plain(ast.NodeTransformer):
    """`Annotated[X, ...]` is X: bounds and texts of settings stand on the commands' pages."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return node


def _parts(entries: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield runs of entries that make a page which can be read."""
    part: list[tuple[str, str]] = []
    words = 0
    for entry in entries:
        count = len(entry[1].split())
        if part and words + count > MOST_WORDS:
            yield part
            part, words = [], 0
        part.append(entry)
        words += count
    if part:
        yield part
