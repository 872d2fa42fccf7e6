"""Write a BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` (Thakur et al., 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.types import Document, Qrels, Query
from argus.data.writing import write_jsonl, write_whole

FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
"""Of a collection, below its folder."""


class BeirRow(TypedDict):
    """A document as a row of a BEIR corpus."""

    _id: str
    title: str
    text: str
    metadata: dict[str, object]


def write_beir(
    folder: Path, documents: Iterable[Document], queries: Iterable[Query], qrels: Qrels
) -> None:
    """Write the three files of a BEIR collection into `folder`, making it if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl(folder / "corpus.jsonl", as_rows(documents))
    write_questions(folder, queries, qrels)


def write_questions(folder: Path, queries: Iterable[Query], qrels: Qrels) -> tuple[Path, Path]:
    """Write queries and judgements into `folder`, making it if need be; return both files."""
    asked, judged = folder / "queries.jsonl", folder / "qrels" / "test.tsv"
    judged.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(asked, ({"_id": q.id, "text": q.text} for q in queries))
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q}\t{d}\t{grade}" for q, grades in qrels.items() for d, grade in grades.items()]
    write_whole(judged, "\n".join(lines) + "\n")
    return asked, judged


def as_rows(documents: Iterable[Document]) -> Iterator[BeirRow]:
    """Yield documents as the rows of a BEIR corpus."""
    for d in documents:
        yield {"_id": d.id, "title": d.title, "text": d.text, "metadata": dict(d.metadata)}
