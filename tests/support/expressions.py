"""Every regular expression of the package, and how it is asked."""

import ast
import importlib
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import argus

ANCHORED = frozenset(("match", "fullmatch"))
SEARCHING = frozenset(("search", "finditer", "findall", "sub", "subn", "split"))


@dataclass(frozen=True)
class Expression:
    """An expression by where it stands. methods: those it is asked by; all where none is seen."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to ask it that differ: wherever it is found, or where a text begins."""
        seen = self.methods & (ANCHORED | SEARCHING) or SEARCHING
        return (*sorted(seen & ANCHORED), *(("finditer",) if seen & SEARCHING else ()))


@cache
def expressions() -> list[Expression]:
    """All that modules and their classes hold, and those written where they are asked."""
    found: dict[tuple[Any, int], Expression] = {}

    def take(value: object, where: str, depth: int = 0) -> None:
        if isinstance(value, re.Pattern):
            methods = frozenset() if depth else methods_of(where)
            one = found.setdefault(
                (value.pattern, value.flags), Expression(where, value, frozenset())
            )
            found[value.pattern, value.flags] = replace(one, methods=one.methods | methods)
        elif depth > 2:
            return
        elif isinstance(value, list | tuple | set | frozenset):
            for i, one in enumerate(list(value)[:200]):
                take(one, f"{where}[{i}]", depth + 1)
        elif isinstance(value, dict):
            take([*value.items()], where, depth + 1)
        elif is_dataclass(value) and not isinstance(value, type):
            for one in fields(value):
                take(getattr(value, one.name, None), where, depth + 1)

    for name, loaded in modules():
        for key, value in list(vars(loaded).items()):
            take(value, f"{name}.{key}")
            if isinstance(value, type) and value.__module__ == name:
                take(list(vars(value).values()), f"{name}.{key}")
    for one in written_in_calls():
        found.setdefault((one.pattern.pattern, one.pattern.flags), one)
    return list(found.values())


def modules() -> Iterator[tuple[str, Any]]:
    """Yield every module of the package that imports `re` and can be imported, with its name."""
    for name, tree in trees().items():
        imported = [
            a.name for node in tree.body if isinstance(node, ast.Import) for a in node.names
        ]
        if "re" not in imported or name.endswith("__main__"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield name, importlib.import_module(name)
            except ImportError:  # of an extra
                continue


@cache
def trees() -> dict[str, ast.Module]:
    """The parse tree of each module, by its name."""
    root = Path(argus.__path__[0])
    return {
        ".".join(("argus", *path.relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.py"))
    }


@cache
def nodes() -> dict[str, list[ast.Attribute | ast.Call]]:
    """The calls and attributes of each module."""
    kinds = ast.Attribute | ast.Call
    return {m: [n for n in ast.walk(tree) if isinstance(n, kinds)] for m, tree in trees().items()}


def methods_of(where: str) -> frozenset[str]:
    """The methods that are named after a name: `_WORD.finditer` is `_WORD` by `finditer`.

    A name of a module's own is asked there alone; handed on, it may be asked by all.
    """
    module, _, name = where.rpartition(".")
    own = name.startswith("_") and module in methods_by_name()
    asked = [methods_by_name()[module]] if own else methods_by_name().values()
    return frozenset(method for one in asked for method in one.get(name, ()))


@cache
def methods_by_name() -> dict[str, dict[str, set[str]]]:
    """The methods that are named after each name, by module."""
    methods: dict[str, dict[str, set[str]]] = {}
    for module, named in nodes().items():
        own = methods[module] = defaultdict(set)
        for node in named:
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
                own[name].add(node.attr)
            else:
                for one in (*node.args, *(word.value for word in node.keywords)):
                    if isinstance(one, ast.Name):
                        own[one.id] |= SEARCHING
    return methods


def written_in_calls() -> Iterator[Expression]:
    """Yield what stands as text in `re.search(...)` and its like."""
    for name, named in nodes().items():
        for node in named:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            method, owner = node.func.attr, node.func.value
            if not (isinstance(owner, ast.Name) and owner.id == "re" and node.args):
                continue
            source = node.args[0]
            if isinstance(source, ast.Constant) and method in ANCHORED | SEARCHING | {"compile"}:
                flags = [word.value for word in node.keywords if word.arg == "flags"]
                flags += node.args[1:] if method == "compile" else []
                flag = eval(ast.unparse(flags[0]), {"re": re}) if flags else 0
                pattern = re.compile(source.value, flag)
                yield Expression(f"{name}:{node.lineno}", pattern, frozenset((method,)))
