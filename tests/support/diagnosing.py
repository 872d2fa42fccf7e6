"""Encoders, probes, names and tables for tests of the diagnosis."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from argus.data.types import Document
from argus.encoders.models import OnnxEncoder
from argus.knowledge.gazetteer import Gazetteer, GazetteerConfig
from argus.remedies.config import ReferenceConfig
from argus.retrievability.probes import Probe
from argus.retrievability.probes.models import LinearModel
from argus.retrievability.probes.probe import ProbeDomain

CAPITALS = ReferenceConfig(mentions="capitals")
BERN = [Document("d", "The bears of Bern live in Switzerland.")]


class SentenceOnly(OnnxEncoder):
    """The real model, used as those are that give no token vectors."""

    pools_spans = False

    def encode_spans(self, texts, spans):
        raise AssertionError("an encoder that pools no spans is asked for documents")


def everywhere(dim):
    """A region that holds every vector."""
    one = np.eye(1, dim, dtype=np.float16)
    return ProbeDomain(np.zeros(dim, np.float32), one, np.ones(1, np.float32), 1.0, 1e6)


def probe_for(encoder, *, seed=0, fingerprint=None):
    """A ridge probe of the encoder's vectors that spreads its predictions over [0, 1]."""
    direction = np.random.default_rng(seed).normal(size=encoder.dim)
    model = LinearModel(direction / 8, 0.5)
    pooling = "span" if encoder.pools_spans else "sentence"
    made_by, dim = fingerprint or encoder.fingerprint, encoder.dim
    return Probe(model, everywhere(dim), made_by, pooling, dim, 50, 800)


def titled(*titles, **options):
    """Return a gazetteer of these names; p0, p1, ... bear them."""
    passages = [Document(f"p{i}", "", title) for i, title in enumerate(titles)]
    return Gazetteer.from_documents(passages, GazetteerConfig(**options))


def by_entity(diagnosis):
    return {(risk.doc_id, risk.entity): risk for risk in diagnosis.risks}


def surfaces(risk, text):
    return [text[span.start : span.end] for span in risk.spans]


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(folder):
    return pq.read_table(Path(folder) / "diagnosis.parquet").to_pylist()
