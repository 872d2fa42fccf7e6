"""A suite as a researcher runs it: 3 retrievers x 3 remedies x 4 small tasks, and its tables.

MiniLM, MiniLM with a prompt, and BM25, under no remedy, the blend and two stages, on the first
questions of two shared collections and of two of CAR, with their documents and some others. BM25
has no blend: 32 cells. The table of docs/results/published-tables.md is made of what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.suite.job import MARKS, run_suite
from benchmarks.pages import DOCS, put
from benchmarks.shared import collection
from tests.support.suites import draw, draw_authority

PAGE = DOCS / "results" / "published-tables.md"
BEGIN = "<!-- begin: python -m benchmarks suite_tables -->"
ALL, NDCG, TCA = "all tasks", "nDCG@10", "TCA@5"
MEASURES = (NDCG, TCA)
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
        summary = run_suite(home / "suite.toml", out=home / "out").summary
    result = {
        "cells": summary["cells"],
        "tasks": list(dict.fromkeys(r["name"] for r in summary["rows"] if r["scope"] == "task")),
        "rows": [
            {key: row[key] for key in ("retriever", "remedy", "scope", "name", "comparison")}
            | {"measures": {name: row["measures"].get(name) for name in MEASURES}}
            for row in summary["rows"]
            if row["scope"] != "group"
        ],
    }
    put(PAGE, BEGIN, table(result))
    return result


def table(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row per retriever and remedy: nDCG@10 and TCA@5 by task, and the average."""
    tasks = result["tasks"]
    rows = {(r["retriever"], r["remedy"], r["name"]): r for r in result["rows"]}
    served = [n for n in tasks if any(k[2] == n and rows[k]["measures"][TCA] for k in rows)]
    heads = [*(f"{name} {NDCG}" for name in tasks), "average (to none, 95%)", "harmed : improved",
             *(f"{name} {TCA}" for name in served)]  # fmt: skip
    yield f"| retriever | remedy | {' | '.join(heads)} |"
    yield f"|---|---|{'---:|' * len(tasks)}---|---|{'---:|' * len(served)}"
    for retriever, remedy in dict.fromkeys(pair[:2] for pair in rows):
        own = {name: rows[retriever, remedy, name] for name in (*tasks, ALL)}
        cells = [_marked(own[name]) for name in tasks]
        cells += [_average(own[ALL]), _harmed([own[name] for name in tasks])]
        cells += [f"{own[name]['measures'][TCA]:.3f}" for name in served]
        yield f"| {retriever} | {remedy} | {' | '.join(cells)} |"


def _marked(row: Mapping[str, Any]) -> str:
    mark = MARKS[row["comparison"]["verdict"]] if row["comparison"] else ""
    return f"{row['measures'][NDCG]:.3f} {mark}".rstrip()


def _average(row: Mapping[str, Any]) -> str:
    against = row["comparison"]
    between = ""
    if against and against["low"] is not None:
        between = f" ({against['low']:+.3f} to {against['high']:+.3f})"
    return f"{row['measures'][NDCG]:.3f}{between}"


def _harmed(rows: Sequence[Mapping[str, Any]]) -> str:
    compared = [row["comparison"] for row in rows if row["comparison"]]
    if not compared:
        return ""
    return " : ".join(str(sum(one[n] for one in compared)) for n in ("harmed", "improved"))
