"""Explanations with and without the beginnings that many share: chosen on one, told on the other.

demo: the standard library (5,463 documents, 504 with scenarios, 150 judged questions), nDCG@10 of
every component with an explanation in both forms, and the difference that the plain form makes.
released: the 67 documents of the released data among 5,000 others; mean over documents of the mean
reciprocal rank of their held-out needs. crossed: the form, component and λ that are best on one of
both, told on the other beside the same cell in the written form. STORE names a folder of vectors to
go on with.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import read_corpus
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed, load_encoder
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.measures import paired_difference
from argus.scenarios.ablation.grid import Cell, Documents, embed_scenarios, grid
from argus.scenarios.ablation.inputs import Source, Vectors
from argus.scenarios.choice.choose import per_document
from argus.scenarios.files import read_profiles
from argus.scenarios.needs.findings import Need
from argus.scenarios.needs.findings import Vectors as NeedVectors
from argus.scenarios.needs.job import rank_needs
from argus.scenarios.openings import Form, in_form
from argus.scenarios.profile import Component, Profiled
from argus.scenarios.profile import needs as needs_of
from benchmarks.scenario_quality import others
from benchmarks.shared import collection

MEASURE, DISTRACTORS, DEPTH = "nDCG@10", 5_000, 100
COMPONENTS = (Component.E, Component.ME, Component.IE)
WEIGHTS = (0.0, 0.3, 0.5, 0.7, 0.9)
CELLS = [Cell(c, weight) for c in COMPONENTS for weight in WEIGHTS]
Values = dict[Form, dict[Cell, dict[str, float]]]
"""By form and cell, the value of each question, or of each document."""


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32")).encoder
    with tempfile.TemporaryDirectory() as folder:
        place = Path(os.environ.get("STORE", str(Path(folder) / "vectors")))
        with EmbeddingStore(place, fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
            released = _released(encoder, store)
            demo = _demo(Path(folder), encoder, store)
    return {
        "demo": _told(demo),
        "released": _told(released),
        "crossed": {
            "on released, told on demo": _crossed(released, demo),
            "on demo, told on released": _crossed(demo, released),
        },
    }


def _demo(home: Path, encoder: Encoder, store: EmbeddingStore) -> Values:
    corpus = home / "corpus"
    write_sample_corpus(corpus, standard_library())
    qrels = corpus / "qrels" / "test.tsv"
    source = Source.read(corpus, corpus / "profiles.jsonl", corpus, qrels, None, None, encoder)
    vectors = Vectors.of(source, None, (Component.ME,), encoder, store)
    judged = {query: vectors.judged.qrels[query] for query in vectors.queries.ids}
    values: Values = {}
    for form in Form:
        profiles = in_form(source.profiles, form)
        documents = Documents(vectors.documents.ids, vectors.documents.vectors, profiles)
        texts = _texts(profiles, encoder, store)
        cells = grid(
            documents, texts, vectors.queries, judged, CELLS, measures=[MEASURE], depth=DEPTH
        )
        values[form] = {
            cell: {query: row[MEASURE] for query, row in one.per_query.items()}
            for cell, one in cells.items()
        }
    return values


def _released(encoder: Encoder, store: EmbeddingStore) -> Values:
    path = collection("spike_scenarios") / "scenarios.jsonl"
    written = {d: p for d, p in read_profiles(path).items() if p.profile is not None}
    documents = sorted([*read_corpus(path), *others(DISTRACTORS)], key=lambda d: d.id)
    own = embed(as_documents([d.content for d in documents]), encoder, store, what="documents")
    needs = [Need(*need) for need in needs_of(written)]
    asked = embed(as_queries([need.text for need in needs]), encoder, store, what="needs")
    values: Values = {}
    for form in Form:
        profiles = in_form(written, form)
        corpus = Documents([d.id for d in documents], own.vectors, profiles)
        texts = _texts(profiles, encoder, store)
        vectors = NeedVectors(corpus, {}, texts, needs, asked.ok, asked.vectors, {})
        ranks = rank_needs(vectors, COMPONENTS, WEIGHTS)
        ids = [corpus.ids[i] for i in np.unique(vectors.targets)]
        values[form] = {
            cell: dict(zip(ids, per_document(_row(ranks, cell), vectors.targets), strict=True))
            for cell in CELLS
        }
    return values


def _row(ranks: Mapping[Component, Any], cell: Cell) -> Any:
    of = ranks[cell.component]
    return of.rank[of.weights.index(cell.weight)]


def _texts(profiles: Mapping[str, Profiled], encoder: Encoder, store: EmbeddingStore) -> Any:
    return embed_scenarios(
        profiles.values(),
        COMPONENTS,
        lambda texts: embed(as_documents(texts), encoder, store, what="scenarios"),
    )


def _told(values: Values) -> list[dict[str, Any]]:
    return [_row_of(values, cell) for cell in CELLS]


def _row_of(values: Values, cell: Cell) -> dict[str, Any]:
    change = paired_difference(values[Form.WRITTEN][cell], values[Form.PLAIN][cell], seed=0)
    return {"component": str(cell.component), "lambda": cell.weight, **change.figures()}


def _crossed(chosen_on: Values, told_on: Values) -> dict[str, Any]:
    """Return the best form and cell of one collection, and what they make of the other."""
    means = {
        (form, cell): float(np.mean(list(rows.values())))
        for form, cells in chosen_on.items()
        for cell, rows in cells.items()
    }
    form, cell = max(means, key=lambda key: (round(means[key], 12), key[1].weight))
    return {"form": str(form), "mean": means[form, cell], "told": _row_of(told_on, cell)}
