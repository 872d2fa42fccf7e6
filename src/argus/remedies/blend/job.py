"""`remedy blend`: sentences, hub correction and BM25, mixed into the search of an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.data.reading import record_of
from argus.data.types import Document, FloatArray, Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import queries as as_queries
from argus.encoders.store import store_of
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.parents import ParentFold, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.indexes.blend import BLEND, Blend
from argus.indexes.live_views import NewViews, new_views
from argus.indexes.originals import originals
from argus.indexes.prescribed import DOCUMENTS
from argus.indexes.recipes import REMEDIES, BlendRecord
from argus.indexes.retriever import IndexRetriever, encoder_of
from argus.indexes.spec import index_folder
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.jobs.workspace import Record
from argus.remedies.blend.config import SentenceSettings
from argus.remedies.blend.making import BlendPlan, Making, make_blend
from argus.remedies.blend.parts import (
    BM25,
    HUBS,
    SENTENCES,
    Costs,
    JudgedVectors,
    Searched,
    check_cosine,
    parts,
    rivals,
    spread_rows,
    timed,
)
from argus.remedies.blend.summary import BlendSummary, Hubness, headline
from argus.remedies.repair.receipt import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.repair.remedy import MADE, ROLLED_BACK, is_recorded, write_recorded
from argus.reports import write_report

TIMED = 30
"""Texts that are searched for to tell what a query costs."""


@dataclass(frozen=True, repr=False)
class BlendResult(RemedyResult[BlendSummary]):
    """What a blend did to an index."""

    def _receipt(self) -> Iterator[str]:
        return headline(self.summary)


@dataclass(frozen=True)
class _Opened:
    """An index that is to be blended."""

    index: ViewIndex
    encoder: Encoder
    documents: list[Document]
    plan: BlendPlan
    home: ArtifactFolder
    record: Record
    fold: ParentFold | None


@one_writer
def blend_index(
    index: Path | str,
    blend: Blend | None = None,
    *,
    sentences: SentenceSettings | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    chunks: ChunkedCorpus | None = None,
    fold: ParentFold | None = None,
    device: str | None = None,
    out: Path | None = None,
) -> BlendResult:
    """Have an index searched as a blend says, and write the receipt.

    Sentence views of all documents are added as one remedy, with one number per document; when all
    are there, whoever searches the index gets the blend. The same blend is never added twice.
    Killed, the index is searched as before, and the same command goes on. `argus remedy rollback`
    takes it out again. queries, qrels: for what each part changes, and an evaluation before and
    after. chunks: the corpus of the index, and where its chunks name their document: sentences of
    siblings make no chunk a hub then, and judgements are of documents; fold: that, where it is
    read. out: default `INDEX/remedies/ID`. Raises InputError for bad input, and for an index that
    ranks by dot product.
    """
    chunks = chunks or ChunkedCorpus()
    questions = check_judged(queries, qrels, chunks.corpus, chunks.fields, chunks.parent_field)
    fold = fold or (ParentFold.of_corpus(chunks) if questions is None else questions.fold)
    settings = sentences or SentenceSettings()
    opened = _open(index, blend or Blend(), settings, encoder, device, fold)
    if questions is not None:  # refused now, not when the index has been changed
        system = System(
            str(opened.index.path), {}, documents=frozenset(d.id for d in opened.documents)
        )
        missing_gold(system if fold is None else fold_system(system, fold), questions.judged)
    folder = ArtifactFolder(out or opened.home.path)
    opened.record.open(folder, about=(opened.index.path,))
    opened.home.open()
    summary = _blend(opened, questions)
    folder.write_results(BLEND, summary, opened.record.manifest(summary["documents"]))
    report = write_report(folder.path)
    evaluation = evaluate_remedy(
        opened.index, opened.plan.remedy, queries, qrels,
        chunks=chunks, encoder=opened.encoder, out=folder.path,
    )  # fmt: skip
    write_recorded(opened.home)
    return BlendResult(opened.plan.remedy, folder.path, report, opened.index, summary, evaluation)


def _open(
    index: Path | str,
    blend: Blend,
    sentences: SentenceSettings,
    encoder: Encoder | EncoderConfig | str | None,
    device: str | None,
    fold: ParentFold | None,
) -> _Opened:
    opened = ViewIndex.open(index_folder(index))
    check_cosine(opened.header.similarity, opened.path)
    documents = originals(opened)
    plan = BlendPlan.of(blend, sentences, documents, _parents(fold, documents))
    config = {"index": str(index), **asdict(blend), **asdict(sentences)}
    record = Record(BLEND, config | {"parent_field": fold and fold.field}, {})
    model = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    record.encoder["fingerprint"] = model.fingerprint
    home = ArtifactFolder(opened.path / REMEDIES / plan.remedy)
    return _Opened(opened, model, documents, plan, home, record, fold)


def _parents(fold: ParentFold | None, documents: Sequence[Document]) -> dict[str, str]:
    """Return the document of each chunk; nothing where they are not folded."""
    return {} if fold is None else {d.id: fold.of_chunk.get(d.id, d.id) for d in documents}


def _blend(opened: _Opened, questions: JudgedQueries | None) -> BlendSummary:
    index, encoder, record = opened.index, opened.encoder, opened.record
    is_there = is_recorded(opened.home, opened.plan.remedy, index, by_recipe=True)
    with EmbeddingStore(
        store_of(index.path), fingerprint=encoder.fingerprint, dim=encoder.dim
    ) as store:
        with record.timed("embedding sentences, measuring hubness"):
            making = make_blend(
                opened.plan, opened.documents, _own_vectors(opened), encoder, store,
                _parents(opened.fold, opened.documents),
            )  # fmt: skip
        with record.timed("adding views"):
            new = _add(opened, making)
        with record.timed("measuring what it costs and gains"):
            judged = _embedded(questions, opened, store)
            return _summary(opened, making, new, judged, is_there=is_there)


def _own_vectors(opened: _Opened) -> FloatArray:
    """Return the vectors of the documents' own texts, (n_documents, dim)."""
    snapshot = opened.index.snapshot(ORIGINAL)
    rows = {view.doc_id: i for i, view in enumerate(snapshot.views) if view.kind == ORIGINAL}
    return snapshot.vectors[[rows[d.id] for d in opened.documents]]


def _add(opened: _Opened, making: Making) -> NewViews:
    """Add views and numbers, then have them count; what is said of them is on disk before."""
    index, remedy, blend = opened.index, opened.plan.remedy, opened.plan.blend
    new = NewViews([], 0, 0, [])
    if blend.sentences:
        new = new_views(making.views, index, remedy)
    made = {"remedy": remedy, "kind": BLEND, "at": utc_now()}
    opened.home.write_json(MADE, made | {"views_known": new.known, "relied_on": new.relied_on})
    if making.numbers is not None:
        making.numbers.save(opened.home.path)
    row = {view.id: i for i, view in enumerate(making.views)}
    if new.views:
        index.add(new.views, making.vectors[[row[v.id] for v in new.views]], remedy=remedy)
    index.prescribe(remedy, blend=blend, relied_on=new.relied_on)
    (opened.home / ROLLED_BACK).unlink(missing_ok=True)
    return new


def _embedded(
    questions: JudgedQueries | None, opened: _Opened, store: EmbeddingStore
) -> JudgedVectors | None:
    """Return judged questions with the vectors that are searched for; None where there is none."""
    if questions is None:
        return None
    judged, qrels = list(questions.judged.queries.values()), questions.judged.qrels
    items = as_queries([query.text for query in judged])
    embedded = embed(items, opened.encoder, store, what="queries")
    able = [query for query, ok in zip(judged, embedded.ok, strict=True) if ok]
    if not able:
        return None
    vectors = opened.index.recipe(opened.plan.remedy).correct(embedded.vectors)
    return JudgedVectors(
        able, vectors, {query.id: qrels[query.id] for query in able}, questions.fold
    )


def _summary(
    opened: _Opened,
    making: Making,
    new: NewViews,
    judged: JudgedVectors | None,
    *,
    is_there: bool,
) -> BlendSummary:
    index, plan = opened.index, opened.plan
    retriever = IndexRetriever(index, opened.encoder, plan.remedy)
    state = index.snapshot(plan.remedy)
    smoothed = state if plan.blend.smoothing else None
    plain = state if smoothed is None else index.unsmoothed(plan.remedy)
    searched = Searched(plain, retriever.lexical(), retriever.weight, smoothed)
    there = next(r for r in index.remedies() if r.id == plan.remedy)
    return {
        "remedy": plan.remedy,
        "index": str(index.path),
        "added": not is_there,
        "settings": record_of(BlendRecord, plan.blend),
        "max_views": plan.sentences.max_views,
        "documents": {
            "total": len(opened.documents),
            "with_views": there.documents,
            "without": making.proposal.none,
            "joined": making.proposal.joined,
        },
        "views": there.views,
        "views_known": new.known,
        "views_failed": making.failed,
        "bytes": there.bytes,
        "relied_on": new.relied_on,
        "hubness": _hubness(opened, making),
        "rivals": [] if judged is None else rivals(searched, judged),
        "parts": parts(searched, plan.blend, _costs(opened, making, searched, there.bytes), judged),
        "seconds": opened.record.timings_s,
    }


def _costs(opened: _Opened, making: Making, searched: Searched, views: int) -> Costs:
    """Return what each part costs; the corpus's own texts are asked. views: bytes of sentences."""
    texts = [view.text for view in making.views] or [d.text for d in opened.documents]
    vectors = making.vectors if making.views else _own_vectors(opened)
    rows = spread_rows(len(texts), TIMED)
    queries = [Query(str(i), texts[i]) for i in rows]
    hubness = _hubness(opened, making)
    stored = {SENTENCES: views, HUBS: hubness["bytes"] if hubness else 0}
    stored[BM25] = searched.lexical.bytes
    return Costs(timed(searched, opened.plan.blend, queries, vectors[rows]), stored)


def _hubness(opened: _Opened, making: Making) -> Hubness | None:
    if making.numbers is None:
        return None
    scores = making.numbers.hubness
    return {
        "sentences": making.sample,
        "least": round(float(scores.min()), 4),
        "median": round(float(np.median(scores)), 4),
        "most": round(float(scores.max()), 4),
        "bytes": (opened.home / DOCUMENTS).stat().st_size,
    }
