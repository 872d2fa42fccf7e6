"""The example that each command's help opens with, and the folder in which it runs as it stands."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from argus.cli.main import app
from tests.support.examples import documents, fill_store, write_rows
from tests.support.study import fill


def leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands in a group, or the command itself, with the words that call it."""
    if (inner := getattr(command, "commands", None)) is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from leaves(f"{path} {name}", one)


COMMANDS = dict(leaves("argus", typer.main.get_command(app)))
EXAMPLES: dict[str, Any] = {
    name: getattr(one.callback, "example", None) for name, one in COMMANDS.items()
}
# Which command's example comes first, in the same folder.
FOLLOWS = {
    "argus explain": "argus index build",
    "argus evaluate": "argus index build",
    "argus compare": "argus index build",
    "argus index add": "argus index build",
    "argus index delete": "argus index build",
    "argus index compact": "argus index delete",
    "argus tune apply expand": "argus index build",
    "argus tune try": "argus index build",
    "argus tune apply arm": "argus index build",
    "argus tune apply blend": "argus index build",
    "argus tune judge": "argus index build",
    "argus tune list": "argus tune apply expand",
    "argus tune undo": "argus tune apply expand",
    "argus tune apply write": "argus tune apply expand",
    "argus tune apply synthesize": "argus index build",
    "argus research scenarios write": "argus index build",
    "argus tune apply scenarios": "argus research scenarios write",
    "argus tune apply adapt": "argus tune apply scenarios",
    "argus research scenarios needs": "argus research scenarios write",
    "argus research scenarios ablate": "argus research scenarios write",
    "argus research scenarios qa": "argus tune apply scenarios",
    "argus research scenarios study": "argus tune apply scenarios",
    "argus research scenarios preferences": "argus research scenarios study",
    "argus research scenarios distill": "argus research scenarios write",
    "argus gate": "argus research audit",
    "argus report": "argus research audit",
    "argus research probe fit": "argus research audit",
    "argus serve": "argus research audit",
    "argus research generative train": "argus research generative build",
    "argus research generative tune": "argus research generative train",
    "argus research generative search": "argus research generative train",
}
URL, REMEDY = "http://127.0.0.1:8000/v1", r"expand-robust-\w{8}"


def prepare(name: str, folder: Path, earlier: Path, fb15k237: Path) -> None:
    """Copy what comes before a command's example into its folder, and add what it alone wants."""
    shutil.copytree(earlier, folder)
    if name == "argus research audit":  # its N of 100 wants a larger corpus
        write_rows(folder / "docs.jsonl", documents(fb15k237))
    if name == "argus tune apply write":
        fill_store(folder)
    if name == "argus research scenarios preferences":
        fill(folder / "study", folder / "filled", lambda row: row["side"])


def arguments(name: str, url: str) -> list[str]:
    """Return an example's words after `argus`, with the URL and the remedy that are there.

    Called in the folder that it runs in.
    """
    line = EXAMPLES[name].replace(URL, url)
    if re.search(REMEDY, line):
        listed = CliRunner().invoke(app, ["tune", "list", "--index", "index", "--json"])
        line = re.sub(REMEDY, json.loads(listed.stdout)[0]["id"], line)
    return shlex.split(line)[1:]
