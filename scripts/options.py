"""Write the options of every command, which commands that print another one read."""

import json
from collections.abc import Mapping
from typing import Any

from argus.cli.groups import Loaded
from argus.cli.main import COMMANDS
from argus.commands import DECLARED

Options = dict[str, dict[str, list[str]]]


def options_of(commands: Mapping[str, Any], above: str = "") -> Options:
    """Return the options of every command by heading, as `argus.commands.DECLARED` has them."""
    found: Options = {}
    for name in commands:
        command = commands[name]
        if inside := getattr(command, "commands", {}):
            found |= options_of(inside, f"{above}{name} ")
            continue
        headings = getattr(command.callback, "headings", {})
        options = found[above + name] = {}
        for option in (option for one in command.params for option in one.opts):
            options.setdefault(headings.get(option, ""), []).append(option)
    return found


def text() -> str:
    """Return the file: one line for each command."""
    found = options_of(Loaded(COMMANDS))
    lines = [f" {json.dumps(name)}: {json.dumps(of)}" for name, of in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    DECLARED.write_text(text(), encoding="utf-8")
