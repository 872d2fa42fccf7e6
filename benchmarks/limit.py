"""Every pair of 46 documents is asked for (LIMIT-small): vectors, words, their fusions, n-grams.

Single vectors cannot represent all pairs (Weller et al., 2025); searches that compare words can.
R@2, R@10 and R@20 of 1,000 questions with two relevant documents each. "tuned" is chosen by 50
questions and told on the rest, as `argus tune try` decides. The n-gram model is trained for minutes
on the passages alone, in its first row, and on questions that a rule writes of them, in its second.
LIMIT_KEPT=FOLDER keeps indexes and models.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, Run
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.generative.index.build import build_ngrams
from argus.generative.search import NgramRetriever
from argus.generative.settings import (
    GenerativeTrainConfig,
    LearningConfig,
    Mode,
    NgramBuildConfig,
    NgramSearchConfig,
)
from argus.generative.training.job import train_generative
from argus.indexes.lexical import STEMMED, LexicalIndex
from argus.measures import evaluate
from argus.tuning.arms import VECTORS, part_and_fusion_runs
from argus.tuning.decide import recommend
from benchmarks.shared import collection, dense_run, values_of

MEASURES = ["R@2", "R@10", "R@20"]
SHOWN = ("vectors alone", "BM25 alone", "min-max 0.3", "min-max 0.5", "RRF (60)", "DBSF")
DEPTH, MINUTES, TOKENIZER, CHOSEN_BY = 46, 4.0, "bpe:2000", 50


def run() -> dict[str, Any]:
    home = collection("limit_small")
    documents = sorted(open_corpus(home).documents(FieldNames()), key=lambda d: d.id)
    judged = read_judged(home / "queries.jsonl", home / "qrels" / "test.tsv")
    queries, ids = judged.queries, [query.id for query in judged.queries]
    encoder = load_encoder(EncoderConfig())
    vectors = encoder.encode_documents([d.content for d in documents])
    asked = encoder.encode_queries([q.text for q in queries])
    dense = dense_run(ids, asked, documents, vectors, DEPTH)
    lexical = LexicalIndex.build([d.id for d in documents], [d.content for d in documents], STEMMED)
    words = lexical.search([q.text for q in queries], DEPTH).run(ids)
    runs = part_and_fusion_runs(dense, words, DEPTH)
    told = {arm: _measured(runs[arm], judged.qrels) for arm in SHOWN}
    values = {arm: values_of(run, judged.qrels, "nDCG@10") for arm, run in runs.items()}
    drawn = {ids[i] for i in np.random.default_rng(0).permutation(len(ids))[:CHOSEN_BY]}
    few = {arm: {q: of[q] for q in drawn} for arm, of in values.items()}
    chosen = recommend(few, VECTORS, VECTORS)
    rest = {q: grades for q, grades in judged.qrels.items() if q not in drawn}
    told[f"tuned by {CHOSEN_BY}: {chosen}"] = _measured(runs[chosen], rest)
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(os.environ.get("LIMIT_KEPT", temporary))
        for name, asked in (("n-grams, passages alone", None),
                            ("n-grams, questions by rule", _questions(documents))):  # fmt: skip
            found = _ngrams(kept / name.replace(" ", "-"), home, asked).search(queries, 20)
            told[name] = _measured(found, judged.qrels)
            print(name, told[name], flush=True)
    return {"documents": len(documents), "questions": len(ids), "measures": told}


def _questions(documents: list[Document]) -> dict[str, list[str]]:
    """Return "Who likes X?" of every thing that a document's person likes."""
    return {
        d.id: [f"Who likes {thing.strip(' .')}?" for part in d.text.split(" likes ")[1:]
               for thing in part.replace(" and ", ", ").split(",") if thing.strip(" .")]
        for d in documents
    }  # fmt: skip


def _ngrams(home: Path, corpus: Path, asked: dict[str, list[str]] | None) -> NgramRetriever:
    """Build an n-gram index, train a small model on it, and open both as a retriever."""
    home.mkdir(parents=True, exist_ok=True)
    pseudo = None
    if asked is not None:
        pseudo = home / "questions.jsonl"
        rows = ({"_id": id_, "queries": own} for id_, own in asked.items())
        pseudo.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if not (home / "train" / "summary.json").is_file():
        build_ngrams(corpus, out=home / "index", config=NgramBuildConfig(tokenizer=TOKENIZER),
                     pseudo_queries=pseudo)  # fmt: skip
        train_generative(
            corpus, index=home / "index", out=home / "train", pseudo_queries=pseudo,
            config=GenerativeTrainConfig(training=LearningConfig(max_minutes=MINUTES)),
        )  # fmt: skip
    mode = Mode.SEAL if pseudo is None else Mode.MINDER
    return NgramRetriever(home / "index", NgramSearchConfig(model=home / "train", mode=mode))


def _measured(run: Run, qrels: Any) -> dict[str, float]:
    means = evaluate(run, qrels, MEASURES).aggregate
    return {measure: round(float(means[measure]), 4) for measure in MEASURES}
