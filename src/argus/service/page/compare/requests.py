"""The job behind the button of the page: what all documents gain and lose from one to another."""

from __future__ import annotations

from pathlib import Path

from argus.indexes.hybrid import FUSION
from argus.indexes.views import ViewIndex
from argus.indexes.weighing import DENSE
from argus.service.page.compare.gains import HERE
from argus.service.page.compare.systems import System
from argus.service.page.repairs.requests import Wanted, known_inputs
from argus.service.workplace import Workplace
from argus.stores.spec import shown
from argus.verdict.places import command
from argus.verdict.reading import SUMMARY, Results


def comparing(both: tuple[System, System], home: Path, place: Workplace) -> Wanted | None:
    """Return the job that compares two indexes; None where a request may not start it.

    Requests name paths in the folders alone: other systems are compared at a prompt. The questions
    that the folder `home` knows are asked, too.
    """
    one, two = both
    if one.name == two.name or not place.contains(home):
        return None
    indexes, fusions = [], []
    for system in both:
        if system.spec is None or not place.contains(system.spec.path):
            return None
        path, state = system.spec.path.resolve(), system.spec.as_of
        indexes.append(str(path) if state is None else f"{path}@{state}")
        blend = ViewIndex.open(path).recipe(state).blend
        fusions.append(system.hybrid or (FUSION if blend and blend.bm25 else DENSE))
    known = known_inputs(Results.of(home), place) if (home / SUMMARY).is_file() else {}
    queries = {"queries": known["queries"]} if "queries" in known else {}
    return {
        "command": "compare",
        "options": {
            "index": indexes, "hybrid": fusions, "out": str(home / HERE), "fresh": True, **queries,
        },
    }  # fmt: skip


def command_of(both: tuple[System, System], place: Workplace) -> str:
    """Return the command that compares two systems, as it would be typed."""
    words: list[str] = []
    for system in both:
        if system.spec is not None:
            words += ["--index", str(system.spec)]
        else:
            words += ["--retriever", shown(system.beside or str(place.searches))]
    return command("compare", *words, "--queries", "QUERIES", "--out", "comparison/")
