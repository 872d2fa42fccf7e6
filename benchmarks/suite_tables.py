"""A suite as a researcher runs it: 3 retrievers x 3 remedies x 4 small tasks, and its tables.

MiniLM, MiniLM with a prompt, and BM25, under no remedy, the blend and two stages, on the first
questions of two shared collections and of two of CAR, with their documents and some others. BM25
has no blend: 32 cells. What comes back are the tables, as OUT/tables has them in Markdown.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.suite.job import run_suite
from benchmarks.shared import collection
from tests.support.suites import draw, draw_authority

SUITE = """
[[retrievers]]
name = "MiniLM"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
[[retrievers]]
name = "MiniLM, prompted"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
query_prompt = "question: "
[[retrievers]]
name = "BM25"
bm25 = true
remedies = ["none", "two stages"]
[[remedies]]
name = "blend"
[[remedies]]
name = "two stages"
kind = "authority"
"""


def run() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        home, text = Path(folder), SUITE
        for name in ("hotpot100", "cranfield"):
            draw(collection(name), home / name, questions=20, others=40)
            text += f'[[tasks]]\ntask = "beir:{home / name}"\n'
        for name, queries in (("scotus", "queries_issue.jsonl"), ("ghsa", "queries.jsonl")):
            source = collection(f"authority/{name}")
            draw_authority(source, home / name, questions=40, queries=queries)
            text += f'[[tasks]]\ntask = "car:{home / name}"\n'
        (home / "suite.toml").write_text(text, encoding="utf-8")
        result = run_suite(home / "suite.toml", out=home / "out")
        tables = {sheet.name: sheet.markdown().splitlines() for sheet in result.sheets}
        return {"cells": result.summary["cells"], **tables}
