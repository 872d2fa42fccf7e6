"""The reference of all commands, made of the code: `python -m argus.cli.reference docs/reference`.

A page per command or group; a row per option: how it is given by hand and in a TOML file, what it
may be, its default, what it does, and the config's field that declares it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from argus.cli.main import app

HEAD = (
    "| option | TOML | values | default | what it does | in Python |\n|---|---|---|---|---|---|\n"
)
MADE = (
    "<!-- Made by `python -m argus.cli.reference docs/reference`; change the code, not this. -->\n"
)


def pages() -> dict[str, str]:
    """Return every page by its file name, overview.md first."""
    import typer

    top: Any = typer.main.get_command(app)
    texts = {f"{name}.md": _page(name, command) for name, command in top.commands.items()}
    rows = "".join(
        f"* [`argus {name}`]({name}.md): {entry.help}\n"
        for name, entry in top.commands.entries.items()
    )
    return {"overview.md": f"{MADE}\n# Reference of the command line\n\n{rows}"} | texts


def _page(name: str, command: Any) -> str:
    parts = "\n".join(_section(path, leaf) for path, leaf in leaves(f"argus {name}", command))
    return f"{MADE}\n# argus {name}\n\n{parts}"


def leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands in a group, or the command itself, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from leaves(f"{path} {name}", one)


def _section(path: str, command: Any) -> str:
    homes = getattr(command.callback, "homes", {})
    example, _, text = (command.help or "").partition("\n\n")
    if example.startswith("Example: "):
        text = f"```console\n$ {example.removeprefix('Example: ')}\n```\n\n{text}"
    else:
        text = command.help or ""
    rows = "".join(_row(parameter, homes.get(parameter.name, "")) for parameter in command.params)
    return f"## {path}\n\n{text}\n\n{HEAD}{rows}"


def _row(parameter: Any, home: str) -> str:
    if parameter.param_type_name == "argument":
        shown, key = f"`{parameter.name.upper()}`", ""
    else:
        shown = ", ".join(f"`{o}`" for o in (*parameter.opts, *parameter.secondary_opts))
        key = f"`{parameter.opts[0].lstrip('-')}`"
    help_ = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    cells = shown, key, _values(parameter), _default(parameter), help_, f"`{home}`" if home else ""
    return f"| {' | '.join(cells)} |\n"


def _values(parameter: Any) -> str:
    kind = str(parameter.type_descriptor.annotation)
    names = {"int": "whole number", "float": "number", "Path": "path", "bool": "yes or no"}
    word = next((names[n] for n in names if n in kind), "text")
    low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
    word += f" from {low:g}" if low is not None else ""
    word += f" to {high:g}" if high is not None else ""
    return f"{word}, several" if getattr(parameter, "multiple", False) else word


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    default = parameter.default
    if default is None or default == "":
        return ""
    if isinstance(default, bool):
        return "yes" if default else "no"
    return f"`{default}`"


def main() -> None:
    """Write the pages into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
