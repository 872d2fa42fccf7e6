"""Diagnosis of the 6,119 wiki2 passages against plain encoding of the same passages, same run.

Names: the labels of fb15k237. Encoder: MiniLM as it loads; probe: the one that ships. By turns,
each with an empty store; the ratio is the rounds' median. Finding the mentions is in the diagnosis'
time, building the gazetteer and loading the model in nobody's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from argus.corpora.opening import read_corpus
from argus.encoders import EmbeddingStore, EncoderConfig, embed, load_encoder
from argus.encoders import documents as as_documents
from argus.knowledge.config import GazetteerConfig
from argus.knowledge.gazetteer import Gazetteer
from argus.remedies.diagnosis.diagnose import diagnose_documents
from argus.retrievability.probes import load_default
from benchmarks.repair import fb_passages
from benchmarks.shared import collection

WARM_UP = 256
ROUNDS = 3


def run() -> dict[str, Any]:
    documents = read_corpus(collection("wiki2"))
    texts = [d.content for d in documents]
    encoder = load_encoder(EncoderConfig(), sample=texts).encoder
    probe = load_default(encoder.fingerprint, "span")
    with tempfile.TemporaryDirectory() as home:
        names = read_corpus(fb_passages(Path(home)))
        finder = Gazetteer.from_documents(names, GazetteerConfig(), texts=texts)
        encoder.encode_documents(texts[:WARM_UP])

        def timed(folder: str, work: Any) -> tuple[float, Any]:
            path = Path(home) / folder
            with EmbeddingStore(path, fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
                start = time.perf_counter()
                result = work(store)
                return time.perf_counter() - start, result

        plain_s, diagnosis_s = [], []
        for turn in range(ROUNDS):
            seconds, _ = timed(
                f"plain-{turn}", lambda store: embed(as_documents(texts), encoder, store)
            )
            plain_s.append(seconds)
            seconds, found = timed(
                f"diagnosis-{turn}",
                lambda store: diagnose_documents(documents, finder, encoder, store, probe),
            )
            diagnosis_s.append(seconds)
    ratios = [ours / plain for ours, plain in zip(diagnosis_s, plain_s, strict=True)]
    return {
        "documents": len(documents),
        "documents_with_mentions": len({risk.doc_id for risk in found.risks}),
        "mentions": sum(len(risk.spans) for risk in found.risks),
        "entities": len(found.risks),
        "precision": encoder.fingerprint.split("precision=")[1].split()[0],
        "plain_s": [round(s, 1) for s in plain_s],
        "diagnosis_s": [round(s, 1) for s in diagnosis_s],
        "ratios": [round(r, 3) for r in ratios],
        "ratio": round(statistics.median(ratios), 3),
    }
