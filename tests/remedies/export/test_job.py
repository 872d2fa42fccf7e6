"""`remedy export`: what is in the files is enough to serve a remedy elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from argus.data.types import Document, View
from argus.errors import ArgusError, InputError
from argus.indexes.blend import Blend
from argus.indexes.correction import FILE, QueryCorrection
from argus.indexes.fold import RELEVANCE_WEIGHT
from argus.indexes.job import build_index
from argus.indexes.recipes import REMEDIES
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.remedies.blend.job import blend_index
from argus.remedies.export.job import export_remedy
from argus.remedies.repair.remedy import rollback

TEXTS = {
    "deque": "A list-like sequence. Appends and pops are fast near either end. "
    "A maximum length makes it forget the oldest entries.",
    "heapq": "Heap queue algorithm. It is also known as a priority queue.",
    "bisect": "Bisection algorithms. They keep a list in order without sorting it again.",
    "zlib": "Compression compatible with gzip.",
}


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def built(minilm, tmp_path):
    """An index whose documents have several sentences, but for one."""
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "built", encoder=minilm)
    return tmp_path / "built"


def test_the_files_alone_rank_as_the_index_does(built, minilm, tmp_path):
    index = built
    remedy = blend_index(index, Blend(bm25=0.0), encoder=minilm).remedy
    result = export_remedy(index, remedy, out=tmp_path / "out", with_vectors=True)
    recipe = json.loads((tmp_path / "out" / "recipe.json").read_text())
    assert recipe == result.summary and recipe["kinds"] == {"sentence": recipe["views"]}
    views, numbers = (
        lines(tmp_path / "out" / "views.jsonl"),
        lines(tmp_path / "out" / "documents.jsonl"),
    )
    assert {*views[0]} == {"id", "parent", "kind", "text", "source", "vector"}
    assert recipe["documents"] == len(numbers) == len(TEXTS)
    opened = ViewIndex.open(index)
    own = {v.doc_id: x for v, x in zip(*snapshot(opened, ORIGINAL), strict=True)}
    weight, penalty = recipe["blend"]["weight"], {row["id"]: row["penalty"] for row in numbers}
    records = [(doc, vector) for doc, vector in own.items()]
    records += [
        (row["parent"], weight * own[row["parent"]] + (1 - weight) * np.array(row["vector"]))
        for row in views
    ]
    questions = minilm.encode_queries([*TEXTS, "the oldest entries", "a list in order"])
    top = opened.search(questions, len(own))
    for query, doc_ids, scores in zip(questions, top.doc_ids, top.scores, strict=True):
        best: dict[str, float] = {}
        for doc, vector in records:
            best[doc] = max(best.get(doc, -np.inf), float(vector @ query) - penalty[doc])
        np.testing.assert_allclose([best[doc] for doc in doc_ids], scores, atol=1e-5)


def snapshot(index, state):
    read = index.snapshot(state)
    return read.views, read.vectors


def test_the_recipe_says_formula_and_weights(built, minilm, tmp_path):
    index = built
    remedy = blend_index(index, encoder=minilm).remedy
    export_remedy(index, remedy, out=tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "v(q, d) = 0.7·s(q, d) + 0.3·max(s(q, d), best sentence) - 0.1·r(d)" in text
    assert (
        "m = 0.7·d + 0.3·t" in text
        and "w = 0.2·min(2, 0.5 + 3·c)" in text
        and minilm.fingerprint in text
    )
    assert "Embed the texts" in text
    assert all("vector" not in row for row in lines(tmp_path / "out" / "views.jsonl"))


@pytest.mark.parametrize(("weight", "shown"), [(0.3, 0.3), (None, RELEVANCE_WEIGHT)])
def test_the_weight_of_scenarios_is_the_one_chosen(built, minilm, tmp_path, weight, shown):
    index = ViewIndex.open(built)
    views = [View("zlib#s-0", "zlib", "scenario", "a backup must shrink")]
    index.add(views, minilm.encode_documents([views[0].text]), remedy="scenarios-1")
    if weight is not None:
        index.prescribe("scenarios-1", weight=weight)
    export_remedy(built, "scenarios-1", out=tmp_path / "out")
    recipe = json.loads((tmp_path / "out" / "recipe.json").read_text())
    assert recipe["weight"] == shown
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"scores {shown:g} times" in text and f"{1 - shown:g} times the best" in text


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_vectors_that_a_disk_lost_are_not_handed_out(built, minilm, tmp_path, value):
    view = View("zlib#s-0", "zlib", "expansion", "a backup must shrink")
    vectors = minilm.encode_documents([view.text])
    before = {*(built / "views.lance" / "data").iterdir()}
    ViewIndex.open(built).add([view], vectors, remedy="expand-1")
    (data,) = {*(built / "views.lance" / "data").iterdir()} - before
    torn = vectors[0].copy()
    torn[:200] = value
    content = data.read_bytes()
    assert content.count(vectors[0].tobytes()) == 1
    data.write_bytes(content.replace(vectors[0].tobytes(), torn.tobytes()))
    export_remedy(built, "expand-1", out=tmp_path / "texts")
    with pytest.raises(ArgusError, match=r"1 of 1 vectors are damaged .+, of 'zlib'\. Put a copy"):
        export_remedy(built, "expand-1", out=tmp_path / "out", with_vectors=True)
    assert not (tmp_path / "out" / "views.jsonl").exists()


def test_an_expansion_goes_by_its_best_view(index, repairable, tmp_path):
    remedy = repairable.expand(index).remedy
    result = export_remedy(index, remedy, out=tmp_path / "out")
    assert result.summary["blend"] is None and result.summary["kinds"] == {"expansion": 16}
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "the best cosine of a document's own vector and its views" in text
    assert "BM25" not in text and not (tmp_path / "out" / "documents.jsonl").exists()


def test_a_correction_comes_as_numbers(index, minilm, tmp_path):
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=(2, minilm.dim, 3)).astype(np.float32)
    home = index / REMEDIES / "adapt-1"
    home.mkdir(parents=True)
    correction = QueryCorrection(u, w, 0.5, minilm.fingerprint)
    correction.save(home / FILE)
    ViewIndex.open(index).prescribe("adapt-1", corrects=True)
    result = export_remedy(index, "adapt-1", out=tmp_path / "out")
    written = json.loads((tmp_path / "out" / "correction.json").read_text())
    np.testing.assert_allclose(written["u"], u, atol=1e-7)
    assert written["alpha"] == 0.5 and result.summary["views"] == 0
    assert "q' = unit(q + alpha·u·(wᵀ·q))" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_a_remedy_that_is_gone_is_refused(index, repairable, tmp_path):
    remedy = repairable.expand(index).remedy
    with pytest.raises(InputError, match=remedy):
        export_remedy(index, "blend-1", out=tmp_path / "out")
    with pytest.raises(InputError, match="the index itself"):
        export_remedy(index, remedy, out=index)
    rollback(index, remedy)
    with pytest.raises(InputError):
        export_remedy(index, remedy, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
