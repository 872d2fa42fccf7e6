"""What a project's own file of settings says: argus.toml, in the folder where commands are run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.text_files import read_toml
from argus.errors import InputError

FILE = "argus.toml"
Settings = Mapping[str, object]


@dataclass(frozen=True)
class Project:
    """The values of argus.toml; none where there is no such file, or it is no TOML."""

    settings: Settings = field(default_factory=dict)

    @classmethod
    def here(cls) -> Project:
        """Read the file of the current folder, from which its paths are meant."""
        return cls.of(Path(FILE))

    @classmethod
    def of(cls, file: Path) -> Project:
        """Read a file; its paths are meant from the current folder."""
        try:
            return cls(read_toml(file))
        except InputError:
            return cls()  # whoever names it with --config is told what is wrong with it

    def value(self, name: str, *commands: str, only: bool = False) -> str | None:
        """Return what an option is set to: for one of these commands, for all, or for any other.

        commands: names with dots, such as "remedy.scenarios". only: of no other command.
        """
        tables = [_table(self.settings, command) for command in commands]
        tables += [] if only else [self.settings, *_below(self.settings)]
        return _first(tables, name)

    def of_job(self, name: str, command: str) -> str | None:
        """Return what a command that is run with the file has for an option."""
        return _first((_table(self.settings, command), self.settings), name)

    def is_of(self, corpus: str | None) -> bool:
        """Return whether it speaks of this corpus, as far as either is known."""
        own = self.value("corpus")
        if own is None or corpus is None or own == corpus:
            return True
        own_path, path = Path(own).resolve(), Path(corpus).resolve()
        return own_path in (path, path.parent)


def _first(tables: Iterable[Settings], name: str) -> str | None:
    """Return the text that the first table to have one has for an option."""
    for table in tables:
        value = table.get(name, table.get(name.replace("-", "_")))
        if isinstance(value, str) and value:
            return value
    return None


def _table(settings: Settings, command: str) -> Settings:
    for word in command.split("."):
        inner = settings.get(word)
        settings = inner if isinstance(inner, Mapping) else {}
    return settings


def _below(settings: Settings) -> Iterator[Settings]:
    for inner in settings.values():
        if isinstance(inner, Mapping):
            yield inner
            yield from _below(inner)
