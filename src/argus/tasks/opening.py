"""The one door to a task: by its name, by its place, as a task of mteb, or as a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.tasks.bright import BrightConfig, is_bright, read_bright
from argus.tasks.car import CarConfig, is_car, read_car
from argus.tasks.collection import (
    INSTRUCTION,
    CollectionConfig,
    is_collection,
    read_beir,
    read_rarb,
)
from argus.tasks.impliret import ImpliretConfig, is_impliret, read_impliret
from argus.tasks.kilt import KiltConfig, is_kilt, read_kilt
from argus.tasks.mteb import (
    MtebConfig,
    is_mteb,
    is_mteb_task,
    of_dictionary,
    of_mteb_task,
    read_mteb,
)
from argus.tasks.spec import TaskSpec, config_of, parse_task_spec
from argus.tasks.task import Task, judged_of


@dataclass(frozen=True)
class Reader:
    """How tasks of one kind are read. is_there: tells by a place whether it is of this kind."""

    is_there: Callable[[Path], bool]
    read: Callable[[TaskSpec], Task]


def _reader(is_there: Callable[[Path], bool], config: Any, read: Callable[..., Task]) -> Reader:
    return Reader(is_there, partial(_read, config, read))


def _read(config: Any, read: Callable[..., Task], spec: TaskSpec) -> Task:
    return read(spec.place, config_of(config, spec))


def _is_rarb(folder: Path) -> bool:
    return is_collection(folder) and (folder / INSTRUCTION).is_file()


READERS = {
    "car": _reader(is_car, CarConfig, read_car),
    "rarb": _reader(_is_rarb, CollectionConfig, read_rarb),
    "bright": _reader(is_bright, BrightConfig, read_bright),
    "impliret": _reader(is_impliret, ImpliretConfig, read_impliret),
    "kilt": _reader(is_kilt, KiltConfig, read_kilt),
    "beir": _reader(is_collection, CollectionConfig, read_beir),
    "mteb": _reader(is_mteb, MtebConfig, read_mteb),
}
"""By kind. A place is of the first that knows it."""


def open_task(
    spec: str | Path | Mapping[str, Any] | Task | Any, *, subset: str = "", split: str = "test"
) -> Task:
    """Read a task.

    spec: `KIND:PLACE[,setting=value ...]` with a kind of READERS, or the place alone where that
    tells the kind. It can be a loaded task object of mteb, a dictionary of `corpus`, `queries` and
    `relevant_docs`, or a Task. subset, split: of an object or a dictionary. Raises InputError for a
    spec that names no task, for an unknown setting, and as its reader does. It also raises
    InputError where no question can be measured, or no relevant document is in the corpus.
    """
    return _checked(_opened(spec, MtebConfig(subset=subset, split=split)))


def _opened(spec: Any, config: MtebConfig) -> Task:
    if isinstance(spec, Task):
        return spec
    if isinstance(spec, Mapping):
        return of_dictionary(spec, config)
    if is_mteb_task(spec):
        return of_mteb_task(spec, config)
    if not isinstance(spec, str | Path):
        raise InputError(
            f"a {type(spec).__name__}", expected="a name, a path, a task of mteb or a dictionary",
            fix="Name the task as KIND:PLACE.", where="task",
        )  # fmt: skip
    named = parse_task_spec(spec, READERS)
    kind = named.kind or next((k for k, r in READERS.items() if r.is_there(named.place)), "")
    if not kind or not named.place.exists():
        raise InputError(
            f"no task in {str(named.place)!r}"
            if named.place.exists()
            else "no such file or folder",
            expected=f"KIND:PLACE, of {', '.join(READERS)}",
            fix="Name the kind, and check the path: nothing is downloaded.",
            where=str(spec),
        )
    return READERS[kind].read(named)


def _checked(task: Task) -> Task:
    """Return a task of which something can be measured."""
    judged = judged_of(task).judged  # raises where no query can be
    known = {document.id for document in task.documents}
    gold = {id_ for query in judged.queries for id_ in judged.relevant(query)}
    if known.isdisjoint(gold):
        raise InputError(
            f"none of {len(gold):,} relevant documents is among the {len(known):,} of the corpus",
            expected="the corpus that was judged",
            fix="Check that corpus and judgements belong together.",
            where=task.name,
        )
    return task
