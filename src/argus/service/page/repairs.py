"""Try repairs, apply one, show its receipt, and undo it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, ManifestSection
from argus.data.reading import read_record
from argus.data.tables import Filter, read_where
from argus.errors import InputError
from argus.indexes.blend import BLEND, REMEDIES
from argus.measures.coverage import coverage_words
from argus.measures.significance import DifferenceFigures
from argus.remedies.blend import BlendSummary
from argus.remedies.undo import ListedRemedy, list_remedies
from argus.repair.job import HOME, JOB, TABLE, RepairSummary
from argus.repair.trials import ADAPT, EXPAND, NOTHING, SCENARIOS
from argus.service.page.indexes import index_of
from argus.service.page.rendering import PageOf, PageRoute, Row, Rows, Values
from argus.service.workplace import SERVED, Workplace
from argus.verdict.counts import Results
from argus.verdict.places import FILE, Project

MAX_CHANGED = 200  # questions that are shown of a candidate or remedy
INPUTS = ("queries", "qrels", "profiles", "kb")
"""Inputs of a trial: the judged questions, and the sources of its candidates."""
WHAT = {
    "blend": "Sentences, a correction of hubs, and words (BM25), mixed into the search.",
    "expand": "Views that say what a knowledge base knows of entities in documents at risk.",
    "scenarios": "Views that say what each document would be needed for.",
    "adapt": "A correction of queries, learnt from what documents are needed for.",
}  # fmt: skip
"""Each remedy in a sentence."""
MADE_OF = {"kb": (EXPAND,), "profiles": (SCENARIOS, ADAPT)}
"""The remedies that each input of a trial allows."""
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
    named = {name: files.get("kb 1" if name == "kb" else name) for name in ("kb", *INPUTS[:3])}
    last = {n: str(f) for n, f in named.items() if f is not None and place.holds(Path(f))}
    known = known_inputs(page.path or index, place)
    known["inputs"] |= last
    known["outside"] = {n: file for n, file in known["outside"].items() if n not in last}
    there = made_already(remedy["kind"] for remedy in remedies)
    own = {"index": str(index) if place.contains(index) else SERVED}
    chunks: dict[str, str] = {}
    if place.parent_field is not None and place.config is None:  # jobs read a file's own
        fields = {f"{name}_field": getattr(place.fields, name) for name in ("id", "title", "text")}
        fields |= {"corpus": place.corpus and SERVED, "parent_field": place.parent_field}
        chunks = {name: str(value) for name, value in fields.items() if value is not None}
    names: list[str] = []
    if tried is not None and not tried["is_old"]:
        names = [t["candidate"] for t in tried["summary"]["trials"]] or [tried["summary"]["kept"]]
    receipts = read_receipts(index, [one.path for one in place.results])
    return page.render(
        "repairs.html.j2", index=str(index), can_write=place.contains(index), what=WHAT,
        nothing=NOTHING, tried=tried, known=known, there=there,
        apply={name: _job("repair", {**own, "apply": name, **last, **chunks}) for name in names},
        receipts=[
            (one, _job("remedy rollback", {**own, "remedy": one.remedy["id"]})) for one in receipts
        ],
        inputs={name: file for name, file in known["inputs"].items() if name not in there},
        trial=_job("repair", {**own, "only_try": True, **chunks}), **page.panel(index),
    )  # fmt: skip


def _job(command: str, options: Mapping[str, object]) -> Values:
    """Return a job as `POST /jobs` takes it."""
    return {"command": command, "options": options}


def known_inputs(folder: Path, place: Workplace) -> dict[str, dict[str, str]]:
    """Return files that jobs of a folder read, that lie beside its corpus, or that argus.toml has.

    argus.toml is the file of `--config`, else the one of the current folder. "inputs" are files in
    the folders of the service, which a request may name. "configured" are files that jobs read by
    themselves, since the table `repair` of `--config` names them. "outside" are all others. Each
    by the name of its input.
    """
    project = Project.of(place.config or Path(FILE))
    places = replace(Results.of(folder).places, project=project)
    named = {name: getattr(places, name) for name in INPUTS}
    files = {name: file for name, file in named.items() if file and Path(file).exists()}
    inputs = {name: file for name, file in files.items() if place.contains(Path(file))}
    if not {"queries", "qrels"} <= inputs.keys():
        inputs = {n: file for n, file in inputs.items() if n not in ("queries", "qrels")}
    configured: dict[str, str] = {}
    for name in INPUTS if place.config is not None else ():
        if name not in inputs and (file := project.of_job(name, "repair")):
            configured[name] = file
    outside = {n: f for n, f in files.items() if n not in inputs and n not in configured}
    return {"inputs": inputs, "configured": configured, "outside": outside}


def made_already(kinds: Iterable[str | None]) -> dict[str, str]:
    """Return the inputs of which all remedies are in the index already, with these remedies.

    They are not filled in: trying a remedy again takes as long as any trial, and changes nothing.
    """
    there = set(kinds)
    return {name: " and ".join(of) for name, of in MADE_OF.items() if there.issuperset(of)}


class Changes(NamedTuple):
    """The questions that changed, harmed ones first, worst first, then the improved ones.

    rows: id, text, place_before and place_after of the first relevant document (None where none
    came), the difference of nDCG@10, and whether it is harmed.
    """

    rows: Rows
    harmed: int
    improved: int
    unchanged: int

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Changes:
        """Order questions and count them."""
        harmed = sorted((r for r in rows if r["difference"] < 0), key=itemgetter("difference"))
        improved = sorted((r for r in rows if r["difference"] > 0), key=lambda r: -r["difference"])
        rest = max(MAX_CHANGED - len(harmed), MAX_CHANGED // 2)
        shown = [*harmed[:MAX_CHANGED], *improved[:rest]]
        return cls(shown, len(harmed), len(improved), len(rows) - len(harmed) - len(improved))


class Receipt(NamedTuple):
    """A remedy in an index, and its figures on judged questions, where any were asked.

    changes: None where no questions were judged, and where those of a later remedy took their
    place. covered: how many of the questions' relevant documents have it, "" where all documents
    have it. was_chosen: whether these very questions chose it.
    """

    remedy: ListedRemedy
    difference: DifferenceFigures | None = None
    changes: Changes | None = None
    judged_by: str = "judged questions"
    covered: str = ""
    was_chosen: bool = False


def _last_trial(index: Path, candidate: str, remedies: Sequence[ListedRemedy]) -> Values | None:
    """Return the last trial with the questions of one candidate, the best where it has none such.

    is_old: other remedies are in the index now. Raises InputError where a file of it is damaged.
    """
    folder = ArtifactFolder(index / HOME)
    section = folder.read_json(SUMMARY).get(JOB)
    if section is None:
        return None
    summary = read_record(RepairSummary, section, where=folder / SUMMARY, section=JOB)
    manifest = read_record(
        ManifestSection, folder.read_json(MANIFEST).get(JOB), where=folder / MANIFEST, section=JOB
    )
    names = [trial["candidate"] for trial in summary["trials"]]
    best = summary["kept"] if summary["kept"] in names else next(iter(names), NOTHING)
    candidate = candidate if candidate in names else best
    return {
        "summary": summary, "at": manifest["finished"],
        "is_old": [remedy["id"] for remedy in remedies] != summary.get("in_index", []),
        "candidate": candidate, "changes": _changes_of_trial(folder.path, candidate),
        "inputs": {name: one["file"] for name, one in manifest["inputs"].items()},
    }  # fmt: skip


def _changes_of_trial(folder: Path, candidate: str) -> Changes:
    return _changes(
        folder / f"{TABLE}.parquet", [("candidate", "=", candidate)],
        ("query_id", "question", "place_before", "place_after"),
        lambda row: row["ndcg10_after"] - row["ndcg10_before"],
    )  # fmt: skip


def _changes(
    path: Path, where: list[Filter], columns: Sequence[str], difference: Callable[[Row], float]
) -> Changes:
    """Return the changed questions of a table. None where it is not there.

    columns: of id, text, and the two places.
    """
    rows: Rows = []
    for row in read_where(path, where).to_pylist() if path.is_file() else []:
        try:
            id_, text, before, after = (row[name] for name in columns)
            gain = float(difference(row))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"a row that lacks a column or a number ({error})",
                expected="the table as Argus wrote it",
                fix="Run the command again with the same --out.",
                where=path,
            ) from error
        rows.append({"id": id_, "text": text, "place_before": before, "place_after": after,
                     "difference": gain, "harmed": gain < 0})  # fmt: skip
    return Changes.of(rows)


def read_receipts(index: Path, results: Sequence[Path]) -> list[Receipt]:
    """Return the receipts of the remedies in an index, the latest first.

    results: folders in which a receipt may lie, beside the index's own.
    """
    return [_receipt(index, remedy, results) for remedy in reversed(list_remedies(index))]


def _receipt(index: Path, remedy: ListedRemedy, results: Sequence[Path]) -> Receipt:
    """Return the receipt of a remedy: of the repair that chose it, else of an evaluation of it.

    A blend that neither judged has the gain of its own summary, against the vectors alone.
    """
    id_ = remedy["id"]
    folders = (index / REMEDIES / id_, index, *results)
    summaries = {folder: ArtifactFolder(folder).read_json(SUMMARY) for folder in folders}

    def read(kind: type[Any], name: str, folder: Path) -> Any:
        section, where = summaries[folder].get(name), folder / SUMMARY
        return section and read_record(kind, section, where=where, section=name)

    for folder, sections in summaries.items():
        repair = read(RepairSummary, JOB, folder)
        trials = [t for t in repair["trials"] if t["candidate"] == repair["kept"]] if repair else []
        if trials and id_ in repair["remedies"]:
            changes = _changes_of_trial(folder, repair["kept"])
            covered = coverage_words(trials[0]["coverage"])
            figures = trials[0]["ndcg10"]
            return Receipt(remedy, figures, changes, repair["judged_by"], covered, True)
        evaluation = read(dict[str, Any], "evaluation", folder)
        systems = evaluation["systems"] if evaluation else []
        names = [system["name"].partition(",")[0] for system in systems]
        if len(names) == 2 and names[1].rpartition("@")[2].split(" ")[0] == id_:
            measure = evaluation["headline"]
            changes = _changes(
                folder / "per_query.parquet", [("state", "=", "measured")],
                ("query_id", "text", "rank before", "rank after"),
                itemgetter(f"{measure} difference"),
            )  # fmt: skip
            own = (s for s in sections.values() if isinstance(s, dict) and s.get("remedy") == id_)
            covered = coverage_words(next(own, {}).get("coverage"))
            figures = (evaluation["comparison"] or {}).get(measure)
            return Receipt(remedy, figures, changes, covered=covered)
    for folder, sections in summaries.items():
        if sections.get(BLEND, {}).get("remedy") == id_:
            parts = read(BlendSummary, BLEND, folder)["parts"]
            return Receipt(remedy, parts[-1]["ndcg10"] if parts else None)
    return Receipt(remedy)
