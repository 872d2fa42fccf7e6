"""What can be asked side by side: indexes in their states, and what the service itself searches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.indexes.weighing import DENSE
from argus.service.workplace import BESIDE, SERVED, Workplace
from argus.stores.spec import shown


@dataclass(frozen=True, slots=True)
class System:
    """Something that answers questions. name: in a URL; spec: of an index, None for another.

    hybrid: how BM25 is fused; None as the index says. beside: its name on the command line, where
    it is one that was named to be compared.
    """

    name: str
    title: str
    spec: IndexSpec | None
    hybrid: str | None = None
    beside: str = ""


def systems(workplace: Workplace) -> list[System]:
    """Return all that can be compared: now before earlier states, as served before vectors alone.

    Raises InputError for an index that cannot be read.
    """
    offered = []
    if workplace.retriever or workplace.store:
        offered.append(System(SERVED, _title(str(workplace.searches)), None))
    offered += [
        System(f"{BESIDE}{n}", _title(name), None, beside=name)
        for n, name in enumerate(workplace.beside, 1)
        if _index_path(name) is None
    ]
    for path in _indexes(workplace):
        index = ViewIndex.open(path)
        states: list[str | None] = [None]
        if remedies := index.remedies():
            states += [ORIGINAL, *(remedy.id for remedy in remedies)]
        for state in states:
            spec = IndexSpec(path, state)
            title = f"{path.name}, {_words(state)}"
            offered.append(System(str(spec), title, spec))
            offered.append(System(f"{spec} {DENSE}", f"{title}, by vectors alone", spec, DENSE))
    return offered


def _title(name: str) -> str:
    """Return the end of a name, which tells it from others, without keys and passwords."""
    return shown(name).rpartition("/")[2]


def _index_path(name: str) -> Path | None:
    """Return the folder of a name that is an index as it is now; None of any other."""
    path = Path(name)
    return path if (path / INDEX_FILE).is_file() else None


def _words(state: str | None) -> str:
    if state is None:
        return "as it is now"
    return "before all repairs" if state == ORIGINAL else f"after {state}"


def _indexes(workplace: Workplace) -> list[Path]:
    """Return the folders that are indexes, the one that is searched first."""
    places = [parse_index_spec(workplace.index).path] if workplace.index else []
    places += [path for name in workplace.beside if (path := _index_path(name)) is not None]
    places += [one.path for one in workplace.results if (one.path / INDEX_FILE).is_file()]
    return list({path.resolve(): path for path in places}.values())


def system_named(name: str, offered: list[System], default: int) -> System | None:
    """Return the system of a name; without one the default; InputError for an unknown one."""
    if not name:
        return offered[min(default, len(offered) - 1)] if offered else None
    for system in offered:
        if system.name == name:
            return system
    raise InputError(
        f"no system {name!r}",
        expected=f"one of {', '.join(system.name for system in offered)}",
        fix="Choose one of the list.",
    )
