"""Every pair of 46 documents is asked for (LIMIT-small): vectors, words, their fusions, n-grams.

Single vectors cannot represent all pairs (Weller et al., 2025); searches that compare words can.
R@2, R@10 and R@20 of 1,000 questions with two relevant documents each. "tuned" is chosen by 50
questions and told on the rest, as `argus tune try` decides. One n-gram model is trained on the
passages alone, the other on questions that a rule writes of them, too; "untrained" is the same
network before its first step (it begins with weights that copy). LIMIT_KEPT=FOLDER keeps indexes,
models and answers: a run that was stopped goes on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.runs import read_run
from argus.data.types import Document, Run
from argus.data.writing import write_jsonl
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.generative.index.build import build_ngrams
from argus.generative.search import search_ngrams
from argus.generative.settings import (
    SCRATCH,
    GenerativeTrainConfig,
    Mode,
    NgramBuildConfig,
    NgramSearchConfig,
    ScratchSize,
)
from argus.generative.training.job import train_generative
from argus.generative.training.model import new_network, save_network
from argus.indexes.lexical import STEMMED, LexicalIndex
from argus.measures import evaluate
from argus.tuning.arms import VECTORS, part_and_fusion_runs
from argus.tuning.decide import recommend
from benchmarks.shared import collection, dense_run, values_of

MEASURES = ["R@2", "R@10", "R@20"]
SHOWN = ("vectors alone", "BM25 alone", "min-max 0.3", "min-max 0.5", "RRF (60)", "DBSF")
DEPTH, TOKENIZER, CHOSEN_BY = 46, "bpe:2000", 50


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
            both = _ngrams(kept / name.replace(" ", "-"), home, asked)
            for row, found in zip((name, f"{name}, untrained"), both, strict=True):
                told[row] = _measured(found, judged.qrels)
                print(row, told[row], flush=True)
    return {"documents": len(documents), "questions": len(ids), "measures": told}


def _questions(documents: list[Document]) -> dict[str, list[str]]:
    """Return "Who likes X?" of every thing that a document's person likes."""
    return {
        d.id: [f"Who likes {thing.strip(' .')}?" for part in d.text.split(" likes ")[1:]
               for thing in part.replace(" and ", ", ").split(",") if thing.strip(" .")]
        for d in documents
    }  # fmt: skip


def _ngrams(home: Path, corpus: Path, asked: dict[str, list[str]] | None) -> Iterator[Run]:
    """Yield what a small model trained on an n-gram index finds in it, and the same untrained."""
    home.mkdir(parents=True, exist_ok=True)
    pseudo = None
    if asked is not None:
        pseudo = home / "questions.jsonl"
        write_jsonl(pseudo, ({"_id": id_, "queries": own} for id_, own in asked.items()))
    build = NgramBuildConfig(tokenizer=TOKENIZER)
    index = build_ngrams(corpus, out=home / "index", config=build, pseudo_queries=pseudo).index
    train_generative(corpus, index=home / "index", out=home / "train", pseudo_queries=pseudo,
                     config=GenerativeTrainConfig())  # fmt: skip
    mode = Mode.SEAL if pseudo is None else Mode.MINDER
    network = new_network(index.vocabulary, ScratchSize(), seed=0)
    note = {"base": {"name": SCRATCH}}  # by it, it is searched with the trained one's settings
    untrained = save_network(network, index.vocabulary, home / "untrained", note)
    for model in (home / "train", untrained):
        asking = NgramSearchConfig(model=model, mode=mode, k=20)
        out, questions = home / f"{model.name}-found", corpus / "queries.jsonl"
        found = search_ngrams(home / "index", questions, out=out, config=asking)
        yield read_run(Path(found.summary["files"]["run"]))


def _measured(run: Run, qrels: Any) -> dict[str, float]:
    means = evaluate(run, qrels, MEASURES).aggregate
    return {measure: round(float(means[measure]), 4) for measure in MEASURES}
