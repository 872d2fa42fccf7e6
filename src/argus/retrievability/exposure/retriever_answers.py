"""Ask a retriever of somebody else's for every document, or read what it answered elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document, Query
from argus.jobs.workspace import Record, require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings
from argus.retrievability.exposure.probes import summarise_probes
from argus.retrievability.exposure.retriever_probes import probe_queries, rank_probes
from argus.retrievability.exposure.summary import RetrieverFacts, SearchedFacts
from argus.retrievers.asking import Answerer, answers_of
from argus.retrievers.protocol import note_of


def ask_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    source: Answerer,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[Findings, SearchedFacts]:
    """Return what the answers tell. Raises ArgusError where no probe is answered."""
    probes = probe_queries(documents, queries, config)
    require_some(len(probes.queries), "document has text", "Check --text-field.")
    with record.timed("asking"):
        name, answers = answers_of(
            source, probes.queries, config.k,
            documents=documents, folder=folder, record=record, what="probes",
        )  # fmt: skip
    failures = {d.id: "no text" for d in documents if not d.content.strip()}
    ranks = rank_probes(probes, answers, config.k, failures)
    exposed = summarise_probes(ranks.probes, len(probes.documents), k=config.k)
    note = note_of(name, answers)
    retriever: RetrieverFacts = {
        "name": name,
        "held_out": False,
        "longest_list": ranks.longest,
        "strange": ranks.strange,
        "kept": note["kept"],
        "reasons": note["reasons"],
    }
    if answers.warning:
        retriever["warning"] = answers.warning
    findings = Findings(documents, ranks.searched, ranks.probes, exposed)
    return findings, {"text_window": None, "retriever": retriever}
