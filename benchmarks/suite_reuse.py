"""What a suite embeds: 3 retrievers x 3 remedies x 4 tasks, beside the sum of distinct texts.

The retrievers are MiniLM with three ways of prompting, which are three encoders; the remedies are
none, the blend, and a blend without BM25 that counts sentences otherwise; the tasks are the first
questions of four shared collections with their documents and 40 others. Counted is every text that
an encoder is given, as query, document or mention in its place; the bar is 1.2 times the distinct
ones. Then two remedies are added that make texts, for the retriever that a probe ships for: the
expansion of documents at risk from passages, robust and as published. What is there is embedded no
more, and of what the two make each text once. The same suite is then run again, and must embed
nothing.
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
from argus.suite.summary import SuiteRow, SuiteSummary
from benchmarks.shared import collection
from tests.support.suites import draw

COLLECTIONS = ("hotpot100", "theoremqa_theorems", "cranfield", "impliret_wknow_multi")
Text = tuple[object, ...]
"""Who embeds, as what, the text, and which span of it."""
KNOWLEDGE = ("hotpot100", "wiki2")
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
remedies = ["none", "blend", "sentences"]
[[retrievers]]
name = "both prompts"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
query_prompt = "question: "
document_prompt = "passage: "
remedies = ["none", "blend", "sentences"]
[[remedies]]
name = "blend"
[[remedies]]
name = "sentences"
kind = "blend"
lambda = 0.5
bm25 = 0.0
"""
EXPANSIONS = """
[[remedies]]
name = "expansion"
kind = "expand"
kb = [{kb}]
[[remedies]]
name = "expansion as published"
kind = "expand"
preset = "paper"
mentions = "gazetteer"
kb = [{kb}]
"""


def run() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        tasks = ""
        for name in COLLECTIONS:
            draw(collection(name), home / name, QUESTIONS, OTHERS)
            tasks += f'[[tasks]]\ntask = "beir:{home / name}"\n'
        known = ", ".join(f'"{collection(name) / "corpus.jsonl"}"' for name in KNOWLEDGE)
        whole = SUITE + EXPANSIONS.replace("{kb}", known)
        _, first = _counted(home, SUITE + tasks)
        summary, second = _counted(home, whole + tasks)
        _, third = _counted(home, whole + tasks)
    texts = first + second
    expansions = [row for row in summary["rows"] if row["scope"] == "task" and _expands(row)]
    return {
        "cells": summary["cells"],
        "embedded": len(texts),
        "distinct": len(set(texts)),
        "times": round(len(texts) / len(set(texts)), 4),
        "bar": BAR,
        "embedded_for_expansions": len(second),
        "cells_of_expansions": len(expansions),
        "of_them_unchanged": sum(bool(row["reason"]) for row in expansions),
        "embedded_again": len(third),
    }


def _expands(row: SuiteRow) -> bool:
    return row["remedy"].startswith("expansion")


def _counted(home: Path, suite: str) -> tuple[SuiteSummary, list[Text]]:
    """Run a suite, or go on with it; return what its encoders are given, too."""
    file = home / "suite.toml"
    file.write_text(suite, encoding="utf-8")
    texts: list[Text] = []
    real = loading.load_encoder

    def counting(config: Any, **options: Any) -> Any:
        loaded = real(config, **options)
        for role in ("queries", "documents", "spans"):
            _count(loaded.encoder, role, texts)
        return loaded

    with patch.object(asking, "load_encoder", counting):
        return run_suite(file, out=home / "out").summary, texts


def _count(encoder: Any, role: str, texts: list[Text]) -> None:
    method = getattr(encoder, f"encode_{role}")

    def counted(batch: Sequence[str], *rest: Any) -> Any:
        texts.extend((encoder.fingerprint, role, *one) for one in zip(batch, *rest, strict=True))
        return method(batch, *rest)

    setattr(encoder, f"encode_{role}", counted)
