"""`argus`: the commands, and what an error becomes (a message, exit code 2)."""

from __future__ import annotations

import os
import sys

import typer

from argus.errors import ArgusError
from argus.version import __version__

app = typer.Typer(
    name="argus",
    help="Find what a retriever will never bring back.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# One thin module per command; each registers itself on `app`.
from argus.cli import (  # noqa: E402
    audit,
    authority,
    compare,
    demo,
    diagnose,
    engine,
    evaluate,
    explain,
    exposure,
    gate,
    generative,
    index,
    kb,
    plan,
    probe,
    remedy,
    remedy_scenarios,
    report,
    scenarios,
    search,
)

commands = (demo, audit, exposure, diagnose, search, explain, evaluate, compare, gate, plan, report)
for module in commands:
    app.command()(getattr(module, module.__name__.rpartition(".")[2]))
remedy.app.command()(remedy_scenarios.scenarios)
for group in (probe, index, kb, remedy, scenarios, generative, authority, engine):
    app.add_typer(group.app, name=group.__name__.rpartition(".")[2])


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Find what a retriever will never bring back."""
    if version:
        typer.echo(f"argus {__version__}")
        raise typer.Exit()


TRACEBACK = "ARGUS_TRACEBACK"
"""Environment variable: set, what is not expected is raised with its traceback."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a gate failed, 2 could not measure."""
    try:
        app()
    except ArgusError as error:
        print(f"argus: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(
            f"argus: {error.filename or 'the system'}: {error.strerror or error}; what was written "
            "so far is whole. Mend that and run the same command again.",
            file=sys.stderr,
        )
        sys.exit(2)
    except Exception as error:  # a bug: a pipeline must not take it for a gate that failed (1)
        if os.environ.get(TRACEBACK):
            raise
        print(
            f"argus: unexpected {type(error).__name__}: {error}. This is a fault of Argus, please "
            f"report it with what {TRACEBACK}=1 and the same command print; what was written so "
            "far is whole.",
            file=sys.stderr,
        )
        sys.exit(2)
