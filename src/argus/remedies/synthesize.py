"""Synthesis: one more text per document, with short descriptions inserted (ARGUS §5.2 (2), §D.3).

By a language model (`with_model`) or from the knowledge base's own short descriptions
(`from_descriptions`). Either way the text is the document itself with the insertions that the guard
accepted, never what a model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from argus.data.types import Document, State
from argus.errors import InputError
from argus.llm import LanguageModel, Outcome, Prompt
from argus.llm import State as Asked
from argus.remedies.config import MIN_SIMILARITY
from argus.remedies.descriptions import (
    best_passage,
    describe,
    own_description,
    stands_alone,
)
from argus.remedies.diagnosis.diagnose import Risk
from argus.remedies.guard import Insertion, Rejected, apply, examine, places
from argus.remedies.lookup import Passage
from argus.remedies.prompts import synthesis_prompt

MAX_DOCUMENT_CHARS = 24_000
"""Longer documents are not sent: a model would have to repeat them whole."""
MAX_ENTITIES = 32
"""Entities of one document that are offered, those of least RPS."""
MAX_PASSAGE_CHARS = 1_000
"""How much of each passage is shown, and counts as support."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity at risk and what the knowledge base says of it."""

    risk: Risk
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What became of the synthesis of one document; a state for every document with entities."""

    doc_id: str
    text: str | None
    """The document with its insertions; None where the original stays alone."""
    insertions: list[Insertion]
    state: State
    """Measured: something was inserted. Not applicable: nothing was, or nothing could be. Failed:
    rejected by the guard, or not answered."""
    reason: str = ""
    source: str = ""
    """Provenance, as JSON: what wrote it, the prompt's hash, entities and their passages."""


Similarity = Mapping[tuple[str, str], float] | Callable[[Candidate], float]
"""How well a passage fits the place: by (document, entity), or computed."""


@dataclass(frozen=True)
class _Offer:
    """What can be inserted into one document; `why_not` where nothing can."""

    document: Document
    candidates: list[Candidate] = field(default_factory=list)
    """Those to insert for, in the order of their places."""
    left_out: int = 0
    why_not: str = ""

    def passages(self) -> dict[str, list[str]]:
        return {c.risk.entity: [_shown(p.document) for p in c.passages] for c in self.candidates}

    def prompt(self) -> Prompt:
        return synthesis_prompt(self.document.content, self.passages())

    def examine(self, text: str) -> list[Insertion] | Rejected:
        first = {c.risk.entity: c.risk.spans[0] for c in self.candidates}
        return examine(self.document.content, text, first, self.passages())


def prompts_for(
    documents: Sequence[Document], candidates: Mapping[str, Sequence[Candidate]]
) -> list[Prompt]:
    """Return what `with_model` asks, in order, so that it can be estimated.

    One prompt for each document that can take an insertion.
    """
    return [o.prompt() for o in _offers(documents, candidates) if not o.why_not]


def with_model(
    documents: Sequence[Document],
    candidates: Mapping[str, Sequence[Candidate]],
    model: LanguageModel,
) -> Iterator[Synthesis]:
    """Yield a synthesis for every document that has candidates, in the order of the documents.

    candidates: by document id. An answer is accepted whole or not at all. Not asked for: documents
    longer than `MAX_DOCUMENT_CHARS` (a document that was cut could never pass the guard) and
    documents without an entity that has passages and a first mention that can take a description;
    beyond `MAX_ENTITIES` those of higher RPS are not offered.
    Raises LanguageModelError as the model does; answers so far are in its ledger.
    """
    offers = list(_offers(documents, candidates))
    outcomes = model.complete([o.prompt() for o in offers if not o.why_not])
    for offer in offers:
        if offer.why_not:
            yield _not_offered(offer)
        else:
            yield _read(offer, next(outcomes), model.name)


def from_descriptions(
    documents: Sequence[Document],
    candidates: Mapping[str, Sequence[Candidate]],
    similarity: Similarity,
    *,
    threshold: float = MIN_SIMILARITY,
) -> Iterator[Synthesis]:
    """Yield a synthesis without a language model for every document that has candidates.

    The description is that of the passage that bears the entity's name, else of the best one
    (`descriptions`), and is inserted where `similarity` is at least `threshold`; an entity that is
    missing in it, or not a number, does not pass. The guard examines the result as it does a
    model's. Raises InputError for a threshold that is not from -1 to 1.
    """
    if not -1 <= threshold <= 1:
        raise InputError(
            f"threshold {threshold}",
            expected="a cosine similarity from -1 to 1",
            fix=f"Leave it out for {MIN_SIMILARITY}.",
            where="min_similarity",
        )
    for offer in _offers(documents, candidates, most_chars=None, most_entities=None):
        yield (_not_offered(offer) if offer.why_not else _described(offer, similarity, threshold))


def _offers(
    documents: Sequence[Document],
    candidates: Mapping[str, Sequence[Candidate]],
    *,
    most_chars: int | None = MAX_DOCUMENT_CHARS,
    most_entities: int | None = MAX_ENTITIES,
) -> Iterator[_Offer]:
    for document in documents:
        entities = candidates.get(document.id, ())
        if not entities:
            continue
        content = document.content
        if most_chars is not None and len(content) > most_chars:
            yield _Offer(
                document,
                why_not=f"{len(content):,} characters are more than the {most_chars:,} of a prompt",
            )
            continue
        describable = {c.risk.entity: c for c in entities if c.passages and c.risk.spans}
        where = places(content, {name: c.risk.spans[0] for name, c in describable.items()})
        fit = [describable[name] for name in where]
        least = sorted(fit, key=lambda c: (c.risk.rps is None, c.risk.rps or 0.0))[:most_entities]
        offered = {c.risk.entity for c in least}
        why_not = (
            ""
            if fit
            else "no first mention can take a description"
            if describable
            else "no passage for any entity"
        )
        yield _Offer(
            document, [c for c in fit if c.risk.entity in offered], len(fit) - len(offered), why_not
        )


def _shown(passage: Document) -> str:
    """Return what counts of a passage: its beginning, and the knowledge base's own description."""
    own = own_description(passage)
    return "\n".join([passage.content[:MAX_PASSAGE_CHARS], *([own] if own else [])])


def _not_offered(offer: _Offer) -> Synthesis:
    return Synthesis(offer.document.id, None, [], State.NOT_APPLICABLE, offer.why_not)


def _read(offer: _Offer, outcome: Outcome[str], model: str) -> Synthesis:
    source = _source(offer, {"model": model, "prompt": outcome.prompt.key})
    if outcome.state is not Asked.OK or outcome.value is None:
        not_asked = "not asked: " if outcome.state is Asked.NOT_ASKED else ""
        reason = f"{not_asked}{outcome.reason}"
        return Synthesis(offer.document.id, None, [], State.FAILED, reason, source)
    return _accepted(offer, offer.examine(outcome.value), source, "the model inserted nothing")


def _described(offer: _Offer, similarity: Similarity, threshold: float) -> Synthesis:
    """Insert what the knowledge base says of each entity that passes the context check."""
    content = offer.document.content
    insertions: list[Insertion] = []
    described = 0
    for candidate in offer.candidates:
        entity, first = candidate.risk.entity, candidate.risk.spans[0]
        passage = best_passage(candidate.passages)
        text = describe(passage.document, entity) if passage else None
        in_title = first.end == len(offer.document.title)
        if text is None or not (in_title or stands_alone(content, first)):
            continue
        described += 1
        if _similarity(similarity, candidate) >= threshold:
            insertions.append(Insertion(first.end, entity, text))
    source = _source(offer, {"descriptions": True, "min_similarity": threshold})
    proposed = apply(content, insertions)
    nothing = (
        f"no passage fits its place (similarity below {threshold:g})"
        if described
        else "no mention that stands alone has a short description"
    )
    return _accepted(offer, offer.examine(proposed), source, nothing)


def _similarity(similarity: Similarity, candidate: Candidate) -> float:
    if callable(similarity):
        return similarity(candidate)
    return similarity.get((candidate.risk.doc_id, candidate.risk.entity), float("nan"))


def _accepted(
    offer: _Offer, examined: list[Insertion] | Rejected, source: str, nothing: str
) -> Synthesis:
    doc_id = offer.document.id
    if isinstance(examined, Rejected):
        return Synthesis(doc_id, None, [], State.FAILED, f"rejected: {examined.reason}", source)
    if not examined:
        return Synthesis(doc_id, None, [], State.NOT_APPLICABLE, nothing, source)
    text = apply(offer.document.content, examined)
    return Synthesis(doc_id, text, examined, State.MEASURED, source=source)


def _source(offer: _Offer, written_by: Mapping[str, str | float]) -> str:
    entities = {c.risk.entity: [p.id for p in c.passages] for c in offer.candidates}
    left_out = {"left_out": offer.left_out} if offer.left_out else {}
    return json.dumps({**written_by, "entities": entities, **left_out}, ensure_ascii=False)
