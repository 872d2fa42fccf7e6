"""What is refused of the words of a command, and of a file's in their place, as they stand.

Once they are values, an empty path is the current folder, and of two the first is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argus.errors import InputError, unnamed

ONE_FILE = "one file with all settings: of several, none but the last would be read"


def refuse_empty(word: object, parameter: Any, where: Path | None = None) -> None:
    """Raise InputError for a path without a name, which would be the current folder.

    parameter: typer's. where: the file of settings that has the word, if one does.
    """
    words = word if isinstance(word, list | tuple) else (word,)
    if "" in words and parameter.type_descriptor.annotation in (Path, list[Path]):
        option = parameter.opts[0]
        got = "is empty" if where is None else f"{option.lstrip('-')} is empty"
        raise unnamed(got, where or option)


def refuse_second_config(order: Sequence[Any]) -> None:
    """Raise InputError for a second file of settings. order: parameters, as they were given."""
    if sum(parameter.name == "config" for parameter in order) > 1:
        raise InputError(
            "is given twice", expected=ONE_FILE, fix="Put them into one.", where="--config"
        )
