"""What a suite embeds: 3 retrievers x 3 remedies x 4 tasks, beside the sum of distinct texts.

The retrievers are MiniLM with three ways of prompting, which are three encoders; the remedies are
none, the blend, and a blend without BM25 that counts sentences otherwise; the tasks are the first
questions of four shared collections with their documents and 40 others. Counted is every text that
an encoder is given, as query or document; the bar is 1.2 times the distinct ones. The same suite is
then run again, and must embed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from argus.encoders import load as loading
from argus.suite import asking
from argus.suite.job import run_suite
from benchmarks.shared import collection
from tests.support.suites import draw

COLLECTIONS = ("hotpot100", "theoremqa_theorems", "cranfield", "impliret_wknow_multi")
QUESTIONS, OTHERS, BAR = 10, 40, 1.2
SUITE = """
[[retrievers]]
name = "plain"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
[[retrievers]]
name = "query prompt"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
query_prompt = "question: "
[[retrievers]]
name = "both prompts"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
query_prompt = "question: "
document_prompt = "passage: "
[[remedies]]
name = "blend"
[[remedies]]
name = "sentences"
kind = "blend"
lambda = 0.5
bm25 = 0.0
"""


def run() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        text = SUITE
        for name in COLLECTIONS:
            draw(collection(name), home / name, QUESTIONS, OTHERS)
            text += f'[[tasks]]\ntask = "beir:{home / name}"\n'
        (home / "suite.toml").write_text(text, encoding="utf-8")
        first, second = (_counted(home) for _ in range(2))
    return {
        "cells": first["cells"],
        "embedded": first["embedded"],
        "distinct": first["distinct"],
        "times": round(first["embedded"] / first["distinct"], 4),
        "bar": BAR,
        "embedded_again": second["embedded"],
    }


def _counted(home: Path) -> dict[str, Any]:
    """Run the suite, or go on with it; count what its encoders are given."""
    texts: list[tuple[str, str, str]] = []
    real = loading.load_encoder

    def counting(config: Any, **options: Any) -> Any:
        loaded = real(config, **options)
        for role in ("queries", "documents", "spans"):
            _count(loaded.encoder, role, texts)
        return loaded

    with patch.object(asking, "load_encoder", counting):
        summary = run_suite(home / "suite.toml", out=home / "out").summary
    return {
        "cells": summary["cells"], "embedded": len(texts), "distinct": len(set(texts)) or 1,
    }  # fmt: skip


def _count(encoder: Any, role: str, texts: list[tuple[str, str, str]]) -> None:
    method = getattr(encoder, f"encode_{role}")

    def counted(batch: Sequence[str], *rest: Any) -> Any:
        texts.extend((encoder.fingerprint, role, text) for text in batch)
        return method(batch, *rest)

    setattr(encoder, f"encode_{role}", counted)
