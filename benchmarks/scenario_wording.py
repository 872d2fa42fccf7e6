"""Why needs and pseudo-queries match the demo's questions better than explanations do.

For each kind of text, over the 504 entities with scenarios, with MiniLM: median cosine of a
question with the best text of what it wants; the cosine that 1% of the texts of other documents
exceed (median over questions); and the mean cosine between texts of different documents, which is
what they share whatever they are about. "Explanations, opening cut" lack their first words, "The
document describes" and its like.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.encoders import Encoder, EncoderConfig, load_encoder
from argus.knowledge.stdlib import (
    standard_expansions,
    standard_library,
    standard_questions,
    standard_scenarios,
)

OPENING = re.compile(r"^(The document|The text|The description|It|This)\s+\w+s\s+(that\s+)?")
Row = dict[str, Any]
KINDS: dict[str, Callable[[Row], list[str]]] = {
    "main topic (M)": lambda row: [row["main_topic"]],
    "information needs (I)": lambda row: [s["information_need"] for s in row["scenarios"]],
    "explanations (E)": lambda row: [s["explanation"] for s in row["scenarios"]],
    "explanations, opening cut": lambda row: [
        OPENING.sub("", s["explanation"]) for s in row["scenarios"]
    ],
    "M+E": lambda row: [f"{row['main_topic']}\n{s['explanation']}" for s in row["scenarios"]],
    "pseudo-queries": lambda row: row["pseudo_queries"],
}


def run() -> dict[str, Any]:
    base = standard_library()
    expansions = {row["_id"]: row for row in standard_expansions(base)}
    rows = [row | expansions[row["_id"]] for row in standard_scenarios(base)]
    questions, qrels = standard_questions()
    encoder = load_encoder(EncoderConfig()).encoder
    asked = encoder.encode_queries([q.text for q in questions])
    wanted = [set(qrels[q.id]) for q in questions]
    return {
        "documents": len(rows),
        "questions": len(questions),
        "rows": [
            {"texts": name, **_measured(rows, texts, asked, wanted, encoder)}
            for name, texts in KINDS.items()
        ],
    }


def _measured(
    rows: list[Row],
    texts: Callable[[Row], list[str]],
    asked: FloatArray,
    wanted: list[set[str]],
    encoder: Encoder,
) -> dict[str, float]:
    pairs = [(row["_id"], text) for row in rows for text in texts(row)]
    owner = np.array([doc for doc, _ in pairs])
    vectors = encoder.encode_documents([text for _, text in pairs])
    scores = asked @ vectors.T
    own, others = [], []
    for row, gold in zip(scores, wanted, strict=True):
        mine = np.isin(owner, list(gold))
        own.append(row[mine].max())
        others.append(np.quantile(row[~mine], 0.99))
    between = vectors @ vectors.T
    return {
        "question_with_wanted": round(float(np.median(own)), 3),
        "question_with_others_p99": round(float(np.median(others)), 3),
        "between_documents": round(float(between[owner[:, None] != owner].mean()), 3),
    }
