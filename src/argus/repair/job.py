"""`argus tune try`: try the remedies there are, keep the one that is proven to help.

Index and judged questions (or information needs that are held out) -> a table of trials, and the
best remedy added to the index if its gain is beyond chance and does no harm. With nothing to judge
by, the default remedy `blend` is added. `argus.repair.trials` tries the remedies on a copy of the
index and chooses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.commands import command
from argus.corpora.opening import Origin
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.tables import read_table
from argus.data.types import Document, Query, Run
from argus.data.writing import one_writer
from argus.devices import Device
from argus.encoders import Encoder
from argus.errors import ArgusError, InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import ParentFold, deeper
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.llm.config import NamedModel
from argus.measures.measures import coverage_words
from argus.measures.significance import with_interval
from argus.remedies.config import ReferenceConfig
from argus.remedies.remedy_result import check_judged
from argus.repair import RepairConfig, trials
from argus.reports import write_report
from argus.reports.section import Section, table
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.retrievers.opening import all_opened
from argus.retrievers.protocol import Answers
from argus.scenarios.config import ProfileSettings
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles import profile_documents
from argus.settings import INDEX, OUTPUT, Option, Options
from argus.tuning.arms import fusions_words, parts_words, recommendation_words
from argus.verdict.verdict import BLEND_MEASURED

JOB = "repair"
TABLE = "repair_questions"
HOME = "repair"  # folder of an index for the last repair's receipt
SAMPLE = "profiles"  # folder in it for the needs that a language model wrote


@dataclass(frozen=True, repr=False)
class ChosenRepair(Result):
    """Result of `repair_index`. Everything in it is also in `folder`.

    Keys of its summary:

    judged_by: judged questions, held-out needs, or nothing.
    questions: questions that candidates were tried on.
    trials: remedies that were tried, best first, empty if nothing judged. Each has its candidate,
        the verdict on it against what runs, whether it passes (is better) or harms (is worse), the
        further questions needed to tell (None if these do), the coverage of documents, and ndcg10
        and recall10 against what runs. The intervals of ndcg10 hold for all arms at once.
    arms: the vectors alone, BM25 alone and their fusions, likewise.
    recommended: remedy or arm to take, or what runs.
    mine: name of the retriever of the user. None is the index as it is.
    failed: candidates that could not be tried, and why.
    missing: candidates whose input was not given, and the input.
    questions_failed: questions that the retriever of the user could not answer, left out.
    cross_validated: chosen on other folds and measured on each. None without a trial.
    chosen_by_fold: arm that each fold's others choose.
    kept: remedy that was kept, or nothing.
    remedies: ids of the remedies that were added to the index.
    in_index: ids of the remedies that were in the index when candidates were tried.
    only_try: whether nothing was to be added.
    """

    folder: Path
    report: Path
    index: ViewIndex
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """Yield the trials and the candidate that was kept."""
        return headline(self.summary)


@one_writer
def repair_index(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    *,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: o.MaybeQrels = None,
    profiles: Path | str | Mapping[str, Profiled] | None = None,
    chunks: ChunkedCorpus | None = None,
    reference: Annotated[ReferenceConfig | None, Options(ReferenceConfig, optional=True)] = None,
    own: Sequence[str] = (),
    retriever: NamedRetriever = None,
    model: NamedModel = None,
    config: RepairConfig | None = None,
    encoder: o.IndexEncoder = None,
    device: Device = None,
    out: Annotated[Path | None, OUTPUT] = None,
) -> ChosenRepair:
    """Tell what to change in a retriever, and what it is worth; add what is recommended.

    Beside what runs stand its parts (vectors, BM25), their fusions, and remedies on a copy of the
    index. Judged questions judge, cross-validated: none both chooses and tells. Without them,
    information needs that are held out do: of --profiles, or written by --model for a sample of
    the documents. The blend is the default: it stands until another arm beats it by two standard
    errors, and what runs stays where the arm so found is not better. Without anything to judge by
    the blend is added, and said to be the default.

    Candidates are the blend, and with their inputs scenarios, a correction of queries, expansions
    and remedies of `own` (see `argus.remedies.own`), alone and together. With `config.only_try` the
    index is left as it is, and `config.apply` then adds a candidate without another trial. chunks:
    the corpus of the index, and the field in which its chunks name their document. Then documents
    count. Raises InputError for bad input, LanguageModelError if the model cannot be used.

    Args:
        index: Folder from argus index build.
        queries: Judged queries.
        retriever: What runs, if not the index: FILE.py:NAME, a store or a service.
        profiles: Profiles of documents (argus research scenarios write), whose needs are used.
        own: Your own remedy: FILE.py:NAME; repeatable.
        out: Folder for the receipt; default: in the index.
    """
    config, chunks = config or RepairConfig(), chunks or ChunkedCorpus()
    judged = check_judged(queries, qrels, chunks.corpus, chunks.fields, chunks.parent_field)
    fold = ParentFold.of_corpus(chunks) if judged is None else judged.fold
    opened = ViewIndex.open(index_folder(index))
    searching = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(searching.fingerprint, opened.path)
    documents = originals(opened)
    questions = None if judged is None else trials.of_judged(judged, [d.id for d in documents])
    sources = {"queries": queries, "qrels": qrels, "profiles": profiles}
    inputs: dict[str, Origin | None] = {
        name: Path(source) for name, source in sources.items() if isinstance(source, str | PathLike)
    }
    inputs |= {} if reference is None else reference.inputs()
    inputs |= {} if judged is None else {"corpus": judged.corpus}
    if isinstance(profiles, (str, Path)):
        profiles = read_profiles(profiles)
    settings = {"index": str(index), **asdict(config), "parent_field": chunks.parent_field}
    record = Record(JOB, settings, inputs)
    record.encoder["fingerprint"] = searching.fingerprint
    folder = ArtifactFolder(out or opened.path / HOME)
    there = [remedy.id for remedy in opened.remedies()]
    last = None if config.apply is None else _read_last_trial(folder, config.apply, there)
    record.open(folder, about=(opened.path,))
    start = time.perf_counter()
    if profiles is None and model is not None:  # its answers are kept in the folder
        writer = ProfileSettings().by(model)
        rng = np.random.default_rng(config.seed)
        drawn = sorted(rng.permutation(len(documents))[: config.sample].tolist())
        sample = [documents[i] for i in drawn]
        written = profile_documents(sample, out=folder.path / SAMPLE, config=writer)
        profiles = read_profiles(written.folder)
    if profiles is not None:
        profiles = {d.id: profiles[d.id] for d in documents if d.id in profiles}
        if not any(p.profile is not None for p in profiles.values()):
            raise InputError(
                f"no scenarios for any document of {opened.path}",
                expected="profiles of its documents",
                fix="Check that profiles and index belong to one corpus.", where="--profiles",
            )  # fmt: skip
    asks = None
    if retriever is not None:
        asks = partial(_ask, retriever, documents, searching)
    whole = trials.Materials(searching, reference, profiles, fold, tuple(own))
    summary = last
    if summary is None:
        with record.timed("trying candidates"):
            summary = _try(opened, questions, whole, config, folder, asks)
    if summary["kept"] != trials.NOTHING and not config.only_try:
        steps, lacking = trials.candidates(whole)
        if summary["kept"] not in steps:  # of an earlier trial
            why = "; ".join(f"{of}: {lacks}" for of, lacks in lacking.items())
            raise InputError(
                f"{summary['kept']!r}, and not all that it is made of ({why})",
                expected="the files that it was tried with", fix="Name them, too.", where="--apply",
            )  # fmt: skip
        with record.timed("adding what is kept"):
            summary["remedies"] = trials.apply_steps(opened.path, steps[summary["kept"]])
    summary["seconds"] = round(time.perf_counter() - start, 1)
    summary |= {"in_index": there, "only_try": config.only_try}
    manifest = record.manifest({"questions": summary["questions"]})
    rows = read_table(folder / f"{TABLE}.parquet") if summary["trials"] else None
    homes = [ArtifactFolder(opened.path / REMEDIES / remedy) for remedy in summary["remedies"]]
    for home in (*homes, folder):  # beside each remedy for good
        if rows is None:  # an earlier run may have left one
            (home / f"{TABLE}.parquet").unlink(missing_ok=True)
        else:
            home.write_table(TABLE, rows)
        home.write_results(JOB, summary, manifest)
    opened.refresh()
    return ChosenRepair(folder.path, write_report(folder.path), opened, summary)


def _try(
    index: ViewIndex,
    questions: trials.Questions | None,
    materials: trials.Materials,
    config: RepairConfig,
    folder: ArtifactFolder,
    asks: Callable[[Sequence[Query], int], tuple[str, Answers]] | None,
) -> dict[str, Any]:
    """Try the candidates, and write the values of each question into a folder.

    Without judged questions, needs are held out of the profiles. asks: the retriever of the user.
    """
    if questions is None and materials.profiles is not None:
        needs, rest = trials.hold_out_needs(materials.profiles, config.max_needs, config.seed)
        if needs.queries:
            if (fold := materials.fold) is not None:
                needs = replace(needs, qrels=fold.qrels(needs.qrels), fold=fold)
            questions, materials = needs, replace(materials, profiles=rest)
    summary: dict[str, Any] = {
        "index": str(index.path),
        "judged_by": trials.NOTHING,
        "questions": 0,
        "trials": [],
        "arms": [],
        "recommended": trials.BLEND,
        "mine": None,
        "questions_failed": 0,
        "failed": {},
        "missing": trials.candidates(materials)[1],
        "cross_validated": None,
        "chosen_by_fold": [],
        "kept": trials.BLEND,
        "remedies": [],
    }
    if questions is None:
        return summary
    mine: Run | None = None
    failed = 0
    if asks is not None:
        summary["mine"], answers = asks(questions.queries, deeper(trials.DEPTH, questions.fold))
        mine, failed = answers.run, len(answers.failed)
        there = [query for query in questions.queries if query.id in mine]
        questions = replace(questions, queries=there)
    found, rows = trials.try_all(index.path, materials, questions, config.folds, config.seed, mine)
    folder.write_table(TABLE, rows)
    about = {"judged_by": questions.kind, "questions": len(questions.queries)}
    about["questions_failed"] = failed
    return summary | about | found


def _ask(
    retriever: Any,
    documents: Sequence[Document],
    encoder: Encoder,
    queries: Sequence[Query],
    k: int,
) -> tuple[str, Answers]:
    """Return the name of the user's retriever, and its k best documents of each question."""
    with all_opened([retriever], documents, AskingConfig(), None, encoder) as (opened,):
        answers = opened.ask(queries, k)
    if not answers.run:
        first = next(iter(answers.failed.values()))
        raise ArgusError(f"{opened.name} failed all {len(queries):,} questions. The first: {first}")
    return opened.name, answers


def _read_last_trial(folder: ArtifactFolder, candidate: str, there: list[str]) -> dict[str, Any]:
    """Return the trial in a folder with one of its candidates as the one that is kept.

    there: ids of the remedies in the index. Raises InputError without a trial of this candidate,
    and for a trial on an index that had other remedies.
    """
    again = "Try again first: argus tune try --only-try."
    section = folder.read_json(SUMMARY).get(JOB)
    if section is None:
        raise InputError(
            f"{candidate!r}, and nothing was tried", expected=f"a trial in {folder.path}",
            fix=again, where="--apply",
        )  # fmt: skip
    with reading(folder / SUMMARY, "is damaged", expected="a trial as Argus wrote it", fix=WRITTEN):
        names = [t["candidate"] for t in section["trials"]] or [section["kept"]]
        in_index = [str(remedy) for remedy in section.get("in_index", [])]
        int(section["questions"]), {**section["missing"], **section["failed"]}
    if candidate not in names:
        raise InputError(
            repr(candidate), expected=f"one of the last trial: {', '.join(names)}",
            fix="Correct it.", where="--apply",
        )  # fmt: skip
    if in_index != there:
        raise InputError(
            "the index has other remedies than when they were tried",
            expected=", ".join(in_index) or "none", fix=again, where="--apply",
        )  # fmt: skip
    return {**section, "kept": candidate, "remedies": []}


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the trials, the candidate that was kept, and how to undo it."""
    if not summary["trials"]:
        yield (
            "no judged questions and no information needs: nothing was chosen. "
            f"{summary['kept']} is the fixed default. {BLEND_MEASURED}"
        )
    else:
        yield f"{summary['mine'] or 'the index as it is'}: {parts_words(summary['arms'])}"
        yield f"{summary['questions']:,} {summary['judged_by']}, nDCG@10 against it:"
        if failed := summary["questions_failed"]:
            yield f"  {failed:,} questions failed there and are left out"
        for trial in summary["trials"]:
            recall = trial["recall10"]["mean_difference"]
            covered = coverage_words(trial["coverage"])
            yield (
                f"  {trial['candidate']}: {_describe_difference(trial['ndcg10'])}, "
                f"R@10 {recall:+.3f}: {trial['verdict']}"
                + (f"; a gain where {covered}" if covered else "")
            )
        yield f"  {fusions_words(summary['arms'])}"
        figures = summary["cross_validated"]
        assert figures is not None
        yield f"chosen on other folds and measured on each: {_describe_difference(figures)}"
        yield f"recommended: {recommendation_words(summary)}"
    for name, why in {**summary["missing"], **summary["failed"]}.items():
        yield f"not tried: {name}: {why}"
    remedies = ", ".join(summary["remedies"])
    if summary.get("only_try") and summary["kept"] != trials.NOTHING:
        yield f"would be kept: {summary['kept']}; the index is as it was (--only-try)"
    elif remedies:
        yield f"kept: {summary['kept']} ({remedies})"
        yield "search, evaluate and explain use it from now on. To undo it:"
        for remedy in reversed(summary["remedies"]):
            yield f"  {command('tune', 'undo', remedy, '--index', summary['index'])}"
    elif summary["kept"] != trials.NOTHING:
        yield f"kept: {summary['kept']}, which was in the index already"
    else:
        yield "nothing was added to the index"


def _describe_difference(figures: Mapping[str, Any]) -> str:
    low, high = figures["low"], figures["high"]
    interval = f" (95% {low:+.3f} to {high:+.3f})" if low is not None and high is not None else ""
    after, difference = figures["mean_after"], figures["mean_difference"]
    return f"{figures['mean_before']:.3f} → {after:.3f}, {difference:+.3f}{interval}"


def section(folder: Path, repair: Mapping[str, Any]) -> Section:
    """Build the report's section: the trials, with the one that was kept marked."""
    columns = ["arm", "nDCG@10", "difference (95%)", "improved, harmed", "R@10", "verdict"]
    rows = []
    for trial in (*repair["trials"], *repair["arms"]):
        ndcg, recall = trial["ndcg10"], trial["recall10"]
        name = trial.get("candidate", trial.get("arm"))
        mark = ", recommended" if name == repair["recommended"] else ""
        covered = coverage_words(trial["coverage"]) if "coverage" in trial else ""
        rows.append([
            name + (f" (a gain where {covered})" if covered else ""),
            f"{ndcg['mean_after']:.3f}", with_interval(ndcg),
            f"{ndcg['improved']}, {ndcg['harmed']}", f"{recall['mean_difference']:+.3f}",
            trial["verdict"] + mark,
        ])  # fmt: skip
    tables = {"repair_trials": table(dict.fromkeys(columns, "text"), rows)} if rows else {}
    return Section(
        {}, tables, f"recommended: {repair['recommended']}, judged by {repair['judged_by']}"
    )
