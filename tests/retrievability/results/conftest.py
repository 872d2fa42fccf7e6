"""Audits of one made knowledge base by three encoders that read more or less of a text."""

from __future__ import annotations

import json

import numpy as np
import pytest

import argus
from tests.support.word_encoder import WordEncoder

TOPICS = ["river", "violin", "volcano", "bakery", "glacier", "orchid"]
EACH = 40


class Hazy(WordEncoder):
    """Blurs every text by a direction that tells nothing of its words."""

    def __init__(self, name, blur):
        super().__init__()
        self.fingerprint, self.blur = f"{name} words", blur

    def encode_documents(self, texts):
        clear = super().encode_documents(texts)
        seeds = [sum(text.encode()) for text in texts]
        noise = np.array([np.random.default_rng(s).normal(size=self.dim) for s in seeds])
        clear /= np.linalg.norm(clear, axis=1, keepdims=True)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        return ((1 - self.blur) * clear + self.blur * noise).astype(np.float32)


BLURS = {"keen": 0.2, "fair": 0.5, "dull": 0.7}


def write_base(folder):
    rows, edges = [], ["subject\trelation\tobject"]
    rng = np.random.default_rng(0)
    for topic in TOPICS:
        for i in range(EACH):
            words = [topic] * int(rng.integers(0, 4)) + [f"w{int(rng.integers(400))}"] * 2
            text = f"{topic.title()} {i} is {' '.join(words)}."
            rows.append({"_id": f"{topic}-{i}", "title": f"{topic.title()} {i}", "text": text})
            edges += [f"{topic}-{i}\tnext\t{topic}-{(i + step) % EACH}" for step in (1, 7, 11)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / "edges.tsv").write_text("\n".join(edges) + "\n")
    return folder


@pytest.fixture(scope="package")
def audits(tmp_path_factory):
    """The folder of each encoder's audit, by its name; k=10, N=160."""
    base = write_base(tmp_path_factory.mktemp("base"))
    folders = {}
    for name, blur in BLURS.items():
        folders[name] = tmp_path_factory.mktemp(name)
        argus.audit(
            base, out=folders[name], encoder=Hazy(name, blur),
            config=argus.retrievability.AuditConfig(k=(10,), pool=(160,), pooling="sentence"),
        )  # fmt: skip
    return folders
