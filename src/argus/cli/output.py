"""Print the results of every command, in words or as JSON, on any terminal.

Text that a terminal's encoding lacks, or that would steer it, is escaped, and a reader that closes
the pipe is no error. Remarks of retrievers and encoders go to standard error.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from argus.hidden import LEAST_IN_FILES, without_known
from argus.visible import visible, visible_line

SNIPPET = 160


INTERRUPTED = 130  # after Ctrl-C, as shells have it: 128 and the signal's number
GONE = 141  # the reader of the output has gone: 128 and SIGPIPE
# Loggers whose INFO a person at the command line is to read.
SPEAKERS = ("argus.retrievers", "argus.traffic.job", "argus.corpora.opening")


class _Standing(logging.Handler):
    """Writes to whatever the standard error is now: a progress bar may have put itself there."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"argus: {visible(without_known(record.getMessage()))}", file=sys.stderr, flush=True)


def takes_output() -> bool:
    """Return whether the standard output takes its text. If not, it leads nowhere from now on."""
    try:
        sys.stdout.flush()
        return True
    except OSError:  # at the end of the process it would be raised again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False


def show_remarks() -> None:
    """Show them from now on. A second call changes nothing."""
    for name in SPEAKERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Standing) for handler in logger.handlers):
            logger.addHandler(_Standing())
            logger.setLevel(logging.INFO)


def escape_the_unprintable() -> None:
    """Write an escape where the encoding of a stream lacks a character: none ends a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(result: Any, *, as_json: bool, then: str = "") -> None:
    """Print a job's summary as JSON, or in words with its report's path, `then` and the verdict."""
    if as_json:
        if evaluation := getattr(result, "evaluation", None):  # of a remedy, by judged questions
            return print_json({**result.summary, "evaluation": evaluation})
        return print_json(result.summary)
    print_lines(result.headline())
    if isinstance(result.summary, dict) and "stored_vectors" in result.summary:
        from argus.corpora.stored import remarks

        print_lines(remarks(result.summary["stored_vectors"]))
    report: Path | None = getattr(result, "report", None)
    if report is not None:
        typer.echo(f"report: {report}")
    last_lines = getattr(result, "last_lines", None)
    if then or last_lines is not None:
        print_lines([then] if last_lines is None else last_lines())
    folder: Path | None = getattr(result, "folder", None)
    if report is not None and folder is not None:
        from argus.data.folders import SUMMARY
        from argus.verdict import read_verdict, verdict_lines

        if (folder / SUMMARY).is_file():
            print_lines(verdict_lines(read_verdict(folder)))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for a person."""
    for line in lines:
        say(line)


def say(line: str, *, to_stderr: bool = False) -> None:
    """Print one line. Characters that steer a terminal, or end the line, are shown as escapes.

    Secrets are hidden, here and in JSON.
    """
    typer.echo(visible_line(without_known(line)), err=to_stderr)


def print_json(value: Any) -> None:
    """Print one JSON document for machines. It has escapes where the output is not in Unicode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = json.dumps(value, indent=2, ensure_ascii=not encoding.lower().startswith("utf"))
    typer.echo(without_known(text, LEAST_IN_FILES))


def print_estimate(estimate: Any, as_json: bool) -> None:
    """Print how much a run would ask and cost at most."""
    if as_json:
        print_json(estimate if isinstance(estimate, dict) else asdict(estimate))
    else:
        print_lines(str(estimate).split("\n"))


def snippet(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else f"{line[: SNIPPET - 3]}..."
