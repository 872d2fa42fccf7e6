"""Ask a retriever of somebody else's for every document, or read what it answered elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.artifacts import ArtifactFolder
from argus.data.payload import read_parents
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError
from argus.jobs.workspace import NO_ENCODER, Record
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings
from argus.retrievability.exposure.parent_lists import fold_answers
from argus.retrievability.exposure.parents import Parents, fold_findings
from argus.retrievability.exposure.probes import summarise_probes
from argus.retrievability.exposure.retriever_probes import probe_queries, rank_probes
from argus.retrievability.exposure.summary import FoldedFacts, RetrieverFacts, SearchedFacts
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import FILE as ANSWERS
from argus.retrievers.opening import opened
from argus.retrievers.protocol import Answers
from argus.retrievers.run_file import run_answers

REASONS = 20
"""Of failed probes, that the summary holds."""


@dataclass(frozen=True)
class ProbeSource:
    """What answers the probes: a retriever, or the run that it made of them elsewhere."""

    retriever: Any = None
    run: Path | Run | None = None
    asking: AskingConfig | None = None


def ask_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    source: ProbeSource,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[Findings, SearchedFacts]:
    """Return what the answers tell. Raises ArgusError where no probe is answered."""
    probes = probe_queries(documents, queries, config)
    parents = None
    if config.parent_field is not None:
        of_chunk = read_parents(documents, config.parent_field)
        parents = Parents.of(config.parent_field, of_chunk, probes.documents)
    record.encoder["fingerprint"] = NO_ENCODER
    with record.timed("asking"):
        name, answers = _answers(probes.queries, documents, config.k, source, folder, record)
    if not answers.run:
        first = next(iter(answers.failed.values()))
        raise ArgusError(f"{name} failed all {len(answers.failed):,} probes. The first: {first}")
    failures = {d.id: "no text" for d in documents if not d.content.strip()}
    ranks = rank_probes(probes, answers, config.k, failures)
    exposed = summarise_probes(ranks.probes, len(probes.documents), k=config.k)
    of_parents, folded = None, None
    if parents is not None:

        def ask(queries: Sequence[Query], k: int) -> Answers:
            return _answers(queries, documents, k, source, folder, record)[1]

        again = None if source.run is not None else ask
        folded = fold_answers(ranks, answers.run, parents, config.k, again)
        of_parents = fold_findings(documents, parents, ranks, folded.lists, config.k)
    facts: FoldedFacts = folded.facts() if folded else {}
    retriever: RetrieverFacts = {
        "name": name,
        "held_out": False,
        "longest_list": ranks.longest,
        "strange": ranks.strange - (folded.whole_documents if folded else 0),
        "kept": answers.kept,
        "reasons": dict(Counter(answers.failed.values()).most_common(REASONS)),
        **facts,
    }
    findings = Findings(documents, ranks.searched, ranks.probes, exposed, of_parents)
    return findings, {"text_window": None, "retriever": retriever}


def _answers(
    queries: Sequence[Query],
    documents: Sequence[Document],
    k: int,
    source: ProbeSource,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[str, Answers]:
    """Return what answered, and its answers: read, or asked for and kept as they come."""
    if source.run is not None:
        answers = run_answers(source.run, queries)
        record.open(folder)
        return str(source.run) if isinstance(source.run, Path) else "a run", answers
    kept_in = folder.path / ANSWERS
    with opened(
        source.retriever, documents=documents, config=source.asking, kept_in=kept_in
    ) as retriever:
        record.open(folder)
        folder.own(ANSWERS)
        return retriever.name, retriever.ask(queries, k)
