"""Diagnosis: which entities of which documents the retriever is likely to miss (ARGUS §5.1, §D).

Every mention is embedded in its context and scored by a probe; an entity of a document takes the
minimum over its occurrences (§D.2) and is flagged once when that is below τ. Nothing is indexed,
no query is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, Span, State
from argus.encoders import EmbeddingStore, Encoder, Item, Role, embed
from argus.errors import InputError
from argus.knowledge.spotting import Mention, MentionFinder
from argus.progress import progress
from argus.retrievability.probes import Probe

TAU = 0.3
"""Default threshold of ARGUS §4.1."""
FINDING_TEXTS = 256
"""Texts given to the finder at a time."""


@dataclass(frozen=True, slots=True)
class Risk:
    """One entity of one document: an entity is a surface form, as in ARGUS §D.1."""

    doc_id: str
    entity: str
    spans: tuple[Span, ...]
    """Every occurrence, in characters of the document's content, in order."""
    entity_ids: tuple[str, ...]
    """Entities of the knowledge base that bear the name; empty where the finder does not link."""
    rps: float | None
    """Least predicted RPS over the occurrences that could be scored; None without any."""
    state: State
    reason: str = ""

    def below(self, tau: float) -> bool:
        """Return whether the entity is at risk. What could not be scored is not flagged."""
        return self.rps is not None and self.rps < tau


@dataclass(frozen=True)
class Diagnosis:
    """The entities of a corpus, ordered by document and first occurrence."""

    risks: list[Risk]
    tau: float
    documents: int
    """Documents that were read."""

    def flagged(self) -> dict[str, list[Risk]]:
        """Return the entities at risk of each document that has any, `E_risk(d)`."""
        found: dict[str, list[Risk]] = {}
        for risk in self.risks:
            if risk.below(self.tau):
                found.setdefault(risk.doc_id, []).append(risk)
        return found


def diagnose(
    documents: Sequence[Document],
    finder: MentionFinder,
    encoder: Encoder,
    store: EmbeddingStore,
    probe: Probe,
    *,
    tau: float = TAU,
) -> Diagnosis:
    """Find the entities of every document and predict their RPS.

    Spans refer to `Document.content`, the text that is indexed. A mention that the encoder cannot
    embed is failed; one beyond the probe's training region is not applicable. An entity is
    measured when any of its occurrences is. Raises ProbeMismatch for a probe of another encoder.
    """
    check_tau(tau)
    mentions = find_mentions([d.content for d in documents], finder)
    items = [
        Item(document.content, Role.SPAN if encoder.pools_spans else Role.DOCUMENT, mention.span)
        for document, found in zip(documents, mentions, strict=True)
        for mention in found
    ]
    if not encoder.pools_spans:
        items = [Item(item.text, Role.DOCUMENT) for item in items]
    scored = score_items(items, encoder, store, probe)
    risks: list[Risk] = []
    first = 0
    for document, found in zip(documents, mentions, strict=True):
        risks += _risks(document.id, found, scored[first : first + len(found)])
        first += len(found)
    return Diagnosis(risks, tau, len(documents))


@dataclass(frozen=True, slots=True)
class Scored:
    """The prediction for one mention."""

    rps: float | None
    state: State
    reason: str = ""


def score_items(
    items: Sequence[Item], encoder: Encoder, store: EmbeddingStore, probe: Probe
) -> list[Scored]:
    """Embed mentions and predict their RPS, one result per item."""
    embedded = embed(items, encoder, store, what="mentions")
    prediction = probe.predict(embedded.vectors)
    results = iter(zip(prediction.rps.tolist(), prediction.in_domain.tolist(), strict=True))
    scored: list[Scored] = []
    for position, ok in enumerate(embedded.ok):
        if not ok:
            scored.append(Scored(None, State.FAILED, embedded.failures[position]))
            continue
        rps, inside = next(results)
        scored.append(
            Scored(rps, State.MEASURED)
            if inside
            else Scored(None, State.NOT_APPLICABLE, "beyond the probe's training region")
        )
    return scored


def find_mentions(texts: Sequence[str], finder: MentionFinder) -> list[list[Mention]]:
    """Return the mentions of every text."""
    found: list[list[Mention]] = []
    with progress("finding mentions", len(texts)) as advance:
        for start in range(0, len(texts), FINDING_TEXTS):
            part = texts[start : start + FINDING_TEXTS]
            found += finder.find(part)
            advance(len(part))
    return found


def check_tau(tau: float) -> None:
    """Raise InputError unless τ is a share."""
    if not 0 <= tau <= 1:
        raise InputError(
            f"τ={tau}",
            expected="a number from 0 to 1, since RPS is a probability",
            fix=f"Leave it out for {TAU}.",
            where="--tau",
        )


def _risks(doc_id: str, mentions: Sequence[Mention], scored: Sequence[Scored]) -> Iterable[Risk]:
    """Gather the occurrences of each surface form; white space in it makes no difference."""
    places: dict[str, list[int]] = {}
    for i, mention in enumerate(mentions):
        places.setdefault(" ".join(mention.surface.split()), []).append(i)
    for entity, at in places.items():
        results = [scored[i] for i in at]
        known = [r.rps for r in results if r.rps is not None]
        lost = next((r for r in results if r.rps is None), None)
        unknown = len(results) - len(known)
        yield Risk(
            doc_id,
            entity,
            tuple(mentions[i].span for i in at),
            tuple(dict.fromkeys(id_ for i in at for id_ in mentions[i].entity_ids)),
            min(known, default=None),
            State.MEASURED if known or lost is None else lost.state,
            ""
            if lost is None
            else f"{unknown} of {len(results)} occurrences: {lost.reason}"
            if known
            else lost.reason,
        )


def share_below(diagnosis: Diagnosis, tau: float | None = None) -> float | None:
    """Return the share of measured entities below τ; None when none was measured."""
    values = predicted(diagnosis)
    threshold = diagnosis.tau if tau is None else tau
    return float((values < threshold).mean()) if len(values) else None


def predicted(diagnosis: Diagnosis) -> npt.NDArray[np.float64]:
    """Return the predicted RPS of every measured entity, shape (n_measured,)."""
    return np.array([r.rps for r in diagnosis.risks if r.rps is not None], np.float64)
