"""The jobs that the buttons of the page start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from typing_extensions import TypedDict

from argus.repair.candidates import ADAPT, EXPAND, SCENARIOS
from argus.service.workplace import SERVED, Workplace
from argus.verdict.project import FILE, Project
from argus.verdict.reading import Results

INPUTS = ("queries", "qrels", "profiles", "kb")
"""What a trial may be judged by, and what its candidates are made of."""


def made_already(kinds: Iterable[str | None]) -> dict[str, str]:
    """Return the inputs of which all that can be made is in the index, with what that is.

    They are not filled in: a trial of what is there takes as long as any, and changes nothing.
    """
    there = set(kinds)
    made = {"kb": (EXPAND,), "profiles": (SCENARIOS, ADAPT)}
    return {name: " and ".join(of) for name, of in made.items() if there.issuperset(of)}


class Wanted(TypedDict):
    """A job as `POST /jobs` takes it."""

    command: str
    options: dict[str, str | bool | list[str]]


def index_option(workplace: Workplace, index: Path) -> str:
    """Return how a job names an index: by its path where that lies in the folders."""
    return str(index) if workplace.contains(index) else SERVED


def chunk_options(place: Workplace) -> dict[str, str]:
    """Return the options that fold chunks to their documents; jobs read those of a file itself."""
    if place.parent_field is None or place.config is not None:
        return {}
    names = {f"{name}_field": getattr(place.fields, name) for name in ("id", "title", "text")}
    options = {"corpus": place.corpus and SERVED, "parent_field": place.parent_field, **names}
    return {name: str(value) for name, value in options.items() if value is not None}


def trial(index: str, inputs: Mapping[str, str]) -> Wanted:
    """Return the job that tries what there is, and adds nothing."""
    return {"command": "repair", "options": {"index": index, "only_try": True, **inputs}}


def applying(
    index: str, candidate: str, inputs: Mapping[str, str], chunks: Mapping[str, str]
) -> Wanted:
    """Return the job that adds a candidate as the last trial measured it."""
    options = {"index": index, "apply": candidate, **inputs, **chunks}
    return {"command": "repair", "options": {**options}}


def undoing(index: str, remedy: str) -> Wanted:
    """Return the job that takes a remedy out again."""
    return {"command": "remedy rollback", "options": {"index": index, "remedy": remedy}}


def trial_inputs(files: Mapping[str, str], workplace: Workplace) -> dict[str, str]:
    """Return what an earlier trial was made of, as far as it lies in the folders."""
    named = {"kb": files.get("kb 1"), **{name: files.get(name) for name in INPUTS if name != "kb"}}
    return {n: f for n, f in named.items() if f is not None and workplace.holds(Path(f))}


@dataclass(frozen=True)
class Known:
    """What is known of the inputs of a trial before there was one.

    inputs: files in the folders, which a request may name. configured: files that jobs read by
    themselves, since the file of settings that the service was started with names them for
    `repair`. outside: other files outside the folders, which nothing reads.
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    configured: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)


def known_inputs(folder: Path, workplace: Workplace) -> Known:
    """Return files that jobs of a folder read, that lie beside its corpus, or that argus.toml has.

    argus.toml is the file of `--config`, else the one of the current folder.
    """
    project = Project.of(workplace.config or Path(FILE))
    places = replace(Results.of(folder).places, project=project)
    named = {"queries": places.queries, "qrels": places.qrels, "profiles": places.profiles,
             "kb": places.kb}  # fmt: skip
    files = {name: file for name, file in named.items() if file and Path(file).exists()}
    inputs = {name: file for name, file in files.items() if workplace.contains(Path(file))}
    if not {"queries", "qrels"} <= inputs.keys():
        inputs = {n: file for n, file in inputs.items() if n not in ("queries", "qrels")}
    configured = {n: f for n in INPUTS if n not in inputs and (f := project.of_job(n, "repair"))}
    configured = {} if workplace.config is None else configured
    outside = {n: f for n, f in files.items() if n not in inputs and n not in configured}
    return Known(inputs, configured, outside)
