"""Begin a project: try the parts that a person named, and write them down for every command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from typing_extensions import TypedDict

from argus.commands import command
from argus.data.fields import FieldNames
from argus.data.writing import write_whole
from argus.encoders.config import EncoderConfig, as_config
from argus.errors import InputError
from argus.health.config import ProjectParts
from argus.health.job import Checked, CheckRecord, Trial
from argus.project.config import ProjectConfig
from argus.project.tables import Answers, tables, written
from argus.retrievers.config import AskingConfig


class ProjectSummary(TypedDict):
    """The file, the checks, and the command to go on with."""

    file: str
    checks: list[CheckRecord]
    bad: int
    next: str


@dataclass(frozen=True, repr=False)
class ProjectResult(Checked):
    """A project that was begun. Its file is written whatever the checks say."""

    file: Path
    next: str
    """The command to go on with."""

    @property
    def summary(self) -> ProjectSummary:
        """The same as JSON."""
        return {
            "file": str(self.file),
            "checks": [check.record() for check in self.checks],
            "bad": self.bad,
            "next": self.next,
        }

    def headline(self) -> Iterator[str]:
        """Yield the checks, the file, and the next command."""
        for check in self.checks:
            yield from check.lines()
        yield f"written: {self.file}"
        yield f"next: {self.next}"


def start_project(
    parts: ProjectParts,
    *,
    columns: FieldNames | None = None,
    asking: AskingConfig | None = None,
    encoder: EncoderConfig | str | None = None,
    config: ProjectConfig | None = None,
) -> ProjectResult:
    """Write a commented file of settings that every command reads with --config.

    parts: the documents at least. The result tells of parts that do not work when they are tried.
    The file is written all the same: it is mended there. Raises InputError where no documents are
    named, and for a file that is there with other settings, unless it is to be replaced.
    """
    config = config or ProjectConfig()
    if parts.corpus is None:
        raise InputError(
            "no documents are named",
            expected="a file, a folder, or a store such as qdrant:http://HOST:6333/docs",
            fix="Name them with --corpus; at a terminal argus init asks.",
            where="--corpus",
        )
    answers = Answers(
        parts, columns or FieldNames(), asking or AskingConfig(),
        as_config(encoder or EncoderConfig()),
    )  # fmt: skip
    _check_apart(parts, config.to)
    text = written(tables(answers), config.to.name)
    if not _holds(config.to, text):
        check_place(config)
    trial = Trial(parts, answers.columns, answers.asking, answers.encoder)
    checks = tuple(trial.checks()) if config.check else ()
    config.to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(config.to, text)
    result = ProjectResult(checks, config.to, "")
    following = command("doctor" if result.bad else "exposure", "--config", config.to)
    return ProjectResult(checks, config.to, following)


def check_place(config: ProjectConfig) -> None:
    """Raise InputError for a file of settings that is there, unless it is to be replaced."""
    if config.to.exists() and not config.replace:
        raise InputError(
            "is there already",
            expected="a place for a new file",
            fix="Edit it, name another with --to, or write over it with --replace.",
            where=config.to,
        )


def _check_apart(parts: ProjectParts, to: Path) -> None:
    """Raise InputError where the file of settings would take the place of a part."""
    for field in fields(parts):
        value = getattr(parts, field.name)
        if isinstance(value, str | Path) and os.path.realpath(value) == os.path.realpath(to):
            raise InputError(
                f"is what --{field.name.replace('_', '-')} names, too",
                expected="a place of its own",
                fix="Name another file: what is there would be lost.",
                where=to,
            )


def _holds(path: Path, text: str) -> bool:
    """Tell whether a file has this text: a run that was ended after writing it is run again."""
    return path.is_file() and path.read_bytes() == text.encode()
