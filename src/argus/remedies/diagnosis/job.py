"""The diagnosis of a corpus: where the risk sits, before anything is indexed (ARGUS §5.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import count_states
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.engine import Engine, EngineConfig
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.remedies.diagnosis.config import TAU
from argus.remedies.diagnosis.diagnose import (
    Diagnosis,
    check_tau,
    diagnose_documents,
    predicted,
    share_below,
)
from argus.remedies.diagnosis.summary import DiagnosisFigures, DiagnosisSummary, headline
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.reference import make_finder, open_probe, read_passages
from argus.reports import write_report
from argus.retrievability.probes import Probe, load_probe, probe_file

TABLE = "diagnosis"
HISTOGRAM_EDGES = [round(0.05 * i, 2) for i in range(21)]


@dataclass(frozen=True, repr=False)
class DiagnoseResult(Result):
    """What was found; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: DiagnosisSummary
    diagnosis: Diagnosis

    @property
    def table(self) -> pa.Table:
        """One row per entity of a document."""
        return risk_table(self.diagnosis)

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def diagnose(
    corpus: Corpus,
    *,
    out: Path | str,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    tau: float = TAU,
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> DiagnoseResult:
    """Find the entities of every document and predict how reachable they are (RPS).

    Reachability does not tell which real questions fail (docs/results/what-reachability-tells.md).

    corpus, out, encoder, store, limit, engine: as for `argus.audit`. probe: a folder from `argus
    probe fit`; None takes the one that ships for the encoder. Writes diagnosis.parquet. Raises
    InputError for bad input, ArgusError when no document has text.
    """
    check_tau(tau)
    probe_input = None
    if isinstance(probe, (str, Path)):
        load_probe(Path(probe))  # before the encoder is loaded, and the folder made
        probe_input = probe_file(Path(probe))
    whole, path = read_documents(corpus, fields or FieldNames(), limit, encoder)
    documents = [d for d in whole if d.content.strip()]
    require_some(len(documents), "document has text", "Check --text-field.")
    passages = read_passages(reference)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        TABLE,
        {"tau": tau, "limit": limit, **reference.described()},
        {"corpus": path, "probe": probe_input, **reference.inputs()},
    )
    texts = [d.content for d in documents]
    finder = make_finder(reference, passages, texts)
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=texts, store=store, check=partial(open_probe, probe),
            engine=running,
        ) as (model, embeddings),
    ):  # fmt: skip
        judge = open_probe(probe, model)
        record.config |= {"finder": finder.name, "probe": judge.family}
        with record.timed("diagnosing"):
            diagnosis = diagnose_documents(documents, finder, model, embeddings, judge, tau=tau)
    without_text = len(whole) - len(documents)
    summary = write_diagnosis(folder, diagnosis, record, without_text=without_text)
    return DiagnoseResult(folder.path, write_report(folder.path), summary, diagnosis)


def write_diagnosis(
    folder: ArtifactFolder, diagnosis: Diagnosis, record: Record, *, without_text: int = 0
) -> DiagnosisSummary:
    """Write diagnosis.parquet and the job's sections; return its summary.

    without_text: documents that were left out because there is nothing to read in them.
    """
    folder.write_table(TABLE, risk_table(diagnosis))
    summary: DiagnosisSummary = {
        **summarise(diagnosis),
        **record.of_store(),
        "documents_without_text": without_text,
    }
    folder.write_results(TABLE, summary, record.manifest(summary["entities"]))
    return summary


def risk_table(diagnosis: Diagnosis) -> pa.Table:
    """Return one row per entity that a document names.

    entity: name as the document has it.
    spans: where it stands, in characters of title and text.
    rps: RPS that the probe predicts; null where it has none.
    flagged: whether that is below τ.
    unread: mentions beyond what the encoder reads of a document.
    entity_ids: entities of the knowledge base with that name.
    """
    risks = diagnosis.risks
    places = [[{"start": s.start, "end": s.end} for s in r.spans] for r in risks]
    return pa.table(
        {
            "doc_id": pa.array([r.doc_id for r in risks], pa.string()),
            "entity": pa.array([r.entity for r in risks], pa.string()),
            "spans": pa.array(
                places, pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())]))
            ),
            "rps": pa.array([r.rps for r in risks], pa.float64()),
            "flagged": pa.array([r.below(diagnosis.tau) for r in risks], pa.bool_()),
            "state": pa.array([str(r.state) for r in risks], pa.string()),
            "reason": pa.array([r.reason for r in risks], pa.string()),
            "unread": pa.array([r.unread for r in risks], pa.int64()),
            "entity_ids": pa.array([list(r.entity_ids) for r in risks], pa.list_(pa.string())),
        }
    )


def summarise(diagnosis: Diagnosis) -> DiagnosisFigures:
    """Return the figures of the report; entities are counted once per document."""
    risks = diagnosis.risks
    states = Counter(str(r.state) for r in risks)
    reasons = Counter(r.reason for r in risks if r.rps is None)
    flagged = diagnosis.flagged()
    values = predicted(diagnosis)
    share = share_below(diagnosis)
    unread = [r for r in risks if r.unread == len(r.spans)]
    return {
        "tau": diagnosis.tau,
        "finder": {"name": diagnosis.finder, "left_out": dict(diagnosis.left_out)},
        "documents": diagnosis.documents,
        "documents_with_entities": len({r.doc_id for r in risks}),
        "documents_at_risk": len(flagged),
        "entities": count_states(states, reasons),
        "unread": {"entities": len(unread), "documents": len({r.doc_id for r in unread})},
        "flagged": sum(map(len, flagged.values())),
        "share_flagged": None if share is None else round(share, 6),
        "mean_rps": round(float(values.mean()), 6) if len(values) else None,
        "histogram": {
            "edges": HISTOGRAM_EDGES,
            "entities": np.histogram(values, bins=HISTOGRAM_EDGES)[0].tolist(),
        },
    }
