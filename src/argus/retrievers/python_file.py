"""Run a Python file that somebody wrote, and take what it defines.

The file is run as it is: it may do whatever a program may; where it changes the working folder,
that is its own (`STRANGERS`). Its folder can be imported from while
what it defines is in use. Of two files in use at once each gets the neighbours of its own folder,
where it imports them as it is run; what a function imports later is of the file opened last.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from argus.data.provenance import content_hash
from argus.data.syntax import syntax_tree
from argus.data.text_files import no_file
from argus.errors import ArgusError, InputError
from argus.retrievers.working_folder import STRANGERS

_MODULE = "_argus_retriever_"
_folders: list[Path] = []
"""Of the files that are in use."""


def split_spec(spec: str) -> tuple[Path, str]:
    """Return file and name of `FILE.py` or `FILE.py:NAME`; InputError where there is none."""
    path, name = Path(spec), ""
    if not path.is_file() and ":" in spec:
        before, _, name = spec.rpartition(":")
        path = Path(before)
    if not path.is_file():
        raise InputError(
            no_file(path),
            expected="a Python file, or FILE.py:NAME",
            fix="Check the path.",
            where=path,
        )
    if path.suffix != ".py":
        raise InputError(
            f"file type {path.suffix or '(none)'}",
            expected="a Python file, ending in .py",
            fix="Rename it, or give another file.",
            where=path,
        )
    return path, name


@contextmanager
def module_of(path: Path, expected: str) -> Iterator[ModuleType]:
    """Run a file; while the context lasts, its folder can be imported from.

    expected: what it is to define, for messages. Raises InputError for what cannot be run.
    """
    folder = path.parent.resolve()
    aside = _strangers(folder)
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    _folders.append(folder)
    try:
        with STRANGERS.entered():
            module = _run(path, expected)
        yield module
    finally:
        sys.path.remove(str(folder))
        _folders.remove(folder)
        if not _folders:
            STRANGERS.forget()
        own = [
            name for name in set(sys.modules) - before
            if name.startswith(_MODULE) or _is_neighbour(name, folder)
        ]  # fmt: skip
        for name in own:  # a package is told by its own module: all are looked at first
            del sys.modules[name]
        for name, module in aside.items():
            sys.modules.setdefault(name, module)


def file_hash(path: Path) -> str:
    """Return a hash of a file that is run: where it lies, it and the neighbours that it imports.

    Neighbours are what `import` names anywhere in it or in them, a package with all its modules.
    """
    parts: list[str | bytes] = []
    for file in _with_neighbours(path.resolve()):
        parts += [str(file), file.read_bytes()]
    return content_hash(*parts).hex()


def _with_neighbours(path: Path) -> list[Path]:
    files = {path: None}
    pending = [path]
    while pending:
        for name in _imported(pending.pop()):
            module, package = path.parent / f"{name}.py", path.parent / name
            for file in (module, *sorted(package.rglob("*.py"))):
                if file.is_file() and file not in files:
                    files[file] = None
                    pending.append(file)
    return list(files)


def _imported(file: Path) -> set[str]:
    """Return the first parts of the names that a file imports."""
    try:
        nodes = list(ast.walk(syntax_tree(file.read_bytes())))
    except (SyntaxError, ValueError):  # a neighbour that only a function would import
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and not n.level}
    return {name.partition(".")[0] for name in names}


def _strangers(folder: Path) -> dict[str, ModuleType]:
    """Take out the neighbours of other files in use that this folder has of the same name."""
    others = {other for other in _folders if other != folder}
    names = [
        name for name in sys.modules
        if any(_is_neighbour(name, other) for other in others) and _holds(folder, name)
    ]  # fmt: skip
    return {name: sys.modules.pop(name) for name in sorted(names)}


def _holds(folder: Path, name: str) -> bool:
    top = name.partition(".")[0]
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()


def first_line(error: BaseException) -> str:
    """Return what an error of a stranger's code says, in one line."""
    return next(iter(str(error).strip().splitlines()), "no message")[:200]


@contextmanager
def refusing_what_raises(where: str | Path) -> Iterator[None]:
    """Raise InputError where looking at a stranger's object runs code that raises."""
    try:
        yield
    except (ArgusError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InputError(
            f"raised {type(error).__name__} when it was looked at: {first_line(error)}",
            expected="an object whose attributes can be read",
            fix="Mend it, or write a function retrieve(query, k) around it.",
            where=where,
        ) from error


def _run(path: Path, expected: str) -> ModuleType:
    name = f"{_MODULE}{path.stem}_{content_hash(str(path.resolve()), size=4).hex()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _broken(path, "cannot be loaded as Python", expected)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        at = f"line {error.lineno}" if error.lineno else "somewhere"
        raise _broken(path, f"is not Python: {error.msg}, {at}", expected) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's code raises
        problem = f"raised {type(error).__name__} when run: {first_line(error)}"
        raise _broken(path, problem, expected) from error
    return module


def _broken(path: Path, got: str, expected: str) -> InputError:
    return InputError(
        got, expected=f"a file that runs and defines {expected}", fix="Mend the file.", where=path
    )


def _is_neighbour(name: str, folder: Path) -> bool:
    """Return whether a module was imported from the file's own folder."""
    top = name.partition(".")[0]
    spec = getattr(sys.modules.get(top), "__spec__", None)
    origin = getattr(spec, "origin", None)
    return isinstance(origin, str) and Path(origin) in (
        folder / f"{top}.py", folder / top / "__init__.py",
    )  # fmt: skip
