"""`scenarios preferences`: preferences of the people of a study, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.reports import write_report
from argus.scenarios.study.answers import KEY, Answer, read_answers, read_key
from argus.scenarios.study.config import Criterion, PreferenceConfig
from argus.scenarios.study.preferences import answer_counts, preferences, side_a
from argus.scenarios.study.summary import PreferenceSummary, preference_headline

JOB = "preferences"
OUT = "preferences"
"""Folder of a study for its answers."""


@dataclass(frozen=True, repr=False)
class PreferenceResult(Result):
    """Result of a study. Everything in it is also in `folder`."""

    TABLES = ("table", "answers")
    folder: Path
    report: Path
    summary: PreferenceSummary
    table: pa.Table
    """One row per criterion of each comparison."""
    answers: pa.Table
    """One row per answer: sheet, pair, criterion, and value."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return preference_headline(self.summary)


@one_writer
def read_preferences(
    study: Path | str,
    answers: Path | str | Sequence[Path | str],
    *,
    out: Path | str | None = None,
    config: PreferenceConfig | None = None,
    fresh: bool = False,
) -> PreferenceResult:
    """Read filled sheets and tell the preference by each criterion, with agreement of raters.

    study: the folder of `make_study`. answers: filled sheets, or folders of them. out: default
    `study/preferences`. Raises InputError for sheets that are not of this study, one that comes
    twice and an answer that is none, and NothingMeasured where nobody answered anything.
    """
    config, home = config or PreferenceConfig(), Path(study)
    key = read_key(home)
    places = [answers] if isinstance(answers, (str, Path)) else answers
    returned = read_answers([Path(place) for place in places], key)
    filled = sum(answer.label is not None for answer in returned.answers)
    require_some(filled, "answer is on the sheets", "All cells of the criteria are empty.")
    elsewhere = len(Criterion) * len(key) - len(returned.answers)
    summary: PreferenceSummary = {
        "study": str(home),
        "sheets": returned.sheets,
        "missing_sheets": list(returned.missing_sheets),
        "answers": answer_counts(returned.answers, elsewhere),
        "side_a": side_a(returned.answers),
        "preferences": preferences(returned.answers, config),
    }
    folder = ArtifactFolder(Path(out) if out is not None else home / OUT, fresh=fresh)
    record = Record(JOB, asdict(config), {"key": home / KEY if home.is_dir() else home})
    check_folder(folder, record)
    record.open(folder)
    table, rows = _table(summary), answers_table(returned.answers)
    folder.write_table(JOB, table, csv=True)
    folder.write_table("preference_answers", rows, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["answers"]))
    return PreferenceResult(folder.path, write_report(folder.path), summary, table, rows)


def _table(summary: PreferenceSummary) -> pa.Table:
    """Return one row per criterion of each comparison, agreement beside the shares."""
    rows = []
    for one in summary["preferences"]:
        flat = {name: value for name, value in one.items() if name != "agreement"}
        rows.append({**flat, **one["agreement"]})
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def answers_table(answers: Sequence[Answer]) -> pa.Table:
    """Return one row per answer that a person gave. Null where there is none.

    sheet: number of the sheet.
    pair: id of the pair of results.
    versus: rival of scenarios.
    criterion: question to the rater.
    side: side that is preferred: A, B or tie.
    prefers: scenarios, the rival, or tie.
    """
    return pa.table(
        {
            "sheet": pa.array([a.sheet for a in answers], pa.int64()),
            "pair": pa.array([a.pair for a in answers], pa.string()),
            "versus": pa.array([str(a.versus) for a in answers], pa.string()),
            "query_id": pa.array([a.query_id for a in answers], pa.string()),
            "criterion": pa.array([str(a.criterion) for a in answers], pa.string()),
            "side": pa.array([a.side or None for a in answers], pa.string()),
            "prefers": pa.array([a.label for a in answers], pa.string()),
        }
    )


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("versus", "criterion")]
    + [
        (name, pa.int64())
        for name in ("pairs", "judgements", "no_answer", "scenarios", "tie", "rival")
    ]
    + [(name, pa.float64()) for name in ("share", "low", "high", "p_value")]
    + [(name, pa.int64()) for name in ("wins", "even", "losses")]
    + [(name, pa.string()) for name in ("no_interval", "verdict")]
    + [(name, pa.float64()) for name in ("equal", "kappa", "cohen", "alpha")]
    + [("rater_pairs", pa.int64()), ("undefined", pa.string())]
)
"""One row per criterion of each comparison, agreement beside the shares.

versus: rival of scenarios.
criterion: question about the two results.
pairs: pairs that were judged.
judgements: answers to the criterion.
no_answer: places left empty.
scenarios, tie, rival: judgements that prefer scenarios, neither, the other.
share: share of the judgements for scenarios, a tie half, as the mean over pairs.
wins, even, losses: pairs by the majority of their judges.
verdict: joint verdict of interval and test.
equal: share of equal answers on one pair.
kappa: Fleiss' kappa.
cohen: mean of Cohen's kappa over pairs of raters.
alpha: Krippendorff's alpha, nominal.
rater_pairs: pairs of raters.
undefined: why agreement is not defined. Empty where it is.
"""
