"""The plan of the house in figures: code lines, folders, circles, settings, summaries, names.

`python -m benchmarks.house [SRC]` prints them for the package under SRC (src/argus). They are
counted from the source alone; nothing of it runs.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PARTICIPLES = ("found", "asked", "said", "given", "told", "chosen", "wanted", "kept")
Trees = dict[str, tuple[Path, ast.Module]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def read(src: Path) -> Trees:
    """Return every module's file and syntax tree by its dotted name."""
    trees = {}
    for path in sorted(src.rglob("*.py")):
        parts = (src.name, *path.relative_to(src).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        trees[name] = path, ast.parse(path.read_text(encoding="utf-8"))
    return trees


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a tree, walked once."""
    return list(ast.walk(tree))


def code_lines(path: Path, tree: ast.Module) -> int:
    """Return the lines that hold code: neither blank, nor comment, nor docstring."""
    text = path.read_text(encoding="utf-8").splitlines()
    starts = ((n, line.lstrip()[:1]) for n, line in enumerate(text, 1))
    lines = {n for n, first in starts if first not in ("", "#")}
    for node in nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def imports(trees: Trees) -> dict[str, set[str]]:
    """Return which modules each module imports, those for types alone included."""
    graph: dict[str, set[str]] = {}
    for name, (path, tree) in trees.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        graph[name] = {
            target
            for node in nodes(tree)
            for target in _targets(node, package, trees)
            if target != name
        }
    return graph


def _targets(node: ast.AST, package: str, trees: Trees) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in trees)
    if not isinstance(node, ast.ImportFrom):
        return
    base = node.module or ""
    if node.level:
        home = package.split(".")
        base = ".".join((*home[: len(home) - node.level + 1], *([base] if base else [])))
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        if inner in trees:
            yield inner
        elif base in trees and trees[base][0].name != "__init__.py":
            yield base


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other in a loop (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                groups.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in index:
            visit(node)
    return groups


def is_untyped(annotation: ast.expr | None) -> bool:
    """Return whether a type is, or holds, a `dict[str, Any]`."""
    return annotation is not None and "dict[str, Any]" in ast.unparse(annotation)


def functions(trees: Trees) -> Iterator[tuple[str, Function]]:
    """Yield every function with its module."""
    for name, (_, tree) in trees.items():
        for node in nodes(tree):
            if isinstance(node, Function):
                yield name, node


def names(function: Function) -> set[str]:
    """Return the names of a function's variables."""
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def length(function: Function) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def config_fields(trees: Trees) -> set[str]:
    """Return the names of all fields of config classes outside the command line."""
    return {
        item.target.id
        for name, (_, tree) in trees.items()
        if ".cli" not in name
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef) and _is_config(node)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def _is_config(node: ast.ClassDef) -> bool:
    named = ("Config", "Bounds", "Source", "FieldNames", "Decoding", "Scoring", "Dumps", "Size")
    decorated = any("dataclass" in ast.unparse(d) for d in node.decorator_list)
    return decorated and node.name.endswith(named)


def declared_options(trees: Trees) -> list[tuple[str, str]]:
    """Return (module, name) of every option that the command line declares itself."""
    options = []
    for name, (_, tree) in trees.items():
        if ".cli" not in name:
            continue
        for node in nodes(tree):
            if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
                text = ast.unparse(node.annotation)
                if "typer.Option(" in text or "Doc(" in text:
                    target = node.target if isinstance(node, ast.AnnAssign) else None
                    options.append((name, getattr(target, "id", "") or getattr(node, "arg", "")))
    return options


def repeated_settings(trees: Trees) -> list[str]:
    """Return the settings that are declared again, in the same words under the same name.

    A type that settings share, such as `Seed`, counts as a declaration of `seed`.
    """
    declarations: Counter[tuple[str, str]] = Counter()
    for _, tree in trees.values():
        for node in nodes(tree):
            if isinstance(node, ast.arg):
                name, value = node.arg, node.annotation
            elif isinstance(node, ast.AnnAssign):
                name, value = ast.unparse(node.target), node.annotation
            elif isinstance(node, ast.Assign):
                name, value = ast.unparse(node.targets[0]), node.value
            else:
                continue
            declarations.update((name.lower(), text) for text in _help_of(value))
    return sorted(name for (name, _), n in declarations.items() for _ in range(n - 1))


def _help_of(annotation: ast.expr | None) -> list[str]:
    """Return the text of the `Doc` in an `Annotated` type; nothing for any other expression."""
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value) != "Annotated":
        return []
    notes = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    return [
        ast.unparse(note.args[0])
        for note in notes
        if isinstance(note, ast.Call) and ast.unparse(note.func) == "Doc" and note.args
    ]


def figures(src: Path) -> dict[str, object]:
    """Return all figures of the package in a folder."""
    trees = read(src)
    graph = imports(trees)
    lines = {name: code_lines(*module) for name, module in trees.items()}
    importers: Counter[str] = Counter(t for targets in graph.values() for t in targets)
    folders: dict[str, int] = defaultdict(int)
    for name, n in lines.items():
        folders[name.split(".")[1] if "." in name else name] += n
    largest = max(folders, key=lambda folder: folders[folder])
    bodies = list(functions(trees))
    used = Counter(word for _, f in bodies for word in names(f))
    parameters = [a for _, f in bodies for a in (*f.args.args, *f.args.kwonlyargs)]
    fields = config_fields(trees)
    options = declared_options(trees)
    alone = [name for name in trees if importers[name] == 1]
    share = folders[largest] / sum(lines.values())
    return {
        "code lines": sum(lines.values()),
        "files": len(trees),
        "largest folder": f"{largest}: {folders[largest]} ({share:.0%})",
        "circles": circles(graph),
        "options declared in cli": len(options),
        "of a config's field's name": sum(option in fields for _, option in options),
        "settings declared again": repeated_settings(trees),
        "functions that return dict[str, Any]": sum(is_untyped(f.returns) for _, f in bodies),
        "parameters of dict[str, Any]": sum(is_untyped(a.annotation) for a in parameters),
        "modules with one importer": len(alone),
        "of them under 60 lines": sum(lines[name] < 60 for name in alone),
        "functions that use": {word: used[word] for word in PARTICIPLES},
        "functions over 40 lines": [f"{name}:{f.name}" for name, f in bodies if length(f) > 40],
    }


if __name__ == "__main__":
    print(json.dumps(figures(Path(sys.argv[1] if sys.argv[1:] else "src/argus")), indent=2))
