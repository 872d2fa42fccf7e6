"""Single tokens: the published default and others, on collections where they were not looked at.

A small model per collection, trained without its questions (cranfield, hotpot100, theoremqa; four
minutes each) or as in `generative_quality` (wiki2, demo); SEAL, with and without titles in the
passages. Each question is decoded once, and ranked by every setting. The setting with the best mean
hits@10 over the first three collections is compared with the published one on the others, question
by question, and so is the default for models from scratch (`--unigrams 0`).

GENERATIVE_UNIGRAMS_SIZE (1) scales the minutes of training and the questions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from argus.data.documents import read_queries
from argus.data.runs import read_qrels
from argus.data.types import Query, Run
from argus.generative.decode import Seq2Seq
from argus.generative.evidence import aggregate
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Scoring
from argus.measures.significance import paired_difference
from benchmarks.generative_collections import Judged, judged_demo, judged_wiki2, untaught
from benchmarks.generative_quality import kept_in, measured, texts_index
from benchmarks.shared import collection, values_of

SIZE = float(os.environ.get("GENERATIVE_UNIGRAMS_SIZE", "1"))
MINUTES, MOST, K, BATCH = 4.0, 200, 10, 20
CHOOSING = ("cranfield", "hotpot100", "theoremqa_theorems")
PUBLISHED = Scoring(query_bonus=0.0, unigrams=5_000)
SETTINGS = {
    "published": PUBLISHED,
    "unigrams_1000": replace(PUBLISHED, unigrams=1_000),
    "unigrams_100": replace(PUBLISHED, unigrams=100),
    "unigrams_0": replace(PUBLISHED, unigrams=0),
    "shortest_2": replace(PUBLISHED, shortest=2),
    "unigrams_0_shortest_2": replace(PUBLISHED, unigrams=0, shortest=2),
}

DEFAULT, HITS = "unigrams_0", "Success@10"


def run() -> dict[str, Any]:
    studied = {name: _figures(_untaught(name)) for name in CHOOSING}
    means = {setting: round(_mean(studied, setting), 4) for setting in SETTINGS}
    best = max(means, key=means.__getitem__)
    others = {
        name: _figures(replace(judged, questions=_some(judged.questions)), best)
        for name, judged in (("wiki2", judged_wiki2(SIZE)), ("demo", judged_demo(SIZE)))
    }
    return {"size": SIZE, "mean_hits@10": means, "best": best, **studied, **others}


def _mean(collections: dict[str, dict[str, Any]], setting: str) -> float:
    """Return the mean hits@10 of a setting: collections count equally, with titles and without."""
    hits = [c[part][setting]["hits@10"] for c in collections.values() for part in c["parts"]]
    return float(sum(hits) / len(hits))


def _untaught(name: str) -> Judged:
    """Return a collection whose model is trained on its passages alone."""
    index, trained = untaught(name, MINUTES * SIZE)
    corpus = collection(name)
    qrels = read_qrels(corpus / "qrels" / "test.tsv")
    questions = [q for q in read_queries(corpus / "queries.jsonl") if q.id in qrels]
    model = Seq2Seq.open(trained.model, index.vocabulary)
    indexes = {"titles": index, "texts": texts_index(corpus, kept_in(name))}
    return Judged(trained.summary["steps"], model, indexes, _some(questions), qrels)


def _some(questions: Sequence[Query]) -> list[Query]:
    """Return questions evenly over the file."""
    n = max(1, int(min(MOST, len(questions)) * SIZE))
    return [questions[i * len(questions) // n] for i in range(n)]


def _figures(judged: Judged, best: str | None = None) -> dict[str, Any]:
    """Return what each setting finds; with the best one, its difference from the published."""
    qrels = {q.id: judged.qrels[q.id] for q in judged.questions}
    figures: dict[str, Any] = {
        "steps": judged.steps, "questions": len(qrels), "parts": [*judged.indexes]
    }  # fmt: skip
    for part, index in judged.indexes.items():
        runs = _runs(GenerativeSearcher(index, judged.model), judged.questions)
        figures[part] = {name: measured(run, qrels) for name, run in runs.items()}
        before = values_of(runs["published"], qrels, HITS)
        for name in (DEFAULT, best) if best is not None else ():
            after = values_of(runs[name], qrels, HITS)
            figures[part][name]["difference"] = paired_difference(before, after, seed=0).figures()
    return figures


def _runs(searcher: GenerativeSearcher, questions: Sequence[Query]) -> dict[str, Run]:
    """Return the run of each setting; questions are decoded once."""
    runs: dict[str, Run] = {name: {} for name in SETTINGS}
    index = searcher.index
    for begin in range(0, len(questions), BATCH):
        part = questions[begin : begin + BATCH]
        for query, written in zip(part, searcher.keys([q.text for q in part]), strict=True):
            for name, scoring in SETTINGS.items():
                ranked = aggregate(index, written.keys, written.unigrams, scoring, K)
                ids = [index.id_of(document) for document in ranked.documents.tolist()]
                runs[name][query.id] = dict(zip(ids, ranked.scores.tolist(), strict=True))
    return runs
