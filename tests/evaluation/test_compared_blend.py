"""An index before a blend and right after it: what was gained and lost is named."""

from __future__ import annotations

import numpy as np

from argus.data.types import Document, Query, View
from argus.encoders import EncoderConfig
from argus.evaluation.compared_lists import compare_indexes
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.recipe import DocumentNumbers
from argus.indexes.retriever import before_and_after
from argus.indexes.views import ViewIndex
from tests.support.blended import REMEDY, queries, texts


def blended(folder, encoder):
    """An index that names its encoder, of documents of four sentences, with a blend."""
    sentences = {id_: (s * 4)[:4] for id_, s in texts(40).items()}
    documents = [
        Document(i, ". ".join(s), " ".join(s[-1].split()[:2])) for i, s in sentences.items()
    ]
    build_index(documents, out=folder, encoder=EncoderConfig(precision="float32"))
    (folder / "remedies" / REMEDY).mkdir(parents=True)
    index = ViewIndex.open(folder)
    views = [View(f"{i}#{REMEDY}-{n}", i, "sentence", f"{s[-1].split()[0]} {text}")
             for i, s in sentences.items() for n, text in enumerate(s)]  # fmt: skip
    index.add(views, encoder.encode_documents([v.text for v in views]), remedy=REMEDY)
    hubness = np.random.default_rng(0).uniform(0, 0.8, len(documents)).astype(np.float32)
    DocumentNumbers([d.id for d in documents], hubness).save(folder / "remedies" / REMEDY)
    index.prescribe(REMEDY, blend=Blend(hubs=0.5))
    return index, documents


def test_what_a_blend_gains_is_named(minilm, tmp_path):
    index, documents = blended(tmp_path / "index", minilm)
    states = (f"{index.path}@before:{REMEDY}", f"{index.path}@{REMEDY}")
    result = compare_indexes(states, out=tmp_path / "out", queries=queries(), k=3)
    titles = [Query(d.id, d.title) for d in documents]
    runs = [r.search(titles, 3) for r in before_and_after(index, minilm, REMEDY)]
    inside = [{d.id for d in documents if d.id in run[d.id]} for run in runs]
    gained, lost = inside[1] - inside[0], inside[0] - inside[1]
    assert gained or lost
    assert {row["id"] for row in result.summary["gained"]} == gained
    assert {row["id"] for row in result.summary["lost"]} == lost
    page = result.report.read_text()
    assert all(id_ in page for id_ in gained | lost)
    assert f"before:{REMEDY}" in page
