"""Who stands above the document: hubs, and the documents that supersede it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from argus.authority.relation import Authority, chain_to
from argus.data.types import IntArray
from argus.explanation.evidence import (
    HubEvidence,
    RivalRow,
    SupersededEvidence,
    Superseder,
)
from argus.explanation.types import Case, Cause, Finding, Standing, Verdict
from argus.indexes.snapshot import Snapshot
from argus.progress import progress
from argus.retrievability.concentration import skewness

MAX_SAMPLE = 2_000
"""Documents whose vectors serve as queries."""
MAX_SCORES = 400_000_000
"""Similarities computed for it: a large index gets a smaller sample, of at least 200."""
DEVIATIONS = 2.0
FEWEST_LISTS = 3
NAMED = 10
STEP = 256


@dataclass(frozen=True)
class Occurrences:
    """In how many of the sampled top-k lists each document stands: N_k (Radovanović et al. 2010).

    A hub is a document whose N_k is above the mean plus two standard deviations over all documents,
    and at least 3, so that a thin sample makes no hub of a coincidence.
    """

    counts: IntArray
    """Shape (n_documents,)."""
    k: int
    sample: int

    @property
    def threshold(self) -> float:
        """A document that stands in more lists is a hub."""
        limit = float(self.counts.mean() + DEVIATIONS * self.counts.std())
        return max(limit, FEWEST_LISTS - 1)

    def deviations(self, position: int) -> float:
        """Return how far a document's N_k is from the mean, in standard deviations."""
        spread = float(self.counts.std())
        return float(self.counts[position] - self.counts.mean()) / spread if spread else 0.0


def occurrences(snapshot: Snapshot, k: int, seed: int) -> Occurrences:
    """Search with the vectors of a seeded sample of documents, each document's own left out.

    The first view of kind original stands for a document, else its first view.
    """
    rng = np.random.default_rng(seed)
    n = len(snapshot)
    size = min(n, MAX_SAMPLE, max(200, MAX_SCORES // max(1, len(snapshot.vectors))))
    sample = np.sort(rng.choice(n, size, replace=False))
    counts = np.zeros(n, np.int64)
    rows = _own_rows(snapshot)[sample]
    with progress("looking for hubs", size) as advance:
        for start in range(0, size, STEP):
            part = slice(start, start + STEP)
            lists = snapshot.search(snapshot.vectors[rows[part]], k + 1).doc_ids
            for own, ids in zip(sample[part].tolist(), lists, strict=True):
                others = [i for i in snapshot.positions(ids).tolist() if i != own][:k]
                counts[others] += 1
            advance(len(lists))
    return Occurrences(counts, k, size)


def _own_rows(snapshot: Snapshot) -> IntArray:
    import pyarrow.compute as pc

    original = pc.equal(snapshot.columns["kind"], "original").to_numpy(zero_copy_only=False)
    rows = np.where(original, np.arange(len(original)), len(original))
    first: IntArray = np.minimum.reduceat(rows, snapshot.starts[:-1])
    return np.where(first < len(original), first, snapshot.starts[:-1])


def check_hubs(case: Case, place: Standing, seed: int) -> Finding[HubEvidence]:
    """Name the documents that outrank it, and which of them stand in everyone's list."""
    cause = Cause.HUBS
    rank = place.dense.rank
    if rank is None:
        text = "the document is not in this state of the index"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    if rank <= case.k:
        return Finding(cause, Verdict.RULED_OUT, f"its exact rank is {rank}", {})
    lists = occurrences(case.snapshot, case.k, seed)
    top = list(case.top(rank - 1).items())
    positions = case.snapshot.positions(id_ for id_, _ in top)
    hub = lists.counts[positions] > lists.threshold  # (rank - 1,)

    def row(i: int) -> RivalRow:
        at = int(positions[i])
        return {
            "rank": i + 1, "id": top[i][0], "score": round(top[i][1], 4),
            "n_k": int(lists.counts[at]), "deviations": round(lists.deviations(at), 1),
            "hub": bool(hub[i]),
        }  # fmt: skip

    hubs = int(hub.sum())
    own = int(case.snapshot.positions([case.doc_id])[0])
    evidence: HubEvidence = {
        "outranked_by": [row(i) for i in range(min(NAMED, rank - 1))],
        "hubs": [row(i) for i in np.flatnonzero(hub)[:NAMED].tolist()],
        "documents_above": rank - 1,
        "hubs_above": hubs,
        "rank_without_hubs": rank - hubs,
        "own_n_k": int(lists.counts[own]),
        "own_deviations": round(lists.deviations(own), 1),
        "hub_above_n_k": round(lists.threshold, 1),
        "mean_n_k": round(float(lists.counts.mean()), 2),
        "skewness": round(skewness(lists.counts), 2),
        "k": case.k, "sample": lists.sample,
    }  # fmt: skip
    return _hub_finding(case.k, rank, hubs, evidence)


def _hub_finding(k: int, rank: int, hubs: int, evidence: HubEvidence) -> Finding[HubEvidence]:
    names = ", ".join(f"{h['id']} (N_k {h['n_k']})" for h in evidence["hubs"][:3])
    if not hubs:
        text = f"none of the {rank - 1} documents above it is a hub"
        return Finding(Cause.HUBS, Verdict.RULED_OUT, text, evidence)
    without = rank - hubs
    text = f"hubs among the {rank - 1} documents above it by vectors: {hubs} ({names})"
    if without > k:
        text += f"; without them it would still rank {without}"
        return Finding(Cause.HUBS, Verdict.RULED_OUT, text, evidence, decisive=False)
    return Finding(
        Cause.HUBS, Verdict.FOUND, f"{text}; without them it would rank {without}", evidence,
        "Look at the hubs (boilerplate, very short or list-like texts?) and clean, split or drop "
        "them; a hybrid search weakens them.",
        decisive=True,
    )  # fmt: skip


def check_superseded(
    case: Case, place: Standing, authority: Authority | None
) -> Finding[SupersededEvidence]:
    """Say which documents supersede this one, directly or through others, and where they rank."""
    return superseded(
        case.doc_id, case.k, place.dense.rank, authority,
        lambda doc: case.rank(doc) if case.holds(doc) else None, "index",
    )  # fmt: skip


def superseded(
    doc_id: str,
    k: int,
    own_rank: int | None,
    authority: Authority | None,
    rank_of: Callable[[str], int | None],
    where: str,
) -> Finding[SupersededEvidence]:
    """Say which documents supersede one, given the rank of each, None where it has none.

    where: what holds the documents that have a rank, in a word: "index", "run".
    """
    cause = Cause.SUPERSEDED
    if authority is None:
        return Finding(
            cause, Verdict.UNCHECKED, "not checked: no file of superseded documents", {},
            "Give --supersedes FILE (superseder, superseded).",
        )  # fmt: skip
    superseders = authority.reach([doc_id]) if doc_id in authority else {}
    chain = {doc: len(chain_to(doc, superseders)) for doc in superseders if doc != doc_id}
    if not chain:
        return Finding(cause, Verdict.RULED_OUT, "no document supersedes it", {})
    ranks = {doc: rank_of(doc) for doc in chain}
    rows: list[Superseder] = [
        {"id": doc, "direct": steps == 1, "rank": ranks[doc]} for doc, steps in chain.items()
    ]
    best = min((rank for rank in ranks.values() if rank is not None), default=None)
    shown = "; ".join(
        f"{doc} {f'is not in the {where}' if rank is None else f'ranks {rank}'}"
        for doc, rank in list(ranks.items())[:3]
    )
    text = f"superseded by {len(chain)} document{'s' * (len(chain) > 1)}: {shown}"
    served = best is not None and best <= k
    advice = (
        "The one that supersedes it comes back, as it should; ask for that one."
        if served
        else "The document that supersedes it does not come back either: explain that one."
        if best is not None or where != "index"
        else "Add the document that supersedes it to the index."
    )
    return Finding(
        cause, Verdict.FOUND, text, {"superseded_by": rows, "own_rank": own_rank}, advice
    )
