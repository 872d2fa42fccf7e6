"""`argus`: the commands, and errors as a message with exit code 2."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from argus.cli.groups import HELP, Entry, lazy_group
from argus.cli.streams import (
    GONE,
    INTERRUPTED,
    bound_terminal,
    escape_the_unprintable,
    open_the_closed,
    outlive_standard_error,
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
FIND = "Find what is never brought back"
EXPLAIN = "Search and explain"
REPAIR = "Repair"
CURRENT = "Keep current"
MEASURE = "Measure and guard"
RESEARCH = "For researchers and large jobs"

# All commands, in the order and under the headings of `argus --help`.
COMMANDS = (
    Entry("init", "start:init", "Three questions, then argus.toml.", START),
    Entry("doctor", "start:doctor", "What is here, and what to mend.", START),
    Entry("demo", "start:demo", "Everything below, on Python's documentation.", START),
    Entry("serve", "serve:serve", "A page and a service over your results.", START),
    Entry("audit", "find:audit", "How reachable entities are (RPS).", FIND),
    Entry("reach", "reach:reach", "Which stored records a store does not find.", FIND),
    Entry("exposure", "find:exposure", "How reachable documents are.", FIND),
    Entry("traffic", "traffic:app", "What people really ask, and how often it fails.", FIND),
    Entry("diagnose", "find:diagnose", "Where the risk is, before indexing.", FIND),
    Entry("search", "search:search", "Ask an index one question.", EXPLAIN),
    Entry("explain", "explain:explain", "Why one document does not come back.", EXPLAIN),
    Entry("repair", "remedy:repair", "Try what may help; keep what is proven.", REPAIR),
    Entry("index", "index:app", "Build and change indexes.", REPAIR),
    Entry("remedy", "remedy_scenarios:app", "Repair an index; undo it.", REPAIR),
    Entry("authority", "authority:app", "Never serve what is superseded.", CURRENT),
    Entry("evaluate", "measure:evaluate", "Ask judged questions, before and after.", MEASURE),
    Entry("compare", "compare:compare", "What a change gains and loses.", MEASURE),
    Entry("gate", "measure:gate", "Check results against bounds, for CI.", MEASURE),
    Entry("history", "measure:history", "What changed from run to run.", MEASURE),
    Entry("report", "measure:report", "Make the page of a folder of results.", MEASURE),
    Entry("suite", "research:suite", "Retrievers x remedies x tasks.", RESEARCH),
    Entry("reproduce", "research:reproduce", "A paper's table, beside ours.", RESEARCH),
    Entry("scenarios", "scenarios:app", "What documents are needed for.", RESEARCH),
    Entry("generative", "generative:app", "N-gram retrieval, and why it fails.", RESEARCH),
    Entry("probe", "research:app", "Learn to predict what comes back.", RESEARCH),
    Entry("kb", "kb:app", "Knowledge bases of dumps, triples, pages.", RESEARCH),
)

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
    raw_csv: bool = typer.Option(
        False,
        "--raw-csv",
        help="Write cells of CSV files as they are: also those that a spreadsheet computes.",
    ),
) -> None:
    """Find what a retriever does not reach."""
    if raw_csv:
        from argus.data.tables import set_raw_csv

        set_raw_csv()
    if version:
        typer.echo(f"argus {__version__}")
        raise typer.Exit()
    Path.cwd()  # one that is gone is told now: a library may end the process over it
    show_remarks()


# Environment variable: if set, an unexpected error is raised with its traceback.
TRACEBACK = "ARGUS_TRACEBACK"


# Objects made between two collections. Python's 700 goes through all definitions of libraries.
COLLECTED_EVERY = 10_000


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a gate failed, 2 could not measure."""
    gc.set_threshold(COLLECTED_EVERY)
    open_the_closed()
    outlive_standard_error()
    bound_terminal()
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
    try:
        Path.cwd()
    except OSError:
        return "the folder in which the command runs, and which is gone"
    return "the system" if takes_output() else "the standard output"


def _end(message: str) -> NoReturn:
    """Say why the command ends, without secrets, and that it could not do its work."""
    print(f"argus: {visible(without_known(message))}", file=sys.stderr)
    sys.exit(2)
