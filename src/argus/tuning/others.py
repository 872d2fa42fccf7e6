"""Try other encoders, retrievers, and settings of the one that runs, as arms beside the fusions.

`encoder:NAME` embeds the documents anew, and stands alone and fused with BM25. Any other name is a
retriever, as `--retriever` takes it. `texts:` and `rerank:` are split off here, and tried in
`argus.repair.trials` and `argus.tuning.rerank`. Settings are varied one at a time: of a store exact
search, which is the most that a greater `ef` can bring, and no filter; of any retriever fewer
chunks fetched, where chunks are folded to documents, and a threshold of the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document, Query, Run
from argus.encoders import documents as as_documents
from argus.encoders import embed
from argus.encoders import queries as as_queries
from argus.encoders.load import load_any_encoder
from argus.encoders.protocol import Encoder, arrays_of, family_of
from argus.encoders.store import open_store
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import ParentFold
from argus.indexes.exact import search
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.retriever import FUSED_DEPTH
from argus.retrievers.config import AskingConfig
from argus.retrievers.dense import StoreSource
from argus.retrievers.opening import OpenRetriever, all_opened
from argus.retrievers.protocol import Answers
from argus.tuning.arms import DEPTH, FUSION_ARMS, MINE, RIVALS, Tried, timed

ENCODER, RERANK, TEXTS = "encoder", "rerank", "texts"


@dataclass(frozen=True)
class Named:
    """Arms that a user named, by kind."""

    encoders: tuple[str, ...] = ()
    rerankers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    retrievers: tuple[str, ...] = ()

    @classmethod
    def of(cls, specs: Sequence[str]) -> Named:
        """Sort names. Raises InputError for a kind without a name."""
        kinds: dict[str, list[str]] = {ENCODER: [], RERANK: [], TEXTS: [], "": []}
        for spec in dict.fromkeys(specs):
            kind, colon, name = spec.partition(":")
            if not colon or kind not in kinds or not kind:
                kind, name = "", spec
            if not name.strip():
                raise InputError(
                    repr(spec), expected="encoder:NAME, rerank:NAME, texts:FILE or a retriever",
                    fix="Name it, such as texts:summaries.jsonl.", where="--arm",
                )  # fmt: skip
            kinds[kind].append(name)
        return cls(*(tuple(names) for names in kinds.values()))


def encoder_arms(
    name: str,
    documents: Sequence[Document],
    queries: Sequence[Query],
    vectors: Run,
    bm25: Run,
    home: Path,
) -> Iterator[tuple[str, Tried]]:
    """Yield another encoder over the same documents: alone, and fused with BM25.

    One of sparse vectors, which are words themselves, is fused with the vectors of the index.
    vectors, bm25: runs of 100 results. home: folder for its vectors, which are kept. Raises
    ArgusError for an encoder that cannot be used.
    """
    encoder = load_any_encoder(name)
    ordered = sorted(documents, key=lambda d: d.id)
    family, made_by = family_of(encoder), encoder.fingerprint
    own = home / content_hash(made_by, size=8).hex()
    with open_store(family, own, fingerprint=made_by, dim=encoder.dim) as cache:
        texts = embed(as_documents([d.content for d in ordered]), encoder, cache, what=name)
        asked = embed(as_queries([q.text for q in queries]), encoder, cache, what="queries")
    rows = [row for row, ok in enumerate(texts.ok) if ok]
    ids = [ordered[row].id for row in rows]
    found = search(asked.vectors, texts.vectors, FUSED_DEPTH)
    alone: Run = {q.id: {} for q in queries}
    able = [q.id for q, ok in zip(queries, asked.ok, strict=True) if ok]
    for query, places, scores in zip(able, found.rows, found.scores, strict=True):
        alone[query] = {ids[p]: float(s) for p, s in zip(places, scores, strict=True)}
    rows_of = texts.vectors
    ms = timed(
        lambda i: search(encoder.encode_queries([queries[i].text]), rows_of, 10), len(queries)
    )
    size = sum(array.nbytes for array in arrays_of(texts.vectors))
    note = f"build the index with --encoder {name}"
    yield f"{ENCODER}:{name}", Tried(alone, ms, len(ids), size, note)
    first, second, what = (
        (vectors, alone, "the vectors") if family == "sparse" else (alone, bm25, "BM25")
    )
    for rival in RIVALS:
        blend = FUSION_ARMS[rival]
        run = fuse_with_bm25(first, second, FUSED_DEPTH, blend.fusion, blend.bm25)
        yield f"{ENCODER}:{name} and {what} by {rival}", Tried(run, ms, len(ids), size, note)


def ask_retriever(
    documents: Sequence[Document],
    encoder: Encoder,
    asking: AskingConfig,
    retriever: Any,
    queries: Sequence[Query],
    k: int,
) -> tuple[str, Answers, dict[str, Tried]]:
    """Return the name of a retriever, its k best documents, and itself under other settings.

    Raises ArgusError where it fails all questions.
    """
    with all_opened([retriever], documents, asking, None, encoder) as (opened,):
        answers = opened.ask(queries, k)
        settings = dict(store_arms(opened, queries, k))
    if not answers.run:
        first = next(iter(answers.failed.values()))
        raise ArgusError(f"{opened.name} failed all {len(queries):,} questions. The first: {first}")
    return opened.name, answers, settings


def store_arms(
    opened: OpenRetriever, queries: Sequence[Query], k: int
) -> Iterator[tuple[str, Tried]]:
    """Yield a store as it answers under other settings. Nothing of any other retriever."""
    source = opened.source
    if not isinstance(source, StoreSource):
        return
    for way, rank in source.ways.items():
        other = replace(opened, source=replace(source, rank=rank), identity="")
        answers = other.ask(queries, k)
        if not answers.failed:
            yield f"{MINE}, {way}", Tried(answers.run, [*answers.ms.values()])


def cut_arms(mine: Tried, fold: ParentFold | None) -> Iterator[tuple[str, Tried]]:
    """Yield what runs with less of its results: fewer chunks, or those above a threshold.

    The threshold is the median score of the tenth result, which no judgement has chosen.
    """
    deepest = max(map(len, mine.run.values()), default=0)
    for fetched in (DEPTH, 2 * DEPTH) if fold is not None else ():
        if fetched < deepest:
            run: Run = {q: dict([*found.items()][:fetched]) for q, found in mine.run.items()}
            yield f"{MINE}, {fetched} chunks fetched", replace(mine, run=run)
    tenth = [[*found.values()][DEPTH - 1] for found in mine.run.values() if len(found) >= DEPTH]
    if not tenth:
        return
    least = float(np.median(tenth))
    run = {q: {d: s for d, s in found.items() if s >= least} for q, found in mine.run.items()}
    left = np.mean([min(len(found), DEPTH) for found in run.values()])
    note = f"{left:.1f} of {DEPTH} documents are left"
    yield f"{MINE}, scores from {least:.3g}", replace(mine, run=run, note=note)
