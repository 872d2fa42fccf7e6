"""A correction in an index: learnt once, searched with, taken out again, and left out by doubt."""

import shutil

import numpy as np
import pytest

from argus.data.types import Document, View
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.recipe import CORRECTION, read_correction
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.remedies.undo import list_remedies, rollback
from argus.scenarios.adapt import AdaptConfig, adapt_index
from tests.support.adapting import (
    DOCUMENTS,
    JUDGED,
    NEEDS,
    QUESTIONS,
    QUICK,
    Turned,
    needs_of,
    turned_index,
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return turned_index(tmp_path_factory.mktemp("adapt") / "built")


@pytest.fixture(scope="module")
def learnt(built):
    """The same index with a correction, and the result; not to be changed."""
    folder = shutil.copytree(built, built.parent / "learnt")
    return adapt_index(
        folder, profiles=NEEDS, config=QUICK, encoder=Turned(), queries=QUESTIONS, qrels=JUDGED
    )


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "index")


@pytest.fixture
def corrected(learnt, tmp_path):
    return shutil.copytree(learnt.index.path, tmp_path / "corrected")


def run_of(folder, as_of=None):
    return IndexRetriever(ViewIndex.open(folder), Turned(), as_of).search(QUESTIONS, 20)


def test_needs_of_some_documents_help_questions_about_others(learnt):
    summary = learnt.summary
    held = summary["learnt"]["held_out"]
    assert summary["prescribed"] and held["low"] > 0 and held["queries"] == 100
    assert (summary["needs"]["used"], summary["needs"]["documents"]) == (200, 100)
    assert summary["judged"] == {"questions": 60, "with_needs": 0}
    change = learnt.evaluation["comparison"]["nDCG@10"]
    assert change["low"] > 0.1 and change["mean_after"] > change["mean_before"]
    lines = list(learnt.headline())
    assert lines[0].startswith(f"{learnt.remedy}: learnt from 200 needs of 100 of 160 documents")
    assert f"--correction {learnt.folder / CORRECTION}" in lines[-2]


def test_it_is_listed_and_rolled_back_to_the_same_ranking(corrected, learnt, built):
    assert [(r["id"], r["kind"], r["views"]) for r in list_remedies(corrected)] == [
        (learnt.remedy, "adapt", 0)
    ]
    before = run_of(built)
    assert run_of(corrected) != before
    assert run_of(corrected, f"before:{learnt.remedy}") == before
    assert run_of(corrected, "original") == before
    rollback(corrected, learnt.remedy)
    assert run_of(corrected) == before and list_remedies(corrected) == []


def test_it_comes_before_blend_and_scenarios(corrected, learnt):
    index, rng = ViewIndex.open(corrected), np.random.default_rng(0)
    for kind in ("sentence", "scenario"):
        views = [View(f"{d.id}#{kind}", d.id, kind, f"{kind} {d.text}") for d in DOCUMENTS]
        vectors = rng.normal(size=(len(views), index.dim))
        unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        index.add(views, unit, remedy=f"{kind}-1")
    index.prescribe("sentence-1", blend=Blend(bm25=0))
    correction = read_correction(learnt.folder / CORRECTION)
    queries = correction.apply(Turned().encode_queries([q.text for q in QUESTIONS]))
    by_hand = index.search(queries, 20, weight=0.7).run([q.id for q in QUESTIONS])
    assert run_of(corrected) == by_hand
    with_both = run_of(corrected)
    rollback(corrected, learnt.remedy)
    assert run_of(corrected) != with_both


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"profiles": needs_of([Document("x1", "a b c d e f"), Document("x2", "g h i j k l")])},
         "profiles"),
        ({"profiles": {"d000": NEEDS["d000"]}}, "profiles"),
        ({"profiles": NEEDS, "queries": QUESTIONS}, "--qrels"),
        ({"profiles": NEEDS, "config": AdaptConfig(rank=25)}, "--rank"),
    ],
)  # fmt: skip
def test_bad_input_is_named_and_changes_nothing(index, options, where):
    before, header = run_of(index), (index / "index.json").read_bytes()
    with pytest.raises(InputError) as error:
        adapt_index(index, **{"encoder": Turned(), "config": QUICK} | options)
    assert error.value.where == where
    assert run_of(index) == before and (index / "index.json").read_bytes() == header
