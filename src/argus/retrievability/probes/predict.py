"""Predict the RPS of entities from their vectors alone: no relations, before indexing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import Corpus
from argus.corpora.opening import Origin, open_corpus
from argus.corpora.stored import StoredCorpus
from argus.data.documents import check_limit
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Embedded, Encoder, EncoderConfig, embed
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.knowledge import Entity, KnowledgeBase, KnowledgeSource, RelationGraph
from argus.knowledge.load import read_entities, refuse_template
from argus.reports import write_report
from argus.retrievability import rps
from argus.retrievability.audit.config import POOLING, AuditConfig, Pooling
from argus.retrievability.items import entity_items
from argus.retrievability.probes import Prediction, Probe, load_default, load_probe, probe_file
from argus.retrievability.probes.probe import ABSTAINED, PREDICTED
from argus.retrievability.probes.summary import PredictionSummary, prediction_headline

SENTENCE = "sentence"
TAU = 0.3
"""Below it the paper calls an entity a high risk. It is hard to reach (ARGUS §4.1)."""


@dataclass(frozen=True, repr=False)
class PredictResult(Result):
    """Result of a prediction. Everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: PredictionSummary
    table: pa.Table
    """id, label, rps, band, domain_score, state, reason: one row per entity."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return prediction_headline(self.summary)


@one_writer
def predict_rps(
    corpus: Corpus | None,
    *,
    out: Path | str,
    probe: Path | str | None = None,
    pooling: Pooling = POOLING,
    source: KnowledgeSource | None = None,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> PredictResult:
    """Predict the RPS of every entity of a corpus, or of `source.entities`.

    probe: a folder that a fit wrote. None takes the probe that ships for the encoder and
    `pooling` (a given probe knows its own). Raises EncoderMismatch when the probe is of another
    encoder, and InputError for bad input.
    """
    source = source or KnowledgeSource()
    judge = _Judge.of(probe, pooling)
    base, path = _entities(corpus, source, limit, encoder)
    if base.is_embedded:
        judge = replace(judge, pooling=SENTENCE)
    items = entity_items(base, judge.pooling)
    require_some(len(items), "entity has a paragraph", "Check --text-field, or --entities.")
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "prediction",
        {"probe": judge.name, "pooling": judge.pooling, "limit": limit},
        {"corpus": path, "entities": source.entities, "probe": judge.file},
    )
    sample = [item.text for item in items]
    with open_encoder(
        folder, encoder, record, sample=sample, store=store, check=judge.probe_for
    ) as (model, opened):
        fitted = judge.probe_for(model)
        with record.timed("embedding"):
            embedded = embed(items, model, opened, what="entities")
    with record.timed("predicting"):
        prediction = fitted.predict(embedded.vectors)
    table = _table(base, embedded, prediction)
    summary: PredictionSummary = {
        **_summary(table, fitted, prediction),
        **record.of_store(),
    }
    folder.write_table("predicted", table, csv=True)
    folder.write_results("prediction", summary, record.manifest(summary["entities"]))
    return PredictResult(folder.path, write_report(folder.path), summary, table)


@dataclass(frozen=True)
class _Judge:
    """The probe that a caller gave, or, where it is None, the wish for one that ships."""

    probe: Probe | None
    pooling: str
    """Pooling of the vectors that are judged."""
    name: str = "shipped"
    file: Path | None = None

    @classmethod
    def of(cls, probe: Path | str | None, pooling: Pooling) -> _Judge:
        """Read the probe. Raises InputError for no probe, or no pooling."""
        AuditConfig(pooling=pooling)  # refuses all else
        if probe is None:
            return cls(None, pooling)
        loaded = load_probe(Path(probe))
        return cls(loaded, loaded.pooling, str(probe), probe_file(Path(probe)))

    def probe_for(self, encoder: Encoder) -> Probe:
        """Return the probe to judge vectors of `encoder` with. Raises where there is none."""
        probe = self.probe or load_default(encoder.fingerprint, self.pooling)
        pooling = self.pooling if getattr(encoder, "pools_spans", True) else SENTENCE
        where = Path(self.name if self.probe else "shipped probe")
        probe.check_vectors_of(encoder.fingerprint, pooling, where=where)
        return probe


def _entities(
    corpus: Corpus | None,
    source: KnowledgeSource,
    limit: int | None,
    encoder: Encoder | EncoderConfig | str,
) -> tuple[KnowledgeBase, Origin | None]:
    """Return the entities, ordered by id, with no relations, and the file of the corpus."""
    check_limit(limit)
    documents: list[Document] = []
    path = None
    is_store = corpus is not None and open_corpus(corpus).stored is not None
    refuse_template(source, whole=is_store and source.entities is None)
    if corpus is None and source.entities is None:
        raise InputError(
            "neither --corpus nor --entities",
            expected="documents, or a file of id, label and paragraph", fix="Give one of them.",
        )  # fmt: skip
    if corpus is not None:
        documents, path = read_documents(
            corpus, source.fields, None if source.entities else limit,
            None if source.entities else encoder,
        )  # fmt: skip
    entities = (
        read_entities(source.entities, documents, coerce_ids=source.fields.coerce_ids)[:limit]
        if source.entities
        else [Entity.from_document(d, embedded=isinstance(path, StoredCorpus)) for d in documents]
    )
    entities = sorted(entities, key=lambda entity: entity.id)
    none = np.zeros(0, np.int64)
    return KnowledgeBase(entities, RelationGraph.from_edges(len(entities), none, none)), path


def _table(base: KnowledgeBase, embedded: Embedded, prediction: Prediction) -> pa.Table:
    """Return one row per entity, ordered by id. Null where nothing is predicted.

    rps: predicted RPS, from 0 to 1.
    domain_score: how far from the training entities.
    state: predicted, abstained, failed or not applicable.
    """
    n = len(base.entities)
    with_text = np.flatnonzero(base.has_text)
    states: list[str] = [str(State.NOT_APPLICABLE)] * n
    reasons = ["no paragraph"] * n
    for position, why in embedded.failures.items():
        states[with_text[position]], reasons[with_text[position]] = str(State.FAILED), why
    for entity, state in zip(with_text[embedded.ok], prediction.states.tolist(), strict=True):
        inside = state == PREDICTED
        states[entity] = state
        reasons[entity] = "" if inside else "unlike everything the probe was trained on"

    def spread(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        whole = np.full(n, np.nan)
        whole[with_text[embedded.ok]] = values
        return whole

    scores, outlying = spread(prediction.rps), spread(prediction.domain_score)
    return pa.table(
        {
            "id": pa.array([entity.id for entity in base.entities], pa.string()),
            "label": pa.array([entity.label for entity in base.entities], pa.string()),
            "rps": pa.array(scores, pa.float64(), mask=np.isnan(scores)),
            "band": pa.array([name or None for name in rps.band(scores).tolist()], pa.string()),
            "domain_score": pa.array(outlying, pa.float64(), mask=np.isnan(outlying)),
            "state": pa.array(states, pa.string()),
            "reason": pa.array(reasons, pa.string()),
        }
    )


def _summary(table: pa.Table, probe: Probe, prediction: Prediction) -> PredictionSummary:
    states = table["state"].to_pylist()
    values = prediction.rps[prediction.in_domain]
    return {
        "k": probe.k,
        "pool": probe.pool,
        "pooling": probe.pooling,
        "probe": {
            "family": probe.family,
            "test": probe.metrics.get("test"),
            "threshold": probe.domain.threshold,
        },
        "entities": {
            "total": len(states),
            "predicted": states.count(PREDICTED),
            "abstained": states.count(ABSTAINED),
            "failed": states.count(State.FAILED),
            "not applicable": states.count(State.NOT_APPLICABLE),
        },
        "bands": rps.count_bands(rps.band(values)),
        "tau": TAU,
        "below_tau": int((values < TAU).sum()),
        "mean_rps": round(float(values.mean()), 6) if len(values) else None,
    }
