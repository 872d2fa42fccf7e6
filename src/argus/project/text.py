"""argus.toml as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from argus.project.tables import Table

HEAD = """\
# The settings of this project, written by `argus init`. Every command reads its own table:
#
#     argus exposure --config {file}
#
# An option that is given by hand wins. A table holds options of its command, without the dashes
# (argus COMMAND --help lists them); a value above all tables is for every command that has such an
# option. Paths are as seen from where a command is run.
"""


def written(tables: Iterable[Table], file: str) -> str:
    """Return the tables as a commented TOML file. file: its name, for the line at the top."""
    return "\n".join([HEAD.format(file=file), *("\n".join(_lines(t)) + "\n" for t in tables)])


def _lines(table: Table) -> Iterator[str]:
    for line in table.says:
        yield f"# {line}"
    yield f"[{table.command}]"
    for key, value in table.values.items():
        yield f"{key} = {_value(value)}"
    for line in table.open:
        yield f"# {line}"


def _value(value: Any) -> str:
    """Return a value as TOML has it: of these kinds its text is JSON's."""
    return json.dumps(value, ensure_ascii=False)
