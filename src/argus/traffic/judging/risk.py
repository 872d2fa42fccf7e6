"""Whose predictions strata are made of: the log's own, or the model's that ships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.records import read_record
from argus.data.types import Document
from argus.encoders import Encoder, EncoderConfig
from argus.encoders.load import loaded_encoder
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.judging.summary import Predictor
from argus.traffic.questions.risk import RiskFigures
from argus.traffic.risk.background import Background
from argus.traffic.risk.predict import risk_of
from argus.traffic.risk.signals import Served

OF_THE_LOG = "the log's own"
SHIPPED, PLAIN = "Argus's, with vectors", "Argus's, of words and scores"


def predicted(
    questions: Sequence[ServedQuestion],
    documents: Sequence[Document],
    encoder: Encoder | EncoderConfig | str | None,
) -> tuple[list[ServedQuestion], Predictor]:
    """Return the questions with a risk each, where the model does not abstain.

    Where any has one already, all stay as they are.
    """
    known = sum(q.risk is not None for q in questions)
    if known:
        return list(questions), _note(OF_THE_LOG, known)
    served = [q for q in questions if q.documents]
    vectors = [None] * len(served)
    background = Background.of(documents)
    if encoder is not None:
        model = loaded_encoder(encoder)
        content = model.encode_documents([document.content for document in documents])
        background = Background.of(documents, content)
        vectors = list(model.encode_queries([q.text for q in served]))
    risk = risk_of(
        {
            q.id: Served(q.text, q.documents, q.scores, vector)
            for q, vector in zip(served, vectors, strict=True)
        },
        background,
    )
    made = [replace(q, risk=risk.by_id.get(q.id)) for q in questions]
    if not (n := sum(q.risk is not None for q in made)):
        return made, _note("", 0)
    worth = risk.variant["worth"]
    note = _note(PLAIN if encoder is None else SHIPPED, n)
    note |= {"auc": worth["auc"], "low": worth["low"], "high": worth["high"]}
    note["notes"] = list(risk.notes)
    return made, note


def worth_of_log(predictor: Predictor, source: Path | None) -> Predictor:
    """Return what a log's own risk is worth, where `argus traffic` predicted it and says so."""
    if predictor["source"] != OF_THE_LOG or source is None or not source.is_dir():
        return predictor
    section = ArtifactFolder(source).read_json(SUMMARY).get("traffic")
    risk = section.get("risk") if isinstance(section, dict) else None
    if not isinstance(risk, dict):
        return predictor
    figures = read_record(RiskFigures, risk, where=source / SUMMARY, section="traffic")
    worth = {name: figures[name] for name in ("auc", "low", "high", "notes")}
    return cast(Predictor, {**predictor, **worth, "source": PLAIN})


def _note(source: str, questions: int) -> Predictor:
    return {
        "source": source, "questions": questions, "auc": None, "low": None, "high": None,
        "notes": [],
    }  # fmt: skip
