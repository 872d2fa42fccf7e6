"""A folder with the files that the commands' examples name, and what stands behind their URL."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from argus.data.types import Document
from argus.indexes.views import ViewIndex
from tests.support.distilling import TEXTS
from tests.support.harm import faithful
from tests.support.qa import honest
from tests.support.scenarios import behaving
from tests.support.stored_corpora import chroma
from tests.support.stores import fill_sqlite_vec
from tests.support.tiny_llama import make_tokenizer, save_llama

PLACES = ("Brazil", "Canada", "France", "Germany", "India", "Italy", "Jamaica", "Japan", "Norway",
          "Poland", "Spain", "Sweden")  # fmt: skip
DOCUMENTS, MORE = 24, 6
QUESTIONS = 5
TYPES = ("law", "amendment")
RULES = """\
rules:
  - name: amended
    superseding: amendment
    superseded: law
    scope: [bill]
"""


def write_files(folder: Path, fb15k237: Path) -> None:
    """Write every file that an example names, of real entities."""
    rows = documents(fb15k237)[: DOCUMENTS + MORE]
    corpus = rows[:DOCUMENTS]
    write_rows(folder / "docs.jsonl", corpus)
    write_rows(folder / "kb.jsonl", corpus)
    write_rows(folder / "more.jsonl", rows[DOCUMENTS:])
    write_judged(folder, corpus[:QUESTIONS])
    write_authority(folder, corpus)
    write_log(folder, corpus)
    write_pages(folder / "docs", corpus)
    write_suite(folder)
    fill_sqlite_vec(folder / "docs.db")
    save_llama(folder / "student", make_tokenizer(TEXTS, size=900), hidden=16)


def fill_store(folder: Path) -> None:
    """Write the documents of an index into a store, with their vectors."""
    state = ViewIndex.open(folder / "index").snapshot("original")
    rows = [Document(view.doc_id, view.text) for view in state.views]
    chroma(folder / "store", rows, state.vectors)


def documents(fb15k237: Path) -> list[dict[str, str]]:
    """Return 400: the places, and entities whose short text names one of them. d1, d2, ..."""
    with (fb15k237 / "entities.jsonl").open(encoding="utf-8") as lines:
        entities = [json.loads(line) for line in lines]
    chosen = [e for e in entities if any(place in e["paragraph"] for place in PLACES)]
    chosen.sort(key=lambda e: (e["label"] not in PLACES, len(e["paragraph"])))
    return [
        {"_id": f"d{i}", "title": e["label"], "text": e["paragraph"]}
        for i, e in enumerate(chosen[:400], 1)
    ]


def write_log(folder: Path, corpus: list[dict[str, str]]) -> None:
    """Write what was asked and served, twice each, with thumbs."""
    asks = [
        {
            "query": row["text"].replace(row["title"], "It"),
            "timestamp": f"2026-03-{1 + i % 20:02d}T12:00:00Z",
            "results": [other["_id"] for other in corpus[i % 7 : i % 7 + 5]],
            "feedback": "up" if i % 3 else "down",
        }
        for i, row in enumerate(corpus * 2)
    ]
    write_rows(folder / "log.jsonl", asks)


def write_judged(folder: Path, wanted: list[dict[str, str]]) -> None:
    """Write a question for each of these documents, answered and judged, and three runs."""
    judged = {f"q{i}": row for i, row in enumerate(wanted, 1)}
    questions = [
        {"_id": q, "text": row["text"].replace(row["title"], "It"), "answer": row["text"]}
        for q, row in judged.items()
    ]
    write_rows(folder / "queries.jsonl", questions)
    qrels = [f"{q}\t{row['_id']}\t1\n" for q, row in judged.items()]
    (folder / "qrels.tsv").write_text("".join(["query-id\tcorpus-id\tscore\n", *qrels]))
    for name, short in (("queries.jsonl", "q.jsonl"), ("qrels.tsv", "q.tsv")):
        (folder / short).write_text((folder / name).read_text())
    other = f"d{DOCUMENTS}"
    write_run(folder / "before.trec", {q: (other, row["_id"]) for q, row in judged.items()})
    for name in ("after.trec", "run.trec"):
        write_run(folder / name, {q: (row["_id"], other) for q, row in judged.items()})


def write_suite(folder: Path) -> None:
    """Write the judged documents as a task in BEIR's layout, and a suite over it."""
    (folder / "task" / "qrels").mkdir(parents=True)
    names = {"docs.jsonl": "corpus.jsonl", "queries.jsonl": "queries.jsonl",
             "qrels.tsv": "qrels/test.tsv"}  # fmt: skip
    for name, place in names.items():
        (folder / "task" / place).write_text((folder / name).read_text())
    (folder / "suite.toml").write_text(
        '[[retrievers]]\nencoder = "all-MiniLM-L6-v2"\n'
        '[[retrievers]]\nname = "BM25"\nbm25 = true\nremedies = ["none"]\n'
        '[[remedies]]\nname = "blend"\n[[tasks]]\ntask = "task"\n'
    )


def write_authority(folder: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write the documents as laws, every second an amendment of the one before, and the rule."""
    records: list[dict[str, Any]] = [
        row | {"type": TYPES[i % 2], "timestamp": f"{2000 + i}-01-01",
               "entities": {"bill": str(i // 2)}}
        for i, row in enumerate(rows)
    ]  # fmt: skip
    write_rows(folder / "records.jsonl", records)
    amended = next(record for record in records if record["type"] == TYPES[0])
    amendment = amended | {"_id": "later", "type": TYPES[1], "timestamp": "2999-01-01"}
    write_rows(folder / "changes.jsonl", [amendment, {"op": "delete", "_id": "later"}])
    (folder / "rules.yaml").write_text(RULES)
    first, second, third = (record["_id"] for record in records[:3])
    reviewed = [f"accept,{second},{first},0.9,1", f"reject,{third},{first},0.2,0"]
    header = "decision,superseder,superseded,confidence,stated"
    (folder / "reviewed.csv").write_text("\n".join([header, *reviewed, ""]))


def write_pages(folder: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write a page of Markdown per document."""
    folder.mkdir()
    for row in rows:
        (folder / f"{row['_id']}.md").write_text(f"# {row['title']}\n\n{row['text']}\n")


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_run(path: Path, ranked: dict[str, tuple[str, ...]]) -> None:
    """Write a TREC run of these rankings."""
    lines = [
        f"{q} Q0 {doc} {rank} {10 - rank} x\n"
        for q, docs in ranked.items()
        for rank, doc in enumerate(docs, 1)
    ]
    path.write_text("".join(lines))


def answer(prompt: str, n: int) -> dict[str, str] | None:
    """Answer what any example asks: a profile of a document, an answer to a question, a mark."""
    if "--- ANSWER START" in prompt or "--- DOCUMENT 1 START" in prompt:
        return faithful(prompt, n)
    return (behaving() if prompt.startswith("[Text Content]") else honest)(prompt, n)
