"""Try ways to search on judged questions: remedies on a copy of an index, fusions, other systems.

The measuring half of `argus tune try`. `candidates`: what can be added to the index, as steps.
`try_all` adds each to a copy, asks all questions and takes it out again, and sets beside it the
encoders, rerankers, retrievers and texts that were named, which need no copy (`argus.tuning`). It
returns the summary, with a verdict per arm and the recommended one, and the table of trials.
`argus.repair.job` then applies what is recommended to the index.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import Query
from argus.data.writing import check_plain, take_lock
from argus.encoders import Encoder
from argus.encoders.store import EMBEDDINGS, sharing
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import ParentFold
from argus.extras import naming_extras
from argus.indexes.blend import DENSE, TEXT, Blend
from argus.indexes.fold import ORIGINAL
from argus.indexes.job import OWN_NAMES
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.views import ViewIndex, originals, writing
from argus.measures.measures import Coverage, cover
from argus.progress import announce
from argus.remedies.blend import blend_index
from argus.remedies.config import ReferenceConfig
from argus.remedies.expansion import expand_index
from argus.remedies.texts import BLEND as TEXTS_BLEND
from argus.remedies.texts import add_texts
from argus.remedies.undo import list_remedies, rollback
from argus.repair import RepairConfig
from argus.scenarios.adapt import adapt_index
from argus.scenarios.config import AUTO
from argus.scenarios.profile import Profiled
from argus.scenarios.remedy import add_scenarios, of_several
from argus.tuning.arms import (
    APPLICABLE,
    BM25,
    DEPTH,
    FUSION_ARMS,
    MINE,
    RIVALS,
    VECTORS,
    JudgedVectors,
    Tried,
    added,
    part_and_fusion_runs,
    timed,
)
from argus.tuning.choose import BLEND, MEASURES, choose, trial_table
from argus.tuning.others import TEXTS, Named, cut_arms, encoder_arms
from argus.tuning.questions import NEEDS, Questions
from argus.tuning.rerank import open_reranker, rerank

SENTENCES = "sentences"  # the blend without BM25
EXPAND, SCENARIOS, ADAPT = "expand", "scenarios", "adapt"
EXCERPT = 160  # characters of a text that is shown beside another
NOTHING = "nothing"  # no candidate is kept, or no question judges
OTHERS = "other-encoders"  # folder of an index for the vectors of encoders that are tried
TRIAL = ".trial"  # folder in that of an index, of the copy
Apply = Callable[[Path], str]
"""Adds a remedy to the index in a folder and returns its id. Raises ArgusError if it cannot."""


@dataclass(frozen=True)
class Materials:
    """The inputs of remedies beside the index.

    reference: for expansions. profiles: for scenarios and the correction of queries. fold: the
    document of each chunk, for needs. named: arms that the user named.
    """

    encoder: Encoder
    reference: ReferenceConfig | None = None
    profiles: Mapping[str, Profiled] | None = None
    fold: ParentFold | None = None
    named: Named = field(default_factory=Named)


def candidates(materials: Materials) -> tuple[dict[str, list[Apply]], dict[str, str]]:
    """Return the steps of each candidate by its name, and why others cannot be tried.

    A candidate is one remedy, one with the blend, or all of them; and further texts under each of
    the usual fusions.
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
    further = materials.named.texts
    there |= {f"{TEXTS}:{name}": partial(_add_texts, name, encoder) for name in further}
    there[BLEND] = lambda index: blend_index(index, encoder=encoder).remedy
    sets: list[tuple[str, ...]] = [(name,) for name in there]
    sets += [pair for pair in combinations(there, 2) if BLEND in pair]
    sets += [tuple(there)] if len(there) > 2 else []
    found = {" + ".join(names): [there[name] for name in names] for names in sets}
    found[SENTENCES] = [lambda index: blend_index(index, Blend(bm25=0), encoder=encoder).remedy]
    for name in further:
        for rival in RIVALS:
            blend = replace(FUSION_ARMS[rival], weight=TEXTS_BLEND.weight)
            found[f"{TEXTS}:{name} by {rival}"] = [partial(_add_texts, name, encoder, blend=blend)]
    return found, missing


def steps_of(materials: Materials, name: str) -> list[Apply] | None:
    """Return the steps that add an arm to an index, None for one that cannot be added."""
    if name in APPLICABLE:
        arm, encoder = APPLICABLE[name], materials.encoder
        return [lambda index: blend_index(index, arm, encoder=encoder).remedy]
    return candidates(materials)[0].get(name)


def _add_texts(name: str, encoder: Encoder, index: Path, **blend: Any) -> str:
    return add_texts(index, name, encoder=encoder, **blend)


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


@dataclass
class Trials:
    """Ways to search, tried on questions. Each name is an arm; `failed`: why one was not tried."""

    arms: dict[str, Tried] = field(default_factory=dict)
    coverages: dict[str, Coverage] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Note an ArgusError as the failure of an arm."""
        announce(f"tune: trying {name}")
        try:
            with naming_extras():
                yield
        except ArgusError as error:
            self.failed[name] = str(error)


def try_all(
    index: Path,
    materials: Materials,
    questions: Questions,
    config: RepairConfig,
    mine: Tried | None,
    settings: Mapping[str, Tried],
    ask: Callable[[str, Sequence[Query], int], Tried],
) -> tuple[dict[str, Any], pa.Table]:
    """Measure what runs, its parts and their fusions, and every arm that is named. Choose.

    mine: answers of the user's retriever. None is the index as it is. settings: the same under
    other settings. ask: asks a retriever by its name. The index itself only gains the vectors of
    new texts. Remedies that were made of needs are left out of the copy while needs judge. Returns
    a part of the summary (`ChosenRepair`) and
    `trial_table`.
    """
    encoder, fold, queries = materials.encoder, questions.fold, questions.queries
    vectors = np.asarray(encoder.encode_queries([q.text for q in queries]), np.float32)
    judged = JudgedVectors(queries, vectors, questions.qrels, fold)
    tried = Trials()

    encoding = timed(lambda i: encoder.encode_queries([queries[i].text]), len(queries))

    def search(trial: Path) -> Tried:
        retriever = IndexRetriever(ViewIndex.open(trial), encoder)
        run = retriever.rank(queries, vectors, max(judged.depth, config.rerank_depth))
        ms = timed(lambda i: retriever.rank([queries[i]], vectors[i : i + 1], DEPTH), len(queries))
        return Tried(run, added(encoding, ms))

    with _copy(index) as trial:
        if questions.kind == NEEDS:
            listed = list_remedies(trial)
            take_out(trial, {r["id"] for r in listed if r["kind"] not in (SCENARIOS, ADAPT)})
        opened = ViewIndex.open(trial)
        documents = originals(opened)
        own = {remedy.id for remedy in opened.remedies()}
        before = search(trial) if mine is None else mine
        tried.arms |= parts_and_fusions(opened, encoder, judged, encoding)
        for name, steps in candidates(materials)[0].items():
            with tried.trying(name):
                apply_steps(trial, steps)
                there = [r for r in ViewIndex.open(trial).remedies() if r.id not in own]
                views, size = sum(r.views for r in there), sum(r.bytes for r in there)
                tried.arms[name] = replace(search(trial), records=views, bytes=size)
                tried.coverages[name] = _cover(trial, own, questions)
            take_out(trial, own)
    tried.arms |= {**settings, **dict(cut_arms(before, fold))}
    words, dense = tried.arms[BM25].run, tried.arms[VECTORS].run
    for name in materials.named.encoders:
        with tried.trying(f"encoder:{name}"):
            home = index / OTHERS
            tried.arms |= dict(encoder_arms(name, documents, queries, dense, words, home))
    for name in materials.named.retrievers:
        with tried.trying(name):
            tried.arms[name] = ask(name, queries, max(judged.depth, config.rerank_depth))
    texts = {document.id: document.content for document in documents}
    bases = {MINE: before, BLEND: tried.arms.get(BLEND, tried.arms["min-max 0.3"])}
    for name in materials.named.rerankers:
        kept: dict[tuple[str, str], float] = {}
        with tried.trying(f"rerank:{name}"):
            reranker, n = open_reranker(name), config.rerank_depth
            for base, of in bases.items():
                again = rerank(of, reranker, queries, texts, n, config.arm_seconds, kept)
                tried.arms[f"rerank:{name} over {base}"] = again
    measured = {name: judged.measure(arm.run, *MEASURES) for name, arm in tried.arms.items()}
    measured_before = judged.measure(before.run, *MEASURES)
    found = choose(measured_before, measured, config.folds, config.seed)
    applicable = {*APPLICABLE, *candidates(materials)[0]}
    for figures in found["arms"]:
        name = figures["arm"]
        figures |= {"applies": name in applicable, "coverage": tried.coverages.get(name)}
        figures |= {"unjudged10": judged.unjudged(tried.arms[name].run)} | tried.arms[name].cost
    found |= {"mine_cost": before.cost, "failed": tried.failed}
    found["unjudged10"] = judged.unjudged(before.run)
    served = before.run if judged.fold is None else judged.fold.run(before.run)
    # whether every judged document is among the first ten that what runs brings back
    found["judged_only_mine"] = all(
        set(judged.qrels[q.id]) <= {*[*served[q.id]][:DEPTH]} for q in judged.queries
    )
    found["kept"] = found["recommended"] if found["recommended"] in applicable else NOTHING
    first = {
        name: {
            q.id: texts.get(next(iter(arm.run.get(q.id, ())), ""), "")[:EXCERPT] for q in queries
        }
        for name, arm in {MINE: before, **tried.arms}.items()
    }
    return found, trial_table(measured_before, measured, queries, first)


def parts_and_fusions(
    index: ViewIndex, encoder: Encoder, judged: JudgedVectors, encoding: list[float]
) -> dict[str, Tried]:
    """Return the vectors of the documents alone, BM25 alone, and their fixed fusions.

    encoding: milliseconds in which the encoder makes the vectors of single questions.
    """
    dense = IndexRetriever(index, encoder, ORIGINAL, DENSE)
    lexical, queries = dense.lexical(), judged.queries
    ids = [query.id for query in queries]
    vectors = dense.nearest(judged.vectors, FUSED_DEPTH).run(ids)
    words = lexical.search([q.text for q in queries], FUSED_DEPTH).run(ids)
    near = timed(lambda i: dense.nearest(judged.vectors[i : i + 1], FUSED_DEPTH), len(ids))
    by_words = timed(lambda i: lexical.search([queries[i].text], FUSED_DEPTH), len(ids))
    by_vectors = added(encoding, near)
    both, took = added(by_vectors, by_words), {VECTORS: by_vectors, BM25: by_words}
    runs = part_and_fusion_runs(vectors, words, FUSED_DEPTH)
    return {name: Tried(run, took.get(name, both)) for name, run in runs.items()}


def _cover(index: Path, but: Collection[str], questions: Questions) -> Coverage:
    """Count the documents that have remedies of an index, without some.

    One that mixes or corrects the search is of all documents, unless it is of further texts.
    """
    opened, fold = ViewIndex.open(index), questions.fold
    documents = [document.id for document in originals(opened)]
    recipes = [recipe for recipe in opened.header.recipes if recipe.remedy not in but]
    having = set(documents)
    columns = opened.snapshot().columns.select(["doc_id", "remedy", "kind"]).to_pylist()
    rows = [row for row in columns if row["remedy"] not in {"", *but}]
    is_of_all = any(recipe.blend is not None or recipe.corrects for recipe in recipes)
    if not is_of_all or any(row["kind"] == TEXT for row in rows):
        having = {row["doc_id"] for row in rows}
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
