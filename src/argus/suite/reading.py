"""Read a suite from a TOML file: retrievers, remedies and tasks. Errors name the place and the fix.

`read_suite`: TOML -> `Suite` (`argus.suite.config`), for `argus research suite` and the grids of
published tables (`argus research reproduce`). Keys are the settings that the configs declare, spelt
as in Python: `query_prompt`. An unknown key's error names the nearest known one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from argus.data.reading import read_toml
from argus.data.yaml_file import nearest
from argus.encoders.config import EncoderConfig
from argus.errors import InputError, Location
from argus.python_file import file_of
from argus.settings import Setting, nested, settings_of
from argus.suite.config import ORIGINAL, Suite, SuiteConfig, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.remedies import REMEDIES, Remedy

C = TypeVar("C")
WAYS = ("encoder", "bm25", "source")  # a retriever has one of these
_NAMES = {int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Table:
    """A table of a TOML file, and its place."""

    values: Mapping[str, object]
    file: Path
    place: str = ""

    def error(self, key: str, got: str, expected: str, fix: str = "Correct it.") -> InputError:
        """Return an error about a key."""
        field = ".".join(filter(None, (self.place, key))) or None
        return InputError(got, expected=expected, fix=fix, where=Location(self.file, field=field))

    def check(self, known: Collection[str]) -> None:
        """Raise InputError for a key that is none of those known."""
        for key in self.values:
            if key not in known:
                fix = nearest(key, [name for name in known if name not in self.values])
                raise self.error(key, f"unknown key {key!r}", f"one of {', '.join(known)}", fix)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text. Raises InputError for another value, and for none without a default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(key, f"no {key!r}", f"a text under {key}", "Add the key.")
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, repr(value), "text that says something", "Quote it.")
        return value

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables, [[key]]; none for an absent key. Else InputError."""
        rows = self.values.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(key, repr(rows), f"tables, each headed [[{key}]]")
        return [Table(row, self.file, f"{key}[{i}]") for i, row in enumerate(rows)]

    def config(self, config: type[C]) -> C:
        """Return a config of the keys that are settings of it. Raises InputError as it does."""
        declared = _settings(config)
        arguments = {
            s.name: self._value(s, self.values[_key(s)])
            for s in declared if _key(s) in self.values
        }  # fmt: skip
        for name, (inner, optional) in _inner(config).items():
            if not optional or any(key in self.values for key in keys_of(inner)):
                arguments[name] = self.config(inner)
        make: Any = getattr(config, "from_options", config)
        if make is not config:
            arguments = {s.name: s.default for s in declared} | arguments
        try:
            made: C = make(**arguments)
        except InputError as error:
            key = str(error.where or "").lstrip("-").replace("-", "_")
            raise self.error(key, error.got, error.expected, error.fix) from error
        return made

    def _value(self, setting: Setting, value: object) -> Any:
        if setting.many:
            rows = value if isinstance(value, list) else [value]
            one = replace(setting, container=None)
            return tuple(self._value(one, row) for row in rows)
        kind: type = setting.kind
        if kind is float and type(value) is int:
            return float(value)
        if isinstance(value, str) and not issubclass(kind, bool | int | float):
            return Path(value) if issubclass(kind, Path) else value
        if type(value) is not kind:
            raise self.error(_key(setting), repr(value), _NAMES.get(kind, "text"))
        return value


def keys_of(*configs: type) -> list[str]:
    """Return the keys of all settings of these configs, and of configs inside them."""
    keys: dict[str, None] = {}
    for config in configs:
        keys |= dict.fromkeys(map(_key, _settings(config)))
        keys |= dict.fromkeys(keys_of(*(inner for inner, _ in _inner(config).values())))
    return list(keys)


def _key(setting: Setting) -> str:
    return setting.where.lstrip("-").replace("-", "_")


def _settings(config: Any) -> Sequence[Setting]:
    declared = getattr(config, "declared_settings", None)
    settings: Sequence[Setting] = settings_of(config) if declared is None else declared()
    return settings


def _inner(config: type) -> dict[str, tuple[type, bool]]:
    return nested(config) if is_dataclass(config) else {}


def read_suite(file: Path | str) -> Suite:
    """Read a suite. Raises InputError for anything wrong in the file, or absent beside it."""
    return suite_of(Table(read_toml(Path(file)), Path(file)))


def suite_of(table: Table, also: Sequence[str] = (), *, strict: bool = True) -> Suite:
    """Return the suite in the top table of a file. also: further keys that it may have.

    strict: whether files that it names must be there.
    """
    table.check([*keys_of(SuiteConfig), "retrievers", "remedies", "tasks", *also])
    read = []
    for row in table.tables("remedies"):
        kind = row.text("kind", row.text("name"))
        if kind not in REMEDIES:
            raise row.error(
                "kind" if "kind" in row.values else "name", f"unknown remedy {kind!r}",
                f"a kind of {', '.join(REMEDIES)}", nearest(kind, list(REMEDIES)),
            )  # fmt: skip
        row.check(["name", "kind", *keys_of(REMEDIES[kind])])
        remedy_in(row, kind, strict=strict)
        values = {key: value for key, value in row.values.items() if key not in ("name", "kind")}
        name = ORIGINAL if kind == ORIGINAL else row.text("name")
        read.append(SuiteRemedy(name=name, kind=kind, values=values))
    original = next((r for r in read if r.kind == ORIGINAL), SuiteRemedy(name=ORIGINAL))
    remedies = (original, *(r for r in read if r.kind != ORIGINAL))
    by_name = {remedy.name: remedy for remedy in remedies}
    retrievers = tuple(_retriever(row, by_name) for row in table.tables("retrievers"))
    tasks = []
    for row in table.tables("tasks"):
        row.check(("name", "task", "group", "instruction"))
        place = row.text("task")
        tasks.append(SuiteTask(
            name=row.text("name", place.rpartition(":")[2].rpartition("/")[2]), place=place,
            group=row.text("group", "all"),
            instruction=row.text("instruction") if "instruction" in row.values else "",
        ))  # fmt: skip
    rows: dict[str, Sequence[SuiteRemedy | SuiteRetriever | SuiteTask]] = {
        "remedies": remedies, "retrievers": retrievers, "tasks": tasks,
    }  # fmt: skip
    for key, of in rows.items():
        names = [one.name for one in of]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise table.error(key, f"{twice!r} stands twice", "each name once", "Rename one.")
        if not of:
            raise table.error(key, f"no [[{key}]]", "at least one", "Add one.")
    config = table.config(SuiteConfig)
    return Suite(config=config, remedies=remedies, retrievers=retrievers, tasks=tuple(tasks))


def _retriever(table: Table, remedies: Mapping[str, SuiteRemedy]) -> SuiteRetriever:
    table.check(("name", "bm25", "source", "remedies", *keys_of(EncoderConfig)))
    own = table.values.get("remedies", [])
    own = tuple(map(str, own)) if isinstance(own, list) else (str(own),)
    if unknown := next((name for name in own if name not in remedies), None):
        fix = nearest(unknown, list(remedies))
        raise table.error("remedies", repr(unknown), f"some of {', '.join(remedies)}", fix)
    ways = [key for key in WAYS if key in table.values]
    if len(ways) != 1 or table.values.get("bm25") not in (None, True):
        raise table.error(
            ways[-1] if ways else "encoder", f"{' and '.join(ways) or 'neither of them'}",
            "one of encoder = NAME, bm25 = true, source = RETRIEVER", "Keep one.",
        )  # fmt: skip
    (way,) = ways
    name = table.text("name", str(table.values.get("encoder", "") or way))
    if way == "encoder":
        return SuiteRetriever(name=name, encoder=table.config(EncoderConfig), remedies=own)
    for remedy in (remedies[each] for each in own or remedies):
        if REMEDIES[remedy.kind].apply is not Remedy.apply:
            raise table.error(
                "remedies", f"{remedy.name!r} ({remedy.kind}) on {name!r}, no index of vectors",
                f"remedies that fit it: {ORIGINAL} and authority; the others mend an index of "
                "vectors", f'Set remedies = ["{ORIGINAL}"] of {name!r}.',
            )  # fmt: skip
    source = table.text("source") if way == "source" else ""
    return SuiteRetriever(name=name, bm25=way == "bm25", source=source, remedies=own)


def remedy_in(table: Table, kind: str, *, strict: bool = True) -> Remedy:
    """Return the remedy of a kind with the settings of a table.

    strict: whether files that it names must be there, unless they have a {place} in their names.
    Raises InputError for bad settings.
    """
    for key in REMEDIES[kind].needs:
        if key not in table.values:
            raise table.error(key, f"{kind} without {key!r}", f"{key} = ...", "Add it.")
    remedy = table.config(REMEDIES[kind])
    for key, path in paths_in(table.values, kind):
        if strict and "{" not in str(path) and not path.exists():
            raise table.error(key, f"{path} is absent", "a file or folder", "Check the path.")
    return remedy


def paths_in(values: Mapping[str, object], kind: str) -> Iterator[tuple[str, Path]]:
    """Yield the files and folders that a remedy's settings name, with their key."""
    for key in REMEDIES[kind].paths:
        value = values.get(key, [])
        for row in value if isinstance(value, list) else [value]:
            yield key, file_of(str(row))


def filled(remedy: SuiteRemedy, retriever: SuiteRetriever, task: SuiteTask) -> dict[str, object]:
    """Return a remedy's settings with names in place of {retriever} and {task}."""

    def fill(value: object) -> object:
        if isinstance(value, list):
            return [fill(row) for row in value]
        if not isinstance(value, str):
            return value
        return value.replace("{task}", task.name).replace("{retriever}", retriever.name)

    return {key: fill(value) for key, value in remedy.values.items()}
