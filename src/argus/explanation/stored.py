"""Check that an index holds a view of a document, the vector of its text, and all of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.corpora import NamedCorpus, named
from argus.corpora.opening import read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder, TokenCounter
from argus.encoders.protocol import directions, unit_rows
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import ArgusError, EncodingError, InputError
from argus.explanation.case import Case
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Evidence, Finding, Standing, near_ids
from argus.indexes.fold import ORIGINAL
from argus.indexes.lexical import query_words, words
from argus.indexes.snapshot import rows_to_views

if TYPE_CHECKING:
    import torch

SAME = 0.99
"""Cosine from which two vectors count as made the same way. Half precision stays above 0.999."""
REPRODUCED = 0.999
NEAREST = 50
"""Rivals that are embedded again, or 2k where that is more."""
SAMPLE = 16
"""Other documents that are embedded again to see how far a mismatch reaches."""
MISSING = (InputError, OSError, KeyError, TypeError)
"""Errors of reading a section that an index of a program lacks."""

CUTS = (512, 256, 128)
"""Tokens, and characters, at which texts are often cut."""
MAX_TITLE = 12
"""Words at the beginning that may have been a title."""
SLACK = 0.0005
"""Difference in cosine below which the variant with fewer changes is preferred."""
PROMPTS = {"query: ": "the prompt 'query: ' used", "passage: ": "the prompt 'passage: ' used"}
"""Prompts of the E5 family. Tried if the model has no prompt of its own."""


def check_presence(case: Case, corpus: NamedCorpus | None, fields: FieldNames) -> Finding:
    """Say whether this state of the index holds the document and, if not, where it was lost.

    Evidence: `views` (count by kind), or `documents_in_this_state` with `first_state_that_holds_it`
    (None: only now), `document_of_this_view`, or `near_ids` and `corpus`, the file that was read or
    the reason why none was.
    """
    if case.present:
        kinds = [view.kind for view in case.views]
        text = f"it is in the index, through {len(kinds)} view{'s' * (len(kinds) > 1)}"
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        return Cause.ABSENT.ruled_out(text, {"views": counts})
    index, own = case.retriever.index, case.doc_id
    views = {view.id: view.doc_id for view in rows_to_views(index.rows())}
    owner, now = views.get(own), set(views.values())
    evidence: Evidence = {"documents_in_this_state": len(case.snapshot)}
    if own in now:
        states = (remedy.id for remedy in index.remedies())
        state = next((s for s in states if own in index.rows(s)["doc_id"].to_pylist()), None)
        evidence["first_state_that_holds_it"] = state
        place = str(index.path) if state is None else f"{index.path}@{state}"
        text = f"it is in the index now, but was not yet in the state {case.retriever.as_of!r}"
        advice = f"Search {place}, or the index as it is now."
    elif owner is not None:
        evidence["document_of_this_view"] = owner
        text = f"{own!r} is no document but a view of document {owner!r}"
        advice = f"Ask for {owner!r}."
    else:
        near = near_ids(own, case.snapshot.doc_ids)
        document, file = find_in_corpus(own, index.path, corpus, fields)
        evidence |= {"near_ids": near, "corpus": file}
        text, meant = "it is not in the index", f"Did you mean {near[0]!r}? " if near else ""
        if file.startswith("could not"):
            advice = f"{meant}Check the id, or add the document with `argus index add`."
        elif document is None:
            text, advice = f"{text}, and not in the corpus either", f"{meant}Check the id."
        elif not document.content.strip():
            text += ": the corpus has it, but without text"
            advice = "Give it a text (mind --text-field), then `argus index add`."
        else:
            text += ", though the corpus has it with text: it was deleted, left out by --limit, "
            text += "failed to be embedded, or came later"
            summary = index.path / "summary.json"
            advice = f"See the failures in {summary}, then `argus index add`."
    return Cause.ABSENT.found(text, evidence, advice)


def find_in_corpus(
    doc_id: str, index: Path, corpus: NamedCorpus | None, fields: FieldNames
) -> tuple[Document | None, str]:
    """Return the document as the corpus has it, and the file that was read.

    corpus: None reads the file that the index's manifest names. The second value begins with "could
    not" where there is no such file, or where these columns do not read it.
    """
    path = corpus
    if path is None:
        with suppress(*MISSING):
            manifest = ArtifactFolder(index).read_json(MANIFEST)
            path = named(manifest["index"]["inputs"]["corpus"]["file"])
    if path is None:
        return None, "could not be looked at: the index does not name its corpus (--corpus FILE)"
    if isinstance(path, Path) and corpus is None and not path.exists():
        return None, f"could not be looked at: {path} is gone (--corpus FILE)"
    try:
        documents = read_corpus(path, fields)
    except ArgusError as error:
        if corpus is not None:
            raise
        return None, f"could not be looked at: {error}"
    return next((d for d in documents if d.id == doc_id), None), str(path)


def check_vector(case: Case, place: Standing, config: ExplainConfig) -> Finding:
    """Embed the document's own text again, and name the change that makes the stored vector.

    Evidence: `cosine` of the stored and the new vector; `vectors_imported_from` and
    `sampled`, `sampled_also_off` and
    `sampled_median_cosine` of other documents; `score_with_its_own_vector`,
    `rank_with_its_own_vector`, and `rank_with_nearest_embedded_again` among `embedded_again`
    rivals; `query_prompt` and `rank_without_query_prompt`; `its_vector_is_stored_under` and
    `its_vector_cosine` for rows out of order; `closest_variant` (changes), `closest_cosine` and
    `title_from`.
    """
    cause, blend = Cause.VECTOR, case.snapshot.blend
    if case.original is None:
        reason = "has no view of its own text" if case.present else "is not in this state"
        return cause.unchecked(f"the document {reason}")
    if blend is not None and blend.smoothing:
        reason = "vectors are smoothed here: ask the state before the blend"
        return cause.unchecked(reason)
    encoder = case.retriever.encoder
    try:
        fresh = encoder.encode_documents([case.text])[0]
    except EncodingError as error:
        return cause.unchecked(f"its text could not be embedded again: {error}")
    stored = np.asarray(case.snapshot.vectors[case.original], np.float32)
    rows = directions(encoder, np.stack([fresh, stored]))
    cosine = float(rows[0] @ rows[1])
    evidence: Evidence = {"cosine": round(cosine, 4)}
    with suppress(*MISSING):
        own = ArtifactFolder(case.retriever.index.path).read_json(SUMMARY)["index"]["vectors"]
        evidence |= {"vectors_imported_from": own["file"]}
    if cosine >= SAME:
        text = f"its stored vector is that of its text (cosine {cosine:.4f})"
        return cause.ruled_out(text, evidence)

    document, where = find_in_corpus(
        case.doc_id, case.retriever.index.path, config.corpus, config.fields
    )
    title = document.title if document is not None else ""
    changes, near = closest_variant(encoder, case.text, title or None, rows[1])
    evidence |= _compare_sample(case, config.seed)
    evidence |= _rank_embedded_again(case, place, fresh)
    if isinstance(encoder, SentenceTransformerEncoder):
        prompt = encoder.prompts.query.text
        if prompt and prompt != encoder.prompts.document.text:
            bare = encoder.model.encode([case.query], prompt="", normalize_embeddings=True)
            without = case.retriever.recipe.correct(np.asarray(bare, np.float32))
            rank = case.rank(case.doc_id, without)
            evidence |= {"query_prompt": prompt, "rank_without_query_prompt": rank}
    how = " and ".join(changes) or "nothing that was tried"
    if near >= SAME and changes:
        how = f"{how} reproduces it (cosine {near:.4f})"
    else:
        how = f"another model or another text; {how} comes nearest (cosine {near:.2f})"
    nearest = case.snapshot.search(fresh[None], 1)
    doc, score = nearest.doc_ids[0][0], nearest.scores[0][0]
    if doc != case.doc_id and score >= REPRODUCED and case.snapshot.reach == 1:
        evidence |= {"its_vector_is_stored_under": doc, "its_vector_cosine": round(score, 4)}
        how = f"that vector is stored under {doc!r}, so rows are out of order"
    evidence |= {
        "closest_variant": changes,
        "closest_cosine": round(near, 4),
        "title_from": where if title else "guessed: the first words of the text",
    }

    others_off, sampled = evidence["sampled_also_off"], evidence["sampled"]
    rank, anew = evidence["rank_with_its_own_vector"], ""
    advice = "Delete this document and add it again."
    if 2 * others_off > sampled:
        rank = evidence["rank_with_nearest_embedded_again"]
        anew = f"with its {evidence['embedded_again']} nearest rivals "
        advice = (
            "Embed the index again with its own encoder (`argus index build --fresh`), or search "
            "with the encoder and prompts that made the vectors."
        )
    text = (
        f"its stored vector is not that of its text (cosine {cosine:.2f}): {how}; {others_off} of "
        f"{sampled} others sampled are off too; embedded anew {anew}it would rank {rank}"
    )
    return cause.found(text, evidence, advice, decisive=rank <= case.k)


def closest_variant(
    encoder: Encoder, text: str, title: str | None, stored: FloatArray
) -> tuple[list[str], float]:
    """Return the changes that bring the vector of a text closest to a stored one, and its cosine.

    The list is empty for the encoder's own way. title: None tries each beginning of up to 12 words
    as one. Only sentence-transformers models vary in prompt and pooling.
    """
    tried = list(_variants(encoder, text, title))
    cosines = [float(vector @ stored) for _, vector in tried]
    near = [i for i, cosine in enumerate(cosines) if cosine >= max(cosines) - SLACK]
    best = min(near, key=lambda i: (len(tried[i][0]), i))
    return tried[best][0], cosines[best]


def _variants(
    encoder: Encoder, text: str, title: str | None
) -> Iterator[tuple[list[str], FloatArray]]:
    """Yield changes and the unit vector that they make, the encoder's own way first."""
    texts = dict(_texts(text, title))
    if not isinstance(encoder, SentenceTransformerEncoder):
        rows = directions(encoder, encoder.encode_documents(list(texts.values())))
        for change, vector in zip(texts, rows, strict=True):
            yield [change] if change else [], vector
        yield ["embedded as a query"], directions(encoder, encoder.encode_queries([text]))[0]
        return
    before = encoder.model.max_seq_length
    try:
        for prompt, prompting in _prompts(encoder).items():
            for window, cut in _windows(encoder, text).items():
                encoder.model.max_seq_length = window
                for change, other in ({"": text} if cut else texts).items():
                    for pooling, vector in _poolings(encoder, other, prompt):
                        yield [c for c in (prompting, change, cut, pooling) if c], vector
    finally:
        encoder.model.max_seq_length = before


def _texts(text: str, title: str | None) -> Iterator[tuple[str, str]]:
    yield "", text
    if text.lower() != text:
        yield "text lower-cased", text.lower()
    if title:
        if (rest := text.removeprefix(title).strip()) and rest != text:
            yield f"title {title!r} left out", rest
    else:
        parts = text.split()
        for n in range(1, min(MAX_TITLE, len(parts) - 1) + 1):
            yield f"title left out (the first {n} words)", " ".join(parts[n:])
    for n in CUTS:
        if len(text) > n:
            yield f"text cut to {n} characters", text[:n]


def _prompts(encoder: SentenceTransformerEncoder) -> dict[str, str]:
    """Return prompts and the change that each makes, "" for the model's own document prompt."""
    own = encoder.prompts.document.text
    changes = {own: ""}
    if own:
        changes[""] = f"the document prompt {own!r} left out"
    for name, prompt in (encoder.model.prompts or {}).items():
        if prompt:
            changes.setdefault(prompt, f"the {name} prompt {prompt!r} used")
    return changes if len(changes) > 1 else changes | PROMPTS


def _windows(encoder: SentenceTransformerEncoder, text: str) -> dict[int | None, str]:
    """Return windows in tokens that read more or less of a text, and the change of each."""
    own = encoder.max_tokens
    tokens = int(encoder.count_tokens([text])[0])
    module = next(iter(encoder.model.children()), None)
    config = getattr(getattr(module, "auto_model", None), "config", None)
    longest = getattr(config, "max_position_embeddings", None) or own or tokens
    cuts = (n for n in CUTS if n <= longest and min(n, tokens) != min(tokens, own or tokens))
    return {own: "", **{n: f"text cut to {n} tokens" for n in cuts}}


def _poolings(
    encoder: SentenceTransformerEncoder, text: str, prompt: str
) -> Iterator[tuple[str, FloatArray]]:
    """Yield poolings and their vectors from one forward pass, "" for the model's own."""
    import torch

    def unit(embedding: torch.Tensor) -> FloatArray:
        rows = embedding[:, : encoder.dim].float().cpu().numpy()
        vector: FloatArray = unit_rows(np.asarray(rows, np.float32))[0]
        return vector

    model = encoder.model
    modules: list[Any] = list(model.children())
    features = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in model.preprocess([text], prompt=prompt or None, task="document").items()
    }
    names = [type(module).__name__ for module in modules]
    with torch.inference_mode():
        out = model(features, task="document") if "Router" in names else model(features)
        yield "", unit(out["sentence_embedding"])
        if "Pooling" not in names or "token_embeddings" not in out:
            return
        at = names.index("Pooling")
        tokens = out["token_embeddings"][:, out["attention_mask"][0].bool()]  # (1, n_read, hidden)
        pooled = {
            "mean": tokens.mean(dim=1),
            "cls": tokens[:, 0],
            "max": tokens.max(dim=1).values,
            "lasttoken": tokens[:, -1],
        }
        pooled.pop(str(getattr(modules[at], "pooling_mode", "")), None)
        for pooling, vector in pooled.items():
            outputs = {"sentence_embedding": vector}
            for module in modules[at + 1 :]:
                outputs = module(outputs)
            yield f"{pooling} pooling", unit(outputs["sentence_embedding"])


def _compare_sample(case: Case, seed: int) -> Evidence:
    """Embed a seeded sample of other documents again, to see whether more vectors are off."""
    kinds = case.snapshot.columns["kind"].to_pylist()
    rows = [row for row, kind in enumerate(kinds) if kind == ORIGINAL and row != case.original]
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


def _rank_embedded_again(case: Case, place: Standing, fresh: FloatArray) -> Evidence:
    """Rank the document with its own vector, among rivals as they are and embedded again."""
    own = float(case.scores_of(fresh[None])[0])
    rivals = [doc for doc in case.top(max(2 * case.k, NEAREST)) if doc != case.doc_id]
    owned = [(doc, row) for doc in rivals for row in case.snapshot.rows_of(doc)]
    rows = [row for _, row in owned]
    columns = case.snapshot.columns
    again = case.retriever.encoder.encode_documents(columns["text"].take(rows).to_pylist())
    scored: dict[str, list[tuple[str, float]]] = {}
    kinds, scores = columns["kind"].take(rows).to_pylist(), case.scores_of(again).tolist()
    for (doc, _), kind, score in zip(owned, kinds, scores, strict=True):
        scored.setdefault(doc, []).append((kind, score))
    original = next(view.id for view in case.views if view.kind == ORIGINAL)
    views = [(view.kind, view.score) for view in place.views if view.id != original]
    whole = case.fold_views(case.doc_id, [(ORIGINAL, own), *views])
    above = sum(case.fold_views(doc, views) > whole for doc, views in scored.items())
    return {
        "score_with_its_own_vector": round(own, 4),
        "rank_with_its_own_vector": case.rank_of_score(whole),
        "rank_with_nearest_embedded_again": 1 + above,
        "embedded_again": len(scored),
    }


def check_window(case: Case, place: Standing) -> Finding:
    """Say how much of the document the encoder never read, and how the unread part would rank.

    Evidence: `tokens`, `window`, `tokens_unread`, `characters_read`, `best_unread_score`,
    `rank_of_unread_part`, `query_terms_only_in_unread_part`.
    """
    cause, encoder = Cause.WINDOW, case.retriever.encoder
    if case.original is None:
        return cause.unchecked("the document's own text is not in this state")
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None:
        return cause.unchecked("the encoder does not tell how much it reads")

    def rank(pieces: list[str]) -> tuple[float, int]:
        best = float(case.scores_of(encoder.encode_documents(pieces)).max())
        best -= case.penalty(case.doc_id)
        return best, case.rank_of_score(best)

    return judge_window(encoder, case.text, case.query, case.k, place.dense.score, rank)


def judge_window(
    encoder: TokenCounter,
    text: str,
    query: str,
    k: int,
    own: float | None,
    rank: Callable[[list[str]], tuple[float, int]],
) -> Finding:
    """Conclude from the score and rank of the unread part as a text of its own.

    own: the document's score. rank: returns score and rank of the best of some pieces of text.
    Evidence as in `check_window`.
    """

    def characters_read(part: str) -> int:  # of the longest beginning that fits
        low, high = 0, len(part)
        while low < high:
            middle = (low + high + 1) // 2
            if int(encoder.count_tokens([part[:middle]])[0]) <= window:
                low = middle
            else:
                high = middle - 1
        return low

    cause = Cause.WINDOW
    tokens, window = int(encoder.count_tokens([text])[0]), encoder.max_tokens or 1 << 30
    evidence: Evidence = {"tokens": tokens, "window": window}
    if tokens <= window:
        whole = f"all of its {tokens} tokens were read (window {window})"
        return cause.ruled_out(whole, evidence)
    read, pieces = characters_read(text), []  # pieces of the unread part, each within the window
    rest = text[read:].strip()
    while rest:
        end = max(1, characters_read(rest))
        if end < len(rest) and (space := rest[:end].rfind(" ")) > 0:
            end = space
        pieces.append(rest[:end])
        rest = rest[end:].strip()
    there = set(words(text[read:])) - set(words(text[:read]))
    only = [term for term in dict.fromkeys(query_words(query)) if term in there]
    best, place = rank(pieces or [text])  # only white space is unread
    evidence |= {
        "characters_read": read, "query_terms_only_in_unread_part": only,
        "best_unread_score": round(best, 4), "rank_of_unread_part": place,
        "tokens_unread": tokens - window,
    }  # fmt: skip
    unread = f"{tokens - window} of its {tokens} tokens were never read"
    if place <= k and (own is None or evidence["best_unread_score"] > own):
        terms = f" (only there: {', '.join(only[:5])})" if only else ""
        unread += f"; as a text of its own, the unread part{terms} would rank {place}"
        advice = (
            "Split the document into passages that fit the window, or use an encoder that reads "
            "more."
        )
        return cause.found(unread, evidence, advice, decisive=True)
    harmless = "what was read is as near to the query"
    harmless = harmless if place <= k else f"the unread part on its own would rank {place}"
    return cause.ruled_out(f"{unread}, but {harmless}", evidence, decisive=False)
