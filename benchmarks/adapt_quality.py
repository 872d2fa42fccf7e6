"""A correction of queries (`tune apply adapt`), on questions about documents that taught nothing.

demo: the standard library's 150 judged questions, in five folds. For each fold a correction is
learnt from the needs of the 504 profiled documents less those that the fold's questions want, and
the fold's questions are asked with it. Arms: the default with three seeds, and the other settings
that EVIDENCE names. null: the same needs with their documents exchanged, from which nothing can be
learnt: how often is a correction prescribed all the same, by its interval, and by its bare gain?
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Qrels, View
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.protocol import unit_rows
from argus.indexes.snapshot import Snapshot
from argus.knowledge.stdlib import sample_questions, standard_library, standard_scenarios
from argus.measures.significance import paired_difference
from argus.scenarios.adapt import AdaptConfig, Examples, Learnt, held_out_gain, learn
from benchmarks.shared import values_of

MEASURE, FOLDS, NULLS = "nDCG@10", 5, 6
DEFAULT = AdaptConfig()
ARMS = {
    "default": DEFAULT,
    "default, seed 1": replace(DEFAULT, seed=1),
    "default, seed 2": replace(DEFAULT, seed=2),
    "3e-4, 0.3": replace(DEFAULT, learning_rate=3e-4, weight_decay=0.3),
}


def run() -> dict[str, Any]:
    demo = Demo.embedded()
    arms = {}
    for name, config in ARMS.items():
        arms[name] = demo.folded(config)
        print(json.dumps({name: arms[name]}), flush=True)
    null = {
        "whole corpus": demo.exchanged(alone=False),
        "profiled documents alone": demo.exchanged(alone=True),
    }
    print(json.dumps(null), flush=True)
    return {
        "demo": {"documents": len(demo.ids), "needs": len(demo.targets), "arms": arms},
        "null": null,
    }


@dataclass(frozen=True)
class Demo:
    """Vectors of the standard library's documents, needs and questions."""

    ids: list[str]
    documents: Snapshot
    needs: FloatArray
    targets: np.ndarray
    """Row of each need's document."""
    questions: list[str]
    asked: FloatArray
    qrels: Qrels

    @classmethod
    def embedded(cls) -> Demo:
        """Embed everything once."""
        base = standard_library()
        encoder = load_encoder(EncoderConfig(precision="float32"))
        views = [View(e.id, e.id, "original", f"{e.id} {e.paragraph}") for e in base.entities]
        views.sort(key=lambda view: view.id)
        documents = Snapshot.of(views, encoder.encode_documents([v.text for v in views]))
        needs = [
            (row["_id"], scenario["information_need"])
            for row in standard_scenarios(base)
            for scenario in row["scenarios"]
        ]
        queries, qrels = sample_questions(base)
        return cls(
            documents.doc_ids,
            documents,
            encoder.encode_queries([text for _, text in needs]),
            documents.positions([doc for doc, _ in needs]),
            [query.id for query in queries],
            encoder.encode_queries([query.text for query in queries]),
            qrels,
        )

    def examples(self, rows: np.ndarray) -> Examples:
        """Return some of the needs."""
        targets = self.targets[rows]
        return Examples(self.documents.vectors, self.needs[rows], targets)

    def folded(self, config: AdaptConfig) -> dict[str, Any]:
        """Ask each fold's questions with what needs of other documents taught."""
        order = np.random.default_rng(config.seed).permutation(len(self.questions))
        before, after, folds = self.values(self.asked), {}, []
        for fold in range(FOLDS):
            rows = order[fold::FOLDS]
            wanted = {doc for i in rows for doc in self.qrels[self.questions[i]]}
            kept = ~np.isin(self.targets, self.documents.positions(sorted(wanted)))
            examples = self.examples(np.flatnonzero(kept))
            learnt = learn(examples, config)
            gain = held_out_gain(learnt, examples, config.seed)
            alpha = learnt.alpha if gain.verdict == "better" else 0.0
            values = self.values(moved(self.asked, learnt, alpha))
            after |= {self.questions[i]: values[self.questions[i]] for i in rows}
            folds.append(
                {"needs": int(kept.sum()), "alpha": alpha, "epoch": learnt.epoch,
                 "held_out": [round(gain.mean_before, 4), round(gain.mean_after, 4)]}
            )  # fmt: skip
        return {**paired_difference(before, after, seed=0).figures(), "folds": folds}

    def values(self, vectors: FloatArray) -> dict[str, float]:
        """Return nDCG@10 of every question."""
        found = self.documents.search(vectors, 10).run(self.questions)
        return values_of(found, self.qrels, MEASURE)

    def exchanged(self, *, alone: bool) -> dict[str, Any]:
        """Learn from needs of exchanged documents; alone: these are the whole corpus.

        Among others, a correction can still learn which documents have needs at all.
        """
        profiled = np.unique(self.targets)
        documents = self.documents.vectors[profiled] if alone else self.documents.vectors
        rows = np.arange(len(profiled)) if alone else profiled
        gains, questions = [], []
        for seed in range(NULLS):
            others = np.random.default_rng(seed).permutation(rows)
            targets = others[np.searchsorted(profiled, self.targets)]
            examples = Examples(documents, self.needs, targets)
            learnt = learn(examples, replace(DEFAULT, seed=seed))
            gains.append(held_out_gain(learnt, examples, seed))
            now = self.values(moved(self.asked, learnt))
            questions.append(
                paired_difference(self.values(self.asked), now, seed=0).mean_difference
            )
        return {
            "trials": NULLS,
            "prescribed_by_interval": sum(gain.verdict == "better" for gain in gains),
            "prescribed_by_gain": sum(gain.mean_difference > 0 for gain in gains),
            "held_out": [round(gain.mean_difference, 5) for gain in gains],
            "questions_if_prescribed": questions,
        }


def moved(queries: FloatArray, learnt: Learnt, alpha: float = 1.0) -> FloatArray:
    return unit_rows(queries + np.float32(alpha) * (queries @ learnt.w) @ learnt.u.T)
