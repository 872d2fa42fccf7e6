"""The file for the settings of a project, and the handling of one that is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.settings import Doc, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class ProjectConfig:
    """The file to write, and whether the things that it names are tried first."""

    to: Annotated[Path, Doc("The file of settings.")] = Path("argus.toml")
    replace: Annotated[bool, Doc("Write over a file that is there.")] = False
    check: Annotated[
        bool, Doc("Try what is named, as argus doctor does."), Option(("--check/--no-check",))
    ] = True

    def __post_init__(self) -> None:
        check_settings(self)
