"""`argus tune apply expand`: index documents at risk again, with passages of a knowledge base.

A view (indexed text) joins a document and a passage on one of its entities at risk, `d ∥ p` (ARGUS
§5.2, eq. d^exp). `argus.remedies.repair` finds the entities and adds the views. The preset `paper`
follows §5.2. docs/papers.md lists the differences. It moved the judged questions of five
collections by -0.001 to +0.000, and those of the demo by text withheld from it. The preset
`robust` avoids the causes of harm (docs/results/repair.md): a passage that is not about the entity,
one beyond the window of the model, one that says nothing new, and further views of a document,
which crowd out others. It adds one view, for the entity whose passage fits best.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora import NamedCorpus
from argus.data.types import Document, Query, View
from argus.data.writing import one_writer
from argus.devices import Device
from argus.encoders import EmbeddingStore, Encoder, Item, Role, TokenCounter, embed
from argus.encoders.protocol import directions
from argus.jobs import options as o
from argus.knowledge.names import ground
from argus.remedies.config import ROBUST, TAU, ExpandConfig, ReferenceConfig, Tau
from argus.remedies.diagnosis import Diagnosis, Risk
from argus.remedies.receipt import RepairResult, write_receipt
from argus.remedies.reference import Passage, PassageLookup
from argus.remedies.remedy_result import check_judged
from argus.remedies.repair import OpenedIndex, Proposal, apply_remedy, open_index
from argus.settings import CORPUS, INDEX, OUTPUT, TOP_K, Ge, Option

KIND = "expansion"
MIN_BEARERS = 8  # passages of one name compared with a mention, if the context is checked
SEAM_TOKENS = 2  # most tokens that joining two texts adds
MAX_WORD_CHARS = 40  # a longer run without white space may be cut anywhere


@dataclass(frozen=True, slots=True)
class Pair:
    """A document, one of its entities at risk, and a passage for it."""

    document: Document
    risk: Risk
    passage: Passage
    similarity: float | None = None


@one_writer
def expand_index(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    *,
    reference: ReferenceConfig,
    config: ExpandConfig = ROBUST,
    probe: o.ProbeFolder = None,
    encoder: o.IndexEncoder = None,
    tau: Tau = TAU,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: o.MaybeQrels = None,
    corpus: Annotated[NamedCorpus | None, Option(is_name=True), CORPUS] = None,
    k: Annotated[int, Ge(1)] = TOP_K,
    device: Device = None,
    out: Annotated[Path | None, OUTPUT] = None,
) -> RepairResult:
    """Add views that join documents at risk with what a knowledge base says of their entities.

    No language model is needed. The same repair is never added twice; `argus tune undo`
    takes it out again. Repairing only what is at risk loses most of what repairing all documents
    gains; --tau 1 takes all.

    config: under the preset `paper` NER finds the mentions unless `reference` says otherwise.
    `max_views` of the preset counts the document's expansions of other remedies. Returns the
    receipt (`argus.remedies.repair.apply_remedy`).

    Args:
        index: Folder from argus index build.
        queries: Judged queries, for the receipt.
        corpus: Where titles are, to tell implicit questions apart.
        k: How far down a list counts.
        out: Folder for the receipt; default: in the index.
    """
    questions = check_judged(queries, qrels, corpus)
    under = reference.under(config.preset)
    opened = open_index(
        index, reference=under, probe=probe, encoder=encoder, tau=tau, device=device
    )

    def make(
        opened: OpenedIndex, diagnosis: Diagnosis, cache: EmbeddingStore, remedy: str
    ) -> Proposal:
        pairs = look_up(opened.documents, diagnosis.flagged(), opened.lookup, config)
        compared = pairs
        if config.min_similarity is not None or config.max_views is not None:
            compared = check_context(pairs, opened.encoder, cache)
        fitting = choose(compared, config)
        notes: dict[str, Any] = {
            "preset": config.preset,
            "passages_found": len(pairs),
            "passages_without_vector": len(pairs) - len(compared),
            "passages_refused": len(compared) - len(fitting),
        }
        views = make_views(fitting, config, opened.encoder, remedy=remedy)
        return views, notes, {}

    applied = apply_remedy(
        opened, "expand", config.preset, asdict(config), make, max_views=config.max_views, out=out
    )
    return write_receipt(applied, questions, k=k)


def look_up(
    documents: Sequence[Document],
    flagged: Mapping[str, Sequence[Risk]],
    lookup: PassageLookup,
    config: ExpandConfig,
) -> list[Pair]:
    """Return the passages for every entity at risk, in document order.

    Title first, they are those that the finder linked, or those that bear the entity's surface form
    as a name if it linked none. BM25 finds the others.
    """
    risks = [(d, risk) for d in documents for risk in flagged.get(d.id, ())]
    names = list(dict.fromkeys(risk.entity for _, risk in risks))
    by_words = dict(zip(names, lookup.by_words(names, config.k_aug), strict=True))
    k = config.k_aug if config.min_similarity is None else max(config.k_aug, MIN_BEARERS)
    pairs = []
    for document, risk in risks:
        titled = lookup.by_title(risk.entity, risk.entity_ids, k) if config.title_first else []
        pairs += [Pair(document, risk, passage) for passage in titled or by_words[risk.entity]]
    if not config.skip_known:
        return pairs
    return [p for p in pairs if p.passage.document.text.strip() not in p.document.content]


def check_context(pairs: Sequence[Pair], encoder: Encoder, cache: EmbeddingStore) -> list[Pair]:
    """Return the pairs with the cosine of mention and passage, each pooled over the name.

    The mention is read in its document, the passage over its title, or whole if it is not about one
    thing. Pairs that cannot be embedded are left out.
    """
    mentions = embed(
        [Item(p.document.content, Role.SPAN, p.risk.spans[0]) for p in pairs],
        encoder, cache, what="mentions at risk",
    )  # fmt: skip
    grounded = [ground(p.passage.document.title, p.passage.document.text) for p in pairs]
    passages = embed(
        [Item(g.text, Role.SPAN if g.span else Role.DOCUMENT, g.span) for g in grounded],
        encoder, cache, what="passages",
    )  # fmt: skip
    both = mentions.ok & passages.ok
    of_mention = directions(encoder, mentions.vectors[both[mentions.ok]])
    of_passage = directions(encoder, passages.vectors[both[passages.ok]])
    cosines = iter(np.einsum("ij,ij->i", of_mention, of_passage).tolist())
    return [
        replace(pair, similarity=next(cosines)) for pair, ok in zip(pairs, both, strict=True) if ok
    ]


def choose(pairs: Sequence[Pair], config: ExpandConfig) -> list[Pair]:
    """Return the pairs that pass the context check, the most similar first.

    At most `k_aug` per entity if the context is checked, and at most `max_views` per document. Of
    pairs that would give a document equal texts, as two names of one thing do, the most similar
    stays at the place of the first. The best view counts in a search, so a copy changes nothing.
    """
    fitting, least = list(pairs), config.min_similarity
    if least is not None:
        fitting = [p for p in pairs if p.similarity is not None and p.similarity >= least]
        fitting = _most_similar(fitting, config.k_aug, lambda p: (p.document.id, p.risk.entity))
    distinct: dict[Hashable, Pair] = {}
    for pair in fitting:
        passage = pair.passage.document
        key = (pair.document.id, passage.title, passage.text)
        best = distinct.setdefault(key, pair)
        if (pair.similarity or 0) > (best.similarity or 0):
            distinct[key] = pair
    if config.max_views is None:
        return list(distinct.values())
    return _most_similar(list(distinct.values()), config.max_views, lambda p: p.document.id)


def _most_similar(pairs: Sequence[Pair], n: int, group: Callable[[Pair], Hashable]) -> list[Pair]:
    """Return at most n pairs of each group, groups in order of their first."""
    groups: dict[Hashable, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(group(pair), []).append(pair)
    best: list[Pair] = []
    for members in groups.values():
        members.sort(key=lambda p: (-(p.similarity or 0), p.risk.entity, p.passage.id))
        best += members[:n]
    return best


def make_views(
    pairs: Sequence[Pair], config: ExpandConfig, encoder: Encoder, *, remedy: str
) -> list[View]:
    """Return one view per pair. Its source has the entity, the passage and how it was found."""
    count: Counter[str] = Counter()
    views = []
    for pair, text in zip(pairs, join(pairs, config, encoder), strict=True):
        document, passage = pair.document, pair.passage
        count[document.id] += 1
        source = {
            "entity": pair.risk.entity,
            "passage": passage.id,
            "found": "title" if passage.linked else "bm25",
        }
        if pair.similarity is not None:
            source["similarity"] = f"{pair.similarity:.3f}"
        name = f"{document.id}#{remedy}#{count[document.id]}"
        views.append(View(name, document.id, KIND, text, json.dumps(source, ensure_ascii=False)))
    return views


def join(pairs: Sequence[Pair], config: ExpandConfig, encoder: Encoder) -> list[str]:
    """Return document and passage of each pair as one text, cut to the window if configured.

    A passage that needs more than half of the window gets half of it. The cut is between words. It
    assumes that tokens are spread evenly, and counts again until the rest fits. Scripts without
    spaces are cut anywhere.
    """
    if not config.fit_window:
        return [f"{p.document.content} {p.passage.document.text}" for p in pairs]
    documents = [p.document.content for p in pairs]
    passages = [p.passage.document.content for p in pairs]
    if isinstance(encoder, TokenCounter) and encoder.max_tokens is not None and pairs:
        nothing = int(encoder.count_tokens([""])[0])  # special tokens and prompt
        room = max(0, encoder.max_tokens - nothing - SEAM_TOKENS)
        of_document, of_passage = (
            encoder.count_tokens(texts) - nothing for texts in (documents, passages)
        )
        long = np.flatnonzero(of_document + of_passage > room)
        for_passage = np.minimum(of_passage[long], room // 2)
        for texts, rooms in ((documents, room - for_passage), (passages, for_passage)):
            over = dict(zip(long.tolist(), rooms.tolist(), strict=True))
            while over:
                sizes = (encoder.count_tokens([texts[i] for i in over]) - nothing).tolist()
                for i, size in zip([*over], sizes, strict=True):
                    if size <= over[i]:
                        del over[i]
                        continue
                    part = texts[i][: len(texts[i]) * over[i] // size]
                    words = part.rsplit(None, 1)  # the last may be half a word
                    short = len(words) == 2 and len(words[1]) <= MAX_WORD_CHARS
                    texts[i] = words[0] if short else part.rstrip()
    return [f"{document} {passage}" for document, passage in zip(documents, passages, strict=True)]
