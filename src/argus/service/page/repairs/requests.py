"""The jobs that the buttons of the page start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from typing_extensions import TypedDict

from argus.repair.candidates import ADAPT, BLEND, EXPAND, SCENARIOS
from argus.service.workplace import SERVED, Workplace
from argus.verdict.reading import Results

INPUTS = ("queries", "qrels", "profiles", "kb")
"""What a trial may be judged by, and what its candidates are made of."""
MADE_OF = {
    BLEND: ("queries", "qrels"),
    EXPAND: ("kb", "queries", "qrels"),
    SCENARIOS: ("profiles", "queries", "qrels"),
    ADAPT: ("profiles", "queries", "qrels"),
}
"""Options of each remedy's own command."""


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


def trial(index: str, inputs: Mapping[str, str]) -> Wanted:
    """Return the job that tries what there is, and adds nothing."""
    return {"command": "repair", "options": {"index": index, "only_try": True, **inputs}}


def applying(index: str, candidate: str, inputs: Mapping[str, str]) -> Wanted:
    """Return the job that adds a candidate: by its own command, which writes a receipt.

    Several at once are added by the repair that tries them, which keeps the best.
    """
    if candidate not in MADE_OF:
        return {"command": "repair", "options": {"index": index, **inputs}}
    own = {name: value for name, value in inputs.items() if name in MADE_OF[candidate]}
    return {"command": f"remedy {candidate}", "options": {"index": index, **own}}


def undoing(index: str, remedy: str) -> Wanted:
    """Return the job that takes a remedy out again."""
    return {"command": "remedy rollback", "options": {"index": index, "remedy": remedy}}


def trial_inputs(files: Mapping[str, str], workplace: Workplace) -> dict[str, str]:
    """Return what an earlier trial was made of, as far as it lies in the folders."""
    named = {"kb": files.get("kb 1"), **{name: files.get(name) for name in INPUTS if name != "kb"}}
    return {n: f for n, f in named.items() if f is not None and workplace.holds(Path(f))}


def known_inputs(results: Results | None, workplace: Workplace) -> dict[str, str]:
    """Return files that jobs of a folder read, or that lie beside its corpus, in the folders."""
    if results is None:
        return {}
    files = {"queries": results.places.queries, "qrels": results.places.qrels}
    for section in results.places.manifest.values():
        files |= {
            n: one["file"] for n, one in section["inputs"].items() if n in ("kb 1", "profiles")
        }
    inputs = trial_inputs(files, workplace)
    judged = {"queries", "qrels"} <= inputs.keys()
    return {n: f for n, f in inputs.items() if judged or n not in ("queries", "qrels")}
