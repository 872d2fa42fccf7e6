"""`research scenarios preferences`: read raters' answers, and compute preferences and agreement.

Answers (CSV) to the sheets of `argus.scenarios.study`, and its key -> the share that prefers
results with scenarios, by criterion, with intervals and Krippendorff's alpha (SPIKE Figure 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.rows import Row, read_json_lines, read_rows, whole_number
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, check_folder, require_some
from argus.measures import RESAMPLES, Resamples
from argus.measures.intervals import nominal_alpha
from argus.measures.significance import ends_words, interval_words, paired_difference
from argus.reports import write_report
from argus.reports.section import Section, table
from argus.scenarios.study import KEY, PLACE, TIE, A, B, Criterion, Versus
from argus.scenarios.tables import headings, schema
from argus.settings import Seed, Writes, check_settings

SCENARIOS = "scenarios"
RIVAL = "rival"  # Meaning of an answer, whichever side it names.
SIDES = (A, B, TIE, "")
_EXAMPLE = "sheet,pair,specificity,comprehensibility,usefulness,overall"
WORTH = {SCENARIOS: 1.0, TIE: 0.5, RIVAL: 0.0}  # Value of an answer for scenarios.
EVEN = 0.5
JOB = "preferences"
OUT = "preferences"  # Folder of a study for its answers.
# One row per criterion of each comparison, agreement beside the shares.
#
# versus: rival of scenarios.
# criterion: question about the two results.
# pairs: pairs that were judged.
# judgements: answers to the criterion.
# no_answer: places left empty.
# scenarios, tie, rival: judgements that prefer scenarios, neither, the other.
# share: share of the judgements for scenarios, a tie half, as the mean over pairs.
# wins, even, losses: pairs by the majority of their judges.
# verdict: joint verdict of interval and test.
# alpha: Krippendorff's alpha, nominal.
# undefined: why that is not defined. Empty where it is.
_SCHEMA = schema(
    ("versus criterion", str), ("pairs judgements no_answer scenarios tie rival", int),
    ("share low high p_value", float), ("wins even losses", int), ("no_interval verdict", str),
    ("alpha", float), ("undefined", str),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PreferenceConfig:
    """How answers are told."""

    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)


class Answer(NamedTuple):
    """Answer of one person on a pair by one criterion. side: A, B or tie. "" for no answer.

    label: None for no answer.
    """

    sheet: int
    pair: str
    versus: Versus
    criterion: Criterion
    side: str
    label: str | None


def read_key(study: Path) -> dict[tuple[int, str], Mapping[str, str]]:
    """Read the key of a study by sheet and pair. InputError where the folder holds none."""
    path = study / KEY
    if not path.is_file():
        raise InputError(
            "no key.jsonl in it",
            expected="the folder that argus research scenarios study wrote",
            fix="Give its --out: the key stands there, beside the sheets.",
            where=study,
        )
    with reading(path, "is damaged", expected="the file as Argus wrote it", fix=WRITTEN):
        rows = [row.values for row in read_json_lines(path)]
        return {(int(row["sheet"]), str(row["pair"])): row for row in rows}


def read_answers(
    places: Sequence[Path], key: Mapping[tuple[int, str], Mapping[str, str]]
) -> list[Answer]:
    """Read answers that pages saved: files, or folders of them.

    Raises InputError, with the line, for a pair that the study has not, one that is answered twice
    on one sheet, and an answer that is neither A, B nor tie.
    """
    rows: dict[tuple[int, str], Row] = {}
    inside = [sorted(given.glob("*.csv")) if given.is_dir() else [given] for given in places]
    for row in chain.from_iterable(map(read_rows, chain.from_iterable(inside))):
        lacking = [name for name in (*PLACE, *Criterion) if name not in row.values]
        if lacking:
            raise InputError(
                f"no column {', '.join(map(repr, lacking))}", expected=_EXAMPLE,
                fix="Give the file that the sheet's page saved, as it is.", where=row.at(),
            )  # fmt: skip
        sheet, pair = str(row.values["sheet"]).strip(), str(row.values["pair"]).strip()
        place = (whole_number(sheet) or 0, pair)
        if place not in key:
            raise InputError(
                f"pair {pair!r} on sheet {sheet!r}",
                expected="a pair that is on that sheet of this study",
                fix="Check that answers and --study belong together.", where=row.at("pair"),
            )  # fmt: skip
        if place in rows:
            first = rows[place].at()
            raise InputError(
                f"pair {pair!r} of sheet {sheet} comes twice, first in {first}",
                expected="each sheet once", fix="Leave one of the two files out.", where=row.at(),
            )  # fmt: skip
        rows[place] = row
    if not rows:
        raise InputError(
            "no answer", expected=f"files with the columns {_EXAMPLE}",
            fix="Name saved answers, or their folder.", where="--answers",
        )  # fmt: skip
    answers = []
    for place, row in sorted(rows.items()):
        for criterion in Criterion:
            text = str(row.values[criterion] or "").strip()
            if text not in SIDES:
                expected = f"{A}, {B} or {TIE}; empty where there is no answer"
                where = row.at(criterion)
                raise InputError(repr(text), expected=expected, fix="Correct it.", where=where)
            labels = {"": None, TIE: TIE, key[place]["side"]: SCENARIOS}
            versus = Versus(key[place]["versus"])
            answers.append(Answer(*place, versus, criterion, text, labels.get(text, RIVAL)))
    return answers


def preference(
    answers: Sequence[Answer], versus: Versus, criterion: Criterion, config: PreferenceConfig
) -> dict[str, Any]:
    """Return the result of one comparison by one criterion. Pairs are resampled, not answers.

    The value of a pair for scenarios is the mean over its judges, from 0 to 1.
    """
    own = [a for a in answers if a.versus is versus and a.criterion is criterion]
    by_pair: dict[str, dict[int, str]] = {}  # label by sheet; without pairs that nobody judged
    for answer in own:
        if answer.label is not None:
            by_pair.setdefault(answer.pair, {})[answer.sheet] = answer.label
    labels = Counter(label for one in by_pair.values() for label in one.values())
    values = {
        pair: sum(WORTH[label] for label in one.values()) / len(one)
        for pair, one in by_pair.items()
    }
    row: dict[str, Any] = {
        "versus": str(versus), "criterion": str(criterion),
        "pairs": len(values), "judgements": labels.total(),
        "no_answer": sum(a.label is None for a in own),
        "scenarios": labels[SCENARIOS], "tie": labels[TIE], "rival": labels[RIVAL],
        "share": None, "low": None, "high": None, "no_interval": "no answer", "p_value": None,
        "wins": sum(value > EVEN for value in values.values()),
        "even": sum(value == EVEN for value in values.values()),
        "losses": sum(value < EVEN for value in values.values()),
        "verdict": "", **agreement([list(own.values()) for own in by_pair.values()]),
    }  # fmt: skip
    if not values:
        return row
    test = paired_difference(
        dict.fromkeys(values, EVEN), values, seed=config.seed, resamples=config.resamples
    )
    why_not = test.no_interval.replace("queries", "pairs").replace("query", "pair")
    row["share"], row["p_value"], row["verdict"] = test.mean_after, test.p_value, test.verdict
    row["no_interval"] = why_not.replace("changed", "with a preference")
    if test.low is not None and test.high is not None:
        row["low"], row["high"] = max(0.0, EVEN + test.low), min(1.0, EVEN + test.high)
    return row


def agreement(pairs: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return Krippendorff's alpha of the labels of each pair, and why there is none."""
    units = [labels for labels in pairs if len(labels) > 1]
    alpha = nominal_alpha(units)
    undefined = "all answers are equal" if units else "no pair has two judges"
    return {"alpha": alpha, "undefined": undefined if alpha is None else ""}


@dataclass(frozen=True, repr=False)
class PreferenceResult(TableResult):
    """Result of a study. Everything in it is also in `folder`.

    table: one row per criterion of each comparison.

    Keys of `summary`:

    study: folder of the study.
    sheets: sheets that came back.
    preferences.versus: rival of scenarios.
    preferences.criterion: question about the two results.
    preferences.pairs: pairs that were judged.
    preferences.judgements: answers to the criterion.
    preferences.no_answer: places left empty.
    preferences.scenarios: judgements that prefer scenarios, neither, the other.
    preferences.tie: judgements that prefer scenarios, neither, the other.
    preferences.rival: judgements that prefer scenarios, neither, the other.
    preferences.share: judgements that prefer scenarios, a tie half, as the mean over pairs.
    preferences.wins: pairs by the majority of their judges.
    preferences.even: pairs by the majority of their judges.
    preferences.losses: pairs by the majority of their judges.
    preferences.verdict: joint verdict of interval and test.
    preferences.alpha: Krippendorff's alpha, nominal.
    preferences.undefined: why it is not defined. Empty where it is.
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        answers = self.summary["answers"]
        yield (
            f"{self.summary['sheets']} sheets, {answers['measured']:,} of {answers['total']:,} "
            "answers"
        )
        for one in self.summary["preferences"]:
            told = "no answer"
            if one["share"] is not None:
                alpha = one["undefined"] if one["alpha"] is None else f"alpha {one['alpha']:.2f}"
                told = (
                    f"{one['share']:.1%} ({interval_words(one, '.1%')}) over {one['pairs']:,} "
                    f"pairs; {one['scenarios']:,} prefer them, {one['tie']:,} tie, "
                    f"{one['rival']:,} not; {alpha}"
                )
            yield f"{one['criterion']}, scenarios against {one['versus']}: {told}"


@one_writer
def read_preferences(
    study: Path | str,
    answers: Sequence[Path],
    *,
    out: Annotated[
        Path | str | None, Writes(lambda options: Path(options["study"]) / "preferences")
    ] = None,
    config: PreferenceConfig | None = None,
    fresh: o.Fresh = False,
) -> PreferenceResult:
    """Tell what the people of a study prefer, and how far they agree.

    Per comparison and criterion: the share that prefers scenarios with its interval, and
    Krippendorff's alpha. Writes preferences (.parquet and .csv), summary.json, manifest.json and
    report.html.

    Raises InputError for answers that are not of this study, a sheet that comes twice and an answer
    that is none, and NothingMeasured where nobody answered anything.

    Args:
        study: Folder of argus research scenarios study, with its key.
        answers: Files that sheets saved, or a folder of them; may be given again.
        out: Folder for the results; default STUDY/preferences.
    """
    config, home = config or PreferenceConfig(), Path(study)
    key = read_key(home)
    places = [answers] if isinstance(answers, (str, Path)) else answers
    returned = read_answers([Path(place) for place in places], key)
    measured = sum(answer.label is not None for answer in returned)
    require_some(measured, "answer is on the sheets", "All cells of the criteria are empty.")
    sheets = {answer.sheet for answer in returned}
    elsewhere = len(Criterion) * len(key) - len(returned)
    reasons = {"no answer": len(returned) - measured, "the sheet is not here": elsewhere}
    present = {answer.versus for answer in returned}
    summary: dict[str, Any] = {
        "study": str(home),
        "sheets": len(sheets),
        "answers": {
            "total": len(returned) + elsewhere,
            "measured": measured,
            "failed": 0,
            "not applicable": sum(reasons.values()),
            "reasons": {why: n for why, n in reasons.items() if n},
        },
        "preferences": [
            preference(returned, versus, criterion, config)
            for versus in Versus
            if versus in present
            for criterion in Criterion
        ],
    }
    folder = ArtifactFolder(Path(out) if out is not None else home / OUT, fresh=fresh)
    record = Record(JOB, asdict(config), {"key": home / KEY})
    check_folder(folder, record)
    record.open(folder)
    shares = pa.Table.from_pylist(summary["preferences"], schema=_SCHEMA)
    folder.write_table(JOB, shares, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["answers"]))
    return PreferenceResult(folder.path, write_report(folder.path), summary, shares)


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of summary.json alone."""
    rows, overall = [], []
    for one in summary["preferences"]:
        counts = ("pairs", "wins", "even", "losses", "judgements", "no_answer")
        p = "" if one["p_value"] is None else f"{one['p_value']:.4f}"
        alpha = one["undefined"] if one["alpha"] is None else f"{one['alpha']:.3f}"
        rows.append([
            f"{one['criterion']}, against {one['versus']}", one["share"],
            ends_words(one["low"], one["high"], one["no_interval"]), p,
            *(one[count] for count in counts), alpha,
        ])  # fmt: skip
        if one["criterion"] == "overall" and one["share"] is not None:
            overall.append(f"{one['share']:.0%} for scenarios against {one['versus']}")
    columns = headings(
        "criterion: text; prefer scenarios: share; 95% interval: text; p: text; pairs: count; "
        "won: count; even: count; lost: count; judgements: count; no answer: count; "
        "Krippendorff's alpha: text"
    )
    brief = f"people, overall: {', '.join(overall)}" if overall else "people said nothing overall"
    return Section({}, {"preferences": table(columns, rows)}, brief)
