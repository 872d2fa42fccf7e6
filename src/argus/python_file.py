"""Run a Python file that a user wrote (`--retriever FILE.py:NAME` and the like), and load from it.

`load_own`: `FILE.py:NAME` -> the object and a hash of its code. `call_own` calls it in the folder
where user code was last. Retrievers, encoders, remedies and rules of your own go through here. The
file may do whatever a program may. While the module is in use, imports find the neighbours of its
file. Of two files in use at once, each gets its own neighbours for imports at the top of the file.
An import inside a function finds those of the file opened last.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.data.provenance import content_hash
from argus.data.reading import no_file
from argus.errors import ArgusError, InputError, first_line

OWN = re.compile(r"\.py(:\w+)?$")
_MODULE = "_argus_retriever_"
# Folders of the files in use.
_folders: list[Path] = []


class WorkingFolder:
    """The working folder of user code, apart from that of Argus.

    A file that changes its folder finds itself there again, while a relative path of the command
    line, such as that of --out, keeps its meaning.
    """

    def __init__(self) -> None:
        self._ours: Path | None = None
        self._users: Path | None = None
        self._running = 0
        self._lock = threading.Lock()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Run user code in the folder where it was last. Return to the caller's folder."""
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._ours = _here()
                _go(self._users)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    here = _here()
                    self._users = here if here != self._ours else None
                    _go(self._ours if self._users else None)

    def forget(self) -> None:
        """Start the next file in the caller's folder."""
        self._users = None


# Shared by all files in use, as one process has one working folder.
USER_CODE_CWD = WorkingFolder()


def _here() -> Path | None:
    with suppress(OSError):
        return Path.cwd()
    return None


def _go(folder: Path | None) -> None:
    if folder is not None:
        with suppress(OSError):  # it was deleted: whatever needs it will say so
            os.chdir(folder)


def is_own(name: str) -> bool:
    """Tell whether a name is of code of the user: `FILE.py` or `FILE.py:NAME`."""
    return OWN.search(name) is not None


def file_of(name: str) -> Path:
    """Return the file of `FILE.py:NAME`. Any other name stays as it is."""
    return Path(OWN.sub(".py", name))


def split_name(spec: str) -> tuple[str, str]:
    """Split `FILE:NAME`, whose NAME may be left out. A Windows drive's colon splits nothing."""
    named = re.search(r":([^:/\\]+)$", spec)
    return (spec[: named.start()], named[1]) if named else (spec, "")


def split_spec(spec: str) -> tuple[Path, str]:
    """Split `FILE.py[:NAME]` into file and name. Raises InputError without such a file."""
    path, name = Path(spec), ""
    if not path.is_file():
        file, name = split_name(spec)
        path = Path(file)
    if not path.is_file():
        expected = "a Python file, or FILE.py:NAME"
        raise InputError(no_file(path), expected=expected, fix="Check the path.", where=path)
    if path.suffix != ".py":
        got, expected = f"file type {path.suffix or '(none)'}", "a Python file, ending in .py"
        raise InputError(got, expected=expected, fix="Rename it, or give another file.", where=path)
    return path, name


def load_own(spec: str, fits: Callable[[Any], bool], expected: str) -> tuple[str, Any]:
    """Return the name, with a hash of the code, and the object that a user's file defines.

    spec: `FILE.py:NAME`. Without NAME it is the one function or class of the file that `fits`. The
    file stays in use for as long as the process lives. Raises InputError where nothing fits.
    """
    path, name = split_spec(spec)
    module = ExitStack().enter_context(module_of(path, expected))
    named = [name] if name else [
        n for n, one in vars(module).items()
        if getattr(one, "__module__", "") == module.__name__ and fits(one)
    ]  # fmt: skip
    found = getattr(module, named[0], None) if len(named) == 1 else None
    if found is None or not fits(found):
        raise InputError(
            f"{name or f'{len(named)} that fit'} in {path.name}",
            expected=expected,
            fix="Name it: FILE.py:NAME.",
            where=path,
        )
    return f"{path.name}:{named[0]}@{file_hash(path)}", found


def call_own(
    spec: str, own: Callable[..., Any], *arguments: Any, error: type[ArgusError] = ArgusError
) -> Any:
    """Call what a user's file defines, in the folder where it was last. Raises `error`."""
    try:
        with USER_CODE_CWD.entered():
            return own(*arguments)
    except Exception as raised:
        raise error(f"{spec} raised {type(raised).__name__}: {first_line(raised)}") from raised


@contextmanager
def module_of(path: Path, expected: str) -> Iterator[ModuleType]:
    """Run a file and yield its module. Within the context, imports find its neighbours.

    expected: what the file must define, for messages. Raises InputError if it cannot be run.
    """
    folder = path.parent.resolve()
    shadowed = [
        name
        for name in sorted(sys.modules)
        if any(other != folder and _is_neighbour(name, other) for other in _folders)
        and ((folder / f"{_top(name)}.py").is_file() or (folder / _top(name)).is_dir())
    ]
    aside = {name: sys.modules.pop(name) for name in shadowed}
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    _folders.append(folder)
    try:
        with USER_CODE_CWD.entered():
            module = _run(path, expected)
        yield module
    finally:
        sys.path.remove(str(folder))
        _folders.remove(folder)
        if not _folders:
            USER_CODE_CWD.forget()
        new = set(sys.modules) - before
        own = [name for name in new if name.startswith(_MODULE) or _is_neighbour(name, folder)]
        for name in own:  # not within the loop above: a submodule is told by its package
            del sys.modules[name]
        for name, module in aside.items():
            sys.modules.setdefault(name, module)


def _run(path: Path, expected: str) -> ModuleType:
    name = f"{_MODULE}{path.stem}_{content_hash(str(path.resolve()), size=4).hex()}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a .py file always has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        got = f"raised {type(error).__name__} when run: {first_line(error)}"
        if isinstance(error, SyntaxError):
            at = f"line {error.lineno}" if error.lineno else "somewhere"
            got = f"is not Python: {error.msg}, {at}"
        expected = f"a file that runs and defines {expected}"
        raise InputError(got, expected=expected, fix="Mend the file.", where=path) from error
    return module


def _top(name: str) -> str:
    return name.partition(".")[0]


def _is_neighbour(name: str, folder: Path) -> bool:
    """Return whether a module was imported from a folder."""
    top = _top(name)
    spec = getattr(sys.modules.get(top), "__spec__", None)
    origin = getattr(spec, "origin", None)
    return isinstance(origin, str) and Path(origin) in (
        folder / f"{top}.py",
        folder / top / "__init__.py",
    )


def file_hash(path: Path) -> str:
    """Hash the path and content of a file and of all neighbours that it imports.

    A neighbour counts if `import` names it anywhere in the file or in another neighbour. A package
    counts with all its modules.
    """
    pending = [path.resolve()]
    files = dict.fromkeys(pending)
    while pending:
        file = pending.pop()
        nodes: list[ast.AST] = []
        with suppress(SyntaxError, ValueError):  # of a neighbour that only a function would import
            nodes += ast.walk(ast.parse(file.read_bytes()))
        of = [n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level]
        names = [a.name for node in nodes if isinstance(node, ast.Import) for a in node.names]
        for name in {_top(name) for name in (*names, *filter(None, of))}:
            module, package = file.parent / f"{name}.py", file.parent / name
            found = [f for f in (module, *sorted(package.rglob("*.py"))) if f.is_file()]
            pending += [f for f in found if f not in files]
            files |= dict.fromkeys(found)
    return content_hash(*(part for f in files for part in (str(f), f.read_bytes()))).hex()


@contextmanager
def refusing_what_raises(where: str | Path) -> Iterator[None]:
    """Raise InputError if a look at a user's object runs code that raises."""
    try:
        yield
    except (ArgusError, KeyboardInterrupt):
        raise
    except BaseException as error:
        got = f"raised {type(error).__name__} when it was looked at: {first_line(error)}"
        expected = "an object whose attributes can be read"
        fix = "Mend it, or write a function retrieve(query, k) around it."
        raise InputError(got, expected=expected, fix=fix, where=where) from error
