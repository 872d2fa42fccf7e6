"""The reference of the site, made of the code while the site is built: nothing of it is committed.

Commands as typer documents them, Python names and files as mkdocstrings reads their docstrings.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import typer
from typer.cli import get_docs_for_click

import argus
from argus.cli.groups import Loaded
from argus.cli.main import app
from argus.reports.glossary import MEASURED, TERMS

SRC = Path(argus.__file__).parent


def pages() -> dict[str, str]:
    """Return every page by its path below docs/."""
    inside = {**_commands(), **_names(), **_summaries(), "glossary.md": _glossary()}
    return {f"reference/{name}": text for name, text in inside.items()}


def _commands() -> dict[str, str]:
    """Return a page per command or group of commands, and their list."""
    top: Any = typer.main.get_command(app)
    context = typer.Context(top, info_name="argus")
    texts, rows = {}, []

    def add(commands: Any, prefix: str) -> None:
        for name, command in commands.items():
            called = f"{prefix} {name}"
            if isinstance(inside := getattr(command, "commands", {}), Loaded):
                add(inside, called)
                continue
            page = "-".join(called.split()[1:])
            texts[f"commands/{page}.md"] = get_docs_for_click(
                obj=command, ctx=context, name=name, call_prefix=prefix
            )
            rows.append(f"* [`{called}`]({page}.md): {commands.entries[name].help}\n")

    add(top.commands, "argus")
    return {"commands/overview.md": "# Commands\n\n" + "".join(rows)} | texts


def _names() -> dict[str, str]:
    """Return a page per room of public Python names, and their list."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name in sorted(argus.__all__):
        found = getattr(argus, name)
        home = getattr(found, "__module__", None) or "argus"
        place = home if home.startswith("argus.") else "argus"
        rooms[[*place.split("."), "argus"][1]].append(f"::: {place}.{name}\n")
    texts = {f"python/{room}.md": f"# {room}\n\n" + "\n".join(of) for room, of in rooms.items()}
    rows = "".join(f"* [`argus.{room}`]({room}.md): {len(of)}\n" for room, of in rooms.items())
    return {"python/overview.md": "# Python names\n\n" + rows} | texts


def _summaries() -> dict[str, str]:
    """Return a page per room whose jobs write summary.json, of records with its keys."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for path in sorted([*SRC.rglob("summary.py"), SRC / "reachability/job.py"]):
        module = ".".join(("argus", *path.relative_to(SRC).with_suffix("").parts))
        rooms[module.split(".")[1]].append(f"::: {module}\n")
    texts = {f"files/{room}.md": f"# {room}\n\n" + "\n".join(of) for room, of in rooms.items()}
    rows = "".join(f"* [{room}]({room}.md)\n" for room in rooms)
    about = "Keys of `summary.json` and columns of tables, by the records that declare them.\n\n"
    return {"files/overview.md": f"# Files and columns\n\n{about}{rows}"} | texts


def _glossary() -> str:
    rows = (
        f"| {term} | {TERMS[term]} | {', '.join(f'`argus {n}`' for n in MEASURED.get(term, ()))} |"
        for term in sorted(TERMS, key=str.casefold)
    )
    head = "# Glossary\n\n| term | meaning | measured by |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"
