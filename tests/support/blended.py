"""An index with a blend, and the records of that blend as a store holds them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Query, View
from argus.encoders.protocol import unit_rows
from argus.indexes.blend import Blend
from argus.indexes.recipe import CORRECTION, QueryCorrection
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from tests.support.word_encoder import WordEncoder

REMEDY = "blend-1"
TEXT = (
    "river bridge flood stone city tower engine steam valve pump wheel road snow ice lake boat "
    "sail wind storm cloud rain field seed bread flour oven salt fish net harbour ship crane"
)
WORDS = TEXT.split()
# Id, unit vector, payload.
Record = tuple[str, FloatArray, dict[str, Any]]


class UnitWords(WordEncoder):
    """Each word has a direction of its own; a text is the unit vector of their sum."""

    fingerprint = "unit words"

    def encode_documents(self, texts: Sequence[str]) -> np.ndarray:
        rows: np.ndarray = unit_rows(super().encode_documents(texts))
        return rows


def texts(n: int, seed: int = 0) -> dict[str, list[str]]:
    """Return documents as lists of sentences, by id."""
    rng = np.random.default_rng(seed)
    return {
        f"d{i:03}": [
            " ".join(rng.choice(WORDS, int(rng.integers(3, 7))))
            for _ in range(int(rng.integers(1, 5)))
        ]
        for i in range(n)
    }


def queries(n: int = 6, seed: int = 5) -> list[Query]:
    """Return questions of a few words."""
    rng = np.random.default_rng(seed)
    return [Query(f"q{i}", " ".join(rng.choice(WORDS, 3, replace=False))) for i in range(n)]


def blended_index(
    folder: Path, n: int = 60, blend: Blend | None = None, *, seed: int = 0, corrects: bool = False
) -> IndexRetriever:
    """Make an index of n documents with a blend, and with a correction of queries if wanted."""
    blend, encoder, rng = blend or Blend(), UnitWords(), np.random.default_rng(seed)
    documents = texts(n, seed)
    index = ViewIndex.create(folder, fingerprint=encoder.fingerprint, dim=encoder.dim)
    own = [View(id_, id_, "original", ". ".join(s)) for id_, s in documents.items()]
    index.add(own, encoder.encode_documents([view.text for view in own]))
    views = [
        View(f"{id_}#{REMEDY}-{i}", id_, "sentence", sentence)
        for id_, sentences in documents.items() for i, sentence in enumerate(sentences)
    ]  # fmt: skip
    index.add(views, encoder.encode_documents([view.text for view in views]), remedy=REMEDY)
    if corrects:
        home = index.path / "remedies" / REMEDY
        home.mkdir(parents=True)
        u, w = (rng.normal(size=(encoder.dim, 2)).astype(np.float32) for _ in range(2))
        QueryCorrection(u, w, 0.1, encoder.fingerprint).save(home / CORRECTION)
    index.prescribe(REMEDY, blend=blend, corrects=corrects)
    return IndexRetriever(index, encoder)


def payload(document: str) -> dict[str, Any]:
    """Return the user's own fields of a document."""
    number = int(document[1:])
    return {"text": f"text of {document}", "tenant": number % 3, "url": f"/{document}"}


def records(retriever: IndexRetriever) -> Iterator[Record]:
    """Yield the records of an index's blend: as the format says, reckoned in float64."""
    index = retriever.index
    snapshot, blend = index.snapshot(), index.recipe().blend
    assert blend is not None
    for document in snapshot.doc_ids:
        rows = snapshot.rows_of(document)
        vectors = snapshot.vectors[rows.start : rows.stop].astype(float)
        views = snapshot.views[rows.start : rows.stop]
        own = vectors[[v.kind for v in views].index("original")]
        for view, vector in zip(views, vectors, strict=True):
            is_own = view.kind == "original"
            mean = own if is_own else blend.weight * own + (1 - blend.weight) * vector
            length = float(np.linalg.norm(mean))
            id_ = f"{document}#{REMEDY}" + (
                "" if is_own else view.id.removeprefix(f"{document}#{REMEDY}")
            )
            fields = payload(document) | {
                "argus_remedy": REMEDY, "argus_parent": document,
                "argus_kind": "document" if is_own else "sentence",
                "argus_scale": 1.0 if is_own else length,
            }  # fmt: skip
            yield id_, (mean / length).astype(np.float32), fields


def numbered(retriever: IndexRetriever, remedy: str = REMEDY) -> list[Record]:
    """Return the records under ids that are UUIDs, as Qdrant takes them."""
    import uuid

    return [
        (
            str(uuid.uuid5(uuid.NAMESPACE_URL, f"{id_}/{remedy}")),
            vector,
            fields | {"argus_remedy": remedy},
        )
        for id_, vector, fields in records(retriever)
    ]


def defined(retriever: IndexRetriever, query: Query) -> dict[str, float]:
    """Return the scores of all documents by the index's exact blend, without BM25, best first."""
    vectors = retriever.recipe.correct(retriever.encoder.encode_queries([query.text]))
    snapshot = retriever.index.snapshot(retriever.as_of)
    top = snapshot.search(vectors, len(snapshot), retriever.weight)
    return dict(zip(top.doc_ids[0], top.scores[0], strict=True))


def same_ranking(scores: dict[str, float], expected: dict[str, float], near: float = 2e-6) -> None:
    """Assert that these are the first of a ranking, in its order wherever scores tell it."""
    firsts = list(expected.items())[: len(scores)]
    for (id_, score), (other, value) in zip(scores.items(), firsts, strict=True):
        assert abs(score - value) < near, (id_, other)
        assert id_ == other or abs(expected[id_] - value) < near, (id_, other)
