"""The pages of the public names of `argus`: signature, fields, and the docstring's first paragraph.

Read from the source as it is written, so nothing heavy is imported.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from itertools import groupby

from argus.cli.reference.made import first_paragraph, page, parts, wrapped
from argus.cli.reference.source import SOURCE, Name, defined, file_of

LONGEST = 90
"""Characters of a signature on one line."""


def name_pages() -> dict[str, str]:
    """Return a page per room, and the list of them."""
    texts: dict[str, str] = {}
    rows = []
    for room, names in groupby(sorted(public_names(), key=_place), key=lambda one: one.room):
        for i, part in enumerate(parts(_entry(one) for one in names)):
            title = f"{room}-{i + 1}" if i else room
            texts[f"{title}.md"] = page(f"argus: {title}", "\n".join(part))
            links = ", ".join(f"`{entry.split()[1]}`" for entry in part)
            rows.append(f"{wrapped(f'* [{title}]({title}.md): {links}')}\n")
    about = "Every name of `import argus`, by the folder it is in.\n\n"
    return {"overview.md": page("Python names", about + "".join(rows))} | texts


def public_names() -> Iterator[Name]:
    """Yield what `argus/__init__.pyi` exports, followed to where it is defined."""
    stub = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                yield defined(node.module or "", alias.name)


def _place(name: Name) -> tuple[str, str, str]:
    return name.room, name.module, name.name


def _entry(name: Name) -> str:
    """Return its part of a page, which begins with its name."""
    doc = first_paragraph(name.doc)
    place = f"`argus.{name.module}`"
    code = f"```python\n{_signature(name)}\n```"
    return f"## {name.name}\n\n{code}\n\n{doc}{' ' if doc else ''}In {place}.\n"


def _signature(name: Name) -> str:
    node = name.node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _function(node)
    if isinstance(node, ast.ClassDef):
        return "\n".join(_class(node))
    source = file_of(name.module).read_text("utf-8")
    return ast.get_source_segment(source, node) or ast.unparse(node)


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
