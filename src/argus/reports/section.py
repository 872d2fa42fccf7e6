"""Define a section of the HTML report, build its sortable tables, and list all sections.

A section stands in the folder of its capability: a module with `section(folder, summary)`, which
returns a `Section` of named parts, and beside it a template of the module's name that lays them
out. `SECTIONS` has them in their order. One is imported when a folder holds results of its job, so
that `argus.reports` depends on no job. `glossary` explains their terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from argus.data.tables import read_table
from argus.reports.figures import Figure

MAX_ROWS = 20_000  # rows of one table that the report holds, of all in the Parquet and CSV files


Table = dict[str, Any]  # as `table` returns it


@dataclass(frozen=True)
class Section:
    """The parts of a section that its template shows, each by name.

    brief: one line for the top of a report of several sections.
    """

    plots: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    brief: str = ""


def table(
    columns: Mapping[str, str], rows: Sequence[Sequence[object]], *, total: int | None = None
) -> Table:
    """Return a table for the report's script.

    columns: heading to kind (text, count, share, interval, band, signed, lines: text of several
    lines, said: pairs of words and their sort keys). rows: values in that order. The first
    MAX_ROWS are kept. total: rows there are, when `rows` was cut before.
    """
    return {
        "columns": [{"name": name, "kind": kind} for name, kind in columns.items()],
        "rows": rows[:MAX_ROWS],
        "total": len(rows) if total is None else total,
    }


def naming(label: str | None, id_: str) -> str:
    """Return how an entity or document is called in a table: label and id, once if equal."""
    return f"{label} · {id_}" if label and label != id_ else id_


def slices_table(folder: Path, name: str = "slices") -> Table:
    """Return the shares of a folder's slices, the worst first. name: of the Parquet file."""
    rows: list[dict[str, Any]] = read_table(folder / f"{name}.parquet").to_pylist()
    columns = dict.fromkeys(("field", "slice", "share of"), "text") | {
        "share": "share", "95% interval": "interval", "n": "count", "all": "share",
        "worse by": "share", "": "text",
    }  # fmt: skip
    cells = [
        [
            row["field"], row["slice"], row["share_of"], row["share"], [row["low"], row["high"]],
            row["n"], row["whole"], row["worse_by"], "few" if row["is_few"] else "",
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, cells, total=len(rows))


class Home(NamedTuple):
    """The place where a section is made.

    heading: in the page's navigation. command: of Argus, that writes the results. module: dotted,
    without argus.
    """

    heading: str
    command: str
    module: str


# By the name that the job has in summary.json.
SECTIONS: dict[str, Home] = {
    "audit": Home("Entities", "research audit", "retrievability.audit"),
    "traffic": Home("Traffic", "traffic audit", "traffic.section"),
    "judging": Home("Judged traffic", "traffic judge", "traffic.sampling"),
    "exposure": Home("Documents", "check", "retrievability.exposure"),
    "reach": Home("Store", "check", "reachability.job"),
    "drift": Home("Sources", "check", "drift.job"),
    "probe": Home("Probe", "research probe fit", "retrievability.probes.fit"),
    "prediction": Home("Predicted", "research probe predict", "retrievability.probes.predict"),
    "diagnosis": Home("Diagnosis", "research diagnose", "remedies.diagnosis"),
    "remedy": Home("Repair", "tune apply", "remedies.receipt"),
    "blend": Home("Blend", "tune apply blend", "remedies.blend"),
    "written": Home("Written", "tune apply write", "remedies.store_writing"),
    "repair": Home("What to change", "tune try", "repair.job"),
    "adapt": Home("Queries corrected", "tune apply adapt", "scenarios.adapt"),
    "scenarios": Home("Scenarios", "research scenarios write", "scenarios.profiles"),
    "needs": Home("Needs", "research scenarios needs", "scenarios.needs.audit"),
    "scenarios_qa": Home("Answers", "research scenarios qa", "scenarios.qa.job"),
    "preferences": Home("People", "research scenarios preferences", "scenarios.study"),
    "ablation": Home(
        "Scenario ablation", "research scenarios ablate", "scenarios.ablation.findings"
    ),
    "generative_search": Home(
        "Generative search", "research generative search", "generative.search"
    ),
    "generative_failures": Home(
        "Failures", "research generative analyse", "generative.failures.report"
    ),
    "kb": Home("Knowledge base", "research kb build", "kb.build"),
    "evaluation": Home("Judged questions", "evaluate", "evaluation.summary"),
    "comparison": Home("Gained and lost", "evaluate", "evaluation.comparison"),
    "authority": Home("Superseded documents", "check", "authority.audit"),
    "lint": Home("Superseded results", "authority lint", "authority.lint"),
    "harm": Home("Stale context", "research authority harm", "authority.harm"),
    "scoring": Home("Authority benchmark", "research authority score", "authority.benchmarks.job"),
}
# Terms of the report, in plain words.
TERMS: dict[str, str] = {
    "reachable": "Can be brought back at all: by its own vector, its own words, or what is related "
    "to it. Which real questions fail does not follow from it.",
    "good, doubtful, bad": "A count is good or bad where its whole 95% interval lies within the "
    "bound; else it is doubtful, and a larger sample may decide.",
    "interval": "The range in which a share lies with 95% confidence, as far as the sample tells.",
    "validity": "Whether a figure was seen to tell which real questions fail: measured here, "
    "measured elsewhere, or not validated.",
    "AUC": "How often a figure ranks a question that fails before one that does not: 0.5 is "
    "chance, 1 is perfect.",
    "RPS": "Retrieval Probability Score of an entity: how probable it is that an entity related to "
    "it brings it into the top k among N candidates.",
    "blind spot": "An entity with RPS below 0.33: fewer than a third of what is related to it "
    "brings it back. It may still come back for other questions.",
    "never retrieved": "A document that no query of a run brought into the top k.",
    "held-out sentence": "A sentence taken out of a document and asked as a question; the "
    "document is searched without it.",
    "hub": "A document that comes back for much that is not about it.",
    "view": "A text under which a document is found: its own, or one that a repair added.",
    "BM25": "Search by shared words, rare ones first.",
    "min-max": "Scores of BM25 and of vectors, each from 0 to 1, added: 0.3 is the share of BM25.",
    "RRF": "Adds one over the place in the list of BM25 and in that of vectors.",
    "DBSF": "Adds scores of BM25 and of vectors, each scaled by its deviation.",
    "Gini": "How unevenly documents come back: 0 all alike, 1 one document takes every place.",
    "need": "What somebody would look for who needs the document, in their words.",
    "nDCG@10": "How well the first ten results are ordered, 0 to 1; 1 has all that is relevant "
    "first.",
    "R@10": "The share of what is relevant that stands among the first ten.",
    "superseded": "Replaced by a newer document that now holds in its place.",
    "controlling": "The document that holds now, at the end of a chain of superseded ones.",
    "λ": "How much a document's own score counts against that of its views.",
}
OF_VERDICT = ("reachable", "interval", "good, doubtful, bad", "AUC", "validity")
# Terms of every verdict, and by the section that uses them.
OF_SECTION: dict[str, tuple[str, ...]] = {
    "audit": ("RPS", "blind spot"),
    "probe": ("RPS",),
    "diagnosis": ("RPS",),
    "exposure": ("held-out sentence", "never retrieved", "hub", "Gini"),
    "blend": ("hub", "λ"),
    "needs": ("need", "λ"),
    "ablation": ("need", "λ", "nDCG@10"),
    "evaluation": ("nDCG@10", "R@10"),
    "questions": ("nDCG@10", "R@10"),
    "authority": ("superseded", "controlling"),
    "lint": ("superseded", "controlling"),
}


def glossary(sections: Collection[str]) -> dict[str, str]:
    """Return the terms that a report of these sections uses, in the order of TERMS."""
    used = {*OF_VERDICT, *(term for name in sections for term in OF_SECTION.get(name, ()))}
    return {term: meaning for term, meaning in TERMS.items() if term in used}
