"""`scenarios preferences`: read filled sheets, and tell preferences and agreement of raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.rows import FORMATS, Row, read_json_lines, read_rows, whole_number
from argus.data.types import StateCounts
from argus.data.writing import one_writer
from argus.errors import InputError, Location
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.measures.intervals import wilson
from argus.measures.rater_agreement import cohen_kappa, fleiss_kappa, nominal_alpha
from argus.measures.significance import paired_difference
from argus.reports import write_report
from argus.scenarios.study.config import Criterion, PreferenceConfig, Versus
from argus.scenarios.study.section import preference_headline
from argus.scenarios.study.sheets import PLACE, TIE, A, B

KEY = "key.jsonl"
Label = Literal["scenarios", "rival", "tie"]
SCENARIOS: Final = "scenarios"
RIVAL: Final = "rival"  # Meaning of an answer, whichever side it names.
_SIDES = {A.casefold(): A, B.casefold(): B, TIE: TIE, "": ""}
_EXAMPLE = "sheet,pair,specificity,comprehensibility,usefulness,overall"
WORTH = {SCENARIOS: 1.0, TIE: 0.5, RIVAL: 0.0}  # Value of an answer for scenarios.
EVEN = 0.5
_ONE_JUDGE = "no pair has two judges"
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
# equal: share of equal answers on one pair.
# kappa: Fleiss' kappa.
# cohen: mean of Cohen's kappa over pairs of raters.
# alpha: Krippendorff's alpha, nominal.
# rater_pairs: pairs of raters.
# undefined: why agreement is not defined. Empty where it is.
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


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of one person on a pair by one criterion. side: A, B or tie. "" for no answer.

    label: None for no answer.
    """

    sheet: int
    pair: str
    versus: Versus
    query_id: str
    criterion: Criterion
    side: str
    label: Label | None


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of the sheets that came back.

    sheets: how many came back.
    """

    answers: Sequence[Answer]
    sheets: int
    missing_sheets: tuple[int, ...]


def read_key(study: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """Read the key of a study by sheet and pair. InputError where the folder holds none."""
    path = study / KEY if study.is_dir() else study
    if not path.is_file():
        raise InputError(
            "no key.jsonl in it",
            expected="the folder that argus research scenarios study wrote",
            fix="Give its --out: the key stands there, beside the sheets.",
            where=study,
        )
    key: dict[tuple[int, str], dict[str, Any]] = {}
    for row in read_json_lines(path):
        where = Location(path, line=row.line)
        with reading(where, "is damaged", expected="the file as Argus wrote it", fix=WRITTEN):
            Versus(row.values["versus"])
            sheet, pair = int(row.values["sheet"]), str(row.values["pair"])
            named = {name: str(row.values[name]) for name in ("versus", "query_id", "side")}
            key[sheet, pair] = {"sheet": sheet, "pair": pair, **named}
    return key


def read_answers(places: Sequence[Path], key: Mapping[tuple[int, str], dict[str, Any]]) -> Answers:
    """Read filled sheets: files, or folders of them.

    Raises InputError, with the line, for a pair that the study has not, one that is answered twice
    on one sheet, and an answer that is neither A, B nor tie.
    """
    rows: dict[tuple[int, str], Row] = {}
    for file in _files(places):
        for row in read_rows(file):
            place = _place(row, key)
            if place in rows:
                raise InputError(
                    f"pair {place[1]!r} of sheet {place[0]} comes twice, first in "
                    f"{rows[place].at()}",
                    expected="each sheet once",
                    fix="Leave one of the two files out.",
                    where=row.at(),
                )
            rows[place] = row
    if not rows:
        raise InputError(
            "no answer", expected=f"sheets with the columns {_EXAMPLE}",
            fix="Name filled sheets, or their folder.", where="--answers",
        )  # fmt: skip
    sheets = {sheet for sheet, _ in rows}
    answers = [a for place, row in sorted(rows.items()) for a in _answers(row, key[place])]
    left = sorted({sheet for sheet, _ in key} - sheets)
    return Answers(answers, len(sheets), tuple(left))


def _files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        if not place.is_dir():
            yield place
            continue
        files = sorted(f for f in place.iterdir() if f.suffix.lower() in FORMATS and f.is_file())
        if not files:
            raise InputError(
                "no sheet in it", expected=f"files of {', '.join(FORMATS)}",
                fix="Put filled sheets there, or name them.", where=place,
            )  # fmt: skip
        yield from files


def _place(row: Row, key: Mapping[tuple[int, str], dict[str, Any]]) -> tuple[int, str]:
    lacking = [name for name in (*PLACE, *Criterion) if name not in row.values]
    if lacking:
        raise InputError(
            f"no column {', '.join(map(repr, lacking))} among "
            f"{', '.join(map(repr, row.values)) or 'none'}",
            expected=_EXAMPLE,
            fix="Save the sheet as CSV with commas (not semicolons), its first line as it was.",
            where=row.at(),
        )
    sheet, pair = str(row.values["sheet"]).strip(), str(row.values["pair"]).strip()
    place = (whole_number(sheet) or 0, pair)
    if place not in key:
        raise InputError(
            f"pair {pair!r} on sheet {sheet!r}",
            expected="a pair that is on that sheet of this study",
            fix="Check that sheets and --study belong together, and that both columns are as they "
            "were.",
            where=row.at("pair"),
        )
    return place


def _answers(row: Row, key: Mapping[str, Any]) -> Iterator[Answer]:
    for criterion in Criterion:
        text = str(row.values[criterion] or "").strip()
        side = _SIDES.get(text.casefold())
        if side is None:
            raise InputError(
                repr(text),
                expected=f"{A}, {B} or {TIE}; empty where there is no answer",
                fix="Correct the cell.",
                where=row.at(criterion),
            )
        yield Answer(
            key["sheet"], key["pair"], Versus(key["versus"]), key["query_id"], criterion, side,
            _label(side, key["side"]),
        )  # fmt: skip


def _label(side: str, of_scenarios: str) -> Label | None:
    if not side:
        return None
    if side == TIE:
        return "tie"
    return SCENARIOS if side == of_scenarios else RIVAL


@dataclass(frozen=True)
class Judgements:
    """The answers by one criterion of one comparison. by_pair: of each pair, label by sheet."""

    versus: Versus
    criterion: Criterion
    by_pair: dict[str, dict[int, str]]
    no_answer: int

    @classmethod
    def of(cls, answers: Sequence[Answer], versus: Versus, criterion: Criterion) -> Judgements:
        """Return those of all answers. A pair that nobody judged is left out."""
        own = [a for a in answers if a.versus is versus and a.criterion is criterion]
        by_pair: dict[str, dict[int, str]] = {}
        for answer in own:
            if answer.label is not None:
                by_pair.setdefault(answer.pair, {})[answer.sheet] = answer.label
        return cls(versus, criterion, by_pair, sum(a.label is None for a in own))

    @property
    def values(self) -> dict[str, float]:
        """Value of each pair for scenarios: the mean over its judges, from 0 to 1."""
        return {
            pair: sum(WORTH[label] for label in labels.values()) / len(labels)
            for pair, labels in self.by_pair.items()
        }


def preferences(answers: Sequence[Answer], config: PreferenceConfig) -> list[dict[str, Any]]:
    """Return every criterion of every comparison that any answer is of, in their order."""
    present = {answer.versus for answer in answers}
    return [
        preference(Judgements.of(answers, versus, criterion), config)
        for versus in Versus
        if versus in present
        for criterion in Criterion
    ]


def preference(judgements: Judgements, config: PreferenceConfig) -> dict[str, Any]:
    """Return the result by one criterion. Pairs are resampled, not answers."""
    labels = Counter(label for own in judgements.by_pair.values() for label in own.values())
    values = judgements.values
    row: dict[str, Any] = {
        "versus": str(judgements.versus), "criterion": str(judgements.criterion),
        "pairs": len(values), "judgements": labels.total(), "no_answer": judgements.no_answer,
        "scenarios": labels[SCENARIOS], "tie": labels[TIE], "rival": labels[RIVAL],
        "share": None, "low": None, "high": None, "no_interval": "no answer", "p_value": None,
        "wins": sum(value > EVEN for value in values.values()),
        "even": sum(value == EVEN for value in values.values()),
        "losses": sum(value < EVEN for value in values.values()),
        "verdict": "", "agreement": agreement(judgements),
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


def agreement(judgements: Judgements) -> dict[str, Any]:
    """Return how far the judges of equal pairs agree, by scenarios, rival or tie."""
    units = [list(own.values()) for own in judgements.by_pair.values() if len(own) > 1]
    sizes = {len(unit) for unit in units}
    kappas = [
        kappa
        for pairs in _by_rater_pairs(judgements).values()
        if (kappa := cohen_kappa(pairs)) is not None
    ]
    equal = _equal_share(units)
    alpha = nominal_alpha(units)
    undefined = "" if alpha is not None else "all answers are equal" if units else _ONE_JUDGE
    return {
        "equal": equal,
        "kappa": fleiss_kappa(units) if len(sizes) == 1 else None,
        "cohen": sum(kappas) / len(kappas) if kappas else None,
        "rater_pairs": len(kappas),
        "alpha": alpha,
        "undefined": undefined,
    }


def _by_rater_pairs(judgements: Judgements) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """Return, for every two raters, both answers on each pair that both judged."""
    both: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for own in judgements.by_pair.values():
        for first, second in combinations(sorted(own), 2):
            both.setdefault((first, second), []).append((own[first], own[second]))
    return both


def _equal_share(units: Sequence[Sequence[str]]) -> float | None:
    """Return the share of equal pairs of answers. Each unit counts once."""
    if not units:
        return None
    shares = []
    for unit in units:
        equal = sum(n * (n - 1) for n in Counter(unit).values())
        shares.append(equal / (len(unit) * (len(unit) - 1)))
    return sum(shares) / len(shares)


def side_a(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return how often side A was preferred, whatever stood there."""
    sides = [answer.side for answer in answers if answer.side and answer.side != TIE]
    if not sides:
        return {"share": None, "low": None, "high": None, "answers": 0}
    share = sum(side == A for side in sides) / len(sides)
    low, high = (float(end) for end in wilson(share, len(sides)))
    return {"share": share, "low": low, "high": high, "answers": len(sides)}


def answer_counts(answers: Sequence[Answer], elsewhere: int) -> StateCounts:
    """Count answers by state. elsewhere: those on sheets that did not come back."""
    measured = sum(answer.label is not None for answer in answers)
    reasons = {"no answer": len(answers) - measured, "the sheet is not here": elsewhere}
    return {
        "total": len(answers) + elsewhere,
        "measured": measured,
        "failed": 0,
        "not applicable": len(answers) - measured + elsewhere,
        "reasons": {why: n for why, n in reasons.items() if n},
    }


@dataclass(frozen=True, repr=False)
class PreferenceResult(Result):
    """Result of a study. Everything in it is also in `folder`.

    table: one row per criterion of each comparison.
    answers: one row per answer: sheet, pair, criterion, and value.

    Keys of `summary`:

    study: folder of the study.
    sheets: sheets that came back.
    missing_sheets: numbers of the others.
    side_a.share: share that prefers side A. None without an answer.
    side_a.answers: answers that name a side.
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
    preferences.agreement.equal: share of equal pairs of answers on one pair of results.
    preferences.agreement.kappa: Fleiss' kappa.
    preferences.agreement.cohen: mean of Cohen's kappa over pairs of raters.
    preferences.agreement.rater_pairs: pairs of raters.
    preferences.agreement.alpha: Krippendorff's alpha, nominal.
    preferences.agreement.undefined: why one is not defined. Empty where all are.
    """

    TABLES = ("table", "answers")
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    answers: pa.Table

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
    summary: dict[str, Any] = {
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


def _table(summary: Mapping[str, Any]) -> pa.Table:
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
