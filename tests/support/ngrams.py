"""A few passages, their n-gram index, and a model of random weights that searches them."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.support.tiny_seq2seq import make_seq2seq

# Two titles alike, one within another, one without a text, one passage without a title, one empty;
# an id holds a space.
ROWS = [
    {"_id": "bern", "title": "Bern", "text": "Bern is the capital city of Switzerland."},
    {"_id": "aare", "title": "Aare", "text": "The Aare is a river that flows into the Rhine."},
    {
        "_id": "basel",
        "title": "Basel",
        "text": "Basel is a city on the Rhine, with dyes.",
    },
    {"_id": "old bern", "title": "Old city of Bern", "text": "The old city lies in a bend."},
    {"_id": "thun", "title": "Lake Thun", "text": "Lake Thun is an Alpine lake near Bern."},
    {"_id": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace wrote the first program."},
    {"_id": "ska", "title": "The Skatalites", "text": "A ska band from Kingston, Jamaica."},
    {"_id": "bern2", "title": "Bern", "text": "A bear is in the arms of the city."},
    {"_id": "alone", "title": "Analytical Engine", "text": ""},
    {"_id": "empty", "title": "", "text": " \n"},
    {"_id": "plain", "title": "", "text": "It rained on most days of the week."},
]
QUERIES = {"bern": ["capital of the Swiss", "where is Bern"], "ska": ["Jamaican music"]}
QUESTIONS = {"q1": "Which city is the capital?", "q2": "Who wrote the first program?"}
SIZE = 400


def write(path: Path, rows: object) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Ready:
    """Files that a search needs; not to be changed."""

    corpus: Path
    pseudo_queries: Path
    questions: Path
    index: Path
    model: Path


def make_ready(folder: Path) -> Ready:
    """Build everything in a folder."""
    from argus.generative.index.build import build_ngrams
    from argus.generative.settings import NgramBuildConfig
    from argus.generative.vocabulary import open_vocabulary

    corpus = write(folder / "corpus.jsonl", ROWS)
    asked = write(folder / "pq.jsonl", [{"_id": i, "queries": q} for i, q in QUERIES.items()])
    questions = write(
        folder / "queries.jsonl", [{"_id": i, "text": text} for i, text in QUESTIONS.items()]
    )
    index = folder / "index"
    build_ngrams(
        corpus, out=index, config=NgramBuildConfig(tokenizer=f"bpe:{SIZE}"), pseudo_queries=asked
    )
    vocabulary = open_vocabulary(index / "ngrams" / "tokenizer")
    model = make_seq2seq(folder / "model", vocabulary)
    return Ready(corpus, asked, questions, index, model)
