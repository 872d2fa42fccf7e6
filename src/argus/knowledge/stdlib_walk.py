"""List the public members of the running interpreter's standard library as JSON Lines.

Run as `python -I -m argus.knowledge.stdlib_walk`: importing every module has side effects, so it
happens in a process of its own (see `argus.knowledge.stdlib`). One line per member:
`{"name", "kind": module|class|function, "parent", "origin", "bases": [...], "doc"}`; `origin` and
`bases` are where classes were made (`asyncio.queues.Queue`), `name` is where they are documented.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from typing_extensions import TypedDict

# Modules that open a browser or a window, print, run tests, or are documented under another name
# (posix as os, posixpath as os.path).
SKIPPED = frozenset(
    [
        "antigravity",
        "this",
        "idlelib",
        "lib2to3",
        "distutils",
        "ensurepip",
        "test",
        "tests",
        "turtledemo",
        "turtle",
        "tkinter",
        "__main__",
        "msilib",
        "nt",
        "ntpath",
        "posix",
        "posixpath",
        "genericpath",
    ]
)
ALSO = ("os.path",)  # not a package, so not found by looking for submodules
WITHOUT_SUBMODULES = frozenset(["encodings"])  # a hundred generated character tables
FUNCTION_KINDS = (
    inspect.isfunction,
    inspect.isbuiltin,
    inspect.ismethod,  # random.choices is a method of a hidden instance
    inspect.ismethoddescriptor,
    lambda value: isinstance(value, (classmethod, staticmethod)),
)


class MemberRow(TypedDict):
    """A member as one line."""

    name: str
    kind: str
    parent: str
    origin: str
    bases: list[str]
    doc: str


def module_names() -> list[str]:
    """Return the public standard modules and their public submodules, outer ones first."""
    queue = [n for n in sys.stdlib_module_names if _is_public(n)] + [*ALSO]
    names = []
    while queue:
        name = queue.pop()
        try:
            module = importlib.import_module(name)
        except Exception:  # a module of another platform, or one built without its library
            continue
        names.append(name)
        if name not in WITHOUT_SUBMODULES:
            inside = pkgutil.iter_modules(getattr(module, "__path__", []))
            queue += [f"{name}.{info.name}" for info in inside if _is_public(info.name)]
    return sorted(names, key=lambda name: (name.count("."), name))


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name not in SKIPPED


def public_members(module: ModuleType, name: str) -> list[tuple[str, Any]]:
    """Return the public names of a module (`__all__` where it has one).

    What the module made itself comes first, and a thing's own name before its aliases.
    """
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in vars(module) if not n.startswith("_")]
    members = [(n, getattr(module, n, None)) for n in sorted(set(names))]
    return sorted(
        ((n, value) for n, value in members if value is not None),
        key=lambda member: (
            getattr(member[1], "__module__", None) != name,
            getattr(member[1], "__name__", None) != member[0],
        ),
    )


def is_function(value: Any) -> bool:
    """Return whether `value` is a function, builtin, method descriptor, class or static method."""
    return any(check(value) for check in FUNCTION_KINDS)


def belongs(module: ModuleType, name: str, value: Any, public: frozenset[str]) -> bool:
    """Return whether the module called `name` is where `value` is documented.

    An object says where it was made. Made in a private or undocumented module, it belongs to the
    module that lists it in `__all__`, or whose compiled half made it (`_bisect` for `bisect`); made
    in a submodule, to the package that exports it.
    """
    origin = getattr(value, "__module__", None) or name
    if origin == name or origin == f"_{name.rpartition('.')[2]}":
        return True
    exported = hasattr(module, "__all__")
    return exported and (origin not in public or origin.startswith(f"{name}."))


def walk() -> Iterator[MemberRow]:
    """Yield every module, class, function and method once, under its first public name."""
    seen: set[int] = set()
    names = module_names()
    public = frozenset(names)
    for module_name in names:
        module = importlib.import_module(module_name)  # again: it was found importable
        prefix = "" if module_name == "builtins" else f"{module_name}."
        yield _member(module_name, "module", module_name.rpartition(".")[0], module)
        for name, value in public_members(module, module_name):
            if id(value) in seen or not belongs(module, module_name, value, public):
                continue
            if inspect.isclass(value):
                seen.add(id(value))
                yield _member(f"{prefix}{name}", "class", module_name, value)
                yield from _methods(f"{prefix}{name}", value, public, seen)
            elif is_function(value):
                seen.add(id(value))
                yield _member(f"{prefix}{name}", "function", module_name, value)


def _methods(
    qualified: str, cls: type, public: frozenset[str], seen: set[int]
) -> Iterator[MemberRow]:
    """Yield the methods a class defines, and those it has from undocumented (C) base classes."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base is not cls and (base.__module__ in public or base is object):
            continue
        for name, value in sorted(vars(base).items()):
            if name.startswith("_") or name in names or id(value) in seen or not is_function(value):
                continue
            names.add(name)
            seen.add(id(value))
            yield _member(f"{qualified}.{name}", "function", qualified, value)


def _member(name: str, kind: str, parent: str, value: Any) -> MemberRow:
    raw = getattr(value, "__doc__", None)
    is_class = kind == "class"
    return {
        "name": name,
        "kind": kind,
        "parent": parent,
        "origin": _origin(value) if is_class else name,
        "bases": [_origin(base) for base in value.__bases__] if is_class else [],
        "doc": inspect.cleandoc(raw) if isinstance(raw, str) else "",
    }


def _origin(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def main() -> None:
    """Write the members to the standard output, which imported modules cannot reach."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever a module prints goes nowhere
    for member in walk():
        out.write(json.dumps(member) + "\n")
    out.flush()
    os._exit(0)  # skip the exit handlers of everything that was imported


if __name__ == "__main__":
    main()
