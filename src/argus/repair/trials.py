"""Try remedies on a copy of an index, and choose the one that is proven to help.

The measuring half of `argus tune try`. A candidate is one remedy or several together. `try_all`
adds each to a copy, measures all questions and takes it out again. `choose` keeps the candidate of
the highest nDCG@10 that gains more than chance without harm, and cross-validates that choice.
`argus.repair.job` then applies it to the index itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import Qrels, Query, Run
from argus.data.writing import check_plain, take_lock
from argus.encoders import Encoder
from argus.encoders.store import EMBEDDINGS, sharing
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import JudgedQueries, ParentFold, deeper, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.indexes.fold import ORIGINAL
from argus.indexes.job import OWN_NAMES
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.views import ViewIndex, originals, writing
from argus.measures import evaluate, paired_difference
from argus.measures.measures import Coverage, cover
from argus.progress import announce
from argus.remedies.blend import DENSE, JudgedVectors, Searched, blend_index
from argus.remedies.config import ReferenceConfig
from argus.remedies.expansion import expand_index
from argus.remedies.own import add_own
from argus.remedies.undo import list_remedies, rollback
from argus.repair import FIRST, GUARD, MEASURE
from argus.scenarios.adapt import adapt_index
from argus.scenarios.config import AUTO
from argus.scenarios.profile import Profiled
from argus.scenarios.remedy import add_scenarios, of_several
from argus.tuning.arms import MINE, part_and_fusion_runs
from argus.tuning.decide import BETTER, WORSE, compare_arms, recommend

BLEND, EXPAND, SCENARIOS, ADAPT = "blend", "expand", "scenarios", "adapt"
JUDGED, NEEDS = "judged questions", "held-out needs"
NOTHING = "nothing"  # no candidate is kept, or no question judges
DEPTH = 10
TRIAL = ".trial"  # folder in that of an index, of the copy
Apply = Callable[[Path], str]
"""Adds a remedy to the index in a folder and returns its id. Raises ArgusError if it cannot."""
PerQuery = Mapping[str, Mapping[str, float]]
"""Query to measure to value."""
MEASURES = MEASURE, GUARD, FIRST


@dataclass(frozen=True)
class Materials:
    """The inputs of remedies beside the index.

    reference: for expansions. profiles: for scenarios and the correction of queries. fold: the
    document of each chunk, for needs. own: remedies of the user, each as `FILE.py:NAME`.
    """

    encoder: Encoder
    reference: ReferenceConfig | None = None
    profiles: Mapping[str, Profiled] | None = None
    fold: ParentFold | None = None
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questions:
    """Queries with their relevant documents. fold: of chunks to these documents."""

    kind: str
    queries: list[Query]
    qrels: Qrels
    fold: ParentFold | None = None


def candidates(materials: Materials) -> tuple[dict[str, list[Apply]], dict[str, str]]:
    """Return the steps of each candidate by its name, and why others cannot be tried.

    A candidate is one remedy, one with the blend, or all of them.
    """
    encoder, profiles = materials.encoder, materials.profiles
    there: dict[str, Apply] = {}
    missing: dict[str, str] = {}

    def scenarios(index: Path) -> str:
        """Index the component that held-out needs choose, by their λ. Without needs, use M+E."""
        assert profiles is not None
        if not of_several(profiles):
            return add_scenarios(index, profiles, encoder=encoder).remedy
        chosen = add_scenarios(index, profiles, component=AUTO, weight=AUTO, encoder=encoder)
        return chosen.remedy

    def adapt(index: Path) -> str:
        result = adapt_index(index, profiles=profiles or {}, encoder=encoder)
        if not result.summary["prescribed"]:
            raise ArgusError("held-out needs do not improve by a correction of queries")
        return result.remedy

    if profiles is not None:
        there |= {SCENARIOS: scenarios, ADAPT: adapt}
    else:
        missing |= dict.fromkeys((SCENARIOS, ADAPT), "no profiles (--profiles, or --model)")
    if (reference := materials.reference) is not None:
        there[EXPAND] = lambda index: (
            expand_index(index, reference=reference, encoder=encoder).remedy
        )
    else:
        missing[EXPAND] = "no knowledge base (--kb)"
    for spec in materials.own:
        there[spec] = lambda index, spec=spec: add_own(index, spec, encoder=encoder)  # type: ignore[misc]
    there[BLEND] = lambda index: blend_index(index, encoder=encoder).remedy
    sets: list[tuple[str, ...]] = [(name,) for name in there]
    sets += [pair for pair in combinations(there, 2) if BLEND in pair]
    sets += [tuple(there)] if len(there) > 2 else []
    return {" + ".join(names): [there[name] for name in names] for names in sets}, missing


def apply_steps(index: Path, steps: Sequence[Apply]) -> list[str]:
    """Add the remedies of a candidate to an index. Return the ids of those that were not there.

    If a step fails, those before it are taken out again.
    """
    before = {remedy.id for remedy in ViewIndex.open(index).remedies()}
    try:
        added = [step(index) for step in steps]
    except BaseException:
        take_out(index, before)
        raise
    return [remedy for remedy in added if remedy not in before]


def take_out(index: Path, but: Container[str]) -> None:
    """Roll back all remedies of an index but these, the latest first."""
    for remedy in reversed(ViewIndex.open(index).remedies()):
        if remedy.id not in but:
            rollback(index, remedy.id)


def of_judged(judged: JudgedQueries, documents: Iterable[str]) -> Questions:
    """Return the judged questions that have a relevant document.

    documents: ids of the index. Raises InputError if it has none of the relevant documents.
    """
    index, fold = System("the index", {}, documents=frozenset(documents)), judged.fold
    missing_gold(index if fold is None else fold_system(index, fold), judged.judged)
    return Questions(JUDGED, list(judged.judged.queries.values()), judged.judged.qrels, fold)


def hold_out_needs(
    profiles: Mapping[str, Profiled], max_needs: int, seed: int
) -> tuple[Questions, dict[str, Profiled]]:
    """Return one need per document of several as a question, and the profiles without those.

    Documents of one need keep it. At most `max_needs` documents are drawn.
    """
    needs_of: dict[str, list[str]] = {}
    for doc, profiled in sorted(profiles.items()):
        scenarios = profiled.profile.scenarios if profiled.profile is not None else ()
        needs = list(dict.fromkeys(need for s in scenarios if (need := s.information_need.strip())))
        if len(needs) > 1:
            needs_of[doc] = needs
    several = list(needs_of)
    rng = np.random.default_rng(seed)
    queries: list[Query] = []
    qrels: Qrels = {}
    rest = dict(profiles)
    for i in sorted(rng.permutation(len(several))[:max_needs]):
        doc = several[i]
        profile = profiles[doc].profile
        assert profile is not None
        text = needs_of[doc][int(rng.integers(len(needs_of[doc])))]
        queries.append(Query(f"need of {doc}", text))
        qrels[f"need of {doc}"] = {doc: 1}
        others = tuple(s for s in profile.scenarios if s.information_need.strip() != text)
        rest[doc] = replace(profiles[doc], profile=replace(profile, scenarios=others))
    return Questions(NEEDS, queries, qrels), rest


def choose(
    before: PerQuery,
    after: Mapping[str, PerQuery],
    others: Mapping[str, PerQuery],
    folds: int,
    seed: int,
) -> dict[str, Any]:
    """Return the verdict on every arm, the recommended one, and what choosing so gains.

    before: what runs. after: each candidate that can be added, on the same questions. others: parts
    and fusions. `argus.tuning.decide` has the rule. To tell what it gains, it is applied in each
    fold to the other folds' questions. Keys are those of `argus.repair.job.ChosenRepair`.
    """
    measured = {MINE: before, **after, **others}
    values = {name: {q: v[MEASURE] for q, v in arm.items()} for name, arm in measured.items()}
    recalls = {name: {q: v[GUARD] for q, v in arm.items()} for name, arm in measured.items()}
    default = BLEND if BLEND in after else MINE
    verdicts, _ = compare_arms(values, MINE, seed=seed)

    def figures(name: str) -> dict[str, Any]:
        verdict = verdicts[name]
        gain = paired_difference(values[MINE], values[name], seed=seed).figures()
        recall = paired_difference(recalls[MINE], recalls[name], seed=seed).figures()
        return {
            "passes": verdict.verdict == BETTER, "harms": verdict.verdict == WORSE,
            "verdict": verdict.words(), "needed": verdict.needed, "recall10": recall,
            "ndcg10": gain | {"low": verdict.low, "high": verdict.high},
        }  # fmt: skip

    def by_gain(arms: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(arms, key=lambda arm: -arm["ndcg10"]["mean_difference"])

    outcomes: dict[str, float] = {}
    by_fold = []
    for fold in deal_folds(sorted(before), folds, seed):
        kept = {
            name: {q: v for q, v in arm.items() if q not in fold} for name, arm in values.items()
        }
        by_fold.append(recommend(kept, MINE, default) if kept[MINE] else MINE)
        outcomes |= {q: values[by_fold[-1]][q] for q in fold}
    recommended = recommend(values, MINE, default)
    return {
        "trials": by_gain({"candidate": name} | figures(name) for name in after),
        "arms": by_gain({"arm": name} | figures(name) for name in others),
        "cross_validated": paired_difference(values[MINE], outcomes, seed=seed).figures(),
        "chosen_by_fold": by_fold,
        "recommended": recommended,
        "kept": recommended if recommended in after else NOTHING,
    }


def deal_folds(queries: Sequence[str], folds: int, seed: int) -> list[set[str]]:
    """Deal queries into folds at random, one each if there are fewer queries than folds."""
    order = np.random.default_rng(seed).permutation(len(queries))
    parts = np.array_split(order, min(folds, len(queries)))
    return [{queries[i] for i in part} for part in parts]


def try_all(
    index: Path,
    materials: Materials,
    questions: Questions,
    folds: int,
    seed: int,
    mine: Run | None = None,
) -> tuple[dict[str, Any], pa.Table]:
    """Measure what runs, its parts and their fusions, and each candidate on a copy. Choose.

    mine: answers of the user's retriever. None is the index as it is.

    The index itself only gains the vectors of new texts. Remedies that were made of needs are left
    out of the copy while needs judge. Returns a part of the summary (`ChosenRepair`) and
    `trial_table`.
    """
    encoder, fold = materials.encoder, questions.fold
    vectors = np.asarray(encoder.encode_queries([q.text for q in questions.queries]), np.float32)
    judged = JudgedVectors(questions.queries, vectors, questions.qrels, fold)

    def measure(trial: Path) -> PerQuery:
        retriever = IndexRetriever(ViewIndex.open(trial), encoder)
        run = retriever.rank(questions.queries, vectors, deeper(DEPTH, fold))
        run = run if fold is None else fold.run(run)
        return evaluate(run, questions.qrels, list(MEASURES)).per_query

    after: dict[str, PerQuery] = {}
    coverages: dict[str, Coverage] = {}
    failed: dict[str, str] = {}
    with _copy(index) as trial:
        if questions.kind == NEEDS:
            listed = list_remedies(trial)
            take_out(trial, {r["id"] for r in listed if r["kind"] not in (SCENARIOS, ADAPT)})
        opened = ViewIndex.open(trial)
        own = {remedy.id for remedy in opened.remedies()}
        before = measure(trial) if mine is None else judged.measure(mine, *MEASURES)
        lexical = IndexRetriever(opened, encoder, ORIGINAL).lexical()
        searched = Searched(opened.snapshot(ORIGINAL), lexical)
        dense = searched.run(questions.queries, vectors, FUSED_DEPTH, DENSE)
        words = lexical.search([q.text for q in questions.queries], FUSED_DEPTH)
        ids = [query.id for query in questions.queries]
        runs = part_and_fusion_runs(dense, words.run(ids), judged.depth)
        others = {name: judged.measure(run, MEASURE, GUARD) for name, run in runs.items()}
        for name, steps in candidates(materials)[0].items():
            announce(f"repair: trying {name}")
            try:
                apply_steps(trial, steps)
            except ArgusError as error:
                failed[name] = str(error)
            else:
                after[name] = measure(trial)
                coverages[name] = _cover(trial, own, questions)
            take_out(trial, own)
    found = choose(before, after, others, folds, seed)
    found["trials"] = [t | {"coverage": coverages[t["candidate"]]} for t in found["trials"]]
    return found | {"failed": failed}, trial_table(before, after, questions)


def _cover(index: Path, but: Collection[str], questions: Questions) -> Coverage:
    """Count the documents that have remedies of an index, without some.

    A remedy that mixes or corrects the search is of all documents.
    """
    opened, fold = ViewIndex.open(index), questions.fold
    documents = [document.id for document in originals(opened)]
    recipes = [recipe for recipe in opened.header.recipes if recipe.remedy not in but]
    having = set(documents)
    if not any(recipe.blend is not None or recipe.corrects for recipe in recipes):
        columns = opened.snapshot().columns.select(["doc_id", "remedy"]).to_pylist()
        having = {row["doc_id"] for row in columns if row["remedy"] not in {"", *but}}
    grades = (questions.qrels[query.id] for query in questions.queries)
    relevant = [[doc for doc, grade in of_one.items() if grade > 0] for of_one in grades]
    if fold is None:
        return cover(documents, having, relevant)
    return cover(fold.ids(documents), fold.ids(having), relevant)


@contextmanager
def _copy(index: Path) -> Iterator[Path]:
    """Copy an index into its own folder for the trials. Copy and index share vectors of texts.

    The next run removes a copy that a killed run left. Raises InputError if the copy cannot be
    made, ArgusError while another run tries.
    """
    busy = f"{index} is being repaired by another run; wait for it and run this again."
    with _refusing_unwritable(index):
        lock = take_lock(index / f"{TRIAL}.lock", busy=busy)
    with lock:
        try:
            with _refusing_unwritable(index), writing(index):  # not while it changes
                trial, vectors = ArtifactFolder(index).own(TRIAL), index / EMBEDDINGS
                shutil.rmtree(trial, ignore_errors=True)
                trial.mkdir()
                vectors.mkdir(exist_ok=True)
                for name in OWN_NAMES:
                    if (index / name).is_dir():
                        shutil.copytree(index / name, trial / name)
                    elif (index / name).exists():
                        shutil.copy2(index / name, trial / name)
            with sharing(trial, check_plain(vectors)):
                yield trial
        finally:
            shutil.rmtree(index / TRIAL, ignore_errors=True)


@contextmanager
def _refusing_unwritable(index: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        got = f"cannot be written ({error.strerror or error})"
        expected, fix = "an index that can be repaired", "Copy it to where you may write."
        raise InputError(got, expected=expected, fix=fix, where=index) from error


SCHEMA = pa.schema([
    ("candidate", pa.string()), ("query_id", pa.string()), ("question", pa.string()),
    ("ndcg10_before", pa.float64()), ("ndcg10_after", pa.float64()),
    ("place_before", pa.int64()), ("place_after", pa.int64()),
])  # fmt: skip


def trial_table(before: PerQuery, after: Mapping[str, PerQuery], questions: Questions) -> pa.Table:
    """Return one row per candidate and question, in the order of the questions.

    candidate: remedy that was tried.
    ndcg10_before, ndcg10_after: nDCG@10 of the question, without and with it.
    place_before, place_after: rank of the first relevant document, null beyond the first 10.
    """

    def place(values: Mapping[str, float]) -> int | None:
        return round(1 / values[FIRST]) if values[FIRST] > 0 else None

    rows = [
        {
            "candidate": candidate, "query_id": query.id, "question": query.text,
            "ndcg10_before": before[query.id][MEASURE], "ndcg10_after": values[query.id][MEASURE],
            "place_before": place(before[query.id]), "place_after": place(values[query.id]),
        }
        for candidate, values in after.items()
        for query in questions.queries
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)
