"""Write the options of every command, which commands that print another one read."""

import json

from argus.cli.startable import options_of_all
from argus.commands import DECLARED


def text() -> str:
    """Return the file: one line for each command."""
    lines = [f" {json.dumps(name)}: {json.dumps(of)}" for name, of in options_of_all().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    DECLARED.write_text(text(), encoding="utf-8")
