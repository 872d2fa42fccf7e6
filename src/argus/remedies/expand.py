"""Document expansion: one more view per (entity at risk, passage), `d ∥ p` (ARGUS §5.2, eq. d^exp).

The `paper` preset does what §5.2 says and no more. The `robust` preset avoids what was measured to
hurt (docs/results.md): a passage that is not about the entity, a passage that the model never
reads because the document fills its window, a passage that says nothing new, and many views of one
document that crowd out others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from argus.data.types import Document, View
from argus.encoders import EmbeddingStore, Encoder, Item, Role, TokenCounter, embed
from argus.errors import InputError
from argus.knowledge.mentions import ground
from argus.remedies.diagnose import Risk
from argus.remedies.lookup import K_AUG, Passage, PassageLookup

KIND = "expansion"


@dataclass(frozen=True, kw_only=True)
class ExpandConfig:
    """How documents are expanded.

    k_aug: passages per entity. title_first: passages that bear the entity's name come before those
    that BM25 finds, and keep them out. min_similarity: context check, least cosine between mention
    and passage, each pooled over the name; None takes every passage. max_views: most views per
    document, best similarity first; None has no cap. fit_window: cut the document so that model
    reads the passage. skip_known: leave out passages that the document holds already.
    """

    preset: str
    k_aug: int = K_AUG
    title_first: bool = False
    min_similarity: float | None = None
    max_views: int | None = None
    fit_window: bool = False
    skip_known: bool = False


PAPER = ExpandConfig(preset="paper")
ROBUST = ExpandConfig(
    preset="robust", k_aug=1, title_first=True, min_similarity=0.5, max_views=4, fit_window=True,
    skip_known=True,
)  # fmt: skip
PRESETS = {config.preset: config for config in (PAPER, ROBUST)}


def preset(name: str, **changes: int | float | None) -> ExpandConfig:
    """Return the preset of this name, with the settings that are given changed."""
    if name not in PRESETS:
        raise InputError(
            f"preset {name!r}",
            expected=f"one of {', '.join(PRESETS)}",
            fix="Leave it out for robust.",
            where="--preset",
        )
    return replace(PRESETS[name], **{k: v for k, v in changes.items() if v is not None})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Pair:
    """A document, one of its entities at risk, and a passage for it."""

    document: Document
    risk: Risk
    passage: Passage
    similarity: float | None = None


def look_up(
    documents: Sequence[Document],
    flagged: Mapping[str, Sequence[Risk]],
    lookup: PassageLookup,
    config: ExpandConfig,
) -> list[Pair]:
    """Return the passages for every entity at risk, in document order."""
    wanted = [(d, risk) for d in documents for risk in flagged.get(d.id, ())]
    names = list(dict.fromkeys(risk.entity for _, risk in wanted))
    by_words = dict(zip(names, lookup.by_words(names, config.k_aug), strict=True))
    titled = lookup.by_title([risk.entity_ids for _, risk in wanted], config.k_aug)
    pairs = []
    for (document, risk), linked in zip(wanted, titled, strict=True):
        passages = linked if config.title_first and linked else by_words[risk.entity]
        pairs += [
            Pair(document, risk, passage)
            for passage in passages
            if not (config.skip_known and passage.document.text.strip() in document.content)
        ]
    return pairs


def check_context(pairs: Sequence[Pair], encoder: Encoder, store: EmbeddingStore) -> list[Pair]:
    """Return the pairs with the cosine of mention and passage, each pooled over the name.

    The mention is read in its document, the passage over its title (the whole passage where it is
    not about one thing). A pair that cannot be embedded has none, and is not taken.
    """
    mentions = embed(
        [Item(p.document.content, Role.SPAN, p.risk.spans[0]) for p in pairs],
        encoder, store, what="mentions at risk",
    )  # fmt: skip
    passages = embed([_passage_item(p.passage) for p in pairs], encoder, store, what="passages")
    both = mentions.ok & passages.ok
    of_mention = mentions.vectors[both[mentions.ok]]
    of_passage = passages.vectors[both[passages.ok]]
    cosines = iter(np.einsum("ij,ij->i", of_mention, of_passage).tolist())
    return [
        replace(pair, similarity=next(cosines)) for pair, ok in zip(pairs, both, strict=True) if ok
    ]


def _passage_item(passage: Passage) -> Item:
    grounded = ground(passage.document.title, passage.document.text)
    role = Role.SPAN if grounded.span else Role.DOCUMENT
    return Item(grounded.text, role, grounded.span)


def choose(pairs: Sequence[Pair], config: ExpandConfig) -> list[Pair]:
    """Return the pairs that pass the context check, at most `max_views` per document."""
    passed = [
        p
        for p in pairs
        if config.min_similarity is None
        or (p.similarity is not None and p.similarity >= config.min_similarity)
    ]
    if config.max_views is None:
        return passed
    kept: list[Pair] = []
    of_document: dict[str, list[Pair]] = {}
    for pair in passed:
        of_document.setdefault(pair.document.id, []).append(pair)
    for group in of_document.values():
        best = sorted(group, key=lambda p: (-(p.similarity or 0), p.risk.entity, p.passage.id))
        kept += best[: config.max_views]
    return kept


def views(
    pairs: Sequence[Pair], config: ExpandConfig, encoder: Encoder, *, remedy: str
) -> list[View]:
    """Return one view per pair; its source says entity, passage and how it was found."""
    texts = _texts(pairs, config, encoder)
    made: dict[str, int] = {}
    out = []
    for pair, text in zip(pairs, texts, strict=True):
        n = made[pair.document.id] = made.get(pair.document.id, 0) + 1
        source = {
            "entity": pair.risk.entity,
            "passage": pair.passage.id,
            "found": "title" if pair.passage.linked else "bm25",
        }
        if pair.similarity is not None:
            source["similarity"] = f"{pair.similarity:.3f}"
        name = f"{pair.document.id}#{remedy}#{n}"
        out.append(View(name, pair.document.id, KIND, text, json.dumps(source, ensure_ascii=False)))
    return out


def _texts(pairs: Sequence[Pair], config: ExpandConfig, encoder: Encoder) -> list[str]:
    if not config.fit_window:
        return [f"{p.document.content} {p.passage.document.text}" for p in pairs]
    whole = [(p.document.content, p.passage.document.content) for p in pairs]
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None or not pairs:
        return [f"{document} {passage}" for document, passage in whole]
    limit = encoder.max_tokens
    sizes = [encoder.count_tokens([text for text, _ in whole])]
    sizes.append(encoder.count_tokens([text for _, text in whole]))
    texts = []
    for (document, passage), of_document, of_passage in zip(whole, *sizes, strict=True):
        shown = (
            _cut(passage, of_passage, limit // 2) if of_document + of_passage > limit else passage
        )
        room = limit - min(int(of_passage), limit // 2)
        texts.append(f"{_cut(document, of_document, room)} {shown}")
    return texts


def _cut(text: str, tokens: int, room: int) -> str:
    """Return about the first `room` tokens of a text of `tokens`, cut between words.

    Characters per token are taken as even over the text, which is near enough: what is cut a little
    late is only read a little less.
    """
    if tokens <= room:
        return text
    begin = text[: len(text) * room // int(tokens)]
    return begin.rsplit(None, 1)[0] if begin.strip() else begin
