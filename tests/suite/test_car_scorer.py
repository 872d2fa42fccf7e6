"""The harness of CAR's released scorer, tried with a small script that has its command line.

The script below is our own: it takes the same options, hands its retriever the corpus and the
questions as the paper describes, and writes a file of the same name. It is not the scorer.
"""

import json
from dataclasses import replace

import pytest

from argus.authority.benchmarks import finsuperqa
from argus.tasks.opening import open_task
from benchmarks import car_scorer

SCRIPT = """
import argparse, importlib.util, json

class TinyBM25:
    def __init__(self, corpus):
        self.corpus = corpus
    def retrieve(self, query, corpus, k):
        words = set(query.lower().split())
        by = lambda row: -len(words & set(row["text"].lower().split()))
        return [row["doc_id"] for row in sorted(self.corpus, key=by)[:k]]

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--retriever_path")
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    questions = [json.loads(line) for line in open("data/finsuperqa_v1.jsonl")]
    corpus = [{"doc_id": e["event_id"], "text": e["text"], "event_type": e["event_type"],
               "timestamp": e["timestamp"],
               "entities": {"employee": q["employee"], "ticker": q["ticker"]}}
              for q in questions for e in q["kb"]]
    corpus += [{"doc_id": f"d{n}", "text": "lunch is served", "event_type": "policy_update",
                "timestamp": "2024-01-01T00:00:00", "entities": {}} for n in range(3)]
    spec = importlib.util.spec_from_file_location("mine", given.retriever_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        retriever = module.Retriever(corpus)
    except TypeError:
        retriever = module.Retriever()
    hits = 0
    for q in questions:
        gold = q["provenance"][-1]["event_id"]
        hits += gold in retriever.retrieve(q["query"], corpus, given.k)
    whole = {"overall": {"TCA": hits / len(questions)}, "n": len(questions), "rows": [1, 2]}
    json.dump(whole, open("data/custom_retriever_results.json", "w"))
"""


@pytest.fixture(scope="module")
def small():
    """Return the first questions of FinSuperQA with the events of their chains."""
    whole = finsuperqa.make(seed=0)
    return replace(whole, questions=whole.questions[:8])


def test_both_scorers_read_one_wrapper_alike(small, tmp_path, monkeypatch):
    file = tmp_path / "evaluate.py"
    file.write_text(SCRIPT)
    monkeypatch.setenv(car_scorer.VARIABLE, str(file))
    told = car_scorer.run(small)
    assert (told["class"], told["questions"]) == ("TinyBM25", 8)
    assert told["documents"] == sum(len(q.chain) for q in small.questions) + 3
    assert told["own"].keys() == {"overall.TCA", "n"}
    assert told["own"]["overall.TCA"] == told["argus"]["own"]["controlling_hit"] < 1
    assert told["wrapped"]["overall.TCA"] == told["argus"]["wrapped"]["controlling_hit"] == 1
    assert told["argus"]["wrapped"]["tca"] == 1 > told["argus"]["own"]["tca"]


def test_what_is_made_here_is_read_back_from_its_released_form(small, tmp_path):
    file = tmp_path / "finsuperqa_v1.jsonl"
    rows = list(car_scorer.released_rows(small))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    back = open_task(f"car:{file}").benchmark
    for made, read in zip(small.questions, back.questions, strict=True):
        assert (made.id, made.text, made.chain, made.hop) == (
            read.id,
            read.text,
            read.chain,
            read.hop,
        )
        assert made.gold == read.gold and dict(made.scope) == dict(read.scope)
    known = {record.id: record for record in small.records}
    for record in back.records:
        assert (record.text, record.time) == (known[record.id].text, known[record.id].time)
    ids = {record.id for record in back.records}
    pairs = {(e.superseder, e.superseded) for e in small.edges}
    assert {(e.superseder, e.superseded) for e in back.edges} == {p for p in pairs if ids >= {*p}}
