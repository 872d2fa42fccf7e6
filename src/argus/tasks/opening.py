"""Open a retrieval benchmark task by its name or its place, whatever its format.

`open_task`: `KIND:PLACE,setting=value`, or the place alone -> a `Task` with documents, queries and
judgements. `argus research suite` and `research reproduce` call it. `argus.tasks.readers` has a
reader per format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from argus.settings import settings_of
from argus.tasks.readers import (
    INSTRUCTION,
    BrightConfig,
    CarConfig,
    CollectionConfig,
    ImpliretConfig,
    KiltConfig,
    MtebConfig,
    is_bright,
    is_car,
    is_collection,
    is_impliret,
    is_kilt,
    is_mteb,
    read_beir,
    read_bright,
    read_car,
    read_impliret,
    read_kilt,
    read_mteb,
    read_rarb,
)
from argus.tasks.task import Task, judged_of, refused

if TYPE_CHECKING:
    from argus.authority.benchmarks.collection import Benchmark

C = TypeVar("C")
CAR = "car:"
YES_OR_NO = {"yes": True, "no": False}


def _is_rarb(folder: Path) -> bool:
    return is_collection(folder) and (folder / INSTRUCTION).is_file()


# By kind: whether a place is of it, its settings, and its reader. The first that fits counts.
READERS: dict[str, tuple[Callable[[Path], bool], Any, Callable[[Path, Any], Task]]] = {
    "car": (is_car, CarConfig, read_car),
    "rarb": (_is_rarb, CollectionConfig, read_rarb),
    "bright": (is_bright, BrightConfig, read_bright),
    "impliret": (is_impliret, ImpliretConfig, read_impliret),
    "kilt": (is_kilt, KiltConfig, read_kilt),
    "beir": (is_collection, CollectionConfig, read_beir),
    "mteb": (is_mteb, MtebConfig, read_mteb),
}


@dataclass(frozen=True)
class TaskSpec:
    """A task by its name. kind: "" where its place has to tell."""

    kind: str
    place: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"{self.kind}:{self.place}" if self.kind else str(self.place)]
        return ",".join([*parts, *(f"{key}={value}" for key, value in self.settings.items())])


def parse_task_spec(text: str | Path) -> TaskSpec:
    """Parse `KIND:PLACE,setting=value`, or the place alone.

    A path that is there as it stands, with its commas and colons, is that path. Raises InputError
    for a setting that stands twice or has no value.
    """
    name = str(text)
    if Path(name).exists():
        return TaskSpec("", Path(name))
    kind, colon, rest = name.partition(":")
    if not colon or kind not in READERS:
        kind, rest = "", name
    place, *parts = rest.split(",")
    while parts and "=" not in parts[0]:  # a comma of the path's own
        place += "," + parts.pop(0)
    settings: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not value or key in settings:
            expected = "setting=value, each setting once"
            raise refused(name, repr(part), expected, "Correct it, or leave it out.")
        settings[key] = value
    return TaskSpec(kind, Path(place), settings)


def open_task(spec: str | Path | Task) -> Task:
    """Read a task.

    spec: `KIND:PLACE[,setting=value ...]` with a kind of READERS, or the place alone where that
    tells the kind. Raises InputError for a spec that names no task, for an unknown setting, and as
    its reader does. It also raises InputError where no question can be measured, or no relevant
    document is in the corpus.
    """
    if isinstance(spec, Task):
        task = spec
    else:
        named = parse_task_spec(spec)
        place, is_there = named.place, named.place.exists()
        kind = named.kind or next((k for k, (fits, *_) in READERS.items() if fits(place)), "")
        if not kind or not is_there:
            got = f"no task in {str(place)!r}" if is_there else "no such file or folder"
            fix = "Name the kind, and check the path: nothing is downloaded."
            raise refused(str(spec), got, f"KIND:PLACE, of {', '.join(READERS)}", fix)
        _, settings, read = READERS[kind]
        task = read(place, _config_of(settings, named))
    judged = judged_of(task).judged  # raises where no query can be measured
    known = {document.id for document in task.documents}
    gold = {id_ for query in judged.queries for id_ in judged.relevant(query)}
    if known.isdisjoint(gold):
        got = f"none of {len(gold):,} relevant documents is among the {len(known):,} of the corpus"
        fix = "Check that corpus and judgements belong together."
        raise refused(task.name, got, "the corpus that was judged", fix)
    return task


def _config_of(config: type[C], spec: TaskSpec) -> C:
    """Return a reader's config with the settings of a spec. Raise InputError for unknown ones."""
    settings = {setting.name: setting for setting in settings_of(config)}
    values: dict[str, Any] = {}
    for name, text in spec.settings.items():
        if (setting := settings.get(name)) is None:
            expected = f"one of {', '.join(settings)}" if settings else "none"
            raise refused(str(spec), f"setting {name!r}", expected, "Correct it, or leave it out.")
        if setting.kind is bool:
            if text not in YES_OR_NO:
                raise refused(str(spec), f"{name}={text}", "yes or no", "Correct it.")
            values[name] = YES_OR_NO[text]
        elif setting.kind is not Path and Path(text).name != text:
            got = f"{name}={text} leads out of the task's folder"
            expected = f"a name in {spec.place} ({setting.text.rstrip('.')})"
            raise refused(str(spec), got, expected, "Leave the folders out.")
        else:
            values[name] = Path(text) if setting.kind is Path else text
    return config(**values)


def benchmark_of(name: str) -> Benchmark | str:
    """Return a released file, by `car:FILE,setting=value` or its path, or another name as it is.

    Raises InputError as `argus.tasks.open_task` does.
    """
    if not name.startswith(CAR) and not Path(name).is_file():
        return name
    benchmark = open_task(CAR + name.removeprefix(CAR)).benchmark
    assert benchmark is not None
    return benchmark
