"""Draw questions of a log to be judged, read or ask for grades, and estimate how often it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from argus.corpora.names import Corpus
from argus.corpora.opening import open_corpus
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.runs import read_run
from argus.data.types import Document, Run, State, StateCounts
from argus.jobs.recorded_model import RecordedModel, require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.llm import ChatConfig, Ledger, LocalConfig, open_model
from argus.measures.rater_agreement import nominal_alpha
from argus.traffic.judging.asking import ask_grades, one_grade
from argus.traffic.judging.config import JudgingConfig
from argus.traffic.judging.estimates import Verdict, estimate_failures, verdict
from argus.traffic.judging.picking import Stratum, extended, pick_to_judge
from argus.traffic.judging.plan import read_plan, write_plan
from argus.traffic.judging.questions import ServedQuestion, digest, read_served
from argus.traffic.judging.summary import (
    GradeAgreement,
    JudgingSummary,
    StratumFigures,
    headline,
)
from argus.traffic.judging.table import Pair, ToGrade, read_tables, write_table

JOB = "judging"
TABLE = "to_judge.tsv"
LEDGER = "judgements.sqlite"
PEOPLE = "people"
NO_GRADE = "a document of it has no grade"
Grades = Mapping[Pair, tuple[int, ...]]


@dataclass(frozen=True, repr=False)
class JudgingResult(Result):
    """What was drawn, judged and estimated; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    to_judge: Path
    """The table to fill in."""
    summary: JudgingSummary
    table: pa.Table
    """One row per question: risk, stratum, whether it is to be judged, and what it comes to."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@dataclass(frozen=True)
class Draw:
    """What is to be judged. rows: documents to grade, in the order in which they are shown."""

    questions: Sequence[ServedQuestion]
    strata: Sequence[Stratum]
    rows: Sequence[ToGrade]
    by_id: Mapping[str, ServedQuestion] = field(default_factory=dict)

    @property
    def drawn(self) -> list[str]:
        """Questions to judge."""
        return list(dict.fromkeys(row.question_id for row in self.rows))


def judge_traffic(
    traffic: Path | str | Sequence[ServedQuestion],
    *,
    corpus: Corpus,
    out: Path | str,
    run: Path | str | Run | None = None,
    config: JudgingConfig | None = None,
    answers: Sequence[Path | str] = (),
    model: ChatConfig | LocalConfig | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> JudgingResult:
    """Draw questions to judge, take their grades, and estimate failure rate, hits@k and nDCG@k.

    traffic: the folder of `argus traffic`, a table of questions, or questions; see `read_served`.
    run: what was served, where that is not in it. Grades are read from `out`/to_judge.tsv, from
    `answers` (filled copies of it, one per person), or asked of `model`. Run again, it goes on: the
    same questions stay drawn, grades in the table stay, and a larger budget adds to them. Raises
    InputError for a folder with another log's draw, for a table that is not of this one, and
    NothingMeasured where nothing was served.
    """
    config = config or JudgingConfig()
    questions, source = _read(traffic, run)
    require_some(
        sum(bool(q.documents) for q in questions),
        "question was served a document",
        "Give --run, or a log that says what was served.",
    )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    opened = open_corpus(corpus)
    record = Record(JOB, asdict(config), {"traffic": source, "served": opened.origin})
    check_folder(folder, record)
    draw = _draw(questions, config, folder, opened.documents(fields or FieldNames()))
    belonging = {row.pair: row for row in draw.rows}
    paths = [Path(path) for path in answers] or _own_table(folder)
    read = read_tables(paths, belonging) if model is None else {}
    record.open(folder)
    write_plan(folder, draw.strata, digest(questions, config.k))
    judge, grades, failed = PEOPLE, read, {}
    if model is not None:
        judge, grades, failed = _ask(model, draw, config, folder)
    if not answers:
        kept = {pair: one_grade(votes) for pair, votes in grades.items()}
        write_table(folder.own(TABLE), draw.rows, kept)
    return _write(folder, record, draw, config, Judged(judge, grades, failed))


@dataclass(frozen=True)
class Judged:
    """Who judged, all grades of each document, and why others have none."""

    judge: str
    grades: Grades
    failed: Mapping[Pair, str]


def _read(
    traffic: Path | str | Sequence[ServedQuestion], run: Path | str | Run | None
) -> tuple[list[ServedQuestion], Path | None]:
    served = read_run(Path(run)) if isinstance(run, (str, Path)) else run
    if isinstance(traffic, (str, Path)):
        return read_served(Path(traffic), served), Path(traffic)
    return list(traffic), None


def _own_table(folder: ArtifactFolder) -> list[Path]:
    path = folder / TABLE
    return [path] if path.is_file() and not folder.fresh else []


def _draw(
    questions: Sequence[ServedQuestion],
    config: JudgingConfig,
    folder: ArtifactFolder,
    documents: Sequence[Document],
) -> Draw:
    by_id = {q.id: q for q in questions}
    served = {q.id: q for q in questions if q.documents}
    earlier = None if folder.fresh else read_plan(folder, digest(questions, config.k))
    times = {id_: q.times for id_, q in served.items()}
    risk = {id_: q.risk for id_, q in served.items()}
    if earlier is None:
        strata = pick_to_judge(risk, config.budget, times=times, seed=config.seed)
    else:
        strata = extended(earlier, risk, config.budget, times=times)
    texts = {d.id: d.content for d in documents}
    order = _interleaved([stratum.drawn for stratum in strata])
    rows = [
        ToGrade(id_, by_id[id_].text, rank, doc, _shown(texts.get(doc), config.max_chars))
        for id_ in order
        for rank, doc in enumerate(by_id[id_].documents[: config.k], 1)
    ]
    return Draw(questions, strata, rows, by_id)


def _interleaved(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return all ids so that every beginning holds each block's beginning in proportion."""
    places = [
        ((i + 0.5) / len(block), number, id_)
        for number, block in enumerate(blocks)
        for i, id_ in enumerate(block)
    ]
    return [id_ for _, _, id_ in sorted(places)]


def _shown(text: str | None, most: int) -> str | None:
    if text is None or len(text) <= most:
        return text
    return f"{text[:most].rstrip()} …"


def _ask(
    model: ChatConfig | LocalConfig, draw: Draw, config: JudgingConfig, folder: ArtifactFolder
) -> tuple[str, Grades, Mapping[Pair, str]]:
    with Ledger(folder.own(LEDGER)) as ledger:
        recorded = RecordedModel(open_model(model, ledger))
        grades, failed = ask_grades(recorded, draw.rows, config.votes)
        require_answers(recorded, accept=True)
        return recorded.name, grades, failed


def _write(
    folder: ArtifactFolder, record: Record, draw: Draw, config: JudgingConfig, judged: Judged
) -> JudgingResult:
    verdicts, failed = _verdicts(draw, config, judged)
    summary: JudgingSummary = {
        "questions": len(draw.questions),
        "asked": sum(q.times for q in draw.questions),
        "nothing_served": sum(not q.documents for q in draw.questions),
        "predicted": sum(q.risk is not None for q in draw.questions),
        "budget": config.budget,
        "k": config.k,
        "relevant_from": config.relevant_from,
        "documents": len(draw.rows),
        "graded": len(judged.grades),
        "judge": judged.judge,
        "judged": _counts(draw, verdicts, failed),
        "skipped": _skipped(draw.strata, verdicts),
        "strata": [_stratum(stratum, draw, verdicts) for stratum in draw.strata],
        "estimates": estimate_failures(draw.questions, draw.strata, verdicts),
        "agreement": _agreement(judged.grades, config.relevant_from),
        "table": str(folder / TABLE),
    }
    table = _table(draw, verdicts)
    folder.write_table(JOB, table, csv=True)
    folder.write_section("summary.json", JOB, summary)
    folder.write_section("manifest.json", JOB, record.manifest(summary["judged"]))
    return JudgingResult(folder.path, folder / TABLE, summary, table)


def _verdicts(
    draw: Draw, config: JudgingConfig, judged: Judged
) -> tuple[dict[str, Verdict], dict[str, str]]:
    """Return the verdict of each question all of whose documents are graded, and why not else."""
    verdicts: dict[str, Verdict] = {}
    failed: dict[str, str] = {}
    for id_ in draw.drawn:
        pairs = [(id_, doc) for doc in draw.by_id[id_].documents[: config.k]]
        lacking = [pair for pair in pairs if pair not in judged.grades]
        if not lacking:
            grades = [one_grade(judged.grades[pair]) for pair in pairs]
            verdicts[id_] = verdict(grades, config.relevant_from)
        elif lacking[0] in judged.failed:
            failed[id_] = judged.failed[lacking[0]]
    return verdicts, failed


def _counts(draw: Draw, verdicts: Mapping[str, Verdict], failed: Mapping[str, str]) -> StateCounts:
    total = len(draw.drawn)
    waiting = total - len(verdicts) - len(failed)
    reasons: dict[str, int] = {}
    for why in failed.values():
        reasons[why] = reasons.get(why, 0) + 1
    if waiting:
        reasons[NO_GRADE] = waiting
    return {
        "total": total,
        "measured": len(verdicts),
        "failed": len(failed),
        "not applicable": waiting,
        "reasons": reasons,
    }


def _skipped(strata: Sequence[Stratum], verdicts: Mapping[str, Verdict]) -> int:
    """Return how many were passed over: before the last one of their stratum that was judged."""
    skipped = 0
    for stratum in strata:
        at = [i for i, id_ in enumerate(stratum.drawn) if id_ in verdicts]
        skipped += at[-1] + 1 - len(at) if at else 0
    return skipped


def _stratum(stratum: Stratum, draw: Draw, verdicts: Mapping[str, Verdict]) -> StratumFigures:
    failures = [verdicts[id_].failure for id_ in stratum.order if id_ in verdicts]
    low, high = stratum.risk or (None, None)
    return {
        "risk_low": low,
        "risk_high": high,
        "always": stratum.certain,
        "questions": len(stratum.order),
        "asked": sum(draw.by_id[id_].times for id_ in stratum.order),
        "drawn": stratum.judged,
        "judged": len(failures),
        "failed_share": sum(failures) / len(failures) if failures else None,
    }


def _agreement(grades: Grades, relevant_from: int) -> GradeAgreement:
    units = [
        [str(grade >= relevant_from) for grade in votes]
        for votes in grades.values()
        if len(votes) > 1
    ]
    equal = sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None
    return {"documents": len(units), "equal": equal, "alpha": nominal_alpha(units)}


def _table(draw: Draw, verdicts: Mapping[str, Verdict]) -> pa.Table:
    number = {id_: i for i, s in enumerate(draw.strata) for id_ in s.order}
    drawn = set(draw.drawn)
    rows = [(q, verdicts.get(q.id)) for q in draw.questions]
    state = [
        State.MEASURED if v else State.FAILED if q.id in drawn else State.NOT_APPLICABLE
        for q, v in rows
    ]
    return pa.table(
        {
            "query_id": pa.array([q.id for q, _ in rows], pa.string()),
            "times": pa.array([q.times for q, _ in rows], pa.int64()),
            "risk": pa.array([q.risk for q, _ in rows], pa.float64()),
            "stratum": pa.array([number.get(q.id) for q, _ in rows], pa.int64()),
            "drawn": pa.array([q.id in drawn for q, _ in rows], pa.bool_()),
            "state": pa.array([str(s) for s in state], pa.string()),
            "failure": pa.array([v and v.failure for _, v in rows], pa.float64()),
            "ndcg": pa.array([v and v.ndcg for _, v in rows], pa.float64()),
        }
    )
