"""`argus tune try`: set ways to search beside the one that runs, and recommend one.

Index and judged questions (or information needs that are held out) -> a verdict on each arm, with
its cost, and the recommended one added to the index if it can be. With nothing to judge by, the
default `blend` is added. `argus.repair.trials` tries the arms, and `argus.tuning` decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from argus.commands import command
from argus.corpora.opening import Origin
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.tables import read_table
from argus.data.types import Query
from argus.data.writing import one_writer
from argus.devices import Device
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
from argus.llm import Estimate
from argus.llm.config import NamedModel
from argus.measures.significance import with_interval
from argus.remedies.config import ReferenceConfig
from argus.remedies.remedy_result import check_judged
from argus.repair import RepairConfig, trials
from argus.reports import write_report
from argus.reports.section import Section, table
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.retrievers.protocol import Answers
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Profiled
from argus.settings import INDEX, OUTPUT, Option, Options, Without
from argus.tuning.arms import (
    APPLICABLE,
    COLUMNS,
    DEPTH,
    HARMED_COLUMNS,
    Tried,
    arm_lines,
    harmed_questions,
    judging_words,
    parts_words,
    price_words,
    recommendation_words,
    report_rows,
)
from argus.tuning.choose import BLEND
from argus.tuning.others import TEXTS, Named, ask_retriever
from argus.tuning.questions import Questions, hold_out_needs, of_judged
from argus.tuning.written import NEEDS, estimate_sample, write_sample
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
    arms: ways to search that were tried, best first, empty if nothing judged. Each has its name
        (arm), the verdict on it against what runs, whether it passes (is better) or harms (is
        worse), the further questions needed to tell (None if these do), ndcg10 and recall10 against
        what runs, hits10 (share of questions with a relevant one among ten), unjudged10 (mean share
        of its first ten without a judgement), what it costs (ms of a question at the median and the
        95th percentile, records and bytes added, and a note), whether it applies (can be added to
        the index), and the coverage of documents by a remedy. The intervals of ndcg10 hold for all
        arms at once.
    hits10, unjudged10, mine_cost: the same of what runs.
    judged_only_mine: whether every judged document is among the first ten of what runs.
    best_fusion: fixed fusion of the highest mean. Each arm has its difference to it (over_fusion).
    recommended: arm to take, or what runs.
    mine: name of the retriever of the user. None is the index as it is.
    failed: arms that could not be tried, and why.
    missing: arms whose input was not given, and the input.
    questions_failed: questions that the retriever of the user could not answer, left out.
    cross_validated: chosen on other folds and measured on each. None without a trial.
    chosen_by_fold: arm that each fold's others choose.
    kept: arm that was added to the index, or nothing.
    remedies: ids of the remedies that were added to the index.
    in_index: ids of the remedies that were in the index when candidates were tried.
    only_try: whether nothing was to be added.
    price: documents for which a language model wrote needs, of all documents, and what that cost
        (None without a price). None without a model.
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
    arm: Sequence[str] = (),
    retriever: NamedRetriever = None,
    asking: Annotated[AskingConfig | None, Without("timeout_s")] = None,
    model: NamedModel = None,
    config: RepairConfig | None = None,
    encoder: o.IndexEncoder = None,
    device: Device = None,
    out: Annotated[Path | None, OUTPUT] = None,
) -> ChosenRepair:
    """Tell what to change in a retriever, and what it is worth; add what is recommended.

    Beside what runs stand its parts (vectors, BM25), their fusions, the blend, and what you name.
    Judged questions judge, cross-validated: none both chooses and tells. Without them, information
    needs that are held out do: of --profiles, or written by --model for a sample of the documents.
    The blend is the default: it stands until another arm beats it by two standard errors, and what
    runs stays where the arm so found is not better. Without anything to judge by the blend is
    added, and said to be the default.

    Named arms: `texts:FILE`, further texts of documents, such as summaries (a file of ids and
    texts, or FILE.py:NAME, see `argus.remedies.texts`); `encoder:NAME`; `rerank:NAME`, a
    CrossEncoder, FILE.py:NAME or an endpoint, over the first results of what runs and of the
    default; any other is a retriever. With their inputs scenarios, a correction of queries and
    expansions are tried, too. With `config.only_try` the index is left as it is, and `config.apply`
    then adds an arm without another trial. chunks: the corpus of the index, and the field in which
    its chunks name their document. Then documents count. Raises InputError for bad input,
    LanguageModelError if the model cannot be used.

    Args:
        index: Folder from argus index build.
        queries: Judged queries.
        retriever: What runs, if not the index: FILE.py:NAME, a store or a service.
        profiles: Profiles of documents (argus research scenarios write), whose needs are used.
        arm: Try this, too: texts:FILE, encoder:NAME, rerank:NAME, or a retriever; repeatable.
        out: Folder for the receipt; default: in the index.
    """
    config, chunks = config or RepairConfig(), chunks or ChunkedCorpus()
    judged = check_judged(queries, qrels, chunks.corpus, chunks.fields, chunks.parent_field)
    fold = ParentFold.of_corpus(chunks) if judged is None else judged.fold
    opened = ViewIndex.open(index_folder(index))
    searching = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(searching.fingerprint, opened.path)
    documents = originals(opened)
    questions = None if judged is None else of_judged(judged, [d.id for d in documents])
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
    price: dict[str, Any] | None = None
    write = [kind for kind in config.write if kind != NEEDS or profiles is None]
    if model is not None and write:  # its answers are kept in the folder
        made = write_sample(documents, config.sample, write, model, folder.path / SAMPLE)
        profiles, price = profiles or made.profiles, made.price
        arm = [*arm, *(f"{TEXTS}:{file}" for file in made.files)]
    if profiles is not None:
        profiles = {d.id: profiles[d.id] for d in documents if d.id in profiles}
        if not any(p.profile is not None for p in profiles.values()):
            raise InputError(
                f"no scenarios for any document of {opened.path}",
                expected="profiles of its documents",
                fix="Check that profiles and index belong to one corpus.", where="--profiles",
            )  # fmt: skip
    whole = trials.Materials(searching, reference, profiles, fold, Named.of(arm))
    ask = partial(ask_retriever, documents, searching, asking or AskingConfig())
    summary = last
    if summary is None:
        with record.timed("trying candidates"):
            summary = _try(opened, questions, whole, config, folder, retriever, ask)
    if summary["kept"] != trials.NOTHING and not config.only_try:
        steps = trials.steps_of(whole, summary["kept"])
        if steps is None:  # of an earlier trial
            lacking = trials.candidates(whole)[1]
            why = "; ".join(f"{of}: {lacks}" for of, lacks in lacking.items())
            raise InputError(
                f"{summary['kept']!r}, and not all that it is made of ({why})",
                expected="the files that it was tried with", fix="Name them, too.", where="--apply",
            )  # fmt: skip
        with record.timed("adding what is kept"):
            summary["remedies"] = trials.apply_steps(opened.path, steps)
    summary |= {"in_index": there, "only_try": config.only_try, "price": price,
                "seconds": round(time.perf_counter() - start, 1)}  # fmt: skip
    manifest = record.manifest({"questions": summary["questions"]})
    rows = read_table(folder / f"{TABLE}.parquet") if summary["arms"] else None
    homes = [ArtifactFolder(opened.path / REMEDIES / remedy) for remedy in summary["remedies"]]
    for home in (*homes, folder):  # beside each remedy for good
        if rows is None:  # an earlier run may have left one
            (home / f"{TABLE}.parquet").unlink(missing_ok=True)
        else:
            home.write_table(TABLE, rows)
        home.write_results(JOB, summary, manifest)
    opened.refresh()
    return ChosenRepair(folder.path, write_report(folder.path), opened, summary)


def estimate_trial(
    index: Path | str,
    *,
    model: NamedModel = None,
    config: RepairConfig | None = None,
    out: Path | None = None,
) -> Estimate:
    """Estimate prompts and cost of what a language model writes for a sample.

    Asks nothing. Raises InputError without a model.
    """
    if model is None:
        fix = "Everything else is tried without a language model, and costs nothing."
        raise InputError(
            "nothing to estimate without a model", expected="--model NAME", fix=fix,
            where="--estimate",
        )  # fmt: skip
    opened, config = ViewIndex.open(index_folder(index)), config or RepairConfig()
    home = (out or opened.path / HOME) / SAMPLE
    return estimate_sample(originals(opened), config.sample, config.write, model, home)


def _try(
    index: ViewIndex,
    questions: Questions | None,
    materials: trials.Materials,
    config: RepairConfig,
    folder: ArtifactFolder,
    retriever: Any,
    ask: Callable[[Any, Sequence[Query], int], tuple[str, Answers, dict[str, Tried]]],
) -> dict[str, Any]:
    """Try the arms, and write the values of each question into a folder.

    Without judged questions, needs are held out of the profiles. retriever: of the user, if any.
    ask: asks a retriever.
    """
    if questions is None and materials.profiles is not None:
        needs, rest = hold_out_needs(materials.profiles, config.max_needs, config.seed)
        if needs.queries:
            if (fold := materials.fold) is not None:
                needs = replace(needs, qrels=fold.qrels(needs.qrels), fold=fold)
            questions, materials = needs, replace(materials, profiles=rest)
    summary: dict[str, Any] = {
        "index": str(index.path), "judged_by": trials.NOTHING, "questions": 0, "arms": [],
        "recommended": BLEND, "mine": None, "questions_failed": 0, "failed": {},
        "missing": trials.candidates(materials)[1], "cross_validated": None, "chosen_by_fold": [],
        "kept": BLEND, "remedies": [], "hits10": None, "unjudged10": None, "mine_cost": None,
        "judged_only_mine": False, "best_fusion": None,
    }  # fmt: skip
    if questions is None:
        return summary
    mine: Tried | None = None
    failed = 0
    settings: dict[str, Tried] = {}
    if retriever is not None:
        depth = max(deeper(DEPTH, questions.fold), config.rerank_depth)
        summary["mine"], answers, settings = ask(retriever, questions.queries, depth)
        mine, failed = Tried(answers.run, [*answers.ms.values()]), len(answers.failed)
        there = [query for query in questions.queries if query.id in mine.run]
        questions = replace(questions, queries=there)

    def try_retriever(name: str, queries: Sequence[Query], k: int) -> Tried:
        answers = ask(name, queries, k)[1]
        if n := len(answers.failed):
            first = next(iter(answers.failed.values()))
            raise ArgusError(f"{n:,} of {len(queries):,} questions failed; the first: {first}")
        return Tried(answers.run, [*answers.ms.values()])

    found, rows = trials.try_all(
        index.path, materials, questions, config, mine, settings, try_retriever
    )
    folder.write_table(TABLE, rows)
    about = {"questions": len(questions.queries), "questions_failed": failed}
    return summary | {"judged_by": questions.kind} | about | found


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
        names = [arm["arm"] for arm in section["arms"] if arm["applies"]] or [section["kept"]]
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
    """Yield the arms, the one that is recommended, what was added, and how to undo it."""
    mine = summary["mine"]
    if not summary["arms"]:
        yield (
            "no judged questions and no information needs: nothing was chosen. "
            f"{summary['kept']} is the fixed default. {BLEND_MEASURED}"
        )
    else:
        yield f"{mine or 'the index as it is'}: {parts_words(summary['arms'], is_own=bool(mine))}"
        yield f"{summary['questions']:,} {summary['judged_by']}, nDCG@10 against it:"
        if failed := summary["questions_failed"]:
            yield f"  {failed:,} questions failed there and are left out"
        yield from map("  {}".format, arm_lines(summary))
        if unfair := judging_words(summary):
            yield unfair
        figures = summary["cross_validated"]
        means = f"{figures['mean_before']:.3f} → {figures['mean_after']:.3f}"
        yield f"chosen on other folds and measured on each: {means}, {with_interval(figures)}"
        first, *rest = recommendation_words(summary)
        yield from (f"recommended: {first}", *rest)
        if mine and summary["recommended"] in APPLICABLE:
            told = "its BM25 is Argus', which the index serves: over that of"
            yield f"{told} {mine} measure it anew before you serve it"
    if price := summary.get("price"):
        yield price_words(price)
    reasons: dict[str, list[str]] = {}
    for name, why in {**summary["missing"], **summary["failed"]}.items():
        reasons.setdefault(why, []).append(name)
    yield from (f"not tried: {', '.join(names)}: {why}" for why, names in reasons.items())
    remedies = ", ".join(summary["remedies"])
    if summary.get("only_try") and summary["kept"] != trials.NOTHING:
        kept, index = summary["kept"], summary["index"]
        yield f"would be kept: {kept}; the index is as it was (--only-try)"
        if kept in {*APPLICABLE, BLEND} or kept.startswith(f"{TEXTS}:"):
            yield f"To add it: {command('tune', 'apply', kept, '--index', index)}"
    elif remedies:
        yield f"kept: {summary['kept']} ({remedies})"
        yield "search, evaluate and explain use it from now on. To undo it:"
        for remedy in reversed(summary["remedies"]):
            yield f"  {command('tune', 'undo', remedy, '--index', summary['index'])}"
    elif summary["kept"] != trials.NOTHING:
        yield f"kept: {summary['kept']}, which was in the index already"
    else:
        yield "nothing was added to the index"


def section(folder: Path, repair: Mapping[str, Any]) -> Section:
    """Build the report's section: the arms, and the questions that the recommended one harms."""
    rows = report_rows(repair)
    tables = {"repair_trials": table(dict.fromkeys(COLUMNS, "text"), rows)} if rows else {}
    file = folder / f"{TABLE}.parquet"
    if rows and file.is_file():
        harmed = harmed_questions(read_table(file).to_pylist(), repair["recommended"])
        columns = dict.fromkeys(HARMED_COLUMNS, "text")
        tables |= {"repair_harmed": table(columns, harmed)} if harmed else {}
    return Section(
        {}, tables, f"recommended: {repair['recommended']}, judged by {repair['judged_by']}"
    )
