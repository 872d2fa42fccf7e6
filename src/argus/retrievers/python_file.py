"""Run a Python file that somebody wrote, and take what it defines.

The file is run as it is: it may do whatever a program may. Its folder can be imported from while
what it defines is in use.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from argus.errors import InputError

_MODULE = "_argus_retriever_"


def split_spec(spec: str) -> tuple[Path, str]:
    """Return file and name of `FILE.py` or `FILE.py:NAME`; InputError where there is none."""
    path, name = Path(spec), ""
    if not path.is_file() and ":" in spec:
        before, _, name = spec.rpartition(":")
        path = Path(before)
    if not path.is_file():
        raise InputError(
            "is a folder" if path.is_dir() else "no such file",
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
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield _run(path, expected)
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.startswith(_MODULE) or _is_neighbour(name, folder):
                del sys.modules[name]


def first_line(error: BaseException) -> str:
    """Return what an error of a stranger's code says, in one line."""
    return next(iter(str(error).strip().splitlines()), "no message")[:200]


def _run(path: Path, expected: str) -> ModuleType:
    name = f"{_MODULE}{path.stem}"
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
    except (Exception, SystemExit) as error:  # whatever a stranger's code raises
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
