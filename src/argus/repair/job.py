"""`argus repair`: candidates are tried on a copy, and what is proven to help is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora.opening import Origin
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.reading import read_record
from argus.data.tables import read_table
from argus.data.types import Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.errors import ArgusError, InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.parents import ParentFold
from argus.indexes.originals import originals
from argus.indexes.recipes import REMEDIES
from argus.indexes.retriever import encoder_of
from argus.indexes.spec import index_folder
from argus.indexes.views import ViewIndex
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures.coverage import Coverage
from argus.remedies.blend.summary import Rival
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.receipt import check_judged
from argus.repair.config import MEASURE, RepairConfig
from argus.repair.summary import RepairSummary, headline
from argus.repair.trials import (
    BLEND,
    DEFAULT,
    NOTHING,
    TABLE,
    Candidate,
    Choice,
    Materials,
    Questions,
    candidates,
    choose,
    compare,
    hold_out_needs,
    of_judged,
    trial_table,
    try_all,
)
from argus.reports import write_report
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import profile_documents

JOB = "repair"
AGAIN = "Try again first: argus repair --only-try."


def read_last_trial(folder: ArtifactFolder, candidate: str, there: list[str]) -> RepairSummary:
    """Return the trial in a folder, with a candidate of it as what is kept.

    there: ids of the remedies in the index. Raises InputError where nothing was tried, not this, or
    on an index that had other remedies.
    """
    section = folder.read_json(SUMMARY).get(JOB)
    if section is None:
        raise InputError(
            f"{candidate!r}, and nothing was tried", expected=f"a trial in {folder.path}",
            fix=AGAIN, where="--apply",
        )  # fmt: skip
    summary = read_record(RepairSummary, section, where=folder / SUMMARY, section=JOB)
    names = [t["candidate"] for t in summary["trials"]] or [summary["kept"]]
    if candidate not in names:
        raise InputError(
            repr(candidate), expected=f"one of the last trial: {', '.join(names)}",
            fix="Correct it.", where="--apply",
        )  # fmt: skip
    if summary.get("in_index") != there:
        raise InputError(
            "the index has other remedies than when they were tried",
            expected=", ".join(summary.get("in_index", [])) or "none", fix=AGAIN, where="--apply",
        )  # fmt: skip
    return {**summary, "kept": candidate, "remedies": []}


HOME = "repair"
"""Folder of an index for the last repair's receipt."""
SAMPLE = "profiles"
"""Folder of that for the needs that a language model wrote."""


@dataclass(frozen=True, repr=False)
class ChosenRepair(Result):
    """What was tried on an index, and what was kept; everything is also in `folder`."""

    folder: Path
    report: Path
    index: ViewIndex
    summary: RepairSummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@dataclass(frozen=True)
class _Trials:
    """What judged, what was tried, and what is to be kept."""

    kind: str
    questions: int
    choice: Choice | None
    rivals: list[Rival]
    coverages: dict[str, Coverage]
    failed: dict[str, str]
    missing: dict[str, str]
    winner: str


@one_writer
def repair_index(
    index: Path | str,
    *,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    profiles: Path | str | Mapping[str, Profiled] | None = None,
    chunks: ChunkedCorpus | None = None,
    reference: ReferenceConfig | None = None,
    writer: ProfileConfig | None = None,
    config: RepairConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    out: Path | None = None,
) -> ChosenRepair:
    """Try the remedies there are, keep what is proven to help, and write the receipt.

    Judged questions judge where there are any, cross-validated; else information needs that are
    held out of `profiles`, or of those that `writer` writes for a sample of the documents; else the
    blend is added as the fixed default. Candidates are the blend, and with what they need
    scenarios, a correction of queries and expansions, alone and together. They are tried on a copy:
    the index holds what is kept alone; with `config.only_try` it is left as it is, and
    `config.apply` then adds a candidate without another trial. chunks: the corpus of the index, and
    where its chunks name their document; then documents count. Raises InputError for bad input,
    LanguageModelError where the model cannot be used.
    """
    config, chunks = config or RepairConfig(), chunks or ChunkedCorpus()
    judged = check_judged(queries, qrels, chunks.corpus, chunks.fields, chunks.parent_field)
    fold = ParentFold.of_corpus(chunks) if judged is None else judged.fold
    opened = ViewIndex.open(index_folder(index))
    model = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    of_people = None if judged is None else of_judged(judged, [d.id for d in originals(opened)])
    inputs = _files(queries=queries, qrels=qrels, profiles=profiles)
    inputs |= {} if reference is None else reference.inputs()
    inputs |= {} if judged is None else {"corpus": judged.corpus}
    if isinstance(profiles, (str, Path)):
        profiles = read_profiles(profiles)
    settings = {"index": str(index), **asdict(config), "parent_field": chunks.parent_field}
    record = Record(JOB, settings, inputs)
    record.encoder["fingerprint"] = model.fingerprint
    folder = ArtifactFolder(out or opened.path / HOME)
    record.open(folder, about=(opened.path,))
    start = time.perf_counter()
    if profiles is None and writer is not None:
        profiles = _written(opened, writer, config, folder.path / SAMPLE)
    own = _of_index(profiles, opened) if profiles is not None else None
    whole = Materials(model, reference, own, fold)
    there = [remedy.id for remedy in opened.remedies()]
    if config.apply is None:
        questions, materials = _questions(of_people, whole, config)
        with record.timed("trying candidates"):
            summary = _try(opened, questions, materials, config, folder)
    else:
        summary = read_last_trial(folder, config.apply, there)
    if summary["kept"] != NOTHING and not config.only_try:
        with record.timed("adding what is kept"):
            summary["remedies"] = _find(summary["kept"], whole).apply(opened.path)
    summary["seconds"] = round(time.perf_counter() - start, 1)
    summary |= {"in_index": there, "only_try": config.only_try}
    manifest = record.manifest({"questions": summary["questions"]})
    _write(folder, opened, summary, manifest)
    opened.refresh()
    return ChosenRepair(folder.path, write_report(folder.path), opened, summary)


def _write(folder: ArtifactFolder, index: ViewIndex, summary: RepairSummary, manifest: Any) -> None:
    """Write the trial into its folder, and beside each remedy for good."""
    table = read_table(folder / f"{TABLE}.parquet") if summary["trials"] else None
    homes = [ArtifactFolder(index.path / REMEDIES / remedy) for remedy in summary["remedies"]]
    for home in (*homes, folder):
        _keep_table(home, table)
        home.write_results(JOB, summary, manifest)


def _files(**sources: object) -> dict[str, Origin | None]:
    """Return those that are files."""
    return {n: Path(one) for n, one in sources.items() if isinstance(one, str | PathLike)}


def _written(
    index: ViewIndex, writer: ProfileConfig, config: RepairConfig, home: Path
) -> dict[str, Profiled]:
    """Have a language model write the needs of a sample of the documents; answers are kept."""
    documents = originals(index)
    rng = np.random.default_rng(config.seed)
    drawn = sorted(rng.permutation(len(documents))[: config.sample].tolist())
    written = profile_documents([documents[i] for i in drawn], out=home, config=writer)
    return read_profiles(written.folder)


def _of_index(profiles: Mapping[str, Profiled], index: ViewIndex) -> dict[str, Profiled]:
    """Return the profiles of the documents of an index; InputError where there is none."""
    own = {d.id: profiles[d.id] for d in originals(index) if d.id in profiles}
    if not any(p.profile is not None for p in own.values()):
        raise InputError(
            f"no scenarios for any document of {index.path}",
            expected="profiles of its documents",
            fix="Check that profiles and index belong to one corpus.",
            where="--profiles",
        )
    return own


def _questions(
    judged: Questions | None, whole: Materials, config: RepairConfig
) -> tuple[Questions | None, Materials]:
    """Return what judges, and what candidates are made of while they are tried."""
    if judged is not None or whole.profiles is None:
        return judged, whole
    needs, rest = hold_out_needs(whole.profiles, config.max_needs, config.seed)
    if not needs.queries:
        return None, whole
    if (fold := whole.fold) is not None:
        needs = replace(needs, qrels=fold.qrels(needs.qrels), fold=fold)
    return needs, replace(whole, profiles=rest)


def _try(
    index: ViewIndex,
    questions: Questions | None,
    materials: Materials,
    config: RepairConfig,
    folder: ArtifactFolder,
) -> RepairSummary:
    """Try the candidates; leave what became of each question in a folder, return the rest."""
    tried, missing = candidates(materials)
    if questions is None:
        return _summary(index, _Trials(DEFAULT, 0, None, [], {}, {}, missing, BLEND))
    outcome = try_all(index.path, tried, materials.encoder, questions)
    before, after, failed = outcome.before, outcome.after, outcome.failed
    if not after:
        why = next(iter(failed.values()))
        raise ArgusError(f"{index.path}: no candidate could be tried ({why}).")
    choice = choose(before, after, config.folds, config.seed)
    rivals: list[Rival] = [
        {"fusion": name, "ndcg10": compare(before, of, MEASURE, config.seed).figures()}
        for name, of in outcome.rivals.items()
    ]
    _keep_table(folder, trial_table(before, after, questions))
    n = len(questions.queries)
    return _summary(
        index,
        _Trials(
            questions.kind, n, choice, rivals, outcome.coverages, failed, missing, choice.winner
        ),
    )


def _find(name: str, materials: Materials) -> Candidate:
    """Return a candidate; InputError where what it is made of was not given."""
    there, missing = candidates(materials)
    for candidate in there:
        if candidate.name == name:
            return candidate
    why = "; ".join(f"{of}: {lacks}" for of, lacks in missing.items())
    raise InputError(
        f"{name!r}, and not all that it is made of ({why})",
        expected="the files that it was tried with", fix="Name them, too.", where="--apply",
    )  # fmt: skip


def _keep_table(folder: ArtifactFolder, table: pa.Table | None) -> None:
    """Write what became of each question; take away that of an earlier run where nothing judged."""
    if table is not None:
        folder.write_table(TABLE, table)
    else:
        (folder / f"{TABLE}.parquet").unlink(missing_ok=True)


def _summary(index: ViewIndex, trials: _Trials) -> RepairSummary:
    choice = trials.choice
    return {
        "index": str(index.path),
        "judged_by": trials.kind,
        "questions": trials.questions,
        "trials": []
        if choice is None
        else [
            {
                "candidate": t.candidate,
                "passes": t.passes,
                "harms": t.harms,
                "needed": t.needed,
                "coverage": trials.coverages[t.candidate],
                "ndcg10": t.gain.figures(),
                "recall10": t.recall.figures(),
            }
            for t in choice.trials
        ],
        "rivals": trials.rivals,
        "failed": trials.failed,
        "missing": trials.missing,
        "cross_validated": None if choice is None else choice.cross_validated.figures(),
        "chosen_by_fold": [] if choice is None else choice.chosen_by_fold,
        "kept": trials.winner,
        "remedies": [],
        "seconds": 0.0,
    }
