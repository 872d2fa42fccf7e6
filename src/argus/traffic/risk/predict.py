"""Predict, for each question of a log, that what came back for it holds nothing relevant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.runs import ranking
from argus.data.types import Document, FloatArray, Query, Run
from argus.encoders import Encoder, EncoderConfig
from argus.encoders.load import loaded_encoder
from argus.indexes.words import query_words, words
from argus.traffic.risk.background import Background
from argus.traffic.risk.calibration import Slope
from argus.traffic.risk.model import (
    RiskVariant,
    outside,
    risk_model,
    slope_of,
    standing,
)
from argus.traffic.risk.signals import Served, signals


@dataclass(frozen=True)
class TrafficRisk:
    """Predicted failures of a log: none of the first ten is relevant.

    Its order is what was validated. Its probabilities hold for a log that fails as often as those
    the model was made of, until `corrected` has judgements of this one.
    """

    by_id: Mapping[str, float | None]
    """Probability by question; None where the model abstains."""
    reasons: Mapping[str, str]
    """Why it abstains."""
    variant: RiskVariant
    """Which of the two models it is of, and what that was seen to be worth."""
    notes: tuple[str, ...] = ()
    is_corrected: bool = False
    standing: Mapping[str, float] | None = None
    """How high each stands in its log, in deviations."""

    def corrected(self, failures: Mapping[str, float]) -> TrafficRisk:
        """Return the same with what judged questions say of how often they fail, and how steeply.

        failures: 1 for a question that failed, 0 for one that did not; others of the log, and those
        that the model abstains on, are left as they are.
        """
        places = self.standing or {}
        judged = [id_ for id_ in failures if id_ in places]
        slope = slope_of(self.variant["slope"]).corrected(
            [places[id_] for id_ in judged], [failures[id_] for id_ in judged]
        )
        by_id = dict(self.by_id) | _probabilities(places, slope)
        return replace(self, by_id=by_id, is_corrected=bool(judged))


def predict_risk(
    queries: Sequence[Query],
    run: Run,
    documents: Sequence[Document],
    *,
    encoder: Encoder | EncoderConfig | str | None = None,
    vectors: tuple[FloatArray, FloatArray] | None = None,
) -> TrafficRisk:
    """Return the risk of each question that what came back for it holds nothing relevant.

    run: what came back, with its scores; ten documents per question are looked at. encoder: embeds
    documents and questions, which makes predictions better; vectors: of the documents and of the
    questions, unit rows in their order, in its place. Without either, words and scores alone count.
    The model abstains on logs of fewer than 30 questions, on questions of which too little is known
    and on those unlike any that it was tried on.
    """
    if vectors is None and encoder is not None:
        model = loaded_encoder(encoder)
        texts = [document.content for document in documents]
        vectors = model.encode_documents(texts), model.encode_queries([q.text for q in queries])
    background = Background.of(documents, None if vectors is None else vectors[0])
    served = {
        q.id: _served(q, run, None if vectors is None else vectors[1][i])
        for i, q in enumerate(queries)
    }
    return risk_of(served, background)


def risk_of(served: Mapping[str, Served], background: Background) -> TrafficRisk:
    """Return the risk of each question, by id; see `predict_risk`."""
    record = risk_model()
    variant = record["words"] if background.vectors is None else record["vectors"]
    ids, cases = list(served), list(served.values())
    unlike = outside(*_words([one.text for one in cases], background), record["region"])
    place = standing(signals(cases, background), unlike)
    by_id = {id_: float(z) for id_, z in zip(ids, place.z, strict=True) if np.isfinite(z)}
    nothing: dict[str, float | None] = dict.fromkeys(ids)
    return TrafficRisk(
        by_id=nothing | _probabilities(by_id, slope_of(variant["slope"])),
        reasons={ids[row]: why for row, why in place.reasons.items()},
        variant=variant,
        notes=_notes(len(background.ids)),
        standing=by_id,
    )


def _served(query: Query, run: Run, vector: npt.NDArray[np.float32] | None) -> Served:
    scores = run.get(query.id, {})
    documents = ranking(scores)
    return Served(query.text, documents, [scores[id_] for id_ in documents], vector)


def _probabilities(places: Mapping[str, float], slope: Slope) -> dict[str, float]:
    values = slope.probability(list(places.values()))
    return dict(zip(places, values.tolist(), strict=True))


def _words(texts: Sequence[str], background: Background) -> tuple[list[int], list[float]]:
    """Return how many words each question has, and the share of them that no document has."""
    known = background.document_frequency
    own = [query_words(text) for text in texts]
    unknown = [sum(word not in known for word in some) / max(len(some), 1) for some in own]
    return [len(words(text)) for text in texts], unknown


def _notes(documents: int) -> tuple[str, ...]:
    region = risk_model()["region"]
    if region["least_documents"] <= documents <= region["most_documents"]:
        return ()
    return (
        f"the corpus has {documents:,} documents; risk was tried on {region['least_documents']:,} "
        f"to {region['most_documents']:,}",
    )
