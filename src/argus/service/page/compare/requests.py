"""The job behind the button of the page: what all documents gain and lose from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.commands import command
from argus.data.artifacts import SUMMARY
from argus.indexes.hybrid import FUSION
from argus.indexes.views import ViewIndex
from argus.indexes.weighing import DENSE
from argus.service.page.compare.gains import HERE
from argus.service.page.compare.systems import System
from argus.service.page.repairs.requests import Wanted, known_inputs
from argus.service.workplace import SERVED, Workplace
from argus.stores.spec import shown
from argus.verdict.places import QUERIES, Places

Named = dict[str, list[str]]


def comparing(both: tuple[System, System], home: Path, place: Workplace) -> Wanted | None:
    """Return the job that compares two systems; None where a request may not start it.

    Indexes are asked for every document by its own title. A retriever or a store is asked the
    questions that the folder `home` knows, and is compared with what comes before or after it.
    """
    one, two = both
    if one.name == two.name or not place.contains(home):
        return None
    known = known_inputs(home, place).inputs if (home / SUMMARY).is_file() else {}
    questions: dict[str, str] = {n: known[n] for n in ("queries", "qrels") if n in known}
    indexes = [system for system in both if system.spec is not None]
    if len(indexes) == len(both):
        named = _of_indexes(indexes, place)
        questions.pop("qrels", None)
    else:
        named = _of_retrievers(both, place) if questions else None
    if named is None:
        return None
    job: Wanted = {"command": "compare", "options": {"out": str(home / HERE), "fresh": True}}
    job["options"].update(named)
    job["options"].update(questions)
    return job


def _of_indexes(systems: Sequence[System], place: Workplace) -> Named | None:
    """Return the options that name indexes, which a request may where they lie in the folders."""
    indexes, fusions = list[str](), list[str]()
    for system in systems:
        if system.spec is None or not place.contains(system.spec.path):
            return None
        path, state = system.spec.path.resolve(), system.spec.as_of
        indexes.append(str(path) if state is None else f"{path}@{state}")
        blend = ViewIndex.open(path).recipe(state).blend
        fusions.append(system.hybrid or (FUSION if blend and blend.bm25 else DENSE))
    return {"index": indexes, "hybrid": fusions}


def _of_retrievers(both: tuple[System, System], place: Workplace) -> Named | None:
    """Return the options that name what the service was started with, after an index or alone."""
    one, two = both
    retrievers = [system.name for system in both if system.spec is None]
    named: Named = {"retriever": retrievers}
    if place.encoder is not None and SERVED in retrievers:
        named["encoder"] = [SERVED]
    if two.spec is not None:
        return None  # the command line takes an index before a retriever alone
    if one.spec is not None:
        index = _of_indexes([one], place)
        return None if index is None else index | named
    return named


def command_of(both: tuple[System, System], place: Workplace, places: Places) -> str:
    """Return the command that compares two systems, as it would be typed."""
    words: list[str] = []
    for system in both:
        if system.spec is not None:
            words += ["--index", str(system.spec)]
        else:
            words += ["--retriever", shown(system.beside or str(place.searches))]
    if "--retriever" in words:
        words += ["--corpus", places.corpus, *places.options_of("compare")]
    if "--retriever" in words or places.queries != QUERIES:
        words += ["--queries", places.queries]
    return command("compare", *words, "--out", "comparison/")
