"""Draw questions of a log to be judged, read or ask for grades, and estimate how often it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa

from argus.corpora import Corpus
from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import read_run
from argus.data.types import Document, Run
from argus.data.writing import one_writer
from argus.jobs.recorded_model import RecordedModel, require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.llm import ChatConfig, Ledger, LocalConfig, open_model
from argus.reports import write_report
from argus.traffic.config import JudgingConfig
from argus.traffic.judging.estimates import (
    Draw,
    JudgingSummary,
    headline,
    judging_summary,
    judging_table,
)
from argus.traffic.judging.grading import Judged, Poll
from argus.traffic.judging.sample import (
    ServedLog,
    ServedQuestion,
    digest,
    draw_sample,
    read_sample,
    read_served,
    with_risk,
    write_sample,
)
from argus.traffic.judging.table import (
    Filled,
    Pair,
    ToGrade,
    changing_table,
    read_filled,
    read_tables,
    write_table,
)

JOB = "judging"
TABLE = "to_judge.tsv"
LEDGER = "judgements.sqlite"
OTHER_SEED = (
    "--seed {} changed nothing: what was drawn before, with another seed, stays drawn. For another "
    "draw give another --out, or begin anew with --fresh, which forgets the grades."
)


@dataclass(frozen=True, repr=False)
class JudgingResult(Result):
    """What was drawn, judged and estimated; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    to_judge: Path
    """The table to fill in."""
    summary: JudgingSummary
    table: pa.Table
    """One row per question: risk, whether it is to be judged, and what it comes to."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
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
    run: what was served, where that is not in it. Where no risk is in it, questions are ordered by
    `rank_by_risk`. Grades of people are read from `out`/to_judge.tsv, or from
    `answers` (filled copies of it, one per person); `model` grades what they left open, in columns
    of its own. Run again, it goes on: the same questions stay drawn, grades in the table stay, and
    a larger budget adds to them. Raises InputError for a folder with another log's draw and for a
    table that is not of this one, NothingMeasured where nothing was served.
    """
    config = config or JudgingConfig()
    given = read_run(Path(run)) if isinstance(run, (str, Path)) else run
    source = Path(traffic) if isinstance(traffic, (str, Path)) else None
    if isinstance(traffic, (str, Path)):
        log = read_served(Path(traffic), given)
    else:
        log = ServedLog(list(traffic))
    served = sum(bool(q.documents) for q in log.questions)
    require_some(
        served, "question was served a document", "Give --run, or a log that says what came back."
    )
    folder, opened = ArtifactFolder(Path(out), fresh=fresh), open_corpus(corpus)
    documents = opened.documents(fields or FieldNames())
    path = Path(run) if isinstance(run, (str, Path)) else None
    record = Record(JOB, asdict(config), {"traffic": source, "run": path, "corpus": opened.origin})
    check_folder(folder, record)
    questions, order = with_risk(log.questions, documents)
    draw = _draw(questions, config, folder, documents)
    belonging = {row.pair: row for row in draw.rows}
    tables = read_tables([Path(answer) for answer in answers], belonging)
    people = tables if answers else _own_table(folder, belonging).votes
    record.open(folder)
    write_sample(folder, draw.sample, digest(questions, config.k))
    poll = _ask(model, [row for row in draw.rows if row.pair not in people], config, folder)
    if answers:
        judged = Judged.of(people, poll.beside({}) if poll else {}, poll)
    else:  # with grades that people put into the table meanwhile
        path = folder.own(TABLE, goes_on=True)
        with changing_table(path):
            content = _own_table(folder, belonging)
            if poll is not None:
                content = replace(content, by_model=poll.beside(content.by_model))
            write_table(path, draw.rows, content)
        judged = Judged.of(content.votes, content.by_model, poll)
    summary = judging_summary(draw, config, judged, log.unknown, order, folder / TABLE)
    table = judging_table(draw, config, judged)
    folder.write_table(JOB, table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["judged"]))
    report = write_report(folder.path)
    return JudgingResult(folder.path, report, folder / TABLE, summary, table)


def _own_table(folder: ArtifactFolder, belonging: Mapping[Pair, ToGrade]) -> Filled:
    path = folder / TABLE
    if folder.fresh or not path.is_file():
        return Filled()
    return read_filled(path, belonging)


def _draw(
    questions: Sequence[ServedQuestion],
    config: JudgingConfig,
    folder: ArtifactFolder,
    documents: Sequence[Document],
) -> Draw:
    by_id = {q.id: q for q in questions}
    times = {q.id: q.times for q in questions if q.documents}
    budget, seed, notes = config.budget, config.seed, []
    earlier = None if folder.fresh else read_sample(folder, digest(questions, config.k))
    if earlier is not None:
        if earlier["seed"] != seed:
            notes.append(OTHER_SEED.format(seed))
        budget, seed = max(budget, earlier["questions"]), earlier["seed"]
    sample = draw_sample(times, budget, seed)
    order = sample.questions
    shown = {doc for id_ in order for doc in by_id[id_].documents[: config.k]}
    most = config.max_chars
    texts = {
        d.id: d.content if len(d.content) <= most else f"{d.content[:most].rstrip()} …"
        for d in documents
        if d.id in shown
    }
    rows = [
        ToGrade(id_, by_id[id_].text, rank, doc, texts.get(doc))
        for id_ in order
        for rank, doc in enumerate(by_id[id_].documents[: config.k], 1)
    ]
    return Draw(questions, sample, rows, notes)


def _ask(
    model: ChatConfig | LocalConfig | None,
    rows: Sequence[ToGrade],
    config: JudgingConfig,
    folder: ArtifactFolder,
) -> Poll | None:
    """Have a model grade what people left open; None without a model, and where that is nothing."""
    if model is None or not rows:
        return None
    with Ledger(folder.own(LEDGER, goes_on=True)) as ledger:
        recorded = RecordedModel(open_model(model, ledger))
        poll = Poll.ask(recorded.name, recorded, rows, config.votes)
        require_answers(recorded, accept=True)
        return poll
