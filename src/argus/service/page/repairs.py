"""Show the page of repairs in `argus serve`: try remedies, apply one, show its receipt, undo it.

A remedy changes an index so that more documents are found. The page shows the trials of
`argus tune try` and the remedies in the index, and starts jobs for more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.tables import Filter, read_where
from argus.indexes.blend import REMEDIES
from argus.measures.measures import coverage_words
from argus.remedies.undo import list_remedies
from argus.repair.job import HOME, JOB, TABLE
from argus.repair.trials import ADAPT, EXPAND, NOTHING, SCENARIOS
from argus.service.page.indexes import index_of
from argus.service.page.rendering import PageOf, PageRoute, Row, Rows, Values
from argus.service.workplace import SERVED, TEXT_FIELDS, Workplace
from argus.verdict.results import Results

MAX_CHANGED = 200  # questions that are shown of a candidate or remedy
# Inputs of a trial: the judged questions, and the sources of its candidates.
INPUTS = ("queries", "qrels", "profiles", "kb")
MAX_FILES, LEVELS = 200, ("*", "*/*", "*/*/*")  # offered as inputs, and where they lie
# Each remedy in a sentence.
WHAT = {
    "sentences": "Each sentence is found, too, and stands for its document.",
    "blend": "Sentences and words (BM25), mixed into the search.",
    "expand": "Further texts (views) of documents at risk: what a knowledge base knows of them.",
    "scenarios": "Further texts (views): what each document would be needed for.",
    "adapt": "A correction of queries, learnt from what documents are needed for.",
}  # fmt: skip
AS_WRITTEN = {"expected": "the file as Argus wrote it", "fix": WRITTEN}
# The remedies that each input of a trial allows. An input is not filled in where all of them are in
# the index: trying a remedy again takes as long as any trial, and changes nothing.
MADE_OF = {"kb": (EXPAND,), "profiles": (SCENARIOS, ADAPT)}
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/repairs")
def repairs(page: PageOf, candidate: Annotated[str, Query(max_length=100)] = "") -> HTMLResponse:
    """Show the trials of repairs on the index of a folder, possible and past, and its remedies.

    The form holds the inputs of the last trial, or those that the folder knows.
    """
    place = page.place
    if not page.has_index:
        return page.render("repairs_none.html.j2")
    index = index_of(place, page.path).path
    remedies = list_remedies(index)
    tried = _last_trial(index, candidate, remedies)
    files = {} if tried is None else tried["inputs"]
    named = {name: files.get("kb 1" if name == "kb" else name) for name in INPUTS}
    last = {n: str(f) for n, f in named.items() if f is not None and place.holds(Path(f))}
    known = known_inputs(page.path or index, place) | last
    kinds = {remedy["kind"] for remedy in remedies}
    there = {name: " and ".join(of) for name, of in MADE_OF.items() if kinds.issuperset(of)}
    own = {"index": str(index) if place.contains(index) else SERVED}
    chunks: dict[str, str] = {}
    parent, served = place.chunks.parent_field, place.chunks.fields
    if parent is not None and place.config is None:  # jobs read a file's own
        fields = {f"{name}_field": getattr(served, name) for name in TEXT_FIELDS}
        fields |= {"corpus": place.chunks.corpus and SERVED, "parent_field": parent}
        chunks = {name: str(value) for name, value in fields.items() if value is not None}
    names = tried["names"] if tried is not None and not tried["is_old"] else []
    receipts = read_receipts(index, [*place.results.values()])
    return page.render(
        "repairs.html.j2", index=str(index), can_write=place.contains(index), what=WHAT,
        nothing=NOTHING, tried=tried, there=there,
        apply={name: _job("tune try", {**own, "apply": name, **last, **chunks}) for name in names},
        receipts=[
            (one, _job("tune undo", {**own, "remedy": one["remedy"]["id"]}))
            for one in receipts
        ],
        inputs={name: file for name, file in known.items() if name not in there},
        files=sorted({*files_in(place), *known.values()}),
        trial=_job("tune try", {**own, "only_try": True, **chunks}), **page.panel(index),
    )  # fmt: skip


def _job(command: str, options: Mapping[str, object]) -> Values:
    """Return a job as `POST /jobs` takes it."""
    return {"command": command, "options": options}


def files_in(place: Workplace) -> list[str]:
    """Return files in the folders that may be inputs, and are no table of a job."""
    there = (file for level in LEVELS for folder in place.folders for file in folder.glob(level))
    fits = (
        str(file)
        for file in there
        if file.suffix in (".jsonl", ".tsv", ".csv", ".txt") and "/." not in str(file)
        and not file.with_suffix(".parquet").exists()
    )  # fmt: skip
    return list(islice(fits, MAX_FILES))


def known_inputs(folder: Path, place: Workplace) -> dict[str, str]:
    """Return the inputs of a trial that jobs of a folder read.

    Files outside the folders of the service are left out: a request may not name them. Judged
    questions go with their judgements.
    """
    read = Results.of(folder)
    named = {
        "queries": read.queries, "qrels": read.qrels,
        "profiles": read.input("profiles"), "kb": read.input("kb 1"),
    }  # fmt: skip
    inputs = {name: file for name, file in named.items() if file and place.holds(Path(file))}
    return inputs if {"queries", "qrels"} <= inputs.keys() else {
        name: file for name, file in inputs.items() if name not in ("queries", "qrels")
    }  # fmt: skip


def _last_trial(index: Path, candidate: str, remedies: Sequence[Values]) -> Values | None:
    """Return the last trial with the questions of one candidate, the best where it has none such.

    names: candidates that can be applied. is_old: other remedies are in the index now. Raises
    InputError where a file of it is damaged.
    """
    folder = ArtifactFolder(index / HOME)
    if (summary := folder.read_json(SUMMARY).get(JOB)) is None:
        return None
    with reading(folder / SUMMARY, **AS_WRITTEN):
        manifest = folder.read_json(MANIFEST)[JOB]
        tried, kept = [arm["arm"] for arm in summary["arms"]], summary["kept"]
        best = kept if kept in tried else next(iter(tried), NOTHING)
        candidate = candidate if candidate in tried else best
        return {
            "summary": summary, "at": manifest["finished"],
            "names": [arm["arm"] for arm in summary["arms"] if arm["applies"]] or [kept],
            "is_old": [remedy["id"] for remedy in remedies] != summary.get("in_index", []),
            "candidate": candidate, "changes": _changes_of_trial(folder.path, candidate),
            "inputs": {name: one["file"] for name, one in manifest["inputs"].items()},
        }  # fmt: skip


def _changes_of_trial(folder: Path, candidate: str) -> Values:
    return _changes(
        folder / f"{TABLE}.parquet", [("arm", "=", candidate)],
        ("query_id", "question", "place_before", "place_after"),
        lambda row: row["ndcg10_after"] - row["ndcg10_before"],
    )  # fmt: skip


def _changes(
    path: Path, where: list[Filter], columns: Sequence[str], gain: Callable[[Row], float]
) -> Values:
    """Return the changed questions of a table. None where it is not there.

    columns: of id, text, and the two read. rows: harmed questions first, worst first, then the
    improved ones, with the places of the first relevant document (None where none came).
    harmed, improved, unchanged: how many there are.
    """
    table = read_where(path, where).to_pylist() if path.is_file() else []
    again = "Run the command again with the same --out."
    names, lacks = ("id", "text", "place_before", "place_after"), "a row that lacks a column"
    with reading(path, f"{lacks} or a number", expected="the table as Argus wrote it", fix=again):
        rows: Rows = [
            {name: row[column] for name, column in zip(names, columns, strict=True)}
            | {"difference": float(gain(row))}
            for row in table
        ]
    changed = [row for row in rows if row["difference"]]
    changed.sort(key=lambda row: (row["difference"] > 0, -abs(row["difference"])))
    harmed = sum(row["difference"] < 0 for row in changed)
    return {
        "rows": changed[:MAX_CHANGED], "harmed": harmed, "improved": len(changed) - harmed,
        "unchanged": len(rows) - len(changed),
    }  # fmt: skip


def read_receipts(index: Path, results: Sequence[Path]) -> Rows:
    """Return the receipts of the remedies in an index, the latest first.

    results: folders in which a receipt may lie, beside the index's own.

    remedy: the remedy.
    difference: figures on judged questions, None where none were asked.
    changes: changed questions, None where those of a later remedy took their place.
    judged_by: what judged it, in words.
    covered: how many of the questions' relevant documents have it, "" where all documents have it.
    was_chosen: whether these very questions chose it.
    """
    receipts: Rows = []
    for remedy in reversed(list_remedies(index)):
        found: Values | None = None
        for folder in (index / REMEDIES / remedy["id"], index, *results):
            with reading(folder / SUMMARY, **AS_WRITTEN):
                found = found or _receipt(remedy["id"], folder)
        receipts.append({
            "remedy": remedy, "difference": None, "changes": None, "covered": "",
            "judged_by": "judged questions", "was_chosen": False, **(found or {}),
        })  # fmt: skip
    return receipts


def _receipt(id_: str, folder: Path) -> Values | None:
    """Return the figures of the repair that chose a remedy, else of an evaluation of it."""
    sections: Mapping[str, Any] = ArtifactFolder(folder).read_json(SUMMARY)
    repair, evaluation = map(sections.get, (JOB, "evaluation"))
    if repair and id_ in repair["remedies"]:
        trials = [arm for arm in repair["arms"] if arm["arm"] == repair["kept"]]
        if trials:
            return {
                "difference": trials[0]["ndcg10"], "was_chosen": True,
                "changes": _changes_of_trial(folder, repair["kept"]),
                "judged_by": repair["judged_by"], "covered": coverage_words(trials[0]["coverage"]),
            }  # fmt: skip
    names = [one["name"].partition(",")[0] for one in evaluation["systems"]] if evaluation else []
    if not evaluation or len(names) != 2 or names[1].rpartition("@")[2].split(" ")[0] != id_:
        return None
    measure = evaluation["headline"]
    own = (one for one in sections.values() if isinstance(one, dict) and one.get("remedy") == id_)
    return {
        "difference": (evaluation["comparison"] or {}).get(measure),
        "covered": coverage_words(next(own, {}).get("coverage")),
        "changes": _changes(
            folder / "per_query.parquet", [("state", "=", "measured")],
            ("query_id", "text", "rank before", "rank after"), itemgetter(f"{measure} difference"),
        ),
    }  # fmt: skip
