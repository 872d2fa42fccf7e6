"""What a retriever is asked before and after a repair: the same, both times."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin
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

    def fault(self, run: Run, failed: Mapping[str, str], unknown: int) -> str | None:
        """Return what is wrong with answers to them that were kept; None where nothing is.

        unknown: results that were no document of the corpus when they came.
        """
        ids = {query.id for query in self.queries}
        twice, without = run.keys() & failed.keys(), ids - run.keys() - failed.keys()
        if twice:
            return f"query {min(twice)!r} was answered, and failed"
        if without:
            return f"{len(without):,} of {len(ids):,} queries neither answered nor failed"
        if other := (run.keys() | failed.keys()) - ids:
            return f"{min(other)!r} is none of the queries"
        for query, scores in run.items():
            wrong = next((id_ for id_, score in scores.items() if not math.isfinite(score)), None)
            if wrong is not None:
                return f"query {query!r}: {wrong!r} has the score {scores[wrong]}"
        known = {document.id for document in self.documents}
        came = sum(id_ not in known for scores in run.values() for id_ in scores)
        if self.fold is None and came != unknown:
            return f"{came:,} results that no document has; {unknown:,} such came"
        return None


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
            if isinstance(one, str | PathLike)
        }
        return ReceiptQuestions(documents, origin, able, relevant, JUDGED, files, fold=fold)
    ordered = sorted(documents, key=lambda document: document.id)
    probes = probe_queries(ordered, (), config.probes)
    sample = None if probes.drawn is None else [config.sample or 0, len(probes.documents)]
    qrels_of = probes.qrels if fold is None else fold.qrels(probes.qrels)
    return ReceiptQuestions(documents, origin, probes.queries, qrels_of, PROBES, {}, sample, fold)
