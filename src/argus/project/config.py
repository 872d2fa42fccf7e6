"""Where the settings of a project go, and what becomes of a file that is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.settings import Doc, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class ProjectConfig:
    """Which file is written, and whether what it names is tried first."""

    to: Annotated[Path, Doc("The file of settings.")] = Path("argus.toml")
    replace: Annotated[bool, Doc("Write over a file that is there.")] = False
    check: Annotated[
        bool, Doc("Try what is named, as argus doctor does."), Option(("--check/--no-check",))
    ] = True

    def __post_init__(self) -> None:
        check_settings(self)
