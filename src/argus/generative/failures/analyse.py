"""`argus research generative analyse`: explain why a generative search fails, by question.

`analyse_failures`: outputs of one or two systems -> figures and modes of failure per question,
tables per system, and a report. The steps: `reading` (records), `measures`
(figures), `replay` and `judging` (optional), `diagnosis` and `tables`, `report`. docs/failures.md
defines all.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa

from argus.cores import available_cores
from argus.corpora import CorpusName, NamedCorpus, named
from argus.data.documents import read_topics
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import read_qrels
from argus.data.tables import harmless, read_table
from argus.data.writing import one_writer, replacing
from argus.devices import Device
from argus.errors import InputError
from argus.generative.failures.diagnosis import (
    System,
    comparison,
    diagnosed,
    diagnosis_table,
    pairs,
    system_summary,
    taxonomy,
)
from argus.generative.failures.judging import (
    FAILED,
    LEDGER,
    VERDICTS,
    Candidate,
    estimate_judging,
    judge_passages,
)
from argus.generative.failures.measures import (
    Measurements,
    Setup,
    check_measured,
    ids_of_questions,
    measure_output,
    to_table,
)
from argus.generative.failures.reading import Output, Problem, open_outputs
from argus.generative.failures.tables import lacking
from argus.generative.folders import index_folder, need_model
from argus.generative.index import NgramIndex
from argus.generative.settings import FailureConfig, PassageJudge
from argus.generative.vocabulary import open_vocabulary
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.llm.config import ChatConfig, LocalConfig
from argus.reports import write_report
from argus.reports.html import OUTPUTS
from argus.settings import Option, Without

if TYPE_CHECKING:
    from argus.llm import Estimate


JOB = "generative_failures"
# Problems with the columns that they leave empty: what all questions lack is no problem.
_LACKED = {
    Problem.NO_KEYS: "ngrams_all", Problem.NO_ANSWERS: "answer_hit_k",
    Problem.NO_POSITIVES: "hit_k",
}  # fmt: skip
# Bytes of a file from which it is shared out to all cores: reading them takes some seconds.
WORTH_WORKERS = 100 << 20


@dataclass(frozen=True, repr=False)
class FailureResult(Result):
    """Result of an analysis, in a folder.

    Keys of the summary:

    k: passages that count as read.
    correct: when a passage is correct: annotated, or answer.
    tokens: the tokenizer that counts tokens.
    systems: each system: its name and file, its problems (what, count, and where first), and the
    parts that `system_summary` returns.
    comparison: see `comparison`. None for one system.
    needs: figures that were not measured, and the inputs that they need.
    replayed: replay by system (see `replay_output`). None without one.
    judge: verdicts (see `judge_passages`). None without a model.
    """

    TABLES = ("table", "diagnosis")
    folder: Path
    report: Path
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """One row of figures per question and system."""
        return read_table(self.folder / f"{MEASURES}.parquet")

    @property
    def diagnosis(self) -> pa.Table:
        """One row per mode of failure that holds for a question, with evidence."""
        return read_table(self.folder / f"{DIAGNOSIS}.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary, k = self.summary, self.summary["k"]
        for system in summary["systems"]:
            counts = system["questions"]
            yield f"{system['name']}: {counts['total']:,} questions, {counts['judged']:,} judged"
            if counts["judged"]:
                hits = (counts["found"] + counts["late"]) / counts["judged"]
                yield (
                    f"  {counts['found']:,} found first, {counts['late']:,} more among the first "
                    f"{k} (hits@{k} {hits:.1%}), {counts['failed']:,} failed"
                )
            for mode in [mode for mode in system["modes"] if mode["among_failed"]][:SHOWN_MODES]:
                parts = []
                for side in ("failed", "found"):
                    share, n = mode[f"among_{side}"], mode[f"measured_{side}"]
                    parts += [] if share is None else [f"{round(share * n):,} of {n:,} {side}"]
                yield f"  {', '.join(parts):<36} {mode['name']}"
            for problem in system["problems"]:
                yield f"  {problem['count']:,} {problem['what']} ({problem['first']})"
        if comparison := summary["comparison"]:
            names = [system["name"] for system in summary["systems"]]
            yield f"{names[1]} against {names[0]}, on {comparison['questions']:,} questions of both"
            for values in comparison["rows"]:
                row = dict(zip(comparison["columns"], values, strict=True))
                if name := {"hit_1": "hits@1", "hit_k": f"hits@{k}"}.get(row["figure"]):
                    low, high = row["low"], row["high"]
                    ends = "" if low is None else f" ({low:+.3f} to {high:+.3f})"
                    means = f"{row['first']:.3f}, {row['second']:.3f}"
                    yield f"  {name} {means}: {row['difference']:+.3f}{ends}"
        for name, verdicts in (summary["judge"] or {"systems": {}})["systems"].items():
            given = ", ".join(f"{verdicts['questions'][v]:,} {v}" for v in (*VERDICTS, FAILED))
            yield f"verdicts on {name}: {given}"
        yield from summary["needs"]


@dataclass(frozen=True)
class Inputs:
    """Outputs with their figures, before anything is written."""

    outputs: list[Output]
    measured: list[Measurements]
    setup: Setup
    folder: ArtifactFolder
    record: Record

    @property
    def candidates(self) -> dict[str, list[Candidate]]:
        """The passages to judge, by system."""
        sides = zip(self.outputs, self.measured, strict=True)
        return {output.name: [c for one in m.candidates for c in one] for output, m in sides}


@one_writer
def analyse_failures(
    outputs: Annotated[Sequence[Path | str], Option(argument="OUTPUT")],
    *,
    out: o.Out = o.OUT,
    config: FailureConfig | None = None,
    llm: PassageJudge = None,
    corpus: Annotated[NamedCorpus | None, CorpusName()] = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    device: Annotated[Device, Option(panel="Replay")] = None,
    fresh: o.Fresh = False,
) -> FailureResult:
    """Say of every question why its passage did not come first.

    Writes failures.parquet (one row of figures per question), failure_diagnosis.parquet (the modes
    of failure that hold for it, with evidence), summary.json, manifest.json and report.html. The
    figures are defined in docs/failures.md.

    qrels: in place of the files' own positives. queries: their answers go before those of the
    outputs, and their ids stand for questions without. Raises InputError for bad input, among it a
    file that breaks off.

    Args:
        outputs: Of one or two systems: DPR JSON with keys, a folder of argus research generative
            search, or a run (with --corpus and --queries).
        qrels: Judgements, in place of positive_ctxs of the outputs.
        queries: Questions of a run; ids of questions without; answers, before outputs' own.
        corpus: Texts of the passages of a run.
    """
    config, modes = config or FailureConfig(), taxonomy()
    inputs = _measured(outputs, out, config, llm, corpus, queries, qrels, fields, fresh=fresh)
    opened, measured, setup, folder, record = (
        inputs.outputs, inputs.measured, inputs.setup, inputs.folder, inputs.record,
    )  # fmt: skip
    record.open(folder)
    replays: list[dict[str, Any] | None] = [None for _ in opened]
    lost: list[dict[str, Any]] = []
    if config.replay is not None and setup.index is not None:
        from argus.generative.failures.replay import replay_output

        model = need_model(config.replay.model)
        for i, (output, of_output) in enumerate(zip(opened, measured, strict=True)):
            with record.timed(f"replaying {output.name}"):
                replays[i], ngrams = replay_output(
                    output, of_output, setup.index, model, config.replay, device
                )
            lost += [{"system": output.name, **ngram} for ngram in ngrams]
    verdicts = None
    if llm is not None:
        with record.timed("judging"):
            verdicts = judge_passages(inputs.candidates, llm, folder / LEDGER)
        for output, of_output in zip(opened, measured, strict=True):
            for row in of_output.rows:
                row["judged"] = verdicts.best[output.name].get(row["query_id"])
    systems = [
        diagnosed(output.name, of_output.rows, modes, config.k)
        for output, of_output in zip(opened, measured, strict=True)
    ]
    paired = pairs(systems)
    with record.timed("tables"):
        summary: dict[str, Any] = {
            "k": config.k,
            "correct": config.correct.value,
            "tokens": "tokenizer" if config.tokenizer else "index" if config.index else "words",
            "systems": [
                {
                    "name": output.name,
                    "file": str(output.file),
                    "problems": [
                        problem
                        for kind, problem in of_output.problems.listed().items()
                        if any(
                            row[_LACKED.get(kind, "query_id")] is not None for row in system.rows
                        )
                    ],
                    **system_summary(system, modes, config.k, config.seed, strict=config.strict),
                }
                for output, of_output, system in zip(opened, measured, systems, strict=True)
            ],
            "comparison": comparison(systems, paired, config.seed),
            "replayed": replays,
            "judge": verdicts.summary if verdicts else None,
        }
        summary["needs"] = [
            *lacking(system["figures"] for system in summary["systems"]),
            *doubts(setup.qrels or (), systems, replays),
        ]
        if len(systems) == 2 and summary["comparison"] is None:
            summary["needs"].insert(
                0, "The two outputs have no question in common: they are not compared."
            )
        measured_rows = [
            to_table(system.rows).add_column(
                0, "system", pa.array([system.name] * len(system.rows), pa.string())
            )
            for system in systems
        ]
        diagnosis = diagnosis_table(systems, paired)
        for name, table in (
            (MEASURES, pa.concat_tables(measured_rows, promote_options="default")),
            (DIAGNOSIS, diagnosis),
            (PRUNED, pa.Table.from_pylist(lost) if lost else None),
            (JUDGED, verdicts.table if verdicts else None),
        ):
            (folder / f"{name}.parquet").unlink(missing_ok=True)  # of an earlier analysis
            if table is not None:
                folder.write_table(name, table)
        path = folder.own(f"{DIAGNOSIS}.csv")
        with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(diagnosis.column_names)
            for row in diagnosis.to_pylist():
                cells = (" | ".join(c) if isinstance(c, list) else c for c in row.values())
                writer.writerow([harmless(c) if isinstance(c, str) else c for c in cells])
    counts = {system.name: len(system.rows) for system in systems}
    folder.write_results(JOB, summary, record.manifest(counts))
    return FailureResult(folder.path, write_report(folder.path), summary)


def estimate_verdicts(
    outputs: Sequence[Path | str],
    *,
    out: Path | str,
    config: FailureConfig | None = None,
    llm: ChatConfig | LocalConfig | None = None,
    corpus: NamedCorpus | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
) -> Estimate:
    """Estimate the questions to `llm` by `analyse_failures`, and their cost.

    The outputs are measured. Nothing is written, nobody is asked. Raises InputError as it does, and
    where no model is named.
    """
    if llm is None:
        raise InputError(
            "no language model", expected="--llm with --estimate", fix="Name it.", where="--llm"
        )
    config = config or FailureConfig()
    inputs = _measured(outputs, out, config, llm, corpus, queries, qrels, fields)
    return estimate_judging(inputs.candidates, llm, inputs.folder / LEDGER)


def _measured(
    outputs: Sequence[Path | str],
    out: Path | str,
    config: FailureConfig,
    llm: ChatConfig | LocalConfig | None,
    corpus: NamedCorpus | None,
    queries: Path | str | None,
    qrels: Path | str | None,
    fields: FieldNames | None,
    *,
    fresh: bool = False,
) -> Inputs:
    """Open, check and measure everything. Nothing is written."""
    fields = fields or FieldNames()
    paths = [Path(path) for path in outputs]
    corpus = named(corpus) if corpus else None
    queries, qrels = (Path(p) if p else None for p in (queries, qrels))
    judged = read_qrels(qrels) if qrels else None
    opened = open_outputs(paths, corpus=corpus, queries=queries, fields=fields, qrels=judged)
    home = index_folder(config.index) if config.index else None
    model = need_model(config.replay.model) if config.replay else None
    border = None
    if home is not None:
        index = NgramIndex.open(home)
        border = index.vocabulary.decode([index.border])
    if config.tokenizer is not None:
        open_vocabulary(config.tokenizer)  # a missing one is an error now
    topics = read_topics(queries, coerce_ids=fields.coerce_ids) if queries else []
    setup = Setup(
        k=config.k, correct=config.correct.value, tokenizer=config.tokenizer, index=home,
        qrels=judged, answers={t.query.id: t.answers for t in topics if t.answers} or None,
        ids=ids_of_questions(t.query for t in topics) or None, judged=llm is not None,
        strict=config.strict,
    )  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    texts = corpus if isinstance(corpus, Path) else None
    keep_input(folder, [*paths, home, model, texts, queries, qrels, config.tokenizer])
    files = {f"output {i}": output.file for i, output in enumerate(opened, start=1)}
    read = {**files, "texts": texts, "queries": queries, "qrels": qrels}
    hashed = {name: path if path and path.is_file() else None for name, path in read.items()}
    record = Record(JOB, {**config.described(), "llm": llm.label if llm else None}, hashed)
    record.encoder["what"] = OUTPUTS
    record.encoder["fingerprint"] = " and ".join(output.name for output in opened)
    measured = []
    for output in opened:
        is_large = output.file.stat().st_size >= WORTH_WORKERS
        workers = config.workers or (available_cores() if is_large else 1)
        bordered = replace(setup, border=border or output.border or setup.border)
        with record.timed(f"measuring {output.name}"):
            measured.append(measure_output(output, bordered, workers))
        check_measured(output, measured[-1], setup)
    return Inputs(opened, measured, setup, folder, record)


# Share of replayed questions below which a replay is not that of the output.
SAME_RANKS = 0.9


def doubts(
    judged: Iterable[str], systems: Sequence[System], replays: Sequence[Mapping[str, Any] | None]
) -> Iterator[str]:
    """Yield doubts about the inputs, and about replays. judged: ids of questions."""
    for system, replay in zip(systems, replays, strict=True):
        ids = {row["query_id"] for row in system.rows}
        if absent := sum(query not in ids for query in judged):
            yield (
                f"{absent:,} judged questions are not in {system.name}: they are not counted, "
                "neither as failed nor as found."
            )
        annotated = any(row["positives"] for row in system.rows)
        if annotated and all(row["first_correct"] is None for row in system.rows):
            yield (
                f"No positive is among the passages of {system.name}, for no question: check that "
                "both have ids of one scheme."
            )
        if replay is not None and replay["same"] < SAME_RANKS * replay["compared"]:
            yield (
                f"In the replay of {system.name} as {replay['mode']} with {replay['beams']} beams "
                "the best positive has the rank of the output for only "
                f"{replay['same']:,} of {replay['compared']:,} questions: another model, index or "
                "settings (--mode, --beams) made it, and what the replay shows is of another "
                "search."
            )


SHOWN_MODES = 5


MEASURES, DIAGNOSIS = "failures", "failure_diagnosis"
PRUNED, JUDGED = "pruned", "judged"
