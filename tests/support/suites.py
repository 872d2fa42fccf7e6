"""Small draws of shared collections, in BEIR's layout, and suites over them."""

import json
from pathlib import Path
from typing import Any


def draw(source: Path, folder: Path, questions: int, others: int = 20) -> Path:
    """Write the first questions of a collection, their documents and some others."""
    lines = {name: read_rows(source / f"{name}.jsonl") for name in ("corpus", "queries")}
    head, *judged = (source / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()
    queries = lines["queries"][:questions]
    ids = {row["_id"] for row in queries}
    judged = [line for line in judged if line.split("\t")[0] in ids]
    relevant = {line.split("\t")[1] for line in judged}
    rest = [row for row in lines["corpus"] if row["_id"] not in relevant][:others]
    documents = [row for row in lines["corpus"] if row["_id"] in relevant] + rest
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text("\n".join([head, *judged, ""]), encoding="utf-8")
    for name, rows in (("corpus", documents), ("queries", queries)):
        _write(folder / f"{name}.jsonl", rows)
    return folder


def draw_authority(source: Path, folder: Path, questions: int, others: int) -> Path:
    """Write the first questions of a benchmark of CAR, their documents and some others."""
    asked = read_rows(source / "queries.jsonl")[:questions]
    needed = {id_ for row in asked for key in ("gold", "anchor") for id_ in row[key]}
    corpus = read_rows(source / "corpus.jsonl")
    documents = [row for row in corpus if row["_id"] in needed]
    documents += [row for row in corpus if row["_id"] not in needed][:others]
    ids = {row["_id"] for row in documents}
    for row in asked:
        row["gold_equivalent"] = [i for i in row.get("gold_equivalent", row["gold"]) if i in ids]
    edges = read_rows(source / "supersedes.jsonl")
    edges = [row for row in edges if {row["superseder"], row["superseded"]} <= ids]
    folder.mkdir(parents=True)
    for name, rows in (("corpus", documents), ("queries", asked), ("supersedes", edges)):
        _write(folder / f"{name}.jsonl", rows)
    return folder


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
