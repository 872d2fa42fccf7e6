"""The pages of the commands: one per command, and one per command of a group.

A row per option: how it is given by hand and in a TOML file, what it may be, its default, what it
does, and the config's field that declares it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argus.cli.main import app
from argus.cli.reference.made import page, wrapped

HEAD = (
    "| option | TOML | values | default | what it does | in Python |\n|---|---|---|---|---|---|\n"
)


def command_pages() -> dict[str, str]:
    """Return every page by its file name, overview.md first."""
    import typer

    top: Any = typer.main.get_command(app)
    rows = "".join(
        f"* [`argus {name}`]({name}.md): {entry.help}\n"
        for name, entry in top.commands.entries.items()
    )
    texts = {"overview.md": page("Reference of the command line", rows)}
    for name, command in top.commands.items():
        texts |= _pages(name, command)
    return texts


def _pages(name: str, command: Any) -> dict[str, str]:
    """Return the page of a command; of a group its list, and a page per command in it."""
    commands = dict(leaves(f"argus {name}", command))
    texts = {_file(path): page(path, _body(leaf)) for path, leaf in commands.items()}
    if f"{name}.md" in texts:
        return texts
    rows = "".join(
        f"* [`{path}`]({_file(path)}): {_first(leaf)}\n" for path, leaf in commands.items()
    )
    return {f"{name}.md": page(f"argus {name}", rows)} | texts


def _file(path: str) -> str:
    return f"{path.removeprefix('argus ').replace(' ', '-')}.md"


def _first(command: Any) -> str:
    """Return the first sentence of a command's help, without its example."""
    text = _text(command)[1]
    return text.partition("\n")[0].strip()


def _text(command: Any) -> tuple[str, str]:
    """Return the example that a command's help opens with, and the rest of it."""
    example, _, text = (command.help or "").partition("\n\n")
    if example.startswith("Example: "):
        return example.removeprefix("Example: "), text
    return "", command.help or ""


def leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands in a group, or the command itself, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from leaves(f"{path} {name}", one)


def _body(command: Any) -> str:
    homes = getattr(command.callback, "homes", {})
    example, text = _text(command)
    shown = f"```console\n$ {example}\n```\n\n" if example else ""
    rows = "".join(_row(parameter, homes.get(parameter.name, "")) for parameter in command.params)
    return f"{shown}{wrapped(text)}\n\n{HEAD}{rows}"


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
