"""`generative analyse`: explain why correct passages do not come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from argus.cores import available_cores
from argus.corpora import NamedCorpus, named
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.qrels import read_qrels
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.errors import ArgusError, InputError
from argus.generative.failures.headline import headline
from argus.generative.failures.jobs.checks import check_measured, make_setup
from argus.generative.failures.jobs.files import DIAGNOSIS, MEASURES, write_files, write_optional
from argus.generative.failures.jobs.inputs import Output, open_outputs
from argus.generative.failures.jobs.judging import (
    LEDGER,
    Verdicts,
    estimate_judging,
    judge_passages,
)
from argus.generative.failures.jobs.measuring import Measurements, Setup, measure_output
from argus.generative.failures.jobs.messages import needs, problems
from argus.generative.failures.jobs.replaying import ReplayedOutput, replay_output
from argus.generative.failures.jobs.settings import FailureConfig
from argus.generative.failures.jobs.summary import (
    System,
    comparison,
    described_modes,
    diagnosed,
    pairs,
    system_summary,
)
from argus.generative.failures.judge import Candidate
from argus.generative.failures.summary import FailureSummary, SystemSummary
from argus.generative.failures.taxonomy import FailureMode, taxonomy
from argus.generative.folders import index_folder, need_model
from argus.generative.index import NgramIndex
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.reports import write_report
from argus.reports.html import OUTPUTS

if TYPE_CHECKING:
    from argus.llm import Estimate

JOB = "generative_failures"
WORTH_WORKERS = 100 << 20
"""Bytes of a file from which it is shared out to all cores: reading them takes some seconds."""


@dataclass(frozen=True, repr=False)
class FailureResult(Result):
    """Result of an analysis, in a folder.

    incomplete: missing parts, in words: files that break off, a judge that could not be asked.
    """

    TABLES = ("table", "diagnosis")
    folder: Path
    report: Path
    summary: FailureSummary
    incomplete: list[str]

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
        return headline(self.summary)


@dataclass
class _Analysis:
    """One run: the outputs to measure, and the settings."""

    config: FailureConfig
    modes: list[FailureMode]
    setup: Setup
    outputs: list[Output]
    home: Path | None
    model: Path | None
    measured: list[Measurements]
    replayed: list[ReplayedOutput | None]
    verdicts: Verdicts | None = None
    unjudged: str | None = None


@one_writer
def analyse_failures(
    outputs: Path | str | Sequence[Path | str],
    *,
    out: Path | str,
    config: FailureConfig | None = None,
    corpus: NamedCorpus | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
    device: str | None = None,
    fresh: bool = False,
) -> FailureResult:
    """Analyse the outputs of one or two systems and write the report into OUT.

    outputs: DPR JSON with n-grams, folders of `generative search`, KILT JSONL, or runs (which need
    corpus and queries). qrels: judgements, in place of the files' own positives. queries: their
    answers go before those of the outputs, and their ids stand for questions without. A file that
    breaks off is analysed up to there, with a notice. Raises InputError for bad input.
    """
    analysis, folder, record = _measure(
        outputs, out, config, corpus, queries, qrels, fields, fresh=fresh
    )
    record.open(folder)
    _replay(analysis, record, device)
    _judge(analysis, folder, record)
    return _reported(analysis, folder, record)


def estimate_verdicts(
    outputs: Path | str | Sequence[Path | str],
    *,
    out: Path | str,
    config: FailureConfig,
    corpus: NamedCorpus | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
) -> Estimate:
    """Estimate the questions to `config.llm` by `analyse_failures`, and their cost.

    The outputs are measured. Nothing is written, nobody is asked. Raises InputError as it does, and
    where no model is named.
    """
    if config.llm is None:
        raise InputError(
            "no language model", expected="--llm with --estimate", fix="Name it.", where="--llm"
        )
    analysis, folder, _ = _measure(outputs, out, config, corpus, queries, qrels, fields)
    return estimate_judging(_candidates(analysis), config.llm, folder / LEDGER)


def _measure(
    outputs: Path | str | Sequence[Path | str],
    out: Path | str,
    config: FailureConfig | None,
    corpus: NamedCorpus | None,
    queries: Path | str | None,
    qrels: Path | str | None,
    fields: FieldNames | None,
    *,
    fresh: bool = False,
) -> tuple[_Analysis, ArtifactFolder, Record]:
    """Open, check and measure everything. Nothing is written."""
    config, fields = config or FailureConfig(), fields or FieldNames()
    modes = taxonomy(config.thresholds)
    paths = [Path(p) for p in ([outputs] if isinstance(outputs, (str, Path)) else outputs)]
    corpus = named(corpus) if corpus else None
    queries, qrels = (Path(p) if p else None for p in (queries, qrels))
    judged = read_qrels(qrels) if qrels else None
    opened = open_outputs(paths, corpus=corpus, queries=queries, fields=fields, qrels=judged)
    home = index_folder(config.index) if config.index else None
    model = need_model(config.replay.model) if config.replay else None
    setup = make_setup(config, home, queries, judged, fields)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    texts = corpus if isinstance(corpus, Path) else None
    keep_input(folder, [*paths, home, model, texts, queries, qrels, config.tokenizer])
    files = {f"output {i}": output.file for i, output in enumerate(opened, start=1)}
    inputs = {**files, "texts": texts, "queries": queries, "qrels": qrels}
    record = Record(
        JOB, dict(config.described()), {name: _file(path) for name, path in inputs.items()}
    )
    record.encoder["what"] = OUTPUTS
    record.encoder["fingerprint"] = " and ".join(output.name for output in opened)
    measured = [_measured(output, setup, config, record) for output in opened]
    replayed: list[ReplayedOutput | None] = [None] * len(opened)
    analysis = _Analysis(config, modes, setup, opened, home, model, measured, replayed)
    return analysis, folder, record


def _file(path: Path | None) -> Path | None:
    """Return a file for the manifest. A folder has no hash."""
    return path if path is not None and path.is_file() else None


def _measured(output: Output, setup: Setup, config: FailureConfig, record: Record) -> Measurements:
    border = _border(setup.index) or output.border or setup.border
    with record.timed(f"measuring {output.name}"):
        measured = measure_output(output, replace(setup, border=border), _workers(output, config))
    check_measured(output, measured, setup)
    return measured


def _workers(output: Output, config: FailureConfig) -> int:
    """Return how many processes are worth their start."""
    if config.workers is not None:
        return config.workers
    return available_cores() if output.file.stat().st_size >= WORTH_WORKERS else 1


def _border(home: Path | None) -> str | None:
    if home is None:
        return None
    index = NgramIndex.open(home)
    return index.vocabulary.decode([index.border])


def _replay(analysis: _Analysis, record: Record, device: str | None) -> None:
    """Search again, and add the figures to the rows."""
    config, home, model = analysis.config.replay, analysis.home, analysis.model
    if config is None or home is None or model is None:
        return
    for i, (output, measured) in enumerate(zip(analysis.outputs, analysis.measured, strict=True)):
        with record.timed(f"replaying {output.name}"):
            analysis.replayed[i] = replay_output(output, measured, home, model, config, device)


def _judge(analysis: _Analysis, folder: ArtifactFolder, record: Record) -> None:
    """Ask the language model, and write its verdicts into the rows.

    Where none could be had, the analysis goes on without, and `unjudged` says why.
    """
    if analysis.config.llm is None:
        return
    sides = zip(analysis.outputs, analysis.measured, strict=True)
    try:
        with record.timed("judging"):
            verdicts = judge_passages(_candidates(analysis), analysis.config.llm, folder / LEDGER)
    except ArgusError as error:
        analysis.unjudged = str(error)
        return
    for output, measured in sides:
        best, left = verdicts.best.get(output.name, {}), verdicts.open.get(output.name, {})
        for row in measured.rows:
            row["judged"] = best.get(row["query_id"])
            row["judged_open"] = left.get(row["query_id"])
    analysis.verdicts = verdicts


def _candidates(analysis: _Analysis) -> dict[str, list[Candidate]]:
    """Return the passages to judge, by system."""
    sides = zip(analysis.outputs, analysis.measured, strict=True)
    return {output.name: [c for one in m.candidates for c in one] for output, m in sides}


def _reported(analysis: _Analysis, folder: ArtifactFolder, record: Record) -> FailureResult:
    """Write everything."""
    outputs, config = analysis.outputs, analysis.config
    systems = [
        diagnosed(output.name, measured.rows, analysis.modes, config.k)
        for output, measured in zip(outputs, analysis.measured, strict=True)
    ]
    paired = pairs(systems)
    with record.timed("tables"):
        summary = _summary(analysis, systems, paired)
        write_files(folder, systems, paired, summary)
        lost = {o.name: r.lost for o, r in zip(outputs, analysis.replayed, strict=True) if r}
        write_optional(folder, lost, analysis.verdicts.table if analysis.verdicts else None)
    counts = {system.name: len(system.rows) for system in systems}
    folder.write_results(JOB, summary, record.manifest(counts))
    incomplete = [f"{o.file} breaks off: {o.broken}" for o in outputs if o.broken]
    incomplete += [analysis.unjudged] if analysis.unjudged else []
    return FailureResult(folder.path, write_report(folder.path), summary, incomplete)


def _summary(
    analysis: _Analysis, systems: Sequence[System], paired: Sequence[Sequence[str]]
) -> FailureSummary:
    config, modes = analysis.config, analysis.modes
    of_systems: list[SystemSummary] = [
        {
            "name": output.name,
            "file": str(output.file),
            "broken": output.broken,
            "problems": problems(measured),
            **system_summary(system, modes, config.k, config.seed, strict=config.strict),
        }
        for output, measured, system in zip(
            analysis.outputs, analysis.measured, systems, strict=True
        )
    ]
    missing = needs(config, analysis.setup, analysis.outputs, analysis.measured, analysis.replayed)
    compared = comparison(systems, paired, config.seed)
    if len(systems) == 2 and compared is None:
        missing.insert(0, "The two outputs have no question in common: they are not compared.")
    return {
        "k": config.k,
        "correct": config.correct.value,
        "tokens": "tokenizer" if config.tokenizer else "index" if config.index else "words",
        "systems": of_systems,
        "comparison": compared,
        "taxonomy": described_modes(modes),
        "needs": missing,
        "replayed": [r.summary() if r else None for r in analysis.replayed],
        "judge": analysis.verdicts.summary if analysis.verdicts else None,
        "unjudged": analysis.unjudged,
    }
