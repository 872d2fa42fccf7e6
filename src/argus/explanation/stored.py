"""Check that an index holds a document, the right vector for its text, and all of its text.

`check_presence` (is it there, and where was it lost?), `check_vector` (embed the text again and
compare) and `check_window` (what did the encoder never read?): a `Case`, and its standing or its
corpus -> a `Finding`. They are three of the causes of `argus.explanation.job`. `judge_window`,
which says whether the unread text is why it was missed, serves `argus.explanation.run`, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from argus.corpora import NamedCorpus, named
from argus.corpora.opening import read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import MANIFEST, ArtifactFolder
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder, TokenCounter
from argus.encoders.protocol import directions
from argus.errors import ArgusError, EncodingError, InputError
from argus.explanation.case import Case
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Evidence, Finding, Standing, near_ids
from argus.indexes.fold import ORIGINAL
from argus.indexes.lexical import query_words, words
from argus.indexes.snapshot import rows_to_views

# Cosine from which two vectors count as made the same way. Half precision stays above 0.999.
SAME = 0.99
REPRODUCED = 0.999
# Other documents that are embedded again to see how far a mismatch reaches.
SAMPLE = 16
# Errors of reading a section that an index of a program lacks.
MISSING = (InputError, OSError, KeyError, TypeError)
# Characters at which texts are often cut.
CUTS = (512, 256, 128)
# Prompts of the E5 family.
PROMPTS = ("query: ", "passage: ")


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

    Evidence: `cosine` of the stored and the new vector, `sampled` and `sampled_also_off` of other
    documents, `rank_with_its_own_vector`, `its_vector_is_stored_under` for rows out of order, and
    `closest_variant` with `closest_cosine`.
    """
    cause, snapshot = Cause.VECTOR, case.snapshot
    if case.original is None:
        reason = "has no view of its own text" if case.present else "is not in this state"
        return cause.unchecked(f"the document {reason}")
    encoder = case.retriever.encoder
    try:
        fresh = encoder.encode_documents([case.text])[0]
    except EncodingError as error:
        return cause.unchecked(f"its text could not be embedded again: {error}")
    stored = np.asarray(snapshot.vectors[case.original], np.float32)
    rows = directions(encoder, np.stack([fresh, stored]))
    cosine = float(rows[0] @ rows[1])
    evidence: Evidence = {"cosine": round(cosine, 4)}
    if cosine >= SAME:
        text = f"its stored vector is that of its text (cosine {cosine:.4f})"
        return cause.ruled_out(text, evidence)
    title = case.views[case.original - case.rows.start].source
    change, near = closest_variant(encoder, case.text, title, rows[1])
    how = f"another model or another text; {change} comes nearest (cosine {near:.2f})"
    if near >= SAME:
        how = f"{change} reproduces it (cosine {near:.4f})"
    nearest = snapshot.search(fresh[None], 1)
    if nearest.doc_ids[0][0] != case.doc_id and nearest.scores[0][0] >= REPRODUCED:
        evidence["its_vector_is_stored_under"] = doc = nearest.doc_ids[0][0]
        how = f"that vector is stored under {doc!r}, so rows are out of order"
    own = float(case.scores_of(fresh[None])[0])
    rank = case.rank_of_score(max(own, place.dense.score or own))
    kinds = snapshot.columns["kind"].to_pylist()
    others = [row for row, kind in enumerate(kinds) if kind == ORIGINAL and row != case.original]
    sample = np.random.default_rng(config.seed).permutation(others)[:SAMPLE].tolist()
    off, sampled = 0, len(sample)
    if sample:
        texts = snapshot.columns["text"].take(sample).to_pylist()
        anew = directions(encoder, encoder.encode_documents(texts))
        cosines = np.einsum("ij,ij->i", anew, directions(encoder, snapshot.vectors[sample]))
        off = int((cosines < SAME).sum())
    evidence |= {
        "sampled": sampled,
        "sampled_also_off": off,
        "rank_with_its_own_vector": rank,
        "closest_variant": change,
        "closest_cosine": round(near, 4),
    }
    advice = "Delete this document and add it again."
    if 2 * off > sampled:
        advice = (
            "Embed the index again with its own encoder (`argus index build --fresh`), or search "
            "with the encoder and prompts that made the vectors."
        )
    text = (
        f"its stored vector is not that of its text (cosine {cosine:.2f}): {how}; {off} of "
        f"{sampled} others sampled are off too; embedded anew it would rank {rank}"
    )
    return cause.found(text, evidence, advice, decisive=rank <= case.k)


def closest_variant(
    encoder: Encoder, text: str, title: str | None, stored: FloatArray
) -> tuple[str, float]:
    """Return the change that brings the vector closest to a stored one, and its cosine."""
    texts = {"text lower-cased": text.lower()}
    texts |= {f"text cut to {n} characters": text[:n] for n in CUTS}
    texts |= {f"the prompt {prompt!r} used": prompt + text for prompt in PROMPTS}
    if title and (rest := text.removeprefix(title).strip()):
        texts[f"title {title!r} left out"] = rest
    vectors = [encoder.encode_documents(list(texts.values())), encoder.encode_queries([text])]
    cosines = directions(encoder, np.concatenate(vectors)) @ stored
    best = int(np.argmax(cosines))
    return [*texts, "the text embedded as a query"][best], float(cosines[best])


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
