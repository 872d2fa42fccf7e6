"""An index whose encoder turns some directions of queries round, and what its documents are for."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from argus.data.types import Document, Qrels, Query
from argus.encoders.protocol import unit_rows
from argus.indexes.job import build_index
from argus.scenarios.adapt import AdaptConfig
from argus.scenarios.files import read_fields
from argus.scenarios.profile import Profiled
from tests.support.word_encoder import WordEncoder

N, VOCABULARY, LENGTH = 160, 400, 6
QUICK = AdaptConfig(rank=4, folds=3, epochs=30, learning_rate=1e-2, negatives=100)


class Turned(WordEncoder):
    """Queries have five directions the other way round: a correction of that rank mends it."""

    fingerprint = "turned words"

    def encode_documents(self, texts: Sequence[str]) -> np.ndarray:
        return unit_rows(super().encode_documents(texts))

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        vectors = self.encode_documents(texts)
        vectors[:, :5] *= -1
        return vectors


def _words() -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [[f"w{w}" for w in rng.choice(VOCABULARY, LENGTH, replace=False)] for _ in range(N)]


DOCUMENTS = [Document(f"d{i:03}", " ".join(words)) for i, words in enumerate(_words())]


def needs_of(documents: Sequence[Document]) -> dict[str, Profiled]:
    """Return two needs of each document, of four of its words."""
    profiles = {}
    for document in documents:
        words = document.text.split()
        scenarios = [
            {"information_need": " ".join(part), "explanation": f"It says {part[0]}."}
            for part in (words[:4], words[2:])
        ]
        fields = {"main_topic": words[0], "scenarios": scenarios}
        profiles[document.id] = read_fields(document.id, fields)
    return profiles


NEEDS = needs_of(DOCUMENTS[:100])
QUESTIONS = [Query(f"q{i}", " ".join(d.text.split()[1:5])) for i, d in enumerate(DOCUMENTS[100:])]
# Of documents without needs.
JUDGED: Qrels = {f"q{i}": {d.id: 1} for i, d in enumerate(DOCUMENTS[100:])}


def turned_index(folder: Path) -> Path:
    """Return the folder of an index of all documents."""
    build_index(DOCUMENTS, out=folder, encoder=Turned())
    return folder
