"""The whole job: on each collection's questions, on logs with figures known by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import argus
from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries
from argus.data.types import Document, Query, Run
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.measures.slices import NONE
from argus.traffic.risk import FOREIGN
from argus.traffic.unmet import RISK, SUPPORT
from tests.support.examples import write_rows

COLLECTIONS = ("cranfield", "hotpot100", "impliret_wknow_multi", "theoremqa_theorems", "wiki2")
DAY = 86_400
BEGIN = 1_772_323_200  # 2026-03-01


class BM25:
    """A real retriever: words over the documents, none of Argus's own searches over vectors."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.index = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
        self.queries: list[str] = []

    def search(self, queries: Sequence[Query], k: int) -> Run:
        self.queries += [query.text for query in queries]
        return self.index.search([q.text for q in queries], k).run([q.id for q in queries])


def log_of(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    write_rows(path, rows)
    return path


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_questions_of_a_collection_are_an_unlabelled_log(
    name: str, shared: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shared(name)
    questions = random.Random(0).sample(read_queries(folder), 40)
    documents = read_corpus(folder)
    asks = [{"query": q.text, "time": BEGIN + i} for i, q in enumerate(questions * 2)]
    retriever = BM25(documents)
    result = argus.audit_traffic(
        log_of(tmp_path / "log.jsonl", asks), out=tmp_path / "out", corpus=documents,
        retriever=retriever, config=argus.TrafficConfig(resamples=1_000),
    )  # fmt: skip
    summary = result.summary
    different = len({" ".join(q.text.casefold().split()).rstrip(" ?.!") for q in questions})
    assert summary["questions"]["different"] == different
    assert len(retriever.queries) == different - summary["questions"]["alike"]
    assert summary["results"]["answered"] == len(asks) and not summary["results"]["logged"]
    served = summary["documents"]
    assert served is not None and served["corpus"] == len(documents) and not served["unknown"]
    assert served["never"] == len(documents) - served["different"]
    run = retriever.index.search(retriever.queries, summary["k"])
    assert served["different"] == len({id_ for ids in run.ids for id_ in ids})
    table = pq.read_table(result.folder / "questions.parquet").to_pylist()
    assert {row["source"] for row in table} == {"asked"} and summary["risk"] is not None
    assert all(0 <= row["support"] <= 1 and row["asks"] % 2 == 0 for row in table)
    assert "What do people really ask" in result.report.read_text()


def test_the_log_is_taken_before_anybody_is_asked(tmp_path):
    documents = [Document(f"d{i}", f"about {word}") for i, word in enumerate(["abc", "abd", "abe"])]
    rows = [
        {"query": "abc?", "results": ["d2"]},
        {"query": "abd?"},
        {"query": "abd", "results": []},
    ]
    log = log_of(tmp_path / "log.jsonl", [*rows, {"query": "abe"}])
    retriever = BM25(documents)
    result = argus.audit_traffic(log, out=tmp_path / "out", corpus=documents, retriever=retriever)
    assert retriever.queries == ["abe"]
    known = result.summary["results"]
    assert (known["logged"], known["answered"], known["unknown"]) == (2, 1, 1)
    assert known["nothing"] is not None and known["nothing"]["share"] == pytest.approx(1 / 3)


def test_near_duplicates_are_counted_and_asked_once(tmp_path):
    questions = [
        "how do I reset the password of my account on the new portal please",
        "how do I reset the password of my account on the new portal",
        "how do I reset the password of my account on the new portal 2",
        "How do I reset  the password of my account on the new portal?!",
        "which river runs through the old town of the capital",
    ]
    documents = [Document("d1", "reset a password"), Document("d2", "a river in a town")]
    retriever = BM25(documents)
    log = log_of(tmp_path / "log.jsonl", [{"query": text} for text in questions])
    result = argus.audit_traffic(log, out=tmp_path / "out", corpus=documents, retriever=retriever)
    figures = result.summary["questions"]
    assert (figures["different"], figures["repeated"], figures["alike"]) == (4, 1, 1)
    assert len(retriever.queries) == 3  # another number is another question
    assert result.summary["results"]["answered"] == 5
    exact = argus.audit_traffic(
        log, out=tmp_path / "exact", corpus=documents, retriever=retriever,
        config=argus.TrafficConfig(near=1),
    )  # fmt: skip
    assert exact.summary["questions"]["alike"] == 0


def test_windows_are_compared_by_tests(tmp_path):
    rng = random.Random(1)
    rows = []
    for i in range(400):  # the last third of the log: nothing comes back any more for half
        late = i >= 200
        results = [] if late and rng.random() < 0.5 else ["d1", "d2"]
        rows.append({"query": f"question number {i % 60 if i % 2 else i}", "results": results,
                     "time": BEGIN + i * 3600, "team": "a" if i % 4 else "b"})  # fmt: skip
    log = log_of(tmp_path / "log.jsonl", rows)
    result = argus.audit_traffic(
        log, out=tmp_path / "out", reading=argus.LogConfig(by=("team",)),
        config=argus.TrafficConfig(resamples=1_000),
    )  # fmt: skip
    windows = result.summary["windows"]
    assert windows is not None and (windows["asks_before"], windows["asks_after"]) == (200, 200)
    (change,) = windows["changes"]
    assert change["outcome"] == "nothing came back" and change["before"]["share"] == 0
    assert change["low"] > 0.3
    same, other = change["same_questions"], change["other_questions"]
    assert same is not None and same["queries"] == 30 and same["p_value"] < 0.01
    assert other is not None and other["p_value"] < 0.01
    slices = result.summary.get("slices")
    assert slices is not None and {row["slice"] for row in slices["worst"]} == {"a", "b"}
    steps = pq.read_table(result.folder / "over_time.parquet").to_pylist()
    assert sum(row["asks"] for row in steps) == 400 and len(steps) == 17
    shuffled = log_of(tmp_path / "shuffled.jsonl", rng.sample(rows, len(rows)))
    again = argus.audit_traffic(
        shuffled, out=tmp_path / "again", config=argus.TrafficConfig(resamples=1_000)
    )
    assert again.summary["windows"] == windows  # clocks that run backwards change no figure
    assert again.summary["log"]["backwards"] > 100


def test_who_serves_is_told_by_slice_and_over_time(tmp_path):
    """Of each part the hub and the documents that serve nobody, counted by hand."""
    day = 86_400
    rows = [
        {"query": "a", "results": ["d1", "d2"], "team": "x", "time": BEGIN},
        {"query": "b", "results": ["d1"], "team": "x", "time": BEGIN},
        {"query": "c", "results": ["d3"], "team": "y", "time": BEGIN + 2 * day},
        {"query": "d", "results": ["d3", "d1"], "time": BEGIN + 2 * day},
        {"query": "e", "results": [], "team": "y"},
        {"query": "f", "team": "y"},
    ]
    documents = [argus.Document(f"d{i}", f"text {i}", title=f"title {i}") for i in range(1, 6)]
    result = argus.audit_traffic(
        log_of(tmp_path / "log.jsonl", rows), out=tmp_path / "out", corpus=documents,
        retriever=lambda query, k: [], reading=argus.LogConfig(by=("team",)),
        config=argus.TrafficConfig(resamples=1_000, near=1),
    )  # fmt: skip
    table = pq.read_table(result.folder / "served_by_part.parquet").to_pylist()
    parts = {(row["field"], row["part"]): row for row in table}
    told = {
        key: (row["asks"], row["different"], row["never"], row["hub"], row["hub_asks"])
        for key, row in parts.items()
    }
    days = [key[1] for key in parts if key[0] == "time"]
    assert told == {
        ("team", "x"): (2, 2, 3, "d1", 2),
        ("team", "y"): (3, 1, 4, "d3", 1),
        ("team", NONE): (1, 2, 3, "d1", 1),
        ("time", days[0]): (2, 2, 3, "d1", 2),
        ("time", days[1]): (2, 2, 3, "d3", 2),
    }
    assert days[0] < days[1] and parts["team", "x"]["hub_label"] == "title 1"
    assert "Who serves, part by part" in result.report.read_text("utf-8")


def test_no_change_is_not_called_one():
    import numpy as np

    from argus.traffic.figures import permute

    rng, low = np.random.default_rng(0), 0
    for seed in range(200):
        values = rng.random(40)
        tested = permute(values[:20], values[20:], seed=seed, resamples=1_000)
        assert tested is not None
        low += tested["p_value"] < 0.05
    assert low <= 20  # 5% of 200 in the mean; above 20 with a chance of 0.0004


RECORDS = [
    {"_id": "old", "type": "law", "time": "2020", "text": "the old law", "bill": ["b1"]},
    {"_id": "new", "type": "law", "time": "2026-03-10", "text": "the new law", "bill": ["b1"]},
]
EDGES = "superseder\tsuperseded\nnew\told\n"


def test_superseded_is_what_was_so_on_the_day(tmp_path):
    records = log_of(tmp_path / "records.jsonl", RECORDS)
    (tmp_path / "edges.tsv").write_text(EDGES)
    rows = [
        {"query": "which law?", "results": ["old"], "time": "2026-03-05"},
        {"query": "which law?", "results": ["old"], "time": "2026-03-15"},
        {"query": "what law?", "results": ["old", "new"], "time": "2026-03-16"},
        {"query": "new law?", "results": ["new"], "time": "2026-03-17"},
        {"query": "other?", "results": ["elsewhere"], "time": "2026-03-17"},
    ]
    config = argus.TrafficConfig(records=records, edges=tmp_path / "edges.tsv", resamples=1_000)
    log = log_of(tmp_path / "log.jsonl", rows)
    result = argus.audit_traffic(log, out=tmp_path / "out", config=config)
    stale = result.summary["superseded"]
    assert stale is not None and stale["asks"] is not None
    assert (stale["asks"]["n"], stale["asks"]["share"]) == (4, 0.5)
    assert stale["alone"] == 1
    assert stale["examples"] == [{"id": "old", "asks": 2, "instead": ["new"]}]
    assert "superseded" in [*result.headline()][-1]


def test_hashes_alone_keep_no_text(tmp_path):
    rows = [
        {"query": f"secret question {i % 3}", "results": ["d1"], "user": "jane"} for i in range(9)
    ]
    log = log_of(tmp_path / "log.jsonl", rows)
    reading = argus.LogConfig(hash_only=True)
    result = argus.audit_traffic(log, out=tmp_path / "out", reading=reading)
    assert result.summary["questions"]["different"] == 3 and result.summary["unmet"] is None
    for path in result.folder.rglob("*"):
        if path.is_file():
            assert b"secret question" not in path.read_bytes() and b"jane" not in path.read_bytes()
    table = pq.read_table(result.folder / "questions.parquet").to_pylist()
    assert sorted(row["asks"] for row in table) == [3, 3, 3]
    other = argus.audit_traffic(log, out=tmp_path / "other", reading=reading)
    names = pq.read_table(other.folder / "questions.parquet")["question"].to_pylist()
    assert {row["question"] for row in table}.isdisjoint(names)  # another salt
    (tmp_path / "key").write_bytes(bytes(range(32)))
    keyed = argus.LogConfig(hash_only=True, key_file=tmp_path / "key")
    tables = [
        pq.read_table(argus.audit_traffic(log, out=tmp_path / name, reading=keyed).folder
                      / "questions.parquet")["question"].to_pylist()
        for name in ("k1", "k2")
    ]  # fmt: skip
    assert tables[0] == tables[1]
    with pytest.raises(InputError, match="--hash-only"):
        argus.audit_traffic(log, out=tmp_path / "r", reading=reading, retriever=print)


def test_unmet_demand_is_clustered_and_named(shared, tmp_path):
    documents = read_corpus(shared("cranfield"))
    questions = [query.text for query in read_queries(shared("cranfield"))][:60]
    about = ["which visa is needed for Japan", "visa for Japan needed by students",
             "does Japan need a visa of tourists", "how is bread baked at home",
             "baking bread at home without yeast", "home baked bread recipe"]  # fmt: skip
    rows = [{"query": text} for text in questions + about * 3]
    result = argus.audit_traffic(
        log_of(tmp_path / "log.jsonl", rows), out=tmp_path / "out", corpus=documents,
        retriever=BM25(documents),
    )  # fmt: skip
    unmet = result.summary["unmet"]
    assert unmet is not None
    assert set(unmet["why"]) == {RISK, SUPPORT}
    called = [set(one["words"].split(", ")) for one in unmet["largest"]]
    assert any({"japan", "visa"} <= words for words in called)
    assert any({"bread", "home"} <= words for words in called)
    foreign = [one for one in unmet["largest"] if {"visa", "bread"} & set(one["words"].split(", "))]
    assert sum(one["asks"] for one in foreign) >= 15  # of 18
    assert all(one["examples"] and one["instead"] for one in unmet["largest"])


def test_risk_stands_beside_what_was_served_so_that_judging_can_begin(shared, tmp_path):
    questions = read_queries(shared("wiki2"))
    log = log_of(tmp_path / "log.jsonl", [{"query": one.text} for one in questions])
    corpus = read_corpus(shared("wiki2"))[:600]
    result = argus.audit_traffic(log, out=tmp_path / "out", corpus=corpus, retriever=BM25(corpus))
    risk = result.summary["risk"]
    assert risk is not None and risk["ranked"] == 61 and set(risk["flagged"]) <= {FOREIGN}
    rows = pq.read_table(result.folder / "questions.parquet").to_pylist()
    (first,) = [row for row in rows if row["risk_rank"] == 1]
    assert RISK in first["unmet"]
    assert any("ordered by risk" in line for line in result.headline())
    judged = argus.judge_traffic(
        result.folder, corpus=corpus, out=tmp_path / "judged", config=argus.JudgingConfig(budget=10)
    )
    assert sum(judged.table["drawn"].to_pylist()) == 10
    assert judged.summary["risk"] == {"is_own": False, **risk, "here": None}


def test_a_run_that_was_killed_asks_only_the_rest(tmp_path):
    (tmp_path / "r.py").write_text(
        "from pathlib import Path\n"
        "def ask(query, k):\n"
        f"    with Path({str(tmp_path / 'count')!r}).open('a') as file: file.write('x')\n"
        "    if query == 'c' and not Path("
        f"{str(tmp_path / 'mended')!r}).exists(): raise SystemExit\n"
        "    return [('d1', 1.0)]\n"
    )
    log = log_of(tmp_path / "log.jsonl", [{"query": text} for text in "abcdef"])
    name = f"{tmp_path / 'r.py'}:ask"
    first = argus.audit_traffic(log, out=tmp_path / "out", retriever=name)
    asked_first = len((tmp_path / "count").read_text())
    assert asked_first >= 6 and first.summary["retriever"] is not None
    (tmp_path / "mended").touch()
    again = argus.audit_traffic(log, out=tmp_path / "out", retriever=name)
    note = again.summary["retriever"]
    assert note is not None and note["kept"] == 5 and note["failed"] == 0
    assert len((tmp_path / "count").read_text()) == asked_first + 1
