"""Candidates that may help an index: what each needs, who asks, trying them on a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import FloatArray, Qrels, Query
from argus.data.writing import check_plain, take_lock
from argus.encoders import Encoder
from argus.encoders.store import EMBEDDINGS as VECTORS
from argus.encoders.store import sharing
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.parents import ParentFold, deeper, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.indexes.job import OWN_NAMES
from argus.indexes.originals import originals
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.retriever import IndexRetriever
from argus.indexes.table import writing
from argus.indexes.views import ViewIndex
from argus.measures import PairedDifference, evaluate, paired_difference
from argus.measures.coverage import Coverage, cover
from argus.progress import announce
from argus.remedies.blend.job import blend_index
from argus.remedies.blend.parts import JudgedVectors, Searched, rival_runs
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.expand import expand_index
from argus.remedies.repair.remedy import list_remedies, rollback
from argus.repair.config import FIRST, GUARD, HARM, MEASURE
from argus.repair.summary import NOTHING as NOTHING
from argus.repair.summary import TABLE as TABLE
from argus.scenarios.adapt.job import adapt_index
from argus.scenarios.cells import AUTO
from argus.scenarios.choice.of_index import of_several
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles.index import add_scenarios

BLEND, EXPAND, SCENARIOS, ADAPT = "blend", "expand", "scenarios", "adapt"
Apply = Callable[[Path], str]
"""Adds a remedy to the index in a folder; returns its id. Raises ArgusError where it cannot."""


@dataclass(frozen=True)
class Materials:
    """What the remedies are made of, beside the index."""

    encoder: Encoder
    reference: ReferenceConfig | None = None
    """For expansions."""
    profiles: Mapping[str, Profiled] | None = None
    """For scenarios, and for what corrects queries."""
    fold: ParentFold | None = None
    """The document of each chunk, for the blend."""


@dataclass(frozen=True)
class Candidate:
    """One remedy, or several one after another."""

    name: str
    steps: tuple[tuple[str, Apply], ...]

    def apply(self, index: Path) -> list[str]:
        """Add it to an index; return the ids of its remedies that were not there.

        Where a step fails, those before it are taken out again.
        """
        before = {remedy.id for remedy in ViewIndex.open(index).remedies()}
        try:
            added = [step(index) for _, step in self.steps]
        except BaseException:
            take_out(index, before)
            raise
        return [remedy for remedy in added if remedy not in before]


def candidates(materials: Materials) -> tuple[list[Candidate], dict[str, str]]:
    """Return what can be tried, alone and together with the blend, and why the rest cannot."""
    there: dict[str, Apply] = {}
    missing: dict[str, str] = {}
    if (profiles := materials.profiles) is not None:
        there[SCENARIOS] = lambda index: _scenarios(index, profiles, materials.encoder)
        there[ADAPT] = lambda index: _adapt(index, profiles, materials.encoder)
    else:
        missing |= dict.fromkeys((SCENARIOS, ADAPT), "no profiles (--profiles, or --model)")
    if (reference := materials.reference) is not None:
        there[EXPAND] = lambda index: (
            expand_index(index, reference=reference, encoder=materials.encoder).remedy
        )
    else:
        missing[EXPAND] = "no knowledge base (--kb)"
    there[BLEND] = lambda index: (
        blend_index(index, encoder=materials.encoder, fold=materials.fold).remedy
    )
    return [_candidate(names, there) for names in _sets(list(there))], missing


def _scenarios(index: Path, profiles: Mapping[str, Profiled], encoder: Encoder) -> str:
    """Index scenarios by the component and λ that held-out needs choose; M+E where none can be."""
    if not of_several(profiles):
        return add_scenarios(index, profiles, encoder=encoder).remedy
    return add_scenarios(index, profiles, component=AUTO, weight=AUTO, encoder=encoder).remedy


def _adapt(index: Path, profiles: Mapping[str, Profiled], encoder: Encoder) -> str:
    """Learn a correction of queries; ArgusError where held-out needs do not improve by one."""
    result = adapt_index(index, profiles=profiles, encoder=encoder)
    if not result.summary["prescribed"]:
        raise ArgusError("held-out needs do not improve by a correction of queries")
    return result.remedy


def _candidate(names: Sequence[str], there: Mapping[str, Apply]) -> Candidate:
    return Candidate(" + ".join(names), tuple((name, there[name]) for name in names))


def _sets(names: list[str]) -> list[tuple[str, ...]]:
    """Return each name alone, and with the blend: in pairs, and all together."""
    sets: list[tuple[str, ...]] = [(name,) for name in names]
    sets += [pair for pair in combinations(names, 2) if BLEND in pair]
    return [*sets, tuple(names)] if len(names) > 2 else sets


def take_out(index: Path, but: Container[str]) -> None:
    """Roll back all remedies of an index but these, the latest first."""
    for remedy in reversed(ViewIndex.open(index).remedies()):
        if remedy.id not in but:
            rollback(index, remedy.id)


def attempt(candidate: Candidate, index: Path) -> str | None:
    """Add a candidate to an index; return why it could not be added, None where it was."""
    try:
        candidate.apply(index)
    except ArgusError as error:
        return str(error)
    return None


JUDGED, NEEDS, DEFAULT = "judged questions", "held-out needs", "nothing"


@dataclass(frozen=True)
class Questions:
    """Queries with their relevant documents."""

    kind: str
    queries: list[Query]
    qrels: Qrels
    fold: ParentFold | None = None
    """Of chunks to the documents that are relevant."""

    def relevant(self) -> list[list[str]]:
        """Return the relevant documents, by question."""
        grades = (self.qrels[query.id] for query in self.queries)
        return [[doc for doc, grade in of_one.items() if grade > 0] for of_one in grades]


def of_judged(judged: JudgedQueries, documents: Iterable[str]) -> Questions:
    """Return the judged questions that can be measured: those with a relevant document.

    documents: ids of the index. InputError where it holds none of the relevant documents.
    """
    index, fold = System("the index", {}, documents=frozenset(documents)), judged.fold
    missing_gold(index if fold is None else fold_system(index, fold), judged.judged)
    return Questions(JUDGED, list(judged.judged.queries.values()), judged.judged.qrels, fold)


def hold_out_needs(
    profiles: Mapping[str, Profiled], most: int, seed: int
) -> tuple[Questions, dict[str, Profiled]]:
    """Return one need per document of several as a question, and the profiles without those.

    Documents of one need keep it. Of many documents `most` are drawn.
    """
    several = sorted(
        doc for doc, p in profiles.items() if p.profile is not None and len(_needs(p)) > 1
    )
    rng = np.random.default_rng(seed)
    drawn = [several[i] for i in sorted(rng.permutation(len(several))[:most])]
    queries: list[Query] = []
    qrels: Qrels = {}
    rest = dict(profiles)
    for doc in drawn:
        profiled = profiles[doc]
        assert profiled.profile is not None
        needs = _needs(profiled)
        text = needs[int(rng.integers(len(needs)))]
        queries.append(Query(f"need of {doc}", text))
        qrels[f"need of {doc}"] = {doc: 1}
        others = tuple(s for s in profiled.profile.scenarios if s.information_need.strip() != text)
        rest[doc] = replace(profiled, profile=replace(profiled.profile, scenarios=others))
    return Questions(NEEDS, queries, qrels), rest


def _needs(profiled: Profiled) -> list[str]:
    assert profiled.profile is not None
    needs = (s.information_need.strip() for s in profiled.profile.scenarios)
    return list(dict.fromkeys(need for need in needs if need))


PerQuery = Mapping[str, Mapping[str, float]]
"""Query to measure to value."""


@dataclass(frozen=True)
class Trial:
    """A candidate on the questions, against the index as it is."""

    candidate: str
    gain: PairedDifference
    """Of nDCG@10."""
    recall: PairedDifference
    """Of R@10."""

    @property
    def harms(self) -> bool:
        """Whether it lowers either measure in the mean by more than it may."""
        return min(self.gain.mean_difference, self.recall.mean_difference) < -HARM

    @property
    def needed(self) -> int | None:
        """Questions that would tell its gain and its harm from chance; None where these do."""
        if self.gain.mean_difference <= 0 or self.recall.verdict == "worse":
            return None
        doubtful = [] if self.gain.verdict else [self.gain]
        if self.recall.mean_difference < -HARM:
            doubtful.append(self.recall)
        return max((d.queries_needed for d in doubtful), default=None)

    @property
    def passes(self) -> bool:
        """Whether its gain is more than chance, and it harms nothing."""
        return self.gain.verdict == "better" and not self.harms


@dataclass(frozen=True)
class Choice:
    """What is kept, and what choosing gains on questions that did not choose."""

    winner: str
    """A candidate; NOTHING where none passes."""
    trials: list[Trial]
    """Best first."""
    cross_validated: PairedDifference
    """Of what each fold's others chose, measured on that fold."""
    chosen_by_fold: list[str]


def choose(before: PerQuery, after: Mapping[str, PerQuery], folds: int, seed: int) -> Choice:
    """Return the candidate to keep.

    before: of the index as it is; after: of each candidate, the same queries. Kept is the one of
    the highest nDCG@10 among those whose gain has an interval above zero and that lower neither
    measure by more than 0.005; nothing is, where the cross-validated gain is not above zero. That
    applies the same rule, all but the test, in each fold to the other folds' questions.
    """
    trials = [
        Trial(
            name,
            compare(before, values, MEASURE, seed),
            compare(before, values, GUARD, seed),
        )
        for name, values in after.items()
    ]
    trials.sort(key=lambda trial: (-trial.gain.mean_difference, trial.candidate))
    outcomes: dict[str, float] = {}
    by_fold = []
    for fold in _folds(sorted(before), folds, seed):
        best = _best(before, after, [q for q in before if q not in fold])
        by_fold.append(best)
        outcomes |= {q: (after[best] if best != NOTHING else before)[q][MEASURE] for q in fold}
    plain = {q: values[MEASURE] for q, values in before.items()}
    validated = paired_difference(plain, outcomes, seed=seed)
    passing = [trial.candidate for trial in trials if trial.passes]
    winner = passing[0] if passing and validated.mean_difference > 0 else NOTHING
    return Choice(winner, trials, validated, by_fold)


def _best(before: PerQuery, after: Mapping[str, PerQuery], queries: Sequence[str]) -> str:
    """Return what gains most on these queries and harms nothing; NOTHING where none gains."""
    if not queries:
        return NOTHING
    best, most = NOTHING, 0.0
    for name in sorted(after):
        gain, recall = (
            float(np.mean([after[name][q][m] - before[q][m] for q in queries]))
            for m in (MEASURE, GUARD)
        )
        if gain > most and recall >= -HARM:
            best, most = name, gain
    return best


def _folds(queries: Sequence[str], folds: int, seed: int) -> list[set[str]]:
    """Return the queries dealt into folds; of fewer queries than folds, one each."""
    order = np.random.default_rng(seed).permutation(len(queries))
    parts = np.array_split(order, min(folds, len(queries)))
    return [{queries[i] for i in part} for part in parts]


def compare(before: PerQuery, after: PerQuery, measure: str, seed: int) -> PairedDifference:
    """Compare two systems' values of one measure, question by question."""
    first, second = ({q: v[measure] for q, v in of.items()} for of in (before, after))
    return paired_difference(first, second, seed=seed)


DEPTH = 10
TRIAL = ".trial"
"""The folder, in that of an index, of the copy that is tried on."""
OF_NEEDS = (SCENARIOS, ADAPT)
"""Kinds of remedies that are made of needs."""


@dataclass(frozen=True)
class Tried:
    """Values of every question by what searched.

    before: the index as it is. after: each candidate. rivals: fixed fusions of the documents' own
    vectors with BM25. coverages: how many documents have each candidate. failed: why a candidate
    could not be tried.
    """

    before: PerQuery
    after: dict[str, PerQuery]
    rivals: dict[str, PerQuery]
    coverages: dict[str, Coverage]
    failed: dict[str, str]


def values_of(index: Path, encoder: Encoder, questions: Questions, vectors: FloatArray) -> PerQuery:
    """Return nDCG@10, R@10 and RR@10 of every question, as the index is searched now.

    vectors: (n_questions, dim), the questions' own.
    """
    retriever = IndexRetriever(ViewIndex.open(index), encoder)
    fold = questions.fold
    run = retriever.rank(questions.queries, vectors, deeper(DEPTH, fold))
    run = run if fold is None else fold.run(run)
    return evaluate(run, questions.qrels, [MEASURE, GUARD, FIRST]).per_query


def try_all(
    index: Path, candidates: Sequence[Candidate], encoder: Encoder, questions: Questions
) -> Tried:
    """Return the values as the index is, and those of each candidate and rival.

    The index itself is not touched, but for vectors of new texts, which are kept.
    """
    after: dict[str, PerQuery] = {}
    coverages: dict[str, Coverage] = {}
    failed: dict[str, str] = {}
    texts = [query.text for query in questions.queries]
    vectors = np.asarray(encoder.encode_queries(texts), np.float32)
    with _copy(index) as trial:
        if questions.kind == NEEDS:
            _forget_needs(trial)
        own = {remedy.id for remedy in ViewIndex.open(trial).remedies()}
        before = values_of(trial, encoder, questions, vectors)
        rivals = _values_of_rivals(trial, encoder, questions, vectors)
        for candidate in candidates:
            announce(f"repair: trying {candidate.name}")
            why = attempt(candidate, trial)
            if why is None:
                after[candidate.name] = values_of(trial, encoder, questions, vectors)
                coverages[candidate.name] = _coverage(trial, own, questions)
            else:
                failed[candidate.name] = why
            take_out(trial, own)
    return Tried(before, after, rivals, coverages, failed)


def _values_of_rivals(
    index: Path, encoder: Encoder, questions: Questions, vectors: FloatArray
) -> dict[str, PerQuery]:
    opened = ViewIndex.open(index)
    lexical = IndexRetriever(opened, encoder, ORIGINAL).lexical()
    runs = rival_runs(
        Searched(opened.snapshot(ORIGINAL), lexical),
        JudgedVectors(questions.queries, vectors, questions.qrels, questions.fold),
    )
    return {
        name: evaluate(run, questions.qrels, [MEASURE, GUARD]).per_query
        for name, run in runs.items()
    }


def _coverage(index: Path, but: Collection[str], questions: Questions) -> Coverage:
    """Count the documents that have remedies of an index, but for some.

    What mixes or corrects the search is of all documents.
    """
    opened = ViewIndex.open(index)
    documents = [document.id for document in originals(opened)]
    recipes = [recipe for recipe in opened.header.recipes if recipe.remedy not in but]
    having = set(documents)
    if not any(recipe.blend is not None or recipe.corrects for recipe in recipes):
        columns = opened.snapshot().columns.select(["doc_id", "remedy"]).to_pylist()
        having = {row["doc_id"] for row in columns if row["remedy"] not in {"", *but}}
    if questions.fold is None:
        return cover(documents, having, questions.relevant())
    return cover(questions.fold.ids(documents), questions.fold.ids(having), questions.relevant())


def _forget_needs(trial: Path) -> None:
    """Roll back what was made of needs, since some of them ask now."""
    kinds = {r["id"]: r["kind"] for r in list_remedies(trial)}
    take_out(trial, {remedy for remedy, kind in kinds.items() if kind not in OF_NEEDS})


@contextmanager
def _copy(index: Path) -> Iterator[Path]:
    """Copy an index for as long as it is tried on; vectors of texts are those of the index.

    The copy lies in the index's own folder: what a killed run left, the next one removes. Raises
    InputError where it cannot be made, ArgusError while another run tries.
    """
    busy = f"{index} is being repaired by another run; wait for it and run this again."
    with _making(index):
        lock = take_lock(index / f"{TRIAL}.lock", busy=busy)
    with lock:
        try:
            with _making(index), writing(index):  # not while it changes
                trial = _copied(index)
            with sharing(trial, check_plain(index / VECTORS)):
                yield trial
        finally:
            shutil.rmtree(index / TRIAL, ignore_errors=True)


@contextmanager
def _making(index: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error})",
            expected="an index that can be repaired",
            fix="Copy it to where you may write.",
            where=index,
        ) from error


def _copied(index: Path) -> Path:
    trial, vectors = ArtifactFolder(index).own(TRIAL), index / VECTORS
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    vectors.mkdir(exist_ok=True)
    for name in OWN_NAMES:
        if (index / name).is_dir():
            shutil.copytree(index / name, trial / name)
        elif (index / name).exists():
            shutil.copy2(index / name, trial / name)
    return trial


def trial_table(before: PerQuery, after: Mapping[str, PerQuery], questions: Questions) -> pa.Table:
    """Return one row per candidate and question, in the order of the questions."""
    rows = [
        {
            "candidate": candidate, "query_id": query.id, "question": query.text,
            "ndcg10_before": before[query.id][MEASURE], "ndcg10_after": values[query.id][MEASURE],
            "place_before": _place(before[query.id]), "place_after": _place(values[query.id]),
        }
        for candidate, values in after.items()
        for query in questions.queries
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


SCHEMA = pa.schema(
    [
        ("candidate", pa.string()), ("query_id", pa.string()), ("question", pa.string()),
        ("ndcg10_before", pa.float64()), ("ndcg10_after", pa.float64()),
        ("place_before", pa.int64()), ("place_after", pa.int64()),
    ]
)  # fmt: skip
"""One row per candidate and question, in the order of the questions.

candidate: remedy that was tried.
ndcg10_before, ndcg10_after: nDCG@10 of the question, without and with it.
place_before, place_after: rank of the first relevant document; null beyond the first 10.
"""


def _place(values: Mapping[str, float]) -> int | None:
    return round(1 / values[FIRST]) if values[FIRST] > 0 else None
