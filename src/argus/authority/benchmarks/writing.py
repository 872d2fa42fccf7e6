"""Write a benchmark as the folder that `collection.read_benchmark` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record
from argus.authority.rules import SUPERSEDES, Edge
from argus.data.reading import read_own
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError

CORPUS, QUERIES, EDGES = "corpus.jsonl", "queries.jsonl", "supersedes.jsonl"
QRELS, HYDE, RULES, ABOUT = "qrels/test.tsv", "hyde.jsonl", "rules.yaml", "benchmark.json"


class Published(TypedDict, total=False):
    """When a record became known, where that is told."""

    published: str


class RecordRow(Published):
    """A line of the corpus."""

    _id: str
    type: str
    timestamp: str | None
    entities: dict[str, str | list[str]]
    title: str
    text: str
    metadata: dict[str, object]


class QuestionRow(TypedDict):
    """A line of the questions."""

    _id: str
    text: str
    gold: list[str]
    anchor: list[str]
    chain: list[str]
    gold_equivalent: list[str]
    hop: str
    answer: str
    scope: dict[str, str]


class EdgeRow(TypedDict):
    """A line of the supersessions."""

    superseder: str
    superseded: str
    rule: str
    confidence: NotRequired[float]
    relation: NotRequired[str]


def write_benchmark(
    folder: Path, benchmark: Benchmark, *, seed: int, settings: Mapping[str, bool] | None = None
) -> None:
    """Write a benchmark folder, each file whole or not at all; the same input, the same bytes.

    seed, settings: of its making, kept in benchmark.json. An earlier benchmark of ours is written
    over; files of it that this one lacks (rules, hypotheticals) are removed. Raises InputError
    where the path is a file, or a folder of something else.
    """
    _require_ours(folder)
    # benchmark.json comes first: what is left of a write that was stopped can be written over
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "name": benchmark.name,
        "seed": seed,
        "settings": dict(settings or {}),
        "records": len(benchmark.records),
        "questions": len(benchmark.questions),
        "edges": len(benchmark.edges),
    }
    write_whole(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    write_jsonl(folder / CORPUS, map(_record_row, benchmark.records))
    write_jsonl(folder / QUERIES, map(_question_row, benchmark.questions))
    write_jsonl(folder / EDGES, map(_edge_row, benchmark.edges))
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q.id}\t{gold}\t1" for q in benchmark.questions for gold in q.gold]
    (folder / QRELS).parent.mkdir(exist_ok=True)
    write_whole(folder / QRELS, "\n".join(lines) + "\n")
    _write_optional(folder, benchmark)


def _require_ours(folder: Path) -> None:
    """Refuse what is no folder, and one that holds files and no benchmark.json of ours."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "is a file", expected="a folder, or a new path", fix="Name another.", where=folder
        )
    names = sorted(p.name for p in folder.glob("*") if not p.name.startswith("."))
    if names and not _is_ours(folder / ABOUT):
        raise InputError(
            f"is no benchmark that Argus wrote, and holds {names[0]!r}"
            + (f" and {len(names) - 1} more" if names[1:] else ""),
            expected="a new or empty folder, or a benchmark that was generated",
            fix="Name another folder, or empty this one.",
            where=folder,
        )


def _is_ours(file: Path) -> bool:
    try:
        about = json.loads(read_own(file))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and about.keys() >= {"name", "seed"}


def _write_optional(folder: Path, benchmark: Benchmark) -> None:
    if benchmark.rules:
        from argus.authority.domains import write_rules

        write_rules(folder / RULES, benchmark.rules, name=benchmark.name)
    else:
        (folder / RULES).unlink(missing_ok=True)
    if benchmark.hypotheticals:
        rows = ({"_id": q, "hypothetical": t} for q, t in benchmark.hypotheticals.items())
        write_jsonl(folder / HYDE, rows)
    else:
        (folder / HYDE).unlink(missing_ok=True)


def _record_row(record: Record) -> RecordRow:
    published: Published = {"published": record.published.text} if record.published else {}
    return {
        "_id": record.id,
        "type": record.type,
        "timestamp": record.time.text if record.time else None,
        **published,
        "entities": {k: v if isinstance(v, str) else list(v) for k, v in record.scope.items()},
        "title": record.title,
        "text": record.text,
        "metadata": dict(record.metadata),
    }


def _question_row(question: Question) -> QuestionRow:
    return {
        "_id": question.id,
        "text": question.text,
        "gold": list(question.gold),
        "anchor": list(question.anchor),
        "chain": list(question.chain),
        "gold_equivalent": list(question.equivalent),
        "hop": question.hop,
        "answer": question.answer,
        "scope": dict(question.scope),
    }


def _edge_row(edge: Edge) -> EdgeRow:
    row: EdgeRow = {
        "superseder": edge.superseder, "superseded": edge.superseded, "rule": edge.rule,
    }  # fmt: skip
    if edge.confidence != 1:
        row["confidence"] = edge.confidence
    if edge.relation != SUPERSEDES:
        row["relation"] = edge.relation
    return row
