"""Explain why one document of an index does not come back: check every cause, name the likeliest.

`explain`: a query, a document id and an index -> `Explanation`. The causes: absent, wrong vector,
text cut off (`stored`), no words in common, hubs above it, parts of a blend, superseded. `argus
explain --index` calls it, and `run` does the same for a ranking without an index.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from argus.authority.relation import Authority
from argus.corpora.opening import open_corpus
from argus.data.types import FloatArray, IntArray
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import ParentFold
from argus.explanation.case import Case, rank_everywhere
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import (
    QUERY,
    Cause,
    Evidence,
    Explanation,
    Finding,
    Standing,
    Verdict,
    check_superseded,
    compare_terms,
    count_terms,
    find_query,
    is_superseded_within,
    place_in,
    quoted,
)
from argus.explanation.stored import check_presence, check_vector, check_window
from argus.indexes.blend import Blend
from argus.indexes.fold import ORIGINAL, top_documents
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.header import IndexSpec
from argus.indexes.lexical import check_query
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever, open_retriever
from argus.indexes.snapshot import Snapshot, check_k
from argus.progress import announce, progress

ABSENT = "the document is not in this state of the index"
# Cosine below which a wrong stored vector is named before everything else.
FAR_OFF = 0.9
# Share of the documents above it from which hubs are named before the lexical gap. The centre of
# the document's own topic may be a hub as well.
MIN_HUBS = 1 / 3
# Documents whose vectors serve as queries to find hubs.
MAX_SAMPLE = 1_000
# Similarities computed for it. A large index gets a smaller sample, of at least 200.
MAX_SCORES = 400_000_000
HUB_DEVIATIONS, MIN_LISTS, HUB_STEP = 2.0, 3, 256
# Documents above that the evidence lists.
MAX_RIVALS = 10
PARTS = {
    "sentences": "its sentences",
    "bm25": "BM25",
    "correction": "the correction of the query",
}
ADVICE = {
    "sentences": "Blend with a larger --lambda, or look at the sentences of what is above it.",
    "bm25": "Blend with a smaller --bm25, or search dense (--hybrid dense).",
    "correction": "Roll the correction back, or learn it anew from needs such as this.",
}


def explain(
    query: str,
    doc_id: str,
    index: str | Path | IndexSpec | IndexRetriever,
    config: ExplainConfig | None = None,
    *,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    authority: Authority | None = None,
    fold: ParentFold | None = None,
) -> Explanation:
    """Return the places of `doc_id` for `query` in one state of an index, and the causes.

    index: `PATH[@as_of]`, or a retriever. authority: supersessions, in place of the config's file.
    fold: from chunks to documents, in place of the config's corpus. It ranks documents; `doc_id` is
    one or a chunk of one, and its best chunk is explained. A document that is not in the index is
    explained, not refused. Raises InputError for an empty query or id, k below 1, an unknown query
    id, a path that is no index, and damaged files. Raises EncoderMismatch for the encoder of other
    vectors.
    """
    config = config or ExplainConfig()
    check_k(config.k)
    check_query(query)
    question = find_query(query, config.queries)
    if not doc_id.strip():
        raise InputError("an empty document id", expected="the id of a document", fix="Name one.")
    if config.corpus is not None:
        open_corpus(config.corpus)  # it is read only where the document is not in the index
    if authority is None and config.supersedes is not None:
        from argus.authority.opening import read_authority

        authority = read_authority(config.supersedes)
    retriever = open_explained(index, config, encoder, device)
    fold = fold or fold_of(config)
    announce("explain: reading the index")
    snapshot = retriever.index.snapshot(retriever.as_of)
    if not len(snapshot):
        got = "holds no document"
        expected, fix = "an index with documents", "Add some with `argus index add`."
        raise InputError(got, expected=expected, fix=fix, where=retriever.index.path)
    vector: FloatArray = np.asarray(retriever.encoder.encode_queries([question.text]), np.float32)
    searched = retriever.recipe.correct(vector)
    case = Case(question.text, doc_id, config.k, retriever, snapshot, searched, vector)
    if fold is not None:
        chunks = [chunk for chunk in fold.chunks_of(doc_id) if chunk in snapshot]
        scores = case.best[snapshot.positions(chunks)].tolist()
        pairs = zip(scores, chunks, strict=True)
        best = min(pairs, key=lambda c: (-c[0], c[1]), default=(0, doc_id))
        case = replace(case, doc_id=best[1], fold=fold)

    def rank_of(doc: str) -> int | None:
        return case.rank(doc) if doc in snapshot else None

    place = rank_everywhere(case)
    own = place.dense.rank
    within = place.came_back or (own is not None and own <= case.k)
    lexical = _check_words(case, place)
    findings = [
        check_presence(case, config.corpus, config.fields),
        check_vector(case, place, config),
        check_window(case, place),
        lexical.harmless() if within else lexical,
        _check_hubs(case, place, config.seed),
        check_superseded(case.doc_id, case.k, own, authority, rank_of, "index"),
    ]
    if (blend := _check_blend(case, place)) is not None:
        findings.append(blend)
    cause, verdict = _conclude(case, place, {f.cause: f for f in findings})
    return Explanation(
        query=question.text,
        query_id=question.id if config.queries is not None else None,
        doc_id=doc_id,
        chunk=None if fold is None else case.doc_id,
        index=str(IndexSpec(retriever.index.path, retriever.as_of)),
        encoder=retriever.encoder.fingerprint,
        k=config.k,
        verdict=verdict,
        cause=cause,
        came_back=place.came_back,
        standing=place,
        findings=findings,
    )


def fold_of(config: ExplainConfig) -> ParentFold | None:
    """Return the fold from chunks to documents that a config names."""
    chunked = ChunkedCorpus(
        corpus=config.corpus, fields=config.fields, parent_field=config.parent_field
    )
    return ParentFold.of_corpus(chunked)


def open_explained(
    index: str | Path | IndexSpec | IndexRetriever,
    config: ExplainConfig,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
) -> IndexRetriever:
    """Open an index as a search asks it. One that is open keeps its settings but for a fusion."""
    if not isinstance(index, IndexRetriever):
        return open_retriever(
            index, encoder, hybrid=config.hybrid, device=device, weight=config.weight
        )
    if config.hybrid is None:
        return index
    return IndexRetriever(index.index, index.encoder, index.as_of, config.hybrid, index.weight)


def _check_words(case: Case, place: Standing) -> Finding:
    """Compare the query's terms with the document's, and the dense rank with BM25's.

    Evidence: see `count_terms`, and `bm25_rank`, `dense_rank`, `fused_rank`, `fusion`.
    """
    cause = Cause.LEXICAL
    if not case.present:
        return cause.unchecked(ABSENT)
    dense, bm25, fused = place.dense.rank, place.bm25.rank, place.fused.rank
    texts = [view.text for view in case.views]
    evidence: Evidence = {
        **count_terms(case.query, texts, case.retriever.lexical()),
        "bm25_rank": bm25,
        "dense_rank": dense,
        "fused_rank": fused,
        "fusion": place.fusion,
    }
    by_vectors = dense is not None and dense <= case.k
    if place.ranked_by == "fused" and not place.came_back and by_vectors:
        words = "does not find it" if bm25 is None else f"ranks it {bm25}"
        text = f"dense search alone ranks it {dense}, BM25 {words}: the {place.fusion} fusion "
        advice = "Search dense, or weigh BM25 less in the fusion."
        return cause.found(f"{text}loses it", evidence, advice, decisive=True)
    if by_vectors or bm25 is None or bm25 > case.k:
        return compare_terms(evidence)
    helps = fused is not None and fused <= case.k
    missing = evidence["missing_terms"]
    lacks = f"; it lacks {quoted(missing)}" if missing else ""
    advice = f"Search hybrid (--hybrid {place.fusion})."
    if not helps:
        advice = (
            "Weigh BM25 more in the fusion; add views that say what the document implies (`argus "
            "tune apply expand`)."
        )
    text = (
        f"BM25 ranks it {bm25} by {quoted(evidence['shared_terms'])}, dense search {dense}: the "
        f"vectors miss these words{lacks}; {'the' if helps else 'yet the'} {place.fusion} fusion "
        f"ranks it {fused or 'nowhere'}"
    )
    return cause.found(text, evidence, advice, decisive=helps)


@lru_cache(maxsize=1)
def count_occurrences(snapshot: Snapshot, k: int, seed: int) -> tuple[IntArray, int]:
    """Count the top-k lists that hold each document: N_k (Radovanović et al. 2010).

    The queries are the vectors of a seeded sample of documents, each without the document itself.
    A document's vector is that of its own text, else its first view's. Returns the counts, shape
    (n_documents,), and the size of the sample.
    """
    rng = np.random.default_rng(seed)
    n = len(snapshot)
    size = min(n, MAX_SAMPLE, max(200, MAX_SCORES // max(1, len(snapshot.vectors))))
    sample = np.sort(rng.choice(n, size, replace=False))
    is_own, places = snapshot.rows_of_kind(ORIGINAL), np.arange(len(snapshot.vectors))
    rows = places if is_own is None else np.where(is_own, places, len(places))
    first = np.minimum.reduceat(rows, snapshot.starts[:-1])
    rows = np.where(first < len(places), first, snapshot.starts[:-1])[sample]
    counts = np.zeros(n, np.int64)
    with progress("looking for hubs", size) as advance:
        for start in range(0, size, HUB_STEP):
            part = slice(start, start + HUB_STEP)
            block = snapshot.vectors[rows[part]]
            scores = block @ snapshot.vectors.T
            top = top_documents(block, snapshot.vectors, scores, snapshot.layout(), k + 1)
            lists = np.split(top.document, np.flatnonzero(np.diff(top.query)) + 1)
            for own, documents in zip(sample[part].tolist(), lists, strict=True):
                counts[documents[documents != own][:k]] += 1
            advance(len(lists))
    return counts, size


def _check_hubs(case: Case, place: Standing, seed: int) -> Finding:
    """Name the documents above, and the hubs among them.

    A hub is in more top-k lists (`n_k`) than the mean plus two standard deviations, and in 3 at
    least, so that a thin sample makes no hub of a coincidence. Evidence: `outranked_by` (rows of
    `rank`, `id`, `score`, `n_k` and `hub`), `documents_above`, `hubs_above`, `rank_without_hubs`,
    `hub_above_n_k`, and `sample`, the number of queries.
    """
    cause, rank = Cause.HUBS, place.dense.rank
    if rank is None:
        return cause.unchecked(ABSENT)
    if rank <= case.k:
        return cause.ruled_out(f"its exact rank is {rank}")
    counts, sample = count_occurrences(case.snapshot, case.k, seed)
    threshold = max(float(counts.mean() + HUB_DEVIATIONS * counts.std()), MIN_LISTS - 1)
    top = list(case.top(rank - 1).items())
    n_k = counts[case.snapshot.positions(id_ for id_, _ in top)]
    is_hub = n_k > threshold  # (rank - 1,)
    above = [
        {"rank": i + 1, "id": top[i][0], "score": round(top[i][1], 4), "n_k": int(n_k[i]),
         "hub": bool(is_hub[i])}
        for i in range(min(MAX_RIVALS, rank - 1))
    ]  # fmt: skip
    hubs, without = int(is_hub.sum()), rank - int(is_hub.sum())
    evidence: Evidence = {
        "outranked_by": above,
        "documents_above": rank - 1,
        "hubs_above": hubs,
        "rank_without_hubs": without,
        "hub_above_n_k": round(threshold, 1),
        "sample": sample,
    }
    if not hubs:
        text = f"none of the {rank - 1} documents above it is a hub"
        return cause.ruled_out(text, evidence)
    first = np.flatnonzero(is_hub)[:3].tolist()
    names = ", ".join(f"{top[i][0]} (N_k {n_k[i]})" for i in first)
    text = f"hubs among the {rank - 1} documents above it by vectors: {hubs} ({names})"
    if without > case.k:
        text += f"; without them it would still rank {without}"
        return cause.ruled_out(text, evidence, decisive=False)
    advice = (
        "Look at the hubs (boilerplate, very short or list-like texts?) and clean, split or drop "
        "them; a hybrid search weakens them."
    )
    text += f"; without them it would rank {without}"
    return cause.found(text, evidence, advice, decisive=True)


def _check_blend(case: Case, place: Standing) -> Finding | None:
    """Name the part of a blend that lifts or sinks the document. None without one.

    All ranks are exact. Evidence: `remedies`, `weight`, `bm25` (its weight here), `rank`, and
    `rank_without` (by part that is switched off, None beyond the fused documents).
    """
    recipe, words = case.retriever.recipe, case.retriever.lexical()
    if recipe.blend is None and recipe.correction is None:
        return None
    if not case.present:
        return Cause.BLEND.unchecked(ABSENT)
    blend, hybrid = recipe.blend or Blend(weight=1, bm25=0), case.retriever.hybrid
    depth = max(case.k + 1, FUSED_DEPTH)
    hits = words.search([case.query], depth)
    share = case.retriever.bm25_weights(hits, [QUERY])[QUERY] if hybrid else 0.0

    def rank(vector: FloatArray, blend: Blend) -> int | None:
        snapshot = case.snapshot.blended(blend)
        if hybrid is None:
            return case.rank(case.doc_id, vector, snapshot)
        dense = snapshot.search(vector, depth, case.weight).run([QUERY])
        both = fuse_with_bm25(dense, hits.run([QUERY]), 2 * depth, hybrid, share)[QUERY]
        return place_in(case.pseudo_queries_of(both), case.doc_id, case.k)[0].rank

    without: dict[str, int | None] = {}
    if blend.sentences:
        without["sentences"] = rank(case.vector, replace(blend, weight=1.0))
    if hybrid is not None:
        without["bm25"] = case.rank(case.doc_id, case.vector, case.snapshot.blended(blend))
    if recipe.correction is not None:
        without["correction"] = rank(case.uncorrected, blend)
    own = rank(case.vector, blend)
    evidence: Evidence = {
        "remedies": list(recipe.remedies),
        "weight": blend.weight,
        "bm25": round(share, 4),
        "rank": own,
        "rank_without": without,
    }
    better = {part: r for part, r in without.items() if r is not None and r <= case.k}
    if not place.came_back and better:
        part = min(better, key=lambda p: better[p])
        text = f"{PARTS[part]} keep{'s' * (part != 'sentences')} it out: without, it would rank "
        return Cause.BLEND.found(f"{text}{better[part]}", evidence, ADVICE[part], decisive=True)
    ranks = ", ".join(f"without {PARTS[p]} {r or 'none'}" for p, r in without.items())
    text = f"no part of it alone keeps it out: rank {own or 'none'}" + f" ({ranks})" * bool(ranks)
    return Cause.BLEND.ruled_out(text, evidence)


def _conclude(
    case: Case, place: Standing, findings: dict[Cause, Finding]
) -> tuple[Cause | None, str]:
    """Return the most probable cause and the verdict in one line.

    Certain causes come first (absent), then those that spoil everything else (a wrong
    vector, unread text), then those that were computed to bring the document back, then those
    that only make its absence likely.
    """
    faults = {cause: f for cause, f in findings.items() if f.state is Verdict.FOUND}
    if place.came_back:
        best, how = place.views[0], f"came back: rank {place.rank}"
        view = "its own text" if best.kind == "original" else f"its {best.kind} view {best.id}"
        if place.ranked_by == "fused":
            parts = f"dense rank {place.dense.rank} through {view}"
            how += f" by {place.fusion} ({parts}, BM25 rank {place.bm25.rank or 'none'})"
        else:
            how += f", through {view} (score {best.score:.4f})"
        notes = [faults[c].summary for c in (Cause.SUPERSEDED, Cause.VECTOR) if c in faults]
        return None, "; yet ".join([how, *notes])
    lexical, hubs = findings[Cause.LEXICAL], findings[Cause.HUBS].evidence
    vector = findings[Cause.VECTOR]
    bm25 = lexical.evidence["bm25_rank"] if Cause.LEXICAL in faults else None
    is_crowded = Cause.HUBS in faults and hubs["hubs_above"] >= MIN_HUBS * hubs["documents_above"]
    order = [
        (Cause.ABSENT, True),
        (Cause.VECTOR, vector.decisive or vector.evidence.get("cosine", 1) < FAR_OFF),
        (Cause.WINDOW, True),
        (Cause.SUPERSEDED, is_superseded_within(findings[Cause.SUPERSEDED], case.k)),
        (Cause.BLEND, True),
        (Cause.LEXICAL, bm25 is not None and bm25 <= case.k),
        (Cause.HUBS, is_crowded),
        (Cause.LEXICAL, True),
        (Cause.VECTOR, True),
        (Cause.SUPERSEDED, True),
        (Cause.HUBS, True),
    ]
    cause = next((c for c, applies in order if applies and c in faults), None)
    if cause is Cause.ABSENT:
        return cause, f"did not come back: {faults[cause].summary}"

    rank = place.rank if place.ranked_by == "fused" else place.dense.rank
    where = f"rank {rank}" if rank is not None else f"not among {place.fused.of}"
    where += "" if place.ranked_by == "fused" else f" of {place.dense.of}"
    where += f", {place.gap:.4f} short of the top {case.k}" if place.gap else ""
    text = f"did not come back ({where}): "
    if cause is None:
        text += "no check explains it; the documents above it are nearer to the query for this "
        return None, f"{text}encoder"
    text += faults[cause].summary
    return cause, text
