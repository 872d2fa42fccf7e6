"""Whether the stored vector is that of the document's text, and how much of it was read."""

from __future__ import annotations

import numpy as np
from typing_extensions import TypedDict

from argus.data.folders import read_section
from argus.data.types import FloatArray
from argus.encoders import Encoder, TokenCounter
from argus.encoders.protocol import directions
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import EncodingError, InputError
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import VectorEvidence, WindowEvidence
from argus.explanation.presence import corpus_document
from argus.explanation.types import Case, Cause, Finding, Standing, Verdict
from argus.explanation.variants import Variant, closest, document_prompt, variants
from argus.indexes.views import ORIGINAL
from argus.indexes.words import query_words, words

SAME = 0.99
"""Cosine from which two vectors count as made the same way; half precision stays above 0.999."""
REPRODUCED = 0.999
SLACK = 0.0005
NEAREST = 50
"""Rivals that are embedded again, or twice k where that is more."""
SAMPLE = 16
"""Other documents that are embedded again to see how far a mismatch reaches."""


class OwnVectors(TypedDict):
    """Vectors that a person brought along. normalised: whether rows were scaled to length 1."""

    file: str
    normalised: bool


class IndexBuild(TypedDict):
    """What is read of an index's part of summary.json."""

    vectors: OwnVectors


def check_vector(case: Case, place: Standing, config: ExplainConfig) -> Finding[VectorEvidence]:
    """Embed the document's own text again, compare, and name what would explain a difference."""
    cause = Cause.VECTOR
    if case.original is None:
        reason = "has no view of its own text" if case.present else "is not in this state"
        return Finding(cause, Verdict.UNCHECKED, f"the document {reason}", {})
    blend = case.snapshot.blend
    if blend is not None and blend.smoothing:
        reason = "vectors are smoothed here: ask the state before the blend"
        return Finding(cause, Verdict.UNCHECKED, reason, {})
    encoder = case.retriever.encoder
    stored = np.asarray(case.snapshot.vectors[case.original], np.float32)
    try:
        fresh = encoder.encode_documents([case.text])[0]
    except EncodingError as error:
        text = f"its text could not be embedded again: {error}"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    rows = directions(encoder, np.stack([fresh, stored]))
    cosine = float(rows[0] @ rows[1])
    evidence: VectorEvidence = {"cosine": round(cosine, 4), **_imported(case)}
    if cosine >= SAME:
        text = f"its stored vector is that of its text (cosine {cosine:.4f})"
        return Finding(cause, Verdict.RULED_OUT, text, evidence)
    variant, near, title = _explained(case, encoder, rows[1], config)
    evidence = {
        **evidence,
        **_spread(case, config.seed),
        **_mended(case, place, fresh),
        **_query_side(case),
        **_misplaced(case, fresh),
        "closest_variant": list(variant.changes),
        "closest_cosine": round(near, 4),
        "title_from": title,
    }
    return _mismatch(case, cosine, _how(variant, near, evidence), evidence)


def _mismatch(
    case: Case, cosine: float, how: str, evidence: VectorEvidence
) -> Finding[VectorEvidence]:
    """Return the finding that the stored vector is another's. how: what would explain it."""
    everywhere = 2 * evidence["sampled_also_off"] > evidence["sampled"]
    alone = evidence["rank_with_its_own_vector"]
    rank = evidence["rank_with_nearest_embedded_again"] if everywhere else alone
    anew = f"with its {evidence['embedded_again']} nearest rivals " if everywhere else ""
    return Finding(
        Cause.VECTOR, Verdict.FOUND,
        f"its stored vector is not that of its text (cosine {cosine:.2f}): {how}; "
        f"{evidence['sampled_also_off']} of {evidence['sampled']} others sampled are off too; "
        f"embedded anew {anew}it would rank {rank}",
        evidence,
        "Embed the index again with its own encoder (`argus index build --fresh`), or search with "
        "the encoder and prompts that made the vectors."
        if everywhere else "Delete this document and add it again.",
        decisive=rank <= case.k,
    )  # fmt: skip


def _imported(case: Case) -> VectorEvidence:
    """Return what the index's summary says of vectors that a person brought along."""
    folder = case.retriever.index.path
    try:
        build = read_section(IndexBuild, folder, "index")
    except (InputError, OSError):
        build = None
    if build is None:
        return {}  # embedded by Argus, or an index that a program made
    own = build["vectors"]
    return {"vectors_imported_from": own["file"], "scaled_to_length_1": own["normalised"]}


def _spread(case: Case, seed: int) -> VectorEvidence:
    """Embed a seeded sample of other documents again, to see whether it is this one alone."""
    rows = [
        row for row, kind in enumerate(case.snapshot.columns["kind"].to_pylist())
        if kind == ORIGINAL and row != case.original
    ]  # fmt: skip
    sample = np.random.default_rng(seed).permutation(rows)[:SAMPLE].tolist()
    if not sample:
        return {"sampled": 0, "sampled_also_off": 0}
    texts = case.snapshot.columns["text"].take(sample).to_pylist()
    encoder = case.retriever.encoder
    fresh = directions(encoder, encoder.encode_documents(texts))
    cosines = np.einsum("ij,ij->i", fresh, directions(encoder, case.snapshot.vectors[sample]))
    return {
        "sampled": len(sample),
        "sampled_also_off": int((cosines < SAME).sum()),
        "sampled_median_cosine": round(float(np.median(cosines)), 4),
    }


def _mended(case: Case, place: Standing, fresh: FloatArray) -> VectorEvidence:
    """Rank the document with its own vector, among rivals as they are and embedded again."""
    own = float(case.scores_with(fresh[None])[0])
    nearest = case.top(max(2 * case.k, NEAREST))
    rows = [
        (doc, row) for doc in nearest if doc != case.doc_id for row in case.snapshot.rows_of(doc)
    ]
    texts = case.snapshot.columns["text"].take([row for _, row in rows]).to_pylist()
    again = case.scores_with(case.retriever.encoder.encode_documents(texts)).tolist()
    kinds = case.snapshot.columns["kind"].take([row for _, row in rows]).to_pylist()
    scored: dict[str, list[tuple[str, float]]] = {}
    for (doc, _), kind, score in zip(rows, kinds, again, strict=True):
        scored.setdefault(doc, []).append((kind, score))
    rivals = [case.folded(doc, views) for doc, views in scored.items()]
    original = next(view.id for view in case.views if view.kind == ORIGINAL)
    views = [(view.kind, view.score) for view in place.views if view.id != original]
    whole = case.folded(case.doc_id, [(ORIGINAL, own), *views])
    return {
        "score_with_its_own_vector": round(own, 4),
        "rank_with_its_own_vector": case.rank_of_score(whole),
        "rank_with_nearest_embedded_again": 1 + sum(score > whole for score in rivals),
        "embedded_again": len(rivals),
    }


def _query_side(case: Case) -> VectorEvidence:
    """Rank the document for the query without the model's query prompt."""
    encoder = case.retriever.encoder
    if not isinstance(encoder, SentenceTransformerEncoder):
        return {}
    prompt = encoder.prompts.query.text
    if not prompt or prompt == document_prompt(encoder):
        return {}
    bare = next(iter(encoder.model.encode([case.query], prompt="", normalize_embeddings=True)))
    vector = case.retriever.recipe.correct(np.asarray(bare, np.float32)[None])
    rank = case.rank(case.doc_id, vector)
    return {"query_prompt": prompt, "rank_without_query_prompt": rank}


def _misplaced(case: Case, fresh: FloatArray) -> VectorEvidence:
    """Look whether the right vector is stored under another id: rows out of order."""
    nearest = case.snapshot.search(fresh[None], 1)
    doc, score = nearest.doc_ids[0][0], nearest.scores[0][0]
    if doc == case.doc_id or score < REPRODUCED or case.snapshot.reach != 1:
        return {}
    return {"its_vector_is_stored_under": doc, "its_vector_cosine": round(score, 4)}


def _explained(
    case: Case, encoder: Encoder, stored: FloatArray, config: ExplainConfig
) -> tuple[Variant, float, str]:
    document, where = corpus_document(
        case.doc_id, case.retriever.index.path, config.corpus, config.fields
    )
    title = document.title if document is not None else ""
    tried = list(variants(encoder, case.text, title or None))
    variant, cosine = closest(tried, stored, SLACK)
    return variant, cosine, where if title else "guessed: the first words of the text"


def _how(variant: Variant, cosine: float, evidence: VectorEvidence) -> str:
    if "its_vector_is_stored_under" in evidence:
        return (
            f"that vector is stored under {evidence['its_vector_is_stored_under']!r}, so rows are "
            "out of order"
        )
    changes = " and ".join(variant.changes) or "nothing that was tried"
    if cosine >= SAME and variant.changes:
        return f"{changes} reproduces it (cosine {cosine:.4f})"
    return f"another model or another text; {changes} comes nearest (cosine {cosine:.2f})"


def check_window(case: Case, place: Standing) -> Finding[WindowEvidence]:
    """Say how much of the document the encoder never read, and whether the answer stands there."""
    cause = Cause.WINDOW
    encoder = case.retriever.encoder
    if case.original is None:
        text = "the document's own text is not in this state"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None:
        text = "the encoder does not tell how much it reads"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    tokens, window = int(encoder.count_tokens([case.text])[0]), encoder.max_tokens
    evidence: WindowEvidence = {"tokens": tokens, "window": window}
    if tokens <= window:
        text = f"all of its {tokens} tokens were read (window {window})"
        return Finding(cause, Verdict.RULED_OUT, text, evidence)
    pieces, unread = window_of(encoder, case.text, case.query)
    best = float(case.scores_with(encoder.encode_documents(pieces)).max())
    best -= case.penalty(case.doc_id)
    evidence |= {
        **unread,
        "best_unread_score": round(best, 4),
        "rank_of_unread_part": case.rank_of_score(best),
        "tokens_unread": tokens - window,
    }
    return beyond_the_window(case.k, place.dense.score, evidence)


def window_of(encoder: TokenCounter, text: str, query: str) -> tuple[list[str], WindowEvidence]:
    """Return what lies beyond the window as texts of its own, and what it says of the query."""
    read = _characters_read(encoder, text)
    pieces = _pieces(encoder, text[read:]) or [text]  # no text left but white space
    there = set(words(text[read:])) - set(words(text[:read]))
    only = [term for term in dict.fromkeys(query_words(query)) if term in there]
    return pieces, {"characters_read": read, "query_terms_only_in_unread_part": only}


def beyond_the_window(
    k: int, own: float | None, evidence: WindowEvidence
) -> Finding[WindowEvidence]:
    """Conclude from what was never read, and where it would rank as a text of its own.

    own: the document's score. evidence: all of it.
    """
    cause, best = Cause.WINDOW, evidence["best_unread_score"]
    unread = f"{evidence['tokens_unread']} of its {evidence['tokens']} tokens were never read"
    rank, only = evidence["rank_of_unread_part"], evidence["query_terms_only_in_unread_part"]
    if rank <= k and (own is None or best > own):
        terms = f" (only there: {', '.join(only[:5])})" if only else ""
        return Finding(
            cause, Verdict.FOUND,
            f"{unread}; as a text of its own, the unread part{terms} would rank {rank}",
            evidence,
            "Split the document into passages that fit the window, or use an encoder that reads "
            "more.",
            decisive=True,
        )  # fmt: skip
    harmless = (
        "what was read is as near to the query"
        if rank <= k
        else f"the unread part on its own would rank {rank}"
    )
    text = f"{unread}, but {harmless}"
    return Finding(cause, Verdict.RULED_OUT, text, evidence, decisive=False)


def _characters_read(encoder: TokenCounter, text: str) -> int:
    """Return how many characters fit the window: the longest beginning that does."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if int(encoder.count_tokens([text[:middle]])[0]) <= (encoder.max_tokens or 1 << 30):
            low = middle
        else:
            high = middle - 1
    return low


def _pieces(encoder: TokenCounter, text: str) -> list[str]:
    """Cut a text into pieces that fit the window, at white space where there is some."""
    pieces = []
    rest = text.strip()
    while rest:
        end = max(1, _characters_read(encoder, rest))
        if end < len(rest) and (space := rest[:end].rfind(" ")) > 0:
            end = space
        pieces.append(rest[:end])
        rest = rest[end:].strip()
    return pieces
