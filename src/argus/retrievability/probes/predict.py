"""`argus research probe predict`: estimate how findable each entity is, without building an index.

Entities, or documents that each count as one -> embedded, or with their stored vectors -> a trained
regression model (the probe; one ships) -> predicted.parquet: the RPS of each, or "abstained" where
a vector is unlike those the probe was trained on. RPS (Retrieval Probability Score, 0 to 1) is the
probability that a search for a related entity brings it into the top k. `probes.fit` trains probes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import Corpus
from argus.corpora.opening import Origin, open_corpus
from argus.corpora.stored import StoredCorpus
from argus.data.documents import check_limit
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Document, State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Embedded, Encoder, EncoderConfig, embed, pools_spans
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.knowledge import Entity, KnowledgeBase, KnowledgeSource, RelationGraph
from argus.knowledge.load import read_entities, refuse_template
from argus.reports import write_report
from argus.reports.figures import Histogram, distribution
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.retrievability import rps
from argus.retrievability.audit import entity_items
from argus.retrievability.config import POOLING, AuditConfig, Pooling
from argus.retrievability.probes import Prediction, Probe, load_default, load_probe, probe_file
from argus.retrievability.probes.probe import ABSTAINED, PREDICTED
from argus.settings import CORPUS, Option, Without

TAU = 0.3  # below it the paper calls an entity a high risk: it is hard to reach (ARGUS §4.1)


@dataclass(frozen=True, repr=False)
class PredictResult(TableResult):
    """Result of a prediction. Everything in it is also in `folder`. summary: as follows.

    table: id, label, rps, band, domain_score, state, reason: one row per entity.

    k, pool, pooling: of the probe.
    probe: family. test: measures on its test entities, None for a probe that tells none.
    threshold: domain score above which it abstains.
    entities: counts by state. predicted: with a prediction. abstained: unlike the training data of
    the probe.
    bands: entities by band of predicted RPS.
    tau: threshold τ of a risk.
    below_tau: entities with a prediction below it.
    mean_rps: mean predicted RPS. None where none was predicted.
    stored_vectors: of vectors that came with the corpus.
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        counts, summary = self.summary["entities"], self.summary
        if summary["mean_rps"] is not None:
            yield (
                f"predicted RPS at k={summary['k']}, N={summary['pool']}: mean "
                f"{summary['mean_rps']:.3f}; {summary['below_tau']:,} of {counts['predicted']:,} "
                f"entities below {summary['tau']} (hard to reach)"
            )
        yield (
            f"entities: {counts['predicted']:,} predicted, {counts['abstained']:,} abstained "
            f"(unlike the training entities), {counts['failed']:,} failed, "
            f"{counts['not applicable']:,} not applicable"
        )


@one_writer
def predict_rps(
    corpus: Annotated[Corpus | None, Option(is_name=True), CORPUS] = None,
    *,
    out: o.Out = o.OUT,
    probe: o.ProbeFolder = None,
    pooling: Pooling = POOLING,
    source: Annotated[KnowledgeSource | None, Without("relations", "skip_unknown")] = None,
    encoder: o.Encoder = DEFAULT_MODEL,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> PredictResult:
    """Predict the RPS of entities from their vectors; needs no relations and no index.

    RPS measures reachability; which real questions fail it does not tell. Writes predicted.parquet
    and .csv, summary.json, manifest.json and report.html. Where an entity is unlike all that the
    probe was trained on it abstains and says so.

    probe: a folder that a fit wrote. None takes the probe that ships for the encoder and
    `pooling` (a given probe knows its own). Raises InputError when the probe is of another
    encoder, and InputError for bad input.

    Args:
        corpus: BEIR folder, a JSONL, CSV, TSV or Parquet file, or a store.
        pooling: span or sentence, where no --probe says it.
    """
    source = source or KnowledgeSource()
    AuditConfig(pooling=pooling)  # refuses all else
    given = None if probe is None else load_probe(Path(probe))
    base, path = _read_entities(corpus, source, limit, encoder)
    own = "sentence" if base.is_embedded else pooling if given is None else given.pooling

    def probe_for(encoder: Encoder) -> Probe:
        """Return the probe to judge vectors of an encoder with. Raises where there is none."""
        fitted = given or load_default(encoder.fingerprint, own)
        of = own if pools_spans(encoder) else "sentence"
        where = Path("shipped probe" if probe is None else probe)
        fitted.check_vectors_of(encoder.fingerprint, of, where=where)
        return fitted

    items = entity_items(base, own)
    require_some(len(items), "entity has a paragraph", "Check --text-field, or --entities.")
    folder = ArtifactFolder(Path(out), fresh=fresh)
    file = None if probe is None else probe_file(Path(probe))
    record = Record(
        "prediction",
        {"probe": "shipped" if probe is None else str(probe), "pooling": own, "limit": limit},
        {"corpus": path, "entities": source.entities, "probe": file},
    )
    with open_encoder(folder, encoder, record, store=store, check=probe_for) as (
        model,
        opened,
    ):
        fitted = probe_for(model)
        with record.timed("embedding"):
            embedded = embed(items, model, opened, what="entities")
    with record.timed("predicting"):
        prediction = fitted.predict(embedded.vectors)
    rows = _table(base, embedded, prediction)
    states, values = rows["state"].to_pylist(), prediction.rps[prediction.in_domain]
    summary: dict[str, Any] = {
        "k": fitted.k, "pool": fitted.pool, "pooling": fitted.pooling,
        "probe": {
            "family": fitted.family, "test": fitted.metrics.get("test"),
            "threshold": fitted.domain.threshold,
        },
        "entities": {
            "total": len(states),
            **{s: states.count(s) for s in (PREDICTED, ABSTAINED, "failed", "not applicable")},
        },
        "bands": rps.count_bands(rps.band(values)),
        "tau": TAU,
        "below_tau": int((values < TAU).sum()),
        "mean_rps": round(float(values.mean()), 6) if len(values) else None,
        **record.of_store(),
    }  # fmt: skip
    folder.write_table("predicted", rows, csv=True)
    folder.write_results("prediction", summary, record.manifest(summary["entities"]))
    return PredictResult(folder.path, write_report(folder.path), summary, rows)


def _read_entities(
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
        is_inside = state == PREDICTED
        states[entity] = state
        reasons[entity] = "" if is_inside else "unlike everything the probe was trained on"

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


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the section of a prediction from predicted.parquet: entities, lowest RPS first."""
    entities = read_table(folder / "predicted.parquet", columns=["id", "label", "rps", "band"])
    rows = entities.filter(entities["rps"].is_valid()).to_pylist()
    rows.sort(key=lambda row: (row["rps"], row["id"]))
    counts, edges = np.histogram([row["rps"] for row in rows], bins=rps.HISTOGRAM_EDGES)
    histogram: Histogram = {"edges": edges.tolist(), "entities": counts.tolist()}
    plot = distribution(histogram, summary["k"], summary["pool"])
    shown = [[naming(r["label"], r["id"]), r["rps"], r["band"]] for r in rows[:MAX_ROWS]]
    columns = {"entity": "text", "predicted RPS": "share", "band": "band"}
    return Section(
        {"predicted": plot} if rows else {},
        {"predicted": table(columns, shown, total=len(rows))},
        f"{summary['below_tau']:,} of {summary['entities']['predicted']:,} entities are "
        f"predicted below {summary['tau']:g}",
    )
