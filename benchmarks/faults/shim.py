"""The library that counts writes and strikes at the n-th: built once, set within a process."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from enum import IntEnum
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")


class Fault(IntEnum):
    """What happens at the n-th write; the order is that of shim.c."""

    NONE = 0
    COUNT = 1
    KILL = 2
    TERM = 3
    FULL = 4
    GONE = 5
    BEHIND = 6
    AHEAD = 7


def compiler() -> str | None:
    """Return the C compiler; None where there is none."""
    return shutil.which("cc") or shutil.which("gcc")


def build() -> Path:
    """Compile the library, unless it is there; return its path. RuntimeError without a compiler."""
    tool = compiler()
    if tool is None:
        raise RuntimeError("faults are injected by a small C library: install a C compiler (cc)")
    name = f"argus-faults-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}.so"
    path = Path(tempfile.gettempdir()) / name
    if not path.exists():
        part = path.with_suffix(f".{os.getpid()}")
        command = [tool, "-shared", "-fPIC", "-O1", "-o", str(part), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        part.replace(path)
    return path


def strike(fault: Fault, n: int, folder: Path) -> None:
    """Have a fault at the n-th write below a folder, of this process; counting starts at 0."""
    library = ctypes.CDLL(None)
    library.fault_set.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    library.fault_set(int(fault), n, os.fsencode(folder))


def writes() -> int:
    """Return how many writes were counted since `strike`."""
    library = ctypes.CDLL(None)
    library.fault_steps.restype = ctypes.c_long
    return int(library.fault_steps())
