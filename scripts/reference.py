"""The reference of the site, made of the code while the site is built: nothing of it is committed.

Commands as typer documents them, Python names and files as mkdocstrings reads their docstrings.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.cli import get_docs_for_click

import argus
from argus.cli.groups import Loaded
from argus.cli.main import app
from argus.reports.section import TERMS

SRC = Path(argus.__file__).parent
OTHER_TERMS = {
    "view": "A text by which a document is indexed: its own, a sentence of it, an expansion, a "
    "scenario. One document may have many.",
    "fold": "How the scores of a document's views become one score.",
    "blend": "A repair that mixes a document's best sentence and BM25 into a search.",
    "receipt": "What a repair did: who came back, who fell, what was added, and its price.",
    "anchor": "A retrieved document for which Argus looks up what supersedes it.",
    "controls": "Holds now, in the place of a document that it supersedes, in any number of steps.",
    "scenario": "An information need of a document, and how the document meets it.",
    "not applicable": "Cannot be measured for this item, with the reason; never counted as zero.",
    "fingerprint": "What an encoder is: model, revision, prefixes, pooling, dimensions. Vectors of "
    "two fingerprints are never mixed.",
}
"""Terms of the pages that no report uses."""
MEASURED: dict[str, tuple[str, ...]] = {
    "reachable": ("research audit", "check", "research scenarios needs"),
    "validity": ("evaluate", "research scenarios needs", "traffic judge"),
    "AUC": ("evaluate", "research scenarios needs", "traffic judge"),
    "RPS": ("research audit", "research probe predict", "research diagnose"),
    "blind spot": ("research audit",),
    "never retrieved": ("check",),
    "held-out sentence": ("check",),
    "hub": ("check", "explain"),
    "Gini": ("check",),
    "need": ("research scenarios needs",),
    "nDCG@10": ("evaluate", "tune try", "research scenarios ablate"),
    "R@10": ("evaluate",),
    "superseded": ("authority lint", "check", "traffic audit"),
    "λ": ("tune apply blend", "research scenarios ablate"),
}
"""Commands that measure what a term means."""


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
    rooms: dict[str, list[str]] = {"argus": [_place(argus, name) for name in sorted(argus.__all__)]}
    for room in sorted(path.parent.name for path in SRC.glob("*/__init__.pyi")):
        module = import_module(f"argus.{room}")
        rooms[room] = [_place(module, name) for name in sorted(module.__all__)]
    return _pages("python", "Python names", "Names of the package, and of its rooms.", rooms)


def _place(module: ModuleType, name: str) -> str:
    """Return the dotted name of a public name where it is defined."""
    home = getattr(getattr(module, name), "__module__", None) or ""
    return f"{home if home.startswith('argus.') else module.__name__}.{name}"


def _summaries() -> dict[str, str]:
    """Return a page per room of the results of its jobs, which say the keys of summary.json."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SRC.rglob("*.py")):
        if "Result" not in (text := path.read_text(encoding="utf-8")):
            continue
        module = ".".join(("argus", *path.relative_to(SRC).with_suffix("").parts))
        for node in ast.parse(text).body:
            bases = [ast.unparse(base) for base in getattr(node, "bases", ())]
            if any(base.partition("[")[0].endswith("Result") for base in bases):
                rooms[module.split(".")[1]].append(f"{module}.{getattr(node, 'name', '')}")
    about = "Keys of `summary.json` and tables, by the results of the jobs that write them."
    return _pages("files", "Files and columns", about, rooms)


def _pages(folder: str, title: str, about: str, rooms: Mapping[str, list[str]]) -> dict[str, str]:
    """Return a page per room with the documentation of its names, and their list."""
    texts = {
        f"{folder}/{room}.md": f"# {room}\n\n" + "".join(f"::: {name}\n\n" for name in names)
        for room, names in rooms.items()
    }
    rows = "".join(f"* [{room}]({room}.md): {len(names)}\n" for room, names in rooms.items())
    return {f"{folder}/overview.md": f"# {title}\n\n{about}\n\n{rows}"} | texts


def _glossary() -> str:
    terms = TERMS | OTHER_TERMS
    rows = (
        f"| {term} | {terms[term]} | {', '.join(f'`argus {n}`' for n in MEASURED.get(term, ()))} |"
        for term in sorted(terms, key=str.casefold)
    )
    head = "# Glossary\n\n| term | meaning | measured by |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"
