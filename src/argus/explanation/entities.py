"""Predicted RPS of the document's entities: read from a diagnosis, or predicted for it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.corpora.opening import read_corpus
from argus.data.types import Document, State
from argus.encoders import EmbeddingStore, Encoder
from argus.errors import ArgusError, InputError
from argus.evaluation.diagnosed import read_entities
from argus.explanation.config import RpsSource
from argus.explanation.evidence import RpsEvidence
from argus.explanation.types import Case, Cause, Finding, Verdict
from argus.indexes.words import words
from argus.knowledge.capitals import CapitalisedNames
from argus.knowledge.gazetteer import Gazetteer
from argus.knowledge.spotting import MentionFinder
from argus.remedies.diagnosis.diagnose import Risk, diagnose_documents
from argus.retrievability.probes import Probe, load_default, load_probe

SHOWN = 20


@dataclass(frozen=True)
class Predicted:
    """One entity of the document: a surface form, its least predicted RPS, and its state."""

    entity: str
    rps: float | None
    state: str
    reason: str


def load_for(source: RpsSource, encoder: Encoder) -> Probe | str:
    """Return the probe, or why there is none; whatever was named must be there and fit.

    Raises InputError for a folder that holds no probe, ProbeMismatch for one of another encoder.
    """
    pooling = "span" if encoder.pools_spans else "sentence"
    if source.probe is None:
        try:
            return load_default(encoder.fingerprint, pooling)
        except InputError as error:
            return str(error)
    probe = load_probe(source.probe)
    probe.check_vectors_of(encoder.fingerprint, pooling, where=source.probe)
    return probe


def check_entities(case: Case, source: RpsSource, probe: Probe | str) -> Finding[RpsEvidence]:
    """List the document's entities with their predicted RPS, those below tau first."""
    cause = Cause.ENTITIES
    if source.diagnosis is not None:
        entities = read_diagnosis(source.diagnosis, case.doc_id)
        where = f"read from {source.diagnosis}"
        if not entities:
            text = f"{source.diagnosis} names no entity of this document"
            return Finding(cause, Verdict.UNCHECKED, text, {})
    elif isinstance(probe, str):
        return Finding(cause, Verdict.UNCHECKED, probe, {})
    elif not case.text.strip():
        text = "the document has no text of its own in this state of the index"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    else:
        finder = _finder(source.kb, case.text)
        try:
            entities = _predict(case, finder, probe, source.tau)
        except ArgusError as error:
            text = f"its entities could not be scored: {error}"
            return Finding(cause, Verdict.UNCHECKED, text, {})
        where = f"entities by {finder.name.split(' ')[0]}"
        if not entities:
            text = f"no entity was found in its text ({where})"
            return Finding(cause, Verdict.UNCHECKED, text, {})
    return _finding(case, entities, source.tau, where)


def _finder(kb: Path | None, text: str) -> MentionFinder:
    return Gazetteer.from_documents(read_corpus(kb), texts=[text]) if kb else CapitalisedNames()


def _predict(case: Case, finder: MentionFinder, probe: Probe, tau: float) -> list[Predicted]:
    encoder = case.retriever.encoder
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        with EmbeddingStore(path, fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
            document = Document(case.doc_id, case.text)
            risks = diagnose_documents([document], finder, encoder, store, probe, tau=tau).risks
    return [_of(risk) for risk in risks]


def _of(risk: Risk) -> Predicted:
    return Predicted(risk.entity, risk.rps, str(risk.state), risk.reason)


def read_diagnosis(path: Path, doc_id: str) -> list[Predicted]:
    """Return the rows of one document; InputError as `read_entities` for a file that is not whole.

    path: the file, or the folder that holds it.
    """
    return [
        Predicted(row["entity"], row["rps"], row["state"], row.get("reason") or "")
        for row in read_entities(path)
        if row["doc_id"] == doc_id
    ]


def _finding(
    case: Case, entities: Sequence[Predicted], tau: float, where: str
) -> Finding[RpsEvidence]:
    measured = sorted(
        (e for e in entities if e.rps is not None and e.state == str(State.MEASURED)),
        key=lambda e: (e.rps or 0.0, e.entity),
    )
    silent = [e for e in entities if e not in measured]
    low = [e for e in measured if (e.rps or 0.0) < tau]
    query_words = set(words(case.query))
    evidence: RpsEvidence = {
        "tau": tau,
        "source": where,
        "entities": len(entities),
        "measured": len(measured),
        "below_tau": len(low),
        "predicted": [
            {"entity": e.entity, "rps": round(e.rps or 0.0, 3)} for e in measured[:SHOWN]
        ],
        "not_predicted": [
            {"entity": e.entity, "state": e.state, "reason": e.reason} for e in silent[:SHOWN]
        ],
        "low_and_not_named_by_the_query": [
            e.entity for e in low if not set(words(e.entity)) <= query_words
        ][:SHOWN],
    }  # fmt: skip
    abstained = f"; no prediction for {len(silent)} more" if silent else ""
    if not measured:
        text = f"none of its {len(entities)} entities could be predicted ({silent[0].reason})"
        return Finding(Cause.ENTITIES, Verdict.UNCHECKED, text, evidence)
    if not low:
        text = f"predicted RPS is {measured[0].rps:.2f} or more for its {len(measured)} entities"
        return Finding(Cause.ENTITIES, Verdict.RULED_OUT, text + abstained, evidence)
    shown = ", ".join(f"{e.entity} {e.rps:.2f}" for e in low[:3])
    return Finding(
        Cause.ENTITIES, Verdict.FOUND,
        f"predicted RPS is below tau {tau} for {len(low)} of its {len(measured)} entities: {shown}"
        f"{abstained}",
        evidence,
        "Add views that say what these entities are (`argus remedy expand`, `remedy synthesize`).",
    )  # fmt: skip
