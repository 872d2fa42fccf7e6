"""Generative retrieval with a small model trained from scratch, beside BM25 and MiniLM.

wiki2: 25 minutes of training on its passages, its 61 questions and its titles but 300, of which 200
are then asked as questions, each for its own passage. Once with titles in the passages and once
without; `untrained` is the same network before its first step (it begins with weights that copy).
demo: 15 minutes on the standard library's 5,463 documents with the shipped pseudo-queries of 504,
without any question; its 150 judged questions are asked. SEAL and MINDER, all settings as
published.

What was trained stays under ARGUS_BENCH (or the system's temporary folder): a run that was stopped
goes on.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries
from argus.data.runs import read_qrels
from argus.data.types import Document, Qrels, Query, Run
from argus.data.writing import write_jsonl
from argus.encoders import EncoderConfig, load_encoder
from argus.generative import Decoding, NgramBuildConfig, NgramSearchConfig, Scoring
from argus.generative.index import NgramIndex
from argus.generative.index.build import build_ngrams
from argus.generative.search import search_ngrams
from argus.generative.settings import GenerativeTrainConfig, LearningConfig, Mode, ScratchSize
from argus.generative.training.job import GenerativeTrainResult, train_generative
from argus.generative.training.model import new_network, save_network
from argus.indexes.lexical import LexicalIndex
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.measures import evaluate, wilson
from benchmarks.shared import collection, dense_run

HELD_OUT, ASKED = 300, 200
WIKI2_MINUTES, DEMO_MINUTES = 25.0, 15.0
TOKENIZER = "bpe:8000"
# Share of the minutes that models learn: on a GPU a minute has more steps.
TRAINING = float(os.environ.get("GENERATIVE_TRAINING", "1"))
PUBLISHED = Scoring().for_model(scratch=False)


def run() -> dict[str, Any]:
    return {"wiki2": _wiki2(kept_in("wiki2")), "demo": _demo(kept_in("demo"))}


def kept_in(name: str) -> Path:
    """Return the folder in which index and model of a collection are kept."""
    root = os.environ.get("ARGUS_BENCH") or Path(tempfile.gettempdir()) / "argus-bench"
    return Path(root) / "generative" / name


def wiki2_model(
    home: Path, minutes: float = WIKI2_MINUTES
) -> tuple[NgramIndex, GenerativeTrainResult, list[Query]]:
    """Return the index, the model (trained at the first call), and the titles that are asked."""
    corpus = collection("wiki2")
    index = build_ngrams(
        corpus, out=home / "index", config=NgramBuildConfig(tokenizer=TOKENIZER)
    ).index
    trained = train_generative(
        corpus, index=home / "index", queries=corpus / "queries.jsonl",
        qrels=corpus / "qrels" / "test.tsv", out=home / "train",
        config=GenerativeTrainConfig(
            hold_out=HELD_OUT, training=LearningConfig(max_minutes=TRAINING * minutes)
        ),
    )  # fmt: skip
    return index, trained, read_queries(home / "train" / "held_out.jsonl")[:ASKED]


def _wiki2(home: Path) -> dict[str, Any]:
    corpus = collection("wiki2")
    documents = read_corpus(corpus)
    whole, trained, questions = wiki2_model(home)
    texts_index(corpus, home)
    judged = read_qrels(home / "train" / "held_out.tsv")
    qrels = {q.id: judged[q.id] for q in questions}
    untrained = save_network(
        new_network(whole.vocabulary, ScratchSize(), seed=0), whole.vocabulary,
        home / "untrained", {},
    )  # fmt: skip
    systems = {
        "seal": _ask(home, "index", trained.model, questions),
        "seal_untrained": _ask(home, "index", untrained, questions),
        "seal_texts_only": _ask(home, "texts", trained.model, questions),
        **_others(documents, questions),
        **_others([replace(d, title="") for d in documents], questions, "_texts_only"),
    }
    return {
        "training": _training(trained.summary),
        "questions": len(questions),
        "systems": {name: measured(answers, qrels) for name, answers in systems.items()},
    }


def texts_index(corpus: Path, home: Path) -> NgramIndex:
    """Return an index of the same passages without titles, with the same tokenizer."""
    tokenizer = str(home / "index" / "ngrams" / "tokenizer")
    config = NgramBuildConfig(tokenizer=tokenizer, titles=False)
    return build_ngrams(corpus, out=home / "texts", config=config).index


def demo_model(
    home: Path, minutes: float = DEMO_MINUTES
) -> tuple[Path, GenerativeTrainResult, list[Query]]:
    """Return the corpus, the model (trained at the first call), and its judged questions."""
    corpus = home / "corpus"
    if not (corpus / "corpus.jsonl").is_file():
        write_sample_corpus(corpus, standard_library())
    expansions = corpus / "expansions.jsonl"
    build_ngrams(
        corpus, out=home / "index", config=NgramBuildConfig(tokenizer=TOKENIZER),
        pseudo_queries=expansions,
    )  # fmt: skip
    trained = train_generative(
        corpus, index=home / "index", out=home / "train", pseudo_queries=expansions,
        config=GenerativeTrainConfig(training=LearningConfig(max_minutes=TRAINING * minutes)),
    )  # fmt: skip
    return corpus, trained, read_queries(corpus / "queries.jsonl")


def _demo(home: Path) -> dict[str, Any]:
    corpus, trained, questions = demo_model(home)
    qrels = read_qrels(corpus / "qrels" / "test.tsv")
    systems = {
        "seal": _ask(home, "index", trained.model, questions),
        "minder": _ask(home, "index", trained.model, questions, Mode.MINDER),
        **_others(read_corpus(corpus), questions),
    }
    return {
        "training": _training(trained.summary),
        "questions": len(questions),
        "systems": {name: measured(answers, qrels) for name, answers in systems.items()},
    }


def _ask(
    home: Path, index: str, model: Path, questions: list[Query], mode: Mode = Mode.SEAL
) -> Run:
    return _run_of(ask(home, index, model, questions, mode))


def ask(
    home: Path, index: str, model: Path, questions: list[Query], mode: Mode = Mode.SEAL,
    *, beams: int = Decoding.beams,
) -> Path:  # fmt: skip
    """Search for questions, or go on; return the folder of the answers."""
    asked = home / "questions.jsonl"
    write_jsonl(asked, ({"_id": q.id, "text": q.text} for q in questions))
    name = f"{mode}-{index}-{model.parent.name}-{model.name}"
    out = home / (name if beams == Decoding.beams else f"{name}-{beams}")
    config = NgramSearchConfig(
        model=model, mode=mode, k=100, decoding=Decoding(beams=beams),
        scoring=PUBLISHED,
    )  # fmt: skip
    search_ngrams(home / index, asked, out=out, config=config)
    return out


def _run_of(folder: Path) -> Run:
    from argus.data.runs import read_run

    found = [p for p in (folder / "run.trec", folder / "run.json") if p.is_file()]
    return read_run(found[0])


def _others(documents: list[Document], questions: list[Query], suffix: str = "") -> dict[str, Run]:
    """Return what BM25 and MiniLM find over title and text."""
    ids, texts = [d.id for d in documents], [d.content for d in documents]
    names, asked = [q.id for q in questions], [q.text for q in questions]
    lexical = LexicalIndex.build(ids, texts).search(asked, 100).run(names)
    encoder = load_encoder(EncoderConfig())
    vectors = encoder.encode_documents(texts)
    dense = dense_run(names, encoder.encode_queries(asked), documents, vectors, 100)
    return {f"bm25{suffix}": lexical, f"minilm{suffix}": dense}


def measured(run: Run, qrels: Qrels) -> dict[str, Any]:
    """Return hits@1 and @10 with Wilson's interval, and nDCG@10."""
    n = len(qrels)
    means = evaluate(run, qrels, ("Success@1", "Success@10", "nDCG@10")).aggregate
    return {
        "hits@1": round(means["Success@1"], 3),
        "hits@10": round(means["Success@10"], 3),
        "hits@10_interval": [round(float(bound), 3) for bound in wilson(means["Success@10"], n)],
        "nDCG@10": round(means["nDCG@10"], 3),
    }


def _training(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what a training took and reached."""
    kept = ("steps", "seconds", "stopped", "best", "evaluations", "examples")
    return {name: summary[name] for name in kept}
