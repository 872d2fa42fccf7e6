"""Show the page that compares two systems in `argus serve`: one question, and all documents.

A system is an index, one of its earlier states, a retriever, or a store. The page sets their
results for a question side by side, and shows the gains and losses that `argus evaluate` measured
for two systems, or that a job of the page measured with titles as queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.commands import command
from argus.data.tables import read_where
from argus.errors import InputError
from argus.evaluation.comparison import SAME, only_one, relevant_sides
from argus.indexes.blend import DENSE, FUSION
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.header import IndexSpec, parse_index_spec
from argus.indexes.retriever import IndexRetriever, hits_of
from argus.indexes.views import ViewIndex
from argus.service.page.indexes import Warm, WarmIndexes, index_of
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values, any_of
from argus.service.workplace import SERVED, Workplace
from argus.stores.spec import shown as without_secrets
from argus.verdict.results import QUERIES, Results

MAX_ROWS = 200  # of each table of a comparison
HOME = "comparison"
"""Folder that a page has a comparison written to, in the one that it shows."""
Words = Annotated[str, Query(max_length=4000)]
router = APIRouter(route_class=PageRoute)


class System(NamedTuple):
    """An index, retriever or store that answers questions. name: in a URL.

    spec: of an index, None for another. hybrid: how BM25 is fused, None as the index says. beside:
    its name on the command line, where `--beside` named it.
    """

    name: str
    title: str
    spec: IndexSpec | None = None
    hybrid: str | None = None
    beside: str = ""


@router.get("/page/{folder}/compare")
def compare(
    page: PageOf, warm: Warm, q: Words = "", a: Words = "", b: Words = "",
    k: Annotated[int, Query(ge=1, le=100)] = 10,
) -> HTMLResponse:  # fmt: skip
    """Show two systems' results for a question, and the comparison that lies in the folder."""
    path, place = page.path, page.place
    offered = _systems(place)
    default = next((i for i, one in enumerate(offered) if one.title.endswith("all repairs")), 1)
    one, two = _named(a, offered, default), _named(b, offered, 0)
    home = path or (index_of(place, None).path if place.index is not None else place.folders[0])
    values: Values = {"q": q, "k": k, "one": one, "two": two, "answers": []}
    values |= page.panel(home / HOME)
    if one is not None and two is not None and len(offered) > 1:
        if q.strip():
            values["answers"] = _side_by_side(q, (one, two), k, warm)
        values["job"] = _job((one, two), home, place)
        known, words = place.results_in(path), list[str]()
        for system in (one, two):
            if system.spec is not None:
                words += ["--index", str(system.spec)]
            else:
                words += ["--retriever", without_secrets(system.beside or str(place.searches))]
        if "--retriever" in words:
            words += ["--corpus", known.corpus, *known.options_of("evaluate")]
        if "--retriever" in words or known.queries != QUERIES:
            words += ["--queries", known.queries]
        values["command"] = command("evaluate", *words, "--out", "comparison/")
    if page.is_part:
        return page.part("compare_answers.html.j2", **values)
    return page.render("compare.html.j2", offered=offered, gains=_gains(home), **values)


def _systems(place: Workplace) -> list[System]:
    """Return all that can be compared: now before earlier states, as served before vectors alone.

    Raises InputError for an index that cannot be read.
    """

    def title_of(name: str) -> str:
        return without_secrets(name).rpartition("/")[2]

    indexes = [name for name in place.beside if any_of(Path(name), INDEX_FILE)]
    offered = [] if place.asks is None else [System(SERVED, title_of(place.asks))]
    offered += [
        System(f"beside-{n}", title_of(name), beside=name)
        for n, name in enumerate(place.beside, 1)
        if name not in indexes
    ]
    paths = [parse_index_spec(place.index).path] if place.index else []
    paths += [
        *map(Path, indexes),
        *(one for one in place.results.values() if any_of(one, INDEX_FILE)),
    ]
    for path in {path.resolve(): path for path in paths}.values():
        states: dict[str | None, str] = {None: "as it is now"}
        if remedies := ViewIndex.open(path).remedies():
            states[ORIGINAL] = "before all repairs"
            states |= {remedy.id: f"after {remedy.id}" for remedy in remedies}
        for state, words in states.items():
            spec, title = IndexSpec(path, state), f"{path.name}, {words}"
            offered.append(System(str(spec), title, spec))
            offered.append(System(f"{spec} {DENSE}", f"{title}, by vectors alone", spec, DENSE))
    return offered


def _named(name: str, offered: list[System], default: int) -> System | None:
    """Return the system of a name, without one the default. InputError for an unknown one."""
    if not name:
        return offered[min(default, len(offered) - 1)] if offered else None
    if system := next((one for one in offered if one.name == name), None):
        return system
    expected = f"one of {', '.join(system.name for system in offered)}"
    raise InputError(f"no system {name!r}", expected=expected, fix="Choose one of the list.")


def _side_by_side(question: str, both: Sequence[System], k: int, warm: WarmIndexes) -> Rows:
    """Return the k best results of each system. other: the place in the other list."""
    sides: Rows = []
    for system in both:
        results: Rows
        if system.spec is None:
            service = warm.service
            searcher = service.beside[system.beside] if system.beside else service.searcher
            (answer,) = searcher.answer([question], k)
            ranked_by, results = answer.ranked_by, [{**hit} for hit in answer.hits]
        else:
            held = warm.retriever(system.spec)
            retriever = IndexRetriever(held.index, held.encoder, held.as_of, system.hybrid)
            (hits,) = hits_of(retriever, [question], k)
            ranked_by, results = retriever.name, [{**hit} for hit in hits]
        sides.append({"system": system, "ranked_by": ranked_by, "results": results})
    ranks = [{one["id"]: one["rank"] for one in side["results"]} for side in sides]
    for side, others in zip(sides, reversed(ranks), strict=True):
        for one in side["results"]:
            one["other"] = others.get(one["id"])
    return sides


def _job(both: Sequence[System], home: Path, place: Workplace) -> Values | None:
    """Return the job that asks two indexes for every document by its own title.

    None for another system, and where a request may not start it.
    """
    specs = [system.spec for system in both if system.spec is not None]
    if both[0].name == both[1].name or len(specs) < len(both):
        return None
    if not all(place.contains(path) for path in (home, *(spec.path for spec in specs))):
        return None
    hybrids = []
    for system, spec in zip(both, specs, strict=True):
        blend = ViewIndex.open(spec.path).recipe(spec.as_of).blend
        hybrids.append(system.hybrid or (FUSION if blend and blend.bm25 else DENSE))
    options = {"out": str(home / HOME), "fresh": True, "compare": True,
               "index": [str(spec) for spec in specs], "hybrid": hybrids}  # fmt: skip
    return {"command": "evaluate", "options": options}


def _gains(home: Path) -> Values | None:
    """Return the comparison in a folder, or the one that its page made. Lost documents first."""
    folder = next((f for f in (home, home / HOME) if any_of(f, "comparison.parquet")), None)
    if folder is None or "comparison" not in (results := Results.of(folder)).sections:
        return None
    summary = results.sections["comparison"]
    rows = read_where(folder / "comparison.parquet", [("verdict", "!=", SAME)])
    questions: Rows = []
    if any_of(folder, "comparison_queries.parquet"):
        changed = read_where(folder / "comparison_queries.parquet", [("changed", ">", 0)])
        questions = changed.sort_by([("changed", "descending")]).slice(0, MAX_ROWS).to_pylist()
    with results.reading():
        sentences = list(summary["notes"])
        if "only_before" in summary:
            sentences.append(only_one(summary))
        if "judged" in summary:
            sentences.append(relevant_sides(summary["judged"]))
        return {
            "summary": summary, "sentences": sentences,
            "names": [name.rpartition("/")[2] for name in summary["names"]],
            "rows": rows.slice(0, MAX_ROWS).to_pylist(), "questions": questions,
        }  # fmt: skip
