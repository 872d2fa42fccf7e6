"""How fast a small model answers 100 questions on wiki2, and where the time goes.

The model and the held-out titles of `generative_quality`, which is trained first where it is not
there; SEAL, all settings as published. The constraint is part of decoding; reading is what becomes
text again: n-grams, titles, passages.
"""

from __future__ import annotations

import time
from typing import Any

from argus.generative.decode import Seq2Seq
from argus.generative.searcher import GenerativeSearcher
from benchmarks.generative_quality import kept_in, wiki2_model

QUESTIONS, K = 100, 100


def run() -> dict[str, Any]:
    index, trained, titles = wiki2_model(kept_in("wiki2"))
    model = Seq2Seq.open(trained.model, index.vocabulary)
    list(GenerativeSearcher(index, model).search(titles[-1:], K))  # compiles
    searcher = GenerativeSearcher(index, model)
    begun = time.perf_counter()
    answers = list(searcher.search(titles[:QUESTIONS], K))
    seconds = time.perf_counter() - begun
    return {
        "questions": len(answers),
        "queries_per_s": round(len(answers) / seconds, 2),
        "seconds": round(seconds, 2),
        "seconds_by_step": {step: round(s, 3) for step, s in searcher.seconds.items()},
    }
