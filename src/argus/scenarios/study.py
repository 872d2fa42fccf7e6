"""`argus research scenarios study`: have people compare lists of results, and read their answers.

`make_study`: index and queries -> HTML sheets for raters, who compare results with scenarios to
those without (SPIKE §4.3). A sheet is a page for a browser, which saves the answers as CSV. It does
not name the content of a side: that stands in key.jsonl, which raters do not get.
`read_preferences` (`research scenarios preferences`): answers and key -> the share that prefers
results with scenarios, by criterion, with intervals and Krippendorff's alpha (SPIKE Figure 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pyarrow as pa

from argus.data.documents import read_queries
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import WRITTEN, reading
from argus.data.rows import Row, read_json_lines, read_rows, whole_number
from argus.data.types import Query
from argus.data.writing import one_writer, write_jsonl, write_whole
from argus.devices import Device
from argus.errors import InputError
from argus.indexes.blend import Weight
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import open_retriever
from argus.indexes.snapshot import Snapshot
from argus.jobs import options as o
from argus.jobs.result import Result, TableResult
from argus.jobs.workspace import Record, check_folder, require_some
from argus.measures import RESAMPLES, Resamples
from argus.measures.intervals import nominal_alpha
from argus.measures.significance import ends_words, interval_words, paired_difference
from argus.reports import write_report
from argus.reports.section import Section, table
from argus.scenarios.qa.cases import Retrieved, context_hit, draw, retrieve, scenarios_in
from argus.scenarios.qa.judge import Arm
from argus.scenarios.tables import headings, schema
from argus.settings import Doc, Ge, Option, Seed, Writes, check_settings

JOB = "study"
KEY = "key.jsonl"
SHEETS = "sheets"  # The folder that raters get their files from.
NO_SCENARIO = "no document that is shown has a scenario"
EQUAL_SIDES = "both sides show the same"
NOTHING = "nothing was retrieved"
# Headings that a rater reads before the parts of a scenario. No word of who made them.
TOPIC, NEED, EXPLANATION = "Topic", "Needed by", "How it helps"
A, B, TIE = "A", "B", "tie"
Side = Literal["A", "B"]
PLACE = ("sheet", "pair")  # Columns of a sheet that say which pair an answer is on.
LEAST_CHARS = 100


class Versus(StrEnum):
    """Rivals of documents with their scenarios (SPIKE §4.3, Figure 4)."""

    DOCUMENT = "document"  # Documents as a search without scenarios ranks and shows them.
    # The same documents, of whose scenarios the main topic alone is shown.
    MAIN_TOPIC = "main-topic"


class Criterion(StrEnum):
    """Answer of a rater on two results (SPIKE appendix C.4)."""

    SPECIFICITY = "specificity"
    COMPREHENSIBILITY = "comprehensibility"
    USEFULNESS = "usefulness"
    OVERALL = "overall"

    @property
    def question(self) -> str:
        """Question to the rater."""
        return QUESTIONS[self]


# In words of our own, after appendix C.4.
QUESTIONS = {
    Criterion.SPECIFICITY: "Which search result gives more specific, more detailed information?",
    Criterion.COMPREHENSIBILITY: "Which search result is easier to understand at a glance?",
    Criterion.USEFULNESS: "Which search result helps more to solve the problem or to decide?",
    Criterion.OVERALL: "Which search result do you prefer overall?",
}
Comparisons = Annotated[
    tuple[Versus, ...],
    Doc("What scenarios are compared with: document, main-topic; several with commas."),
]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """A study. questions, judges: the paper's. How many results a side shows it does not say.

    Attributes:
        questions: Questions that people see, drawn at random.
        judges: People who judge each pair.
        raters: Sheets, one for each person; default: as many as --judges.
        k: Results on each side.
        max_chars: Characters of each document.
    """

    versus: Comparisons = tuple(Versus)
    questions: Annotated[int, Ge(1)] = 100
    judges: Annotated[int, Ge(1)] = 3
    raters: Annotated[int | None, Ge(1)] = None
    k: Annotated[int, Ge(1)] = 3
    max_chars: Annotated[int, Ge(LEAST_CHARS)] = 1_500
    weight: Weight = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "versus", tuple(Versus(v) for v in dict.fromkeys(self.versus)))
        if self.raters is not None and self.raters < self.judges:
            raise InputError(
                f"{self.raters} sheets for {self.judges} judges of each pair",
                expected="as many people as judge one pair, at least",
                fix=f"Use --raters {self.judges} or more, or fewer --judges.",
                where="--raters",
            )

    @property
    def sheets(self) -> int:
        """How many people there are."""
        return self.judges if self.raters is None else self.raters


@dataclass(frozen=True, repr=False)
class StudyResult(Result):
    """A study that people can begin. Everything in it is also in `folder`.

    sheets: pages of raters. Everything else stays with whoever asks them.

    Keys of `summary`:

    k: results on each side.
    questions: questions that were read.
    drawn: questions of which pairs are shown.
    comparisons.versus: rival of scenarios.
    pairs: pairs of results.
    sheets: sheets, one for each person.
    judges: people who judge each pair.
    judgements: pairs on all sheets.
    pairs_per_sheet: pairs of each sheet.
    """

    folder: Path
    sheets: tuple[Path, ...]
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        per = summary["pairs_per_sheet"]
        length = f"{min(per):,}" if min(per) == max(per) else f"{min(per):,} to {max(per):,}"
        yield (
            f"{summary['pairs']:,} pairs of {summary['drawn']:,} questions "
            f"({summary['questions']:,} in all), each judged by {summary['judges']}: "
            f"{summary['sheets']} sheets of {length}"
        )
        for one in summary["comparisons"]:
            reasons = "; ".join(f"{n:,}: {why}" for why, n in one["reasons"].items())
            without = f" ({reasons})" if reasons else ""
            shown = f"{one['measured']:,} of {one['total']:,} questions"
            yield f"against {one['versus']}: {shown}{without}"
        yield f"sheets: {self.folder / SHEETS}; what stands on which side: {self.folder / KEY}"


@one_writer
def make_study(
    index: o.IndexState,
    queries: o.Queries,
    *,
    out: o.Out = o.OUT,
    config: StudyConfig | None = None,
    encoder: o.IndexEncoder = None,
    device: Device = None,
    coerce_ids: Annotated[CoerceIds, Option()] = False,
    fresh: o.Fresh = False,
) -> StudyResult:
    """Write sheets on which people compare results with scenarios and without (SPIKE §4.3).

    Each person gets OUT/sheets/sheet-N.html, a page for a browser. It does not say which side has
    what; OUT/key.jsonl does, and stays with you. Four criteria: specificity,
    comprehensibility, usefulness, overall. argus research scenarios preferences reads what comes
    back.

    index: `PATH[@STATE]` with scenarios. Questions are drawn at random. A question is left out, and
    counted, where no document that is shown has a scenario or both sides would show the same.
    Raises InputError for an index without scenarios, and NothingMeasured where no pair is left.
    """
    config = config or StudyConfig()
    path = Path(queries) if isinstance(queries, (str, Path)) else None
    if isinstance(queries, (str, Path)):
        queries = read_queries(Path(queries), coerce_ids=coerce_ids)
    texts = [query for query in queries if query.text.strip()]
    require_some(len(texts), "question has a text", "Check --queries.")
    sample = draw(texts, config.questions, config.seed)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, device=device, weight=config.weight)
    snapshot, model = retriever.index.snapshot(retriever.as_of), retriever.encoder
    scenarios_in(snapshot, str(spec))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = asdict(config) | {"index": str(spec), "weight": retriever.weight}
    record = Record(JOB, settings, {"queries": path}, {"fingerprint": model.fingerprint})
    check_folder(folder, record, about=[spec.path])
    record.open(folder, about=[spec.path])
    vectors, searched = folder.own("embeddings"), {query.id: query.text for query in sample}
    with record.timed("retrieving"):
        retrieved = retrieve(searched, retriever, snapshot, vectors, k=config.k)
    outcomes = list(pairs(sample, retrieved, snapshot, config))
    ready = [outcome for outcome in outcomes if isinstance(outcome, Pair)]
    why = next((outcome.reason for outcome in outcomes if isinstance(outcome, NoPair)), "")
    require_some(len(ready), "question can be shown with and without scenarios", why)
    rows = places(ready, config.sheets, config.judges, config.seed)
    by_sheet: dict[int, list[Place]] = {}
    for row in rows:
        by_sheet.setdefault(row.sheet, []).append(row)
    comparisons = []
    for versus in config.versus:
        own = [outcome for outcome in outcomes if outcome.versus is versus]
        without = [outcome for outcome in own if isinstance(outcome, NoPair)]
        failed = sum(outcome.failed for outcome in without)
        comparisons.append({
            "versus": str(versus),
            "total": len(own),
            "measured": len(own) - len(without),
            "failed": failed,
            "not applicable": len(without) - failed,
            "reasons": dict(Counter(outcome.reason for outcome in without)),
        })  # fmt: skip
    numbers = range(1, config.sheets + 1)
    summary: dict[str, Any] = {
        "index": str(spec),
        "k": config.k,
        "questions": len(queries),
        "drawn": len(sample),
        "comparisons": comparisons,
        "pairs": len(ready),
        "sheets": config.sheets,
        "judges": config.judges,
        "judgements": len(rows),
        "pairs_per_sheet": [len(by_sheet.get(number, ())) for number in numbers],
    }
    home = folder.own(SHEETS)
    home.mkdir(exist_ok=True)
    sheets = {number: home / f"sheet-{number}.html" for number in by_sheet}
    for number, path in sheets.items():
        write_whole(path, page(number, by_sheet[number]))
    write_jsonl(folder.own(KEY), map(key_row, rows))
    counts = {"pairs": summary["pairs"], "judgements": summary["judgements"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return StudyResult(folder.path, tuple(sheets.values()), summary)


@dataclass(frozen=True, slots=True)
class Shown:
    """One result as it is shown. parts: heading and text of each shown part."""

    doc_id: str
    text: str
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with two lists of results.

    id: tells neither the comparison nor whose side is whose, and is no number to a spreadsheet.
    scenarios: with topic, need and explanation.
    """

    id: str
    versus: Versus
    query: Query
    scenarios: tuple[Shown, ...]
    rival: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class NoPair:
    """A question that cannot be shown, and why.

    failed: whether something went wrong. If not, the comparison does not apply.
    """

    versus: Versus
    reason: str
    failed: bool = False


def pairs(
    queries: Sequence[Query], retrieved: Retrieved, snapshot: Snapshot, config: StudyConfig
) -> Iterator[Pair | NoPair]:
    """Yield every question in every comparison, in order.

    The rival with main topics shows the documents of the search with scenarios, the one without
    anything those of the search without (SPIKE §4.3).
    """

    def shown(query: Query, arm: Arm, parts: Sequence[str]) -> tuple[Shown, ...]:
        results = []
        for id_ in list(retrieved.runs[arm][query.id])[: config.k]:
            hit, most = context_hit(snapshot, id_, retrieved.vectors[query.id]), config.max_chars
            text = hit.text if len(hit.text) <= most else f"{hit.text[:most].rstrip()} …"
            found: dict[tuple[str, str], None] = {}
            for scenario in hit.scenarios:
                texts = (scenario.main_topic, scenario.information_need, scenario.explanation)
                named = zip((TOPIC, NEED, EXPLANATION), texts, strict=True)
                found |= {(name, of): None for name, of in named if name in parts and of.strip()}
            results.append(Shown(hit.doc_id, text, tuple(found)))
        return tuple(results)

    for query, versus in product(queries, config.versus):
        if (failure := retrieved.failed.get(query.id)) is not None:
            yield NoPair(versus, failure, failed=True)
            continue
        is_same = versus is Versus.MAIN_TOPIC
        scenarios = shown(query, Arm.FUSED, (TOPIC, NEED, EXPLANATION))
        parts = (TOPIC,) if is_same else ()
        rival = shown(query, Arm.FUSED if is_same else Arm.DOCUMENTS, parts)
        if not scenarios or not rival:
            yield NoPair(versus, NOTHING, failed=True)
        elif not any(one.parts for one in scenarios):
            yield NoPair(versus, NO_SCENARIO)
        elif scenarios == rival:
            yield NoPair(versus, EQUAL_SIDES)
        else:
            hashed = content_hash(str(config.seed), str(versus), query.id, size=6).hex()
            yield Pair(f"p{hashed}", versus, query, scenarios, rival)


@dataclass(frozen=True, slots=True)
class Place:
    """A pair on a sheet. sheet: from 1. side: of the results with scenarios."""

    sheet: int
    pair: Pair
    side: Side

    def column(self, side: Side) -> tuple[Shown, ...]:
        """Return the contents of a side."""
        return self.pair.scenarios if side == self.side else self.pair.rival


def places(pairs: Sequence[Pair], sheets: int, judges: int, seed: int) -> list[Place]:
    """Return the place of each pair: on `judges` sheets. Lengths of sheets differ by 1 at most.

    Everything is drawn by the pair's id, so it depends on no order of files. On each sheet
    scenarios stand on either side equally often, or once more.
    """
    order = sorted(pairs, key=lambda pair: _draw(seed, "order", pair.id))
    by_sheet: dict[int, list[Pair]] = {sheet: [] for sheet in range(1, sheets + 1)}
    for i, pair in enumerate(order):
        for j in range(judges):
            by_sheet[1 + (i * judges + j) % sheets].append(pair)
    rows = []
    for sheet, own in by_sheet.items():
        tossed = sorted(own, key=lambda pair: _draw(seed, f"side {sheet}", pair.id))
        first: dict[str, Side] = {p.id: A if (i + sheet) % 2 else B for i, p in enumerate(tossed)}  # type: ignore[misc]
        shuffled = sorted(own, key=lambda pair: _draw(seed, f"sheet {sheet}", pair.id))
        rows += [Place(sheet, pair, first[pair.id]) for pair in shuffled]
    return rows


def _draw(seed: int, what: str, id_: str) -> bytes:
    return content_hash(str(seed), what, id_, size=8)


def key_row(place: Place) -> dict[str, Any]:
    """Return the key's line of a pair on a sheet."""
    return {
        "sheet": place.sheet,
        "pair": place.pair.id,
        "versus": str(place.pair.versus),
        "query_id": place.pair.query.id,
        "side": place.side,
        "scenarios": [shown.doc_id for shown in place.pair.scenarios],
        "rival": [shown.doc_id for shown in place.pair.rival],
    }


def page(sheet: int, rows: Sequence[Place]) -> str:
    """Return a sheet as a page: nothing is fetched, and answers are saved as CSV by a button."""
    import jinja2

    from argus.reports import environment

    pages = environment(jinja2.PackageLoader("argus", "scenarios"))
    key = content_hash(*(f"{place.pair.id}{place.side}" for place in rows), size=6).hex()
    return pages.get_template("sheet.html.j2").render(
        sheet=sheet, rows=rows, criteria=list(Criterion), sides=[A, B], tie=TIE,
        place=PLACE, study=key, n=len(rows),
    )  # fmt: skip


SCENARIOS = "scenarios"
RIVAL = "rival"  # Meaning of an answer, whichever side it names.
SIDES = (A, B, TIE, "")
_EXAMPLE = "sheet,pair,specificity,comprehensibility,usefulness,overall"
WORTH = {SCENARIOS: 1.0, TIE: 0.5, RIVAL: 0.0}  # Value of an answer for scenarios.
EVEN = 0.5
PREFERENCES = "preferences"  # The job, and the folder of a study for its answers.
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
    folder = ArtifactFolder(Path(out) if out is not None else home / PREFERENCES, fresh=fresh)
    record = Record(PREFERENCES, asdict(config), {"key": home / KEY})
    check_folder(folder, record)
    record.open(folder)
    shares = pa.Table.from_pylist(summary["preferences"], schema=_SCHEMA)
    folder.write_table(PREFERENCES, shares, csv=True)
    folder.write_results(PREFERENCES, summary, record.manifest(summary["answers"]))
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
