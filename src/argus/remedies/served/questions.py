"""What a retriever is asked before and after a repair: the same, both times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora.names import Corpus
from argus.corpora.stored import Origin
from argus.data.fields import FieldNames
from argus.data.provenance import content_hash
from argus.data.types import Document, Qrels, Query, Run
from argus.evaluation.judged import read_judged
from argus.evaluation.parents import ParentFold
from argus.evaluation.systems import require_gold
from argus.jobs.workspace import read_documents
from argus.remedies.served.config import ServedReceiptConfig
from argus.remedies.served.summary import JUDGED, PROBES
from argus.retrievability.exposure.retriever_probes import probe_queries


@dataclass(frozen=True)
class ReceiptQuestions:
    """Queries with the documents that are relevant for them."""

    documents: Sequence[Document]
    origin: Origin | None
    queries: list[Query]
    qrels: Qrels
    asked_by: str
    files: Mapping[str, Path]
    sample: list[int] | None = None
    """Documents that are asked for, and of how many; None: all."""
    fold: ParentFold | None = None
    """The document of every chunk, where `documents` are chunks."""

    def folded(self, run: Run) -> Run:
        """Return a run of documents, where it is one of their chunks."""
        return run if self.fold is None else self.fold.run(run)

    def identity(self, k: int) -> str:
        """Return what tells them from other questions, or the same ones at another depth."""
        relevant = {id_: self.qrels[id_] for id_ in sorted(self.qrels)}
        texts = [(query.id, query.text) for query in self.queries]
        return content_hash(json.dumps([k, texts, relevant])).hex()


def receipt_questions(
    corpus: Corpus,
    queries: Path | str | Sequence[Query] | None,
    qrels: Path | str | Qrels | None,
    config: ServedReceiptConfig,
    fields: FieldNames,
) -> ReceiptQuestions:
    """Return the judged questions; without any, titles and sentences of the documents.

    Chunks are folded to the documents that they are of, where `config.parent_field` names those.
    Raises InputError where none can be measured, and where the corpus holds no relevant document;
    NothingMeasured where there is nothing to ask.
    """
    documents, origin = read_documents(corpus, fields, None, None)
    fold = ParentFold.of(config.parent_field, documents)
    if queries is not None and qrels is not None:
        judged = read_judged(queries, qrels).judged
        able = list(judged.queries.values())
        relevant = {query.id: judged.qrels[query.id] for query in able}
        relevant = relevant if fold is None else fold.qrels(relevant)
        require_gold(relevant, {d.id for d in documents} if fold is None else fold.parents)
        files = {
            name: Path(one)
            for name, one in (("queries", queries), ("qrels", qrels))
            if isinstance(one, str | Path)
        }
        return ReceiptQuestions(documents, origin, able, relevant, JUDGED, files, fold=fold)
    ordered = sorted(documents, key=lambda document: document.id)
    probes = probe_queries(ordered, (), config.probes)
    sample = None if probes.drawn is None else [config.sample or 0, len(probes.documents)]
    qrels_of = probes.qrels if fold is None else fold.qrels(probes.qrels)
    return ReceiptQuestions(documents, origin, probes.queries, qrels_of, PROBES, {}, sample, fold)
