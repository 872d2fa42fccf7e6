"""Run the command line `argus`: all commands, and each error as a message with an exit code.

`main` is the entry point. `COMMANDS` lists the commands in the order of `argus --help`, each with
the function or the group behind it. Exit codes: 0 done, 1 a gate failed, 2 could not do the work,
130 interrupted, 141 nobody reads on.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from argus.cli import output
from argus.cli.groups import HELP, Entry, Group, lazy_group
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
        "init", "argus.project:init", "Find your documents; write argus.toml.", START,
        example="argus init docs.jsonl",
    ),
    Entry(
        "doctor", "argus.health:check_up", "What is here, and what to mend.", START,
        example="argus doctor --corpus docs.jsonl",
    ),
    Entry(
        "demo", "argus.demo.job:demo", "The faults of a small search, in seconds.", START,
        example="argus demo --out argus-demo/",
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
        "evaluate", "evaluate:evaluate", "Ask judged questions, of one system or two.", ANSWERS,
        example="argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ "
        "--out judged/",
    ),
    Entry(
        "compare", "argus.tuning.doors:compare_retrievers", "What one of two brings, and why.",
        ANSWERS,
        example="argus compare index/ index/,hybrid=rrf --queries queries.jsonl --out compared/",
    ),
    Entry("tune", "tune:app", "Try what may help, keep it, undo it.", ANSWERS),
    Entry("traffic", "main:traffic", "What people really ask, and how often it fails.", ANSWERS),
    Entry(
        "gate", "gate:gate", "Check results against bounds, for CI.", CURRENT,
        example="argus gate report/ --max-low-rps-share 0.5",
    ),
    Entry("authority", "authority:app", "Never serve a superseded document as current.", CURRENT),
    Entry("index", "main:index", "Build and change indexes.", CURRENT),
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


index = Group(
    "Build and change indexes.",
    entries=(
        Entry(
            "build", "argus.indexes.job:build_index", "Index every document of a corpus.",
            example="argus index build --corpus docs.jsonl --out index/",
            then="argus explain WORDS --index {out}",
        ),
        Entry(
            "add", "argus.indexes.job:add_documents", "Add the documents of a corpus.",
            example="argus index add --index index/ --corpus more.jsonl",
        ),
        Entry(
            "delete", "argus.indexes.job:delete_documents", "Delete documents with their views.",
            example="argus index delete d3 d4 --index index/",
        ),
        Entry(
            "compact", "argus.indexes.job:compact_index", "Free the space of what was deleted.",
            example="argus index compact --index index/",
        ),
    ),
)  # fmt: skip


def show_preview(lines: list[str], as_json: bool) -> None:
    """Print how the first questions of a log are read."""
    output.print_json(lines) if as_json else output.print_lines(lines)


traffic = Group(
    "What people really ask, and how often it fails.",
    first="audit",
    entries=(
        Entry(
            "audit", "argus.traffic.job:audit_traffic", "What people ask, and what came for it.",
            example="argus traffic audit log.jsonl --corpus docs.jsonl --out traffic/",
        ),
        Entry(
            "preview", "argus.traffic.reading:preview_log", "How a log is read, and no more.",
            example="argus traffic preview log.jsonl", show=show_preview,
        ),
        Entry(
            "judge", "argus.traffic.judging:judge_traffic", "How often it fails, of few grades.",
            example="argus traffic judge queries.jsonl --run run.trec --corpus docs.jsonl "
            "--out judged/",
        ),
    ),
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
    output.show_remarks()


# Environment variable: if set, an unexpected error is raised with its traceback.
TRACEBACK = "ARGUS_TRACEBACK"


# Objects made between two collections. Python's 700 goes through all definitions of libraries.
COLLECTED_EVERY = 10_000


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a gate failed, 2 could not measure."""
    gc.set_threshold(COLLECTED_EVERY)
    write_into_logs()
    output.escape_the_unprintable()
    try:
        with naming_extras():
            app()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # who read it has gone: no verdict
            sys.exit(output.GONE)
        raise
    except KeyboardInterrupt:
        print("\nargus: stopped", file=sys.stderr)
        sys.exit(output.INTERRUPTED)
    except MemoryError as error:
        _end(
            f"memory does not suffice ({error or 'for what is asked'}); what was written so far is "
            "whole. Ask for less at once (a smaller --k, --limit or --sample), and run it again."
        )
    except ArgusError as error:
        _end(f"{error}")
    except OSError as error:
        stream = "the system" if output.takes_output() else "the standard output"
        _end(
            f"{error.filename or stream}: {error.strerror or error}; what was written "
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


def _end(message: str) -> NoReturn:
    """Say why the command ends, without secrets, and that it could not do its work."""
    print(f"argus: {visible(without_known(message))}", file=sys.stderr)
    sys.exit(2)
