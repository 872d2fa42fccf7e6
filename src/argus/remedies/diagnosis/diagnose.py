"""Diagnosis: which entities of which documents have a low predicted RPS (ARGUS §5.1, §D).

Every mention is embedded in its context and scored by a probe; an entity of a document takes the
minimum over its occurrences (§D.2) and is flagged once when that is below τ. Nothing is indexed,
no query is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, Span, State, View
from argus.encoders import EmbeddingStore, Encoder, Item, Role, TokenCounter, embed
from argus.errors import InputError
from argus.knowledge.spotting import LeavesOut, Mention, MentionFinder, without_surrogates
from argus.progress import progress
from argus.remedies.diagnosis.config import TAU
from argus.retrievability.probes import Probe

"""Default threshold of ARGUS §4.1."""
UNREAD = "beyond what the model reads of the document"


@dataclass(frozen=True, slots=True)
class Risk:
    """One entity of one document: an entity is a surface form, as in ARGUS §D.1."""

    doc_id: str
    entity: str
    spans: tuple[Span, ...]
    """Every occurrence, in characters of the document's content, in order."""
    entity_ids: tuple[str, ...]
    """Entities of the knowledge base that bear the name; empty where the finder does not link."""
    rps: float | None
    """Least predicted RPS over the occurrences that could be scored; None without any."""
    state: State
    reason: str = ""
    unread: int = 0
    """Occurrences beyond what the encoder reads of a document: its vector knows nothing of them."""

    def below(self, tau: float) -> bool:
        """Return whether the entity is at risk. What could not be scored is not flagged."""
        return self.rps is not None and self.rps < tau


@dataclass(frozen=True)
class Diagnosis:
    """The entities of a corpus, ordered by document and first occurrence."""

    risks: list[Risk]
    tau: float
    documents: int
    """Documents that were read."""
    finder: str = ""
    """What found the mentions."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many names the finder did not look for, by reason."""

    def flagged(self) -> dict[str, list[Risk]]:
        """Return the entities at risk of each document that has any, `E_risk(d)`."""
        risks: dict[str, list[Risk]] = {}
        for risk in self.risks:
            if risk.below(self.tau):
                risks.setdefault(risk.doc_id, []).append(risk)
        return risks


def diagnose_documents(
    documents: Sequence[Document],
    finder: MentionFinder,
    encoder: Encoder,
    store: EmbeddingStore,
    probe: Probe,
    *,
    tau: float = TAU,
) -> Diagnosis:
    """Find the entities of every document and predict their RPS.

    Spans refer to `Document.content`, the text that is indexed; a mention is part of the title or
    of the text, never of both. A mention that the encoder cannot embed is failed; one beyond the
    probe's training region is not applicable. An entity is measured when any of its occurrences
    is. A mention beyond the encoder's window is read in a window of its own and counted in
    `Risk.unread`; it is failed where the encoder pools no spans, since the document's vector says
    nothing of it. Raises ProbeMismatch for a probe of another encoder.
    """
    check_tau(tau)
    pooling = "span" if encoder.pools_spans else "sentence"
    probe.check_vectors_of(encoder.fingerprint, pooling, where=Path("the probe given"))
    texts = [without_surrogates(d.content) for d in documents]  # tokenizers take no others
    mentions = find_mentions(texts, finder)
    _mend_seams(mentions, texts, documents, finder)
    placed = [(i, mention.span) for i, own in enumerate(mentions) for mention in own]
    unread = beyond_window(texts, placed, encoder)
    if encoder.pools_spans:
        items = [Item(texts[i], Role.SPAN, span) for i, span in placed]
    else:  # the document's own vector, where that has read the mention
        items = [Item(texts[placed[n][0]], Role.DOCUMENT) for n in np.flatnonzero(~unread)]
    predictions = iter(score_items(items, encoder, store, probe))
    lost = unread & (not encoder.pools_spans)
    scores = [Scored(None, State.FAILED, UNREAD) if far else next(predictions) for far in lost]
    risks: list[Risk] = []
    first = 0
    for document, own in zip(documents, mentions, strict=True):
        part = slice(first, first + len(own))
        risks += _risks(document.id, own, scores[part], unread[part])
        first += len(own)
    return Diagnosis(risks, tau, len(documents), finder.name, _left_out(finder))


@dataclass(frozen=True, slots=True)
class Scored:
    """The prediction for one mention."""

    rps: float | None
    state: State
    reason: str = ""


def score_items(
    items: Sequence[Item], encoder: Encoder, store: EmbeddingStore, probe: Probe
) -> list[Scored]:
    """Embed mentions and predict their RPS, one result per item."""
    embedded = embed(items, encoder, store, what="mentions")
    prediction = probe.predict(embedded.vectors)
    results = iter(zip(prediction.rps.tolist(), prediction.in_domain.tolist(), strict=True))
    scores: list[Scored] = []
    for position, ok in enumerate(embedded.ok):
        if not ok:
            scores.append(Scored(None, State.FAILED, embedded.failures[position]))
            continue
        rps, inside = next(results)
        scores.append(
            Scored(rps, State.MEASURED)
            if inside
            else Scored(None, State.NOT_APPLICABLE, "beyond the probe's training region")
        )
    return scores


def rps_in_views(
    risks: Sequence[Risk],
    views: Mapping[str, Sequence[View]],
    encoder: Encoder,
    store: EmbeddingStore,
    probe: Probe,
) -> list[list[float]]:
    """Return what the probe predicts for each entity, once per view of its document that is read.

    The entity is read at its first mention in the view's text, whatever the white space in it; not
    in front of where the document mentions it, where the name is part of another word, and not
    beyond what the encoder reads of the view.
    """
    owners: list[int] = []
    texts: list[str] = []
    places: list[Span] = []
    for i, risk in enumerate(risks):
        name = re.compile(r"\s+".join(map(re.escape, risk.entity.split())))
        for view in views.get(risk.doc_id, ()):
            mention = name.search(view.text, risk.spans[0].start) or name.search(view.text)
            if mention:
                owners.append(i)
                texts.append(view.text)
                places.append(Span(*mention.span()))
    within = np.flatnonzero(~beyond_window(texts, list(enumerate(places)), encoder))
    items = [
        Item(texts[j], Role.SPAN, places[j])
        if encoder.pools_spans
        else Item(texts[j], Role.DOCUMENT)
        for j in within
    ]
    predicted: list[list[float]] = [[] for _ in risks]
    for j, score in zip(within, score_items(items, encoder, store, probe), strict=True):
        if score.rps is not None:
            predicted[owners[j]].append(score.rps)
    return predicted


def find_mentions(texts: Sequence[str], finder: MentionFinder) -> list[list[Mention]]:
    """Return the mentions of every text.

    The finder gets all texts at once: some look at all of them to tell names from common words.
    """
    everywhere: list[list[Mention]] = []
    with progress("finding mentions", len(texts)) as advance:
        for mentions in finder.find(texts):
            everywhere.append(mentions)
            advance(1)
    return everywhere


def _mend_seams(
    mentions: list[list[Mention]],
    texts: Sequence[str],
    documents: Sequence[Document],
    finder: MentionFinder,
) -> None:
    """Replace, in place, the mentions of documents in which one runs from the title into the text.

    White space joins both, so that a title "Doc 0" in front of "Bern is" reads "Doc 0 Bern". Where
    that happens, title and text are searched apart. A text that begins with its own title is taken
    as title and text, as documents read back from an index have it.
    """
    seams = {
        i: len(document.title)
        for i, document in enumerate(documents)
        if document.title and texts[i][len(document.title) :][:1].isspace()
        if document.content.startswith(document.title)
    }
    crossed = [i for i, at in seams.items() if any(_crosses(m.span, at) for m in mentions[i])]
    parts = [part for i in crossed for part in (texts[i][: seams[i]], texts[i][seams[i] + 1 :])]
    if not parts:
        return
    # All texts are given again, and not searched: in them names are told from common words.
    again = islice(finder.find([*parts, *texts]), len(parts))
    for i, in_title, in_text in zip(crossed, again, again, strict=True):
        mentions[i] = [*in_title, *_shifted(in_text, seams[i] + 1)]


def _left_out(finder: MentionFinder) -> dict[str, int]:
    return dict(finder.left_out) if isinstance(finder, LeavesOut) else {}


def _crosses(span: Span, seam: int) -> bool:
    return span.start < seam < span.end


def _shifted(mentions: Sequence[Mention], by: int) -> Iterator[Mention]:
    for mention in mentions:
        start, end = mention.span.start + by, mention.span.end + by
        yield replace(mention, span=Span(start, end))


def why_none_flagged(diagnosis: Diagnosis) -> str | None:
    """Return why no entity is flagged, and what is known of them all; None where one is."""
    if diagnosis.flagged():
        return None
    with_rps = sum(risk.rps is not None for risk in diagnosis.risks)
    if not diagnosis.risks:
        return "no entity was found in its documents. Check that --kb and --mentions fit them"
    if not with_rps:
        return (
            f"the RPS of none of its {len(diagnosis.risks):,} entities could be predicted "
            f"({diagnosis.risks[0].reason}). Fit a probe on documents like these (argus probe fit)"
        )
    return (
        f"{with_rps:,} of its {len(diagnosis.risks):,} entities have a predicted RPS, none below "
        f"τ={diagnosis.tau:g}"
    )


def check_tau(tau: float) -> None:
    """Raise InputError unless τ is a share."""
    if not 0 <= tau <= 1:
        raise InputError(
            f"τ={tau}",
            expected="a number from 0 to 1, since RPS is a probability",
            fix=f"Leave it out for {TAU}.",
            where="--tau",
        )


def beyond_window(
    texts: Sequence[str], places: Sequence[tuple[int, Span]], encoder: Encoder
) -> npt.NDArray[np.bool_]:
    """Return which mentions, (position in `texts`, span), end where the encoder does not read.

    Shape (n_places,). An encoder that does not tell its window is taken to read everything.
    """
    beyond = np.zeros(len(places), bool)
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None:
        return beyond
    last: dict[int, int] = {}
    for i, span in places:
        last[i] = max(span.end, last.get(i, 0))
    counts = encoder.count_tokens([texts[i][:end] for i, end in last.items()])
    long = {i for i, n in zip(last, counts.tolist(), strict=True) if n > encoder.max_tokens}
    doubtful = [n for n, (i, _) in enumerate(places) if i in long]
    upto = encoder.count_tokens([texts[places[n][0]][: places[n][1].end] for n in doubtful])
    beyond[doubtful] = upto > encoder.max_tokens
    return beyond


def _risks(
    doc_id: str,
    mentions: Sequence[Mention],
    scored: Sequence[Scored],
    unread: npt.NDArray[np.bool_],
) -> Iterable[Risk]:
    """Gather the occurrences of each surface form; white space in it makes no difference."""
    places: dict[str, list[int]] = {}
    for i, mention in enumerate(mentions):
        places.setdefault(" ".join(mention.surface.split()), []).append(i)
    for entity, at in places.items():
        known = [rps for i in at if (rps := scored[i].rps) is not None]
        lost = next((scored[i] for i in at if scored[i].rps is None), None)
        yield Risk(
            doc_id,
            entity,
            tuple(mentions[i].span for i in at),
            tuple(dict.fromkeys(id_ for i in at for id_ in mentions[i].entity_ids)),
            min(known, default=None),
            State.MEASURED if known or lost is None else lost.state,
            _reason([scored[i] for i in at]),
            int(unread[at].sum()),
        )


def _reason(results: Sequence[Scored]) -> str:
    """Say why occurrences have no prediction, and of how many that is so where others have."""
    lost = [result.reason for result in results if result.rps is None]
    reasons = "; ".join(dict.fromkeys(lost))
    if not lost or len(lost) == len(results):
        return reasons
    return f"{len(lost)} of {len(results)} occurrences: {reasons}"


def share_below(diagnosis: Diagnosis, tau: float | None = None) -> float | None:
    """Return the share of measured entities below τ; None when none was measured."""
    values = predicted(diagnosis)
    threshold = diagnosis.tau if tau is None else tau
    return float((values < threshold).mean()) if len(values) else None


def predicted(diagnosis: Diagnosis) -> npt.NDArray[np.float64]:
    """Return the predicted RPS of every measured entity, shape (n_measured,)."""
    return np.array([r.rps for r in diagnosis.risks if r.rps is not None], np.float64)
