"""`argus`: the commands, and errors as a message with exit code 2."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from argus.cli import output
from argus.cli.groups import HELP, Entry, lazy_group
from argus.cli.streams import (
    GONE,
    INTERRUPTED,
    escape_the_unprintable,
    show_remarks,
    takes_output,
)
from argus.errors import ArgusError
from argus.extras import naming_extras
from argus.hidden import without_known
from argus.progress import write_into_logs
from argus.version import __version__
from argus.visible import visible

START = "Start here"
ANSWERS = "Find, explain, repair"
CURRENT = "Keep it right"
RESEARCH = "For researchers and large jobs"


def show_report(report: Path, as_json: bool) -> None:
    """Print where the page is. A page that lacks a job which is not whole is no success."""
    from argus.data.folders import check_one_run

    output.print_json({"report": str(report)}) if as_json else output.say(f"report: {report}")
    check_one_run(report.parent)


# All commands, in the order and under the headings of `argus --help`.
COMMANDS = (
    Entry(
        "init", "start:init", "Three questions, then argus.toml.", START,
        example="argus init --corpus docs.jsonl",
    ),
    Entry(
        "doctor", "argus.health:check_up", "What is here, and what to mend.", START,
        example="argus doctor --corpus docs.jsonl",
    ),
    Entry(
        "demo", "argus.demo.job:demo", "Everything below, on Python's documentation.", START,
        example="argus demo --limit 150 --out argus-demo/",
    ),
    Entry(
        "check", "argus.checks:check", "Which documents are never found, and which are stale.",
        ANSWERS, example="argus check --corpus docs.jsonl --out report/",
    ),
    Entry(
        "explain", "explain:explain", "Search, or why one document does not come back.", ANSWERS,
        example="argus explain 'which one is about rivers?' d7 --index index/",
    ),
    Entry(
        "evaluate", "evaluate:evaluate", "Ask judged questions; compare two systems.", ANSWERS,
        example="argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ "
        "--out judged/",
    ),
    Entry("tune", "tune:app", "Try what may help, keep it, undo it.", ANSWERS),
    Entry("traffic", "traffic:app", "What people really ask, and how often it fails.", ANSWERS),
    Entry(
        "gate", "gate:gate", "Check results against bounds, for CI.", CURRENT,
        example="argus gate report/ --max-low-rps-share 0.5",
    ),
    Entry("authority", "authority:app", "Never serve a superseded document as current.", CURRENT),
    Entry("index", "index:app", "Build and change indexes.", CURRENT),
    Entry(
        "serve", "serve:serve", "A page and a service over your results.", CURRENT,
        example="argus serve report/ --port 8765",
    ),
    Entry(
        "report", "argus.reports:write_report", "Make the page of a folder of results.", CURRENT,
        example="argus report report/", show=show_report,
    ),
    Entry("research", "research:app", "The methods of the papers, and large jobs.", RESEARCH),
)  # fmt: skip

app = typer.Typer(
    name="argus",
    cls=lazy_group(COMMANDS),
    help="Find what a retriever does not reach.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Find what a retriever does not reach."""
    if version:
        typer.echo(f"argus {__version__}")
        raise typer.Exit()
    show_remarks()


# Environment variable: if set, an unexpected error is raised with its traceback.
TRACEBACK = "ARGUS_TRACEBACK"


# Objects made between two collections. Python's 700 goes through all definitions of libraries.
COLLECTED_EVERY = 10_000


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a gate failed, 2 could not measure."""
    gc.set_threshold(COLLECTED_EVERY)
    write_into_logs()
    escape_the_unprintable()
    try:
        with naming_extras():
            app()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # who read it has gone: no verdict
            sys.exit(GONE)
        raise
    except KeyboardInterrupt:
        print("\nargus: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except MemoryError as error:
        _end(
            f"memory does not suffice ({error or 'for what is asked'}); what was written so far is "
            "whole. Ask for less at once (a smaller --k, --limit or --sample), and run it again."
        )
    except ArgusError as error:
        _end(f"{error}")
    except OSError as error:
        _end(
            f"{_place(error)}: {error.strerror or error}; what was written "
            "so far is whole. Mend that and run the same command again."
        )
    except BaseException as error:  # a bug: no pipeline must take it for a gate that failed (1)
        if os.environ.get(TRACEBACK):
            raise
        _end(
            f"unexpected {type(error).__name__}: {error}. This is a fault of Argus, please "
            f"report it with what {TRACEBACK}=1 and the same command print; what was written so "
            "far is whole."
        )


def _place(error: OSError) -> str:
    """Name the file of a system error that does not name it."""
    if error.filename:
        return str(error.filename)
    return "the system" if takes_output() else "the standard output"


def _end(message: str) -> NoReturn:
    """Say why the command ends, without secrets, and that it could not do its work."""
    print(f"argus: {visible(without_known(message))}", file=sys.stderr)
    sys.exit(2)
