"""Learning to rank by keys (LTRGR) on top of a small model: what it finds before and after.

hotpot100, theoremqa and cranfield, each with a model from scratch that was trained on its passages
alone (four minutes), passages with titles. Every second judged question teaches to rank, the others
test. Margin, lists and weight of the ranking are as published; the learning rate is one for a model
from scratch. Beside it, the same steps with a weight of 0 for the ranking: what the questions teach
by writing alone.

GENERATIVE_TUNING_SIZE (1) scales the minutes of training, GENERATIVE_TUNING_ON names the
collections, apart by spaces.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.documents import read_queries
from argus.data.runs import read_qrels
from argus.data.types import Qrels, Query, Run
from argus.data.writing import write_jsonl
from argus.generative.decode import Seq2Seq
from argus.generative.index import NgramIndex
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import GenerativeTuneConfig, NgramSearchConfig, Scoring
from argus.generative.training.tune import GenerativeTuneResult, tune_generative
from argus.measures.significance import paired_difference
from argus.training.loop import LoopConfig
from benchmarks.generative_collections import untaught
from benchmarks.generative_quality import kept_in, measured
from benchmarks.shared import collection, values_of

SIZE = float(os.environ.get("GENERATIVE_TUNING_SIZE", "1"))
ON = os.environ.get("GENERATIVE_TUNING_ON", "hotpot100 theoremqa_theorems cranfield").split()
MINUTES, K = 4.0, 100
LOOP = LoopConfig(learning_rate=1e-4, weight_decay=0.01, epochs=4, batch_size=4, accumulation=2)
ARMS = {"tuned": 0.001, "written_alone": 0.0}


def run() -> dict[str, Any]:
    return {"size": SIZE, **{name: _figures(name) for name in ON}}


def _figures(name: str) -> dict[str, Any]:
    home, corpus = kept_in(name), collection(name)
    qrels = read_qrels(corpus / "qrels" / "test.tsv")
    questions = [q for q in read_queries(corpus / "queries.jsonl") if q.id in qrels]
    teaching, test = questions[::2], questions[1::2]
    index, trained = untaught(name, MINUTES * SIZE)
    judged = {q.id: qrels[q.id] for q in test}
    before = _run(index, trained.model, test)
    figures = {
        "steps": trained.summary["steps"], "questions": len(questions),
        "before": measured(before, judged),
    }  # fmt: skip
    for arm, rank_weight in ARMS.items():
        tuned = _tuned(corpus, home, trained.model, teaching, arm, rank_weight)
        now = _run(index, tuned.model, test)
        figures[arm] = _compared(tuned, now, before, judged)
    return figures


def _tuned(
    corpus: Path, home: Path, model: Path, questions: Sequence[Query], arm: str, rank_weight: float
) -> GenerativeTuneResult:
    asked = home / "teaching.jsonl"
    write_jsonl(asked, ({"_id": q.id, "text": q.text} for q in questions))
    config = GenerativeTuneConfig(
        search=NgramSearchConfig(model=model), training=LOOP, rank_weight=rank_weight
    )
    return tune_generative(
        corpus, index=home / "index", queries=asked, qrels=corpus / "qrels" / "test.tsv",
        config=config, out=home / arm,
    )  # fmt: skip


def _run(index: NgramIndex, model: Path, questions: Sequence[Query]) -> Run:
    loaded = Seq2Seq.open(model, index.vocabulary)
    scoring = Scoring().for_model(scratch=True)
    searcher = GenerativeSearcher(index, loaded, scoring=scoring)
    return {answer.query_id: answer.scores() for answer in searcher.search(questions, K)}


def _compared(
    tuned: GenerativeTuneResult, now: Run, before: Run, qrels: Qrels
) -> Mapping[str, Any]:
    """Return what the model finds now, and how that differs, question by question."""
    differences = {}
    for measure in ("Success@1", "Success@10", "nDCG@10"):
        old, new = (values_of(run, qrels, measure) for run in (before, now))
        differences[measure] = paired_difference(old, new, seed=0).figures()
    summary = tuned.summary
    return {
        **measured(now, qrels),
        "differences": differences,
        "lists": summary["lists"],
        "validation": {"before": summary["before"], "after": summary["after"]},
        "losses": summary["evaluations"],
    }
