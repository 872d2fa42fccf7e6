"""The commands of a page, run as they stand; what the page prints below them is what they print.

A block of ```console holds lines `$ COMMAND`, and below each what it prints, or a part of that:
`...` stands for what is left out. `argus` and `python` run in this process.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from argus.cli.main import app

BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
# An id of a remedy: a hash of vectors, whose last digits differ from machine to machine.
REMEDY = re.compile(r"\b(blend|expand-robust|scenarios|adapt)-[0-9a-f]{8}\b")
ANY = "<id>"


@dataclass(frozen=True)
class Step:
    """A command of a page, and the lines that the page shows below it."""

    command: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    output: str


def steps(page: Path) -> list[Step]:
    """Return the commands of a page in order; a comment after two spaces is no part of one."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page.read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((re.split(r"\s{2,}#", line[2:])[0].strip(), []))
            elif line.strip() and found:
                found[-1][1].append(line.rstrip())
    return [Step(command, tuple(shown)) for command, shown in found]


def run(command: str, ids: Mapping[str, str]) -> Ran:
    """Run a command in the working directory. ids: what stands for the remedies' ids of a page."""
    for page_id, own in ids.items():
        command = command.replace(page_id, own)
    words = shlex.split(os.path.expandvars(command))
    if words[0] == "argus":
        ran: Any = CliRunner().invoke(app, words[1:])
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Ran(ran.exit_code, ran.output)
    if words[0] == "python":
        printed = io.StringIO()
        with _as_script(words[1:]), contextlib.redirect_stdout(printed):
            runpy.run_path(words[1], run_name="__main__")
        return Ran(0, printed.getvalue())
    done = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, timeout=60)
    return Ran(done.returncode, done.stdout + done.stderr)


@contextlib.contextmanager
def _as_script(argv: list[str]) -> Iterator[None]:
    """Run with the arguments and path of a script; what it imports of its folder is forgotten.

    So is what Chroma has open: it takes `store` of another working directory for the same.
    """
    forget_chroma()
    before, path, arguments = set(sys.modules), list(sys.path), sys.argv
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = argv
    try:
        yield
    finally:
        sys.path[:], sys.argv = path, arguments
        forget_chroma()
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if Path(file).parent == Path.cwd():
                del sys.modules[name]


def forget_chroma() -> None:
    """Close Chroma's clients: by a relative path it finds those of another working directory."""
    if chroma := sys.modules.get("chromadb.api.shared_system_client"):
        chroma.SharedSystemClient.clear_system_cache()


def check(page: Path, *, fails: frozenset[str] = frozenset(), moves: float = 0.0) -> list[Ran]:
    """Run all commands of a page in the working directory, and compare what they print.

    fails: commands, by how they begin, whose exit code is 1, as the page says. moves: by which
    share any number may differ, where a page is about what changes with every edit.
    """
    ids: dict[str, str] = {}
    done = []
    for step in steps(page):
        ran = run(step.command, ids)
        expected = int(any(step.command.startswith(begin) for begin in fails))
        assert ran.code == expected, (step.command, ran.output)
        compare(step, ran.output, moves=moves)
        own = {match[1]: match[0] for match in REMEDY.finditer(ran.output)}
        shown = REMEDY.finditer(" ".join(step.shown))
        ids |= {match[0]: own[match[1]] for match in shown if match[1] in own}
        done.append(ran)
    return done


# How far a fraction, and a percentage, may be from the page's; whole numbers are exact.
#
# Where numbers move, ten times that, and a whole number by four at least.
TOLERANCE, POINTS, COUNTS = 0.02, 2.0, 4.0
NUMBER = re.compile(r"(?<![\w.#-])[-+]?\d[\d,]*\.\d+%?")
ANY_NUMBER = re.compile(r"(?<![\w.#-])[-+]?\d(?:[\d,]*\d)?(?:\.\d+)?%?(?!\w)")


def compare(step: Step, output: str, *, moves: float = 0.0) -> None:
    """Fail where a page shows a line below a command that it does not print."""
    printed = [plain(line) for line in output.splitlines()]
    for line in step.shown:
        if line.strip() != "..." and not any(_is_like(plain(line), p, moves) for p in printed):
            pytest.fail(f"{step.command}\nprints no line like\n  {line}\nbut\n{output}")


def _is_like(shown: str, printed: str, moves: float) -> bool:
    """Whether a line is what the page shows, `...` left out and numbers within the tolerance."""
    number = ANY_NUMBER if moves else NUMBER
    pattern, numbers = "", number.findall(shown)
    for i, part in enumerate(number.split(shown)):
        pattern += r".*?".join(map(re.escape, re.split(r"\s*\.\.\.\s*", part)))
        pattern += r"([-+]?\d[\d,]*(?:\.\d+)?%?)" if i < len(numbers) else ""
    match = re.search(pattern + "$", printed)
    return match is not None and all(
        abs(_value(theirs) - _value(own)) <= _tolerance(own, moves)
        for theirs, own in zip(match.groups(), numbers, strict=True)
    )


def _tolerance(shown: str, moves: float) -> float:
    if shown.endswith("%"):
        return POINTS * (10 if moves else 1)
    if "." in shown:
        return TOLERANCE * (10 if moves else 1)
    return max(COUNTS, moves * abs(_value(shown)))


def _value(number: str) -> float:
    return float(number.rstrip("%").replace(",", ""))


def plain(line: str) -> str:
    """Return a line without the ids of remedies, and with one space for several."""
    return " ".join(REMEDY.sub(ANY, line).split())
