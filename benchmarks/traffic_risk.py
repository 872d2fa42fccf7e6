"""What the order of questions by risk is worth, and whether intervals of few judgements hold.

Judged collections are logs without labels, served by MiniLM's vectors or by BM25; a question fails
where none of the first ten is relevant. Told: the AUC of the order, of each of its two signals
alone, how often flagged questions fail, the calibration error after 30 judgements, and how often
the interval of 50 judgements holds the truth. TRAFFIC_VECTORS=FOLDER keeps vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, Query, Run
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.indexes.lexical import LexicalIndex
from argus.measures.intervals import discrimination
from argus.traffic.risk import rank_by_risk
from argus.traffic.sampling import ServedQuestion, draw_sample, estimate_failures
from benchmarks.shared import collection, dense_run, kept_vectors

COLLECTIONS = ("hotpot100", "cranfield", "theoremqa_theorems", "impliret_wknow_multi")
K, BUDGET, DRAWS = 10, 50, 500
Relevant = dict[str, set[str]]


def run() -> dict[str, Any]:
    result: dict[str, Any] = {"k": K, "draws": DRAWS, "budget": BUDGET}
    for name in COLLECTIONS:
        documents, questions, relevant, runs = judged(name)
        for served, second in (("vectors", "BM25"), ("BM25", "BM25"), ("BM25", "vectors")):
            one = _measured(documents, questions, relevant, runs[served], runs[second])
            result.setdefault(f"{served} served, beside {second}", {})[name] = one
            print(name, served, second, one, flush=True)
    return result


def judged(name: str) -> tuple[list[Document], list[Query], Relevant, dict[str, Run]]:
    """Return a collection's documents, its questions with a relevant one, and what two bring."""
    home = collection(name)
    documents = open_corpus(home).documents(FieldNames())
    source = read_judged(home / "queries.jsonl", home / "qrels" / "test.tsv")
    ids = {document.id for document in documents}
    relevant = {
        query: own
        for query, grades in source.qrels.items()
        if (own := {id_ for id_, grade in grades.items() if grade > 0 and id_ in ids})
    }
    encoder = load_encoder(EncoderConfig(precision="float32"))
    vectors = kept_vectors("TRAFFIC_VECTORS", name, lambda: {
        "d": encoder.encode_documents([d.content for d in documents]),
        "q": encoder.encode_queries([q.text for q in source.queries]),
    })  # fmt: skip
    kept = [i for i, query in enumerate(source.queries) if query.id in relevant]
    questions = [source.queries[i] for i in kept]
    names = [query.id for query in questions]
    index = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
    dense = dense_run(names, vectors["q"][kept], documents, vectors["d"], K)
    words = index.search([query.text for query in questions], K).run(names)
    return documents, questions, relevant, {"vectors": dense, "BM25": words}


def _measured(
    documents: list[Document], questions: list[Query], relevant: Relevant, run: Run, second: Run
) -> dict[str, Any]:
    risk = rank_by_risk(questions, run, documents, second=second)
    failed = {q.id: float(not relevant[q.id] & run.get(q.id, {}).keys()) for q in questions}
    places, ranked = risk.places, list(risk.order)
    top = {id_: -max(run[id_].values()) for id_ in ranked}
    apart = {id_: -len(run[id_].keys() & second.get(id_, {}).keys()) for id_ in ranked}
    return {
        "questions": len(questions),
        "fail": _mean(failed.values()),
        "auc": _auc(places, failed),
        "auc_top_score": _auc(top, failed),
        "auc_overlap": _auc(apart, failed),
        "flagged": len(risk.flagged),
        "flagged_fail": _mean(failed[id_] for id_ in risk.flagged),
        **_coverage(questions, run, failed),
    }


def _mean(values: Any) -> float | None:
    own = list(values)
    return round(float(np.mean(own)), 3) if own else None


def _auc(scores: dict[str, Any], failed: dict[str, float]) -> float | None:
    found = discrimination(list(scores.values()), [failed[id_] > 0 for id_ in scores])
    return None if found is None else round(found["auc"], 3)


def _coverage(questions: list[Query], run: Run, failed: dict[str, float]) -> dict[str, Any]:
    """Return how often the interval of 50 judged questions holds the failure rate."""
    log = [ServedQuestion(q.id, q.text, tuple(run.get(q.id, {}))) for q in questions]
    truth = float(np.mean([failed[q.id] for q in log]))
    times = {q.id: 1 for q in log if q.documents}
    if len(times) <= BUDGET:
        return {"inside": None, "width": None}
    inside, widths = [], []
    for seed in range(DRAWS):
        sample = draw_sample(times, BUDGET, seed)
        verdicts = {id_: (failed[id_], 0.0) for id_ in sample.questions}
        rate = estimate_failures(log, sample, verdicts)[0]
        inside.append(rate["low"] <= truth <= rate["high"])
        widths.append(rate["high"] - rate["low"])
    return {"inside": _mean(inside), "width": _mean(widths)}
