"""Does repair raise the RPS of low entities, and at whose cost? FB15k-237, MiniLM, k=50, N=800.

No probe and no questions: RPS is measured before (the audit) and after with the same exact kernel,
an entity counting with its best view for every query. Repaired are the entities of the low band by
measurement. Expansions come from wiki2, which is not made of these paragraphs; descriptions are
Wikidata's.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus, read_corpus
from argus.data.types import Document, FloatArray, Span, State
from argus.encoders import EmbeddingStore, EncoderConfig, Item, Role, embed, load_encoder
from argus.encoders.protocol import Encoder
from argus.knowledge import KnowledgeSource, read_knowledge
from argus.knowledge.base import RelationGraph
from argus.knowledge.names import ground
from argus.remedies.config import ExpandConfig
from argus.remedies.diagnosis import Risk
from argus.remedies.expansion import Pair, check_context, choose, look_up, make_views
from argus.remedies.reference import Passage, PassageLookup
from argus.remedies.synthesis import synthesize_from_descriptions
from argus.retrievability.ranks import PairRanks, pair_ranks
from argus.retrievability.rps import HIGH, LOW, Scores, score
from benchmarks.repair import fb_passages
from benchmarks.shared import collection

BLOCK = 256
# A change of RPS that counts as one.
MOVED = 0.02


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig())
    with tempfile.TemporaryDirectory() as home:
        store = EmbeddingStore(
            Path(home) / "vectors", fingerprint=encoder.fingerprint, dim=encoder.dim
        )
        with store as opened:
            return _measure(Path(home), encoder, opened)


def _measure(home: Path, encoder: Encoder, store: EmbeddingStore) -> dict[str, Any]:
    documents, spans, vectors, graph = _audited(encoder, store)
    before = score(pair_ranks(vectors, graph), graph.n)
    same = np.zeros((0, vectors.shape[1]), np.float32)
    again = score(best_view_ranks(vectors, same, np.zeros(0, int), graph), graph.n)
    assert np.allclose(before.rps, again.rps, atol=1e-3, equal_nan=True)
    low = np.flatnonzero(before.rps < LOW)
    rows = []
    for name, made in _repairs(home, documents, spans, low, encoder, store):
        owners = np.array([i for i, _, _ in made])
        items = [Item(text, Role.SPAN, span) for _, text, span in made]
        embedded = embed(items, encoder, store, what=name)
        after = score(
            best_view_ranks(vectors, embedded.vectors, owners[embedded.ok], graph), graph.n
        )
        rows.append({"repair": name, **_compared(before, after, np.unique(owners), len(items))})
        print(json.dumps(rows[-1]), flush=True)
    return {"entities": int(before.measured.sum()), "low": len(low), "rows": rows}


def _audited(
    encoder: Encoder, store: EmbeddingStore
) -> tuple[list[Document], list[Span], FloatArray, RelationGraph]:
    """Return entities as documents, with the place of their name, their vectors and relations."""
    path = collection("fb15k237")
    base = read_knowledge(open_corpus(path), KnowledgeSource()).base
    graph = base.relations.restrict(base.has_text)
    documents, spans = [], []
    for entity, kept in zip(base.entities, base.has_text, strict=True):
        if kept:
            grounded = ground(entity.label, entity.paragraph)
            assert grounded.span is not None
            name = grounded.text[grounded.span.start : grounded.span.end]
            documents.append(Document(entity.id, grounded.text, metadata={"name": name}))
            spans.append(grounded.span)
    items = [Item(d.text, Role.SPAN, s) for d, s in zip(documents, spans, strict=True)]
    embedded = embed(items, encoder, store, what="entities")
    assert embedded.ok.all()
    return documents, spans, embedded.vectors, graph


View = tuple[int, str, Span]
"""Position of the entity, text, place of its name."""


def _repairs(
    home: Path,
    documents: Sequence[Document],
    spans: Sequence[Span],
    low: np.ndarray,
    encoder: Encoder,
    store: EmbeddingStore,
) -> list[tuple[str, list[View]]]:
    position = {d.id: i for i, d in enumerate(documents)}
    chosen = [documents[i] for i in low]

    def flagged(ids_of: dict[str, tuple[str, ...]]) -> dict[str, list[Risk]]:
        found = {}
        for i in low:
            d, span = documents[i], spans[i]
            name = str(d.metadata["name"])
            ids = ids_of.get(name, ())
            found[d.id] = [Risk(d.id, name, (span,), ids, 0.0, State.MEASURED)]
        return found

    passages = read_corpus(collection("wiki2"))
    titled: dict[str, tuple[str, ...]] = {}
    for p in passages:
        titled[p.title] = (*titled.get(p.title, ()), p.id)
    lookup, risks = PassageLookup(passages), flagged(titled)
    done = []
    for preset in ("paper", "robust"):
        config = ExpandConfig.from_options(preset)
        pairs = look_up(chosen, risks, lookup, config)
        if config.min_similarity is not None:
            pairs = check_context(pairs, encoder, store)
        made = make_views(choose(pairs, config), config, encoder, remedy=preset)
        rows = ((position[view.doc_id], view.text) for view in made)
        done.append((f"expand {preset}", [(i, text, spans[i]) for i, text in rows]))
    done.append(("descriptions", _described(home, chosen, flagged({}), position, spans)))
    return done


def _described(
    home: Path,
    chosen: Sequence[Document],
    risks: dict[str, list[Risk]],
    position: dict[str, int],
    spans: Sequence[Span],
) -> list[View]:
    """Insert every entity's own short description after its name."""
    own = {p.id: p for p in read_corpus(fb_passages(home))}
    pairs = [Pair(d, risks[d.id][0], Passage(own[d.id], True), 1.0) for d in chosen if d.id in own]
    fitting = {(pair.document.id, pair.risk.entity): 1.0 for pair in pairs}
    done = synthesize_from_descriptions(chosen, pairs, fitting)
    return [(position[s.doc_id], s.text, spans[position[s.doc_id]]) for s in done if s.text]


def best_view_ranks(
    vectors: FloatArray, added: FloatArray, owners: np.ndarray, graph: RelationGraph
) -> PairRanks:
    """Rank every related entity among a query's neutrals, each by its best view.

    vectors: (n, dim), one per entity, which also ask. added: (m, dim), more views; owners: (m,)
    their entities. Ties rank as above, which float32 can make differ from the kernel's by one.
    """
    order = np.argsort(owners, kind="stable")
    added, owners = added[order], owners[order]
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]) if len(owners) else []
    parts = []
    for start in range(0, graph.n, BLOCK):
        queries = vectors[start : start + BLOCK]
        scores = queries @ vectors.T
        if len(owners):
            best = np.maximum.reduceat(queries @ added.T, first, axis=1)
            unique = owners[first]
            scores[:, unique] = np.maximum(scores[:, unique], best)
        for t, row in enumerate(scores, start):
            related = graph.neighbours(t)
            if not len(related):
                continue
            neutral = np.ones(graph.n, bool)
            neutral[related] = False
            neutral[t] = False
            pool = np.sort(row[neutral])
            above = len(pool) - np.searchsorted(pool, row[related], side="right")
            ends = (related, np.full(len(related), t), row[related], above)
            parts.append(PairRanks(*ends, np.full(len(related), len(pool))))
    return PairRanks.concatenate(parts)


def _compared(before: Scores, after: Scores, repaired: np.ndarray, views: int) -> dict[str, Any]:
    touched = np.zeros(len(before.rps), bool)
    touched[repaired] = True
    groups = {
        "repaired": touched,
        "low, not repaired": (before.rps < LOW) & ~touched,
        "mid": (before.rps >= LOW) & (before.rps < HIGH),
        "high": before.rps >= HIGH,
        "all": np.ones(len(touched), bool),
    }
    return {"views": views} | {
        name: _moved(before.rps, after.rps, members & before.measured)
        for name, members in groups.items()
    }


def _moved(before: np.ndarray, after: np.ndarray, members: np.ndarray) -> dict[str, Any]:
    change = (after - before)[members]
    return {
        "entities": int(members.sum()),
        "mean_before": round(float(before[members].mean()), 4),
        "mean_after": round(float(after[members].mean()), 4),
        "still_low": round(float((after[members] < LOW).mean()), 4),
        "rose": round(float((change > MOVED).mean()), 4),
        "fell": round(float((change < -MOVED).mean()), 4),
    }
