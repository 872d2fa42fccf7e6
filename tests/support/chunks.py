"""Parts of collections as a splitter leaves them: chunks with a payload."""

import json
import os
from pathlib import Path

from argus.retrievability.sentences import split_sentences

DATA = Path(__file__).parents[2] / "examples" / "data"
WIKI2 = Path(os.environ.get("ARGUS_SHARED", "../shared")) / "data" / "wiki2" / "corpus.jsonl"


def wiki_chunks(n: int) -> list[dict[str, object]]:
    """Return the first n articles as chunks of two sentences that share one with the next.

    Each has a chunk_id, and in `metadata` the title and source of its article and a year.
    """
    with WIKI2.open(encoding="utf-8") as file:
        articles = [json.loads(line) for line, _ in zip(file, range(n), strict=False)]
    chunks: list[dict[str, object]] = []
    for place, article in enumerate(articles):
        spans = split_sentences(article["text"])
        for start in range(max(1, len(spans) - 1)):
            part = spans[start : start + 2]
            text = article["text"][part[0].start : part[-1].end]
            year = 1900 + place
            metadata = {"title": article["title"], "source": article["_id"], "year": year}
            chunk_id = f"{article['_id']}#{start}"
            chunks.append({"chunk_id": chunk_id, "text": text, "metadata": metadata})
    return chunks


def write_chunks(path: Path, chunks: list[dict[str, object]]) -> Path:
    """Write one chunk a line."""
    path.write_text("".join(json.dumps(c) + "\n" for c in chunks), encoding="utf-8")
    return path


def write_part(home: Path, questions: int = 12, others: int = 12) -> None:
    """Write a part of the handbook in examples/data: chunks.jsonl, questions.jsonl, qrels.tsv.

    Commands run sooner on it. questions: the first of them, with the chunks that they need.
    others: chunks that answer none of them.
    """
    home.mkdir(parents=True, exist_ok=True)
    asked = (DATA / "questions.jsonl").read_text("utf-8").splitlines()[:questions]
    ids = {json.loads(line)["_id"] for line in asked}
    head, *lines = (DATA / "qrels.tsv").read_text("utf-8").splitlines()
    qrels = [line for line in lines if line.split("\t")[0] in ids]
    wanted = {line.split("\t")[1] for line in qrels}
    chunks = (DATA / "chunks.jsonl").read_text("utf-8").splitlines()
    rest = [line for line in chunks if json.loads(line)["id"] not in wanted][:others]
    kept = [line for line in chunks if line in rest or json.loads(line)["id"] in wanted]
    for name, part in (
        ("chunks.jsonl", kept), ("questions.jsonl", asked), ("qrels.tsv", [head, *qrels])
    ):  # fmt: skip
        (home / name).write_text("\n".join(part) + "\n", "utf-8")
