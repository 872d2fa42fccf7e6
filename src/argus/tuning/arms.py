"""Search with the parts of a hybrid, and with common fusions of them, in one pass.

A vector search and a BM25 search of 100 results each -> the rankings of all arms. And the words of
`argus tune try` on them. `argus.repair.trials` measures them beside remedies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from argus.data.types import Run
from argus.indexes.fusion import RIVALS, Fusion, fuse_with_bm25
from argus.measures.significance import UNCHANGED, with_interval

# Fusions that stand beside a retriever. The relative score of Weaviate is min-max 0.5.
FUSION_ARMS: dict[str, tuple[Fusion, float]] = {
    **{f"min-max 0.{tenths}": ("min-max", tenths / 10) for tenths in range(1, 8)},
    "RRF (60)": ("rrf", 0.5),
    "RRF (2)": ("rrf-2", 0.5),
    "DBSF": ("dbsf", 0.5),
}
VECTORS, BM25 = "vectors alone", "BM25 alone"
MINE = "what runs"  # the index as it is, or the retriever of the user


def part_and_fusion_runs(vectors: Run, bm25: Run, k: int) -> dict[str, Run]:
    """Return the k best documents per arm. vectors, bm25: runs of 100 results."""
    runs = {VECTORS: vectors, BM25: bm25}
    for name, (method, weight) in FUSION_ARMS.items():
        runs[name] = fuse_with_bm25(vectors, bm25, k, method, weight)
    return runs


def parts_words(arms: Sequence[Mapping[str, Any]]) -> str:
    """Return which part of the retriever helps and which hurts, in one line.

    arms: of the summary of `argus tune try`, with the vectors alone and BM25 alone among them.
    """
    parts = {arm["arm"]: arm for arm in arms if arm["arm"] in (VECTORS, BM25)}
    means = {name: parts[name]["ndcg10"]["mean_after"] for name in (VECTORS, BM25)}
    mine = parts[VECTORS]["ndcg10"]["mean_before"]
    shown = ", ".join(f"{name} {means[name]:.3f} ({means[name] - mine:+.3f})" for name in means)
    best = max(means, key=lambda name: means[name])
    same = [name.split(" ")[0] for name in means if abs(means[name] - mine) < UNCHANGED]
    told = "the whole is better than either part"
    if same:
        told = f"it ranks as its {same[0]} alone"
    elif means[best] > mine:
        sure = "hurts" if parts[best]["passes"] else "hurts here, which may be chance"
        told = f"what is added to the {best.split(' ')[0]} {sure}"
    return f"nDCG@10 {mine:.3f}; {shown}: {told}"


def fusions_words(arms: Sequence[Mapping[str, Any]]) -> str:
    """Return the best fixed fusion and the usual ones. arms: best first, as in `parts_words`."""
    fusions = [arm for arm in arms if arm["arm"] in FUSION_ARMS]
    shown = fusions[:1] + [arm for arm in fusions[1:] if arm["arm"] in RIVALS]
    told = (f"{arm['arm']} {with_interval(arm['ndcg10'])}: {arm['verdict']}" for arm in shown)
    return f"the best fixed fusion and the usual ones: {'; '.join(told)}"


def recommendation_words(summary: Mapping[str, Any]) -> str:
    """Return the arm to take, what it is worth here, and how to have it."""
    name = summary["recommended"]
    if name == MINE:
        return f"{name}; no arm is better by more than chance, and the default gains nothing here"
    every = (*summary["trials"], *summary["arms"])
    (arm,) = (arm for arm in every if arm.get("candidate", arm.get("arm")) == name)
    worth = f"{name}, {with_interval(arm['ndcg10'])}, {arm['verdict']}"
    if name in FUSION_ARMS:
        return (
            f"{worth}. Fuse the best 100 of the vectors and of BM25 so (docs/blend.md): it needs "
            "neither an index of Argus nor a remedy"
        )
    return f"{worth}. Leave out what is added to it" if name in (VECTORS, BM25) else worth
