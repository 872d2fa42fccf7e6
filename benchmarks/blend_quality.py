"""Measure the blend on judged collections, beside its rivals and part after part.

`argus tune apply blend` as it ships, with the default encoder: each collection is indexed and
blended in a folder of its own, then every arm searches the same index. Rivals are fixed fusions of
the same vectors and the same BM25. Intervals are over questions, paired, against the vectors alone.
The change that parts of names of code (parse_json, parseJSON) bring to BM25 was chosen on cosqa.
BLEND_INDICES=FOLDER keeps the indexes, so that another run embeds nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, FloatArray, Run
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.indexes.blend import Blend
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.job import build_index
from argus.indexes.lexical import LONG_WORD, Analyzer, LexicalIndex, long_words, stems
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.knowledge.stdlib import standard_library, standard_questions
from argus.measures import paired_difference
from argus.remedies.blend import blend_index
from argus.tuning.arms import DENSE, FUSION_ARMS, JudgedVectors, Searched, fixed
from benchmarks.shared import collection, values_of

# Collections that were at hand when the blend was made.
CHOSEN_ON = "hotpot100", "theoremqa_theorems", "cranfield", "demo", "impliret_wknow_multi"
COLLECTIONS = (*CHOSEN_ON, "anthropic_docs", "contextual_code", "cosqa", "xquad_en")
NDCG, RECALL, DEPTH, DRAWS = "nDCG@10", "R@10", 100, 10_000
CONSTANT = "blend, BM25 always 0.2"
# Words as BM25 split them before: a name of code is one word.
WHOLE = Analyzer("whole", lambda text: [stems(w)[0] for w in LONG_WORD.findall(text)], long_words)


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig())
    results: dict[str, Any] = {}
    changes: dict[str, list[FloatArray]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(os.environ.get("BLEND_INDICES", temporary))
        for name in COLLECTIONS:
            results[name], of_arms = _collection(name, home / name / "index", encoder)
            for arm, change in of_arms.items():
                changes.setdefault(arm, []).append(change)
            print(name, results[name], flush=True)
    n = len(CHOSEN_ON)
    return {
        "collections": results,
        "mean": {arm: mean_of(change) for arm, change in changes.items()},
        "mean_of_those_it_was_not_chosen_on": {
            arm: mean_of(change[n:]) for arm, change in changes.items()
        },
    }


def mean_of(differences: list[FloatArray]) -> dict[str, float]:
    """Return the mean over collections, and its interval, questions drawn within each."""
    rng = np.random.default_rng(0)
    draws = [d[rng.integers(len(d), size=(DRAWS, len(d)))].mean(axis=1) for d in differences]
    low, high = np.percentile(np.mean(draws, axis=0), [2.5, 97.5])
    mean = float(np.mean([d.mean() for d in differences]))
    return {"mean": round(mean, 4), "low": round(low, 4), "high": round(high, 4)}


def _collection(
    name: str, index: Path, encoder: Any
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return the figures, and what each arm changes of each question, against the vectors alone."""
    documents, judged = judged_collection(name)
    build_index(documents, out=index, encoder=encoder)
    blended = blend_index(index, encoder=encoder)
    opened = ViewIndex.open(index)
    vectors = encoder.encode_queries([q.text for q in judged.queries])
    questions = JudgedVectors(judged.queries, vectors, judged.qrels)
    searched = Searched(opened.snapshot(), IndexRetriever(opened, encoder).lexical())
    arms = _arms(searched, questions)
    values = {arm: {m: values_of(run, judged.qrels, m) for m in (NDCG, RECALL)}
              for arm, search in arms.items() for run in [search()]}  # fmt: skip
    dense = values.pop("vectors alone")
    asked, ids = [q.text for q in judged.queries], [q.id for q in judged.queries]
    whole = LexicalIndex.build([d.id for d in documents], [d.content for d in documents], WHOLE)
    before = values_of(whole.search(asked, DEPTH).run(ids), judged.qrels, NDCG)
    changes = {
        arm: np.array([of[NDCG][q] - dense[NDCG][q] for q in dense[NDCG]])
        for arm, of in values.items()
    }
    means = {arm: change.mean() for arm, change in changes.items()}
    figures = {
        "documents": len(documents),
        "questions": len(judged.queries),
        "views": blended.summary["views"],
        "vectors_alone": round(float(np.mean(list(dense[NDCG].values()))), 4),
        "parts_of_names": compared(before, values["BM25 alone"][NDCG]),
        "best_fixed": max(FUSION_ARMS, key=means.__getitem__),
        "arms": {
            arm: {measure: compared(dense[measure], of[measure]) for measure in (NDCG, RECALL)}
            for arm, of in values.items()
        },
    }
    changes["best fixed"] = changes[figures["best_fixed"]]
    return figures, changes


def judged_collection(name: str) -> tuple[list[Document], Any]:
    if name == "demo":
        library = standard_library()
        documents = [Document(e.id, e.paragraph, e.id) for e in library.entities]
        questions, qrels = standard_questions()
        return documents, read_judged(list(questions), qrels)
    home = collection(name)
    documents = open_corpus(home).documents(FieldNames())
    return documents, read_judged(home / "queries.jsonl", home / "qrels" / "test.tsv")


def _arms(searched: Searched, of: JudgedVectors) -> dict[str, Callable[[], Run]]:
    """Return searches by name: the vectors alone, every fixed fusion, and parts of the blend."""
    ids, texts = [q.id for q in of.queries], [q.text for q in of.queries]
    words = searched.lexical.search(texts, DEPTH).run(ids)

    def blended(**parts: float) -> Callable[[], Run]:
        return lambda: searched.run(of.queries, of.vectors, DEPTH, replace(DENSE, **parts))

    def fused(arm: Blend, **parts: float) -> Callable[[], Run]:
        return lambda: fuse_with_bm25(blended(**parts)(), words, DEPTH, arm.fusion, arm.bm25)

    whole = Blend()
    return {
        "vectors alone": blended(),
        "BM25 alone": lambda: words,
        **{name: fused(arm) for name, arm in FUSION_ARMS.items()},
        "BM25 by question": blended(bm25=whole.bm25),
        "sentences": blended(weight=whole.weight),
        CONSTANT: fused(fixed("min-max", 0.2), weight=whole.weight),
        "blend, BM25 always 0.3": fused(fixed("min-max", 0.3), weight=whole.weight),
        "blend": blended(weight=whole.weight, bm25=whole.bm25),
    }


def compared(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    change = paired_difference(before, after, seed=0)
    return {
        "mean": round(change.mean_after, 4),
        "difference": round(change.mean_difference, 4),
        "low": None if change.low is None else round(change.low, 4),
        "high": None if change.high is None else round(change.high, 4),
        "improved": change.improved,
        "harmed": change.harmed,
    }
