"""How well failures are predicted without labels, on families of questions that were left out.

The average of signals has nothing learnt in it; slope, intercept and their spread are those of the
other families. Also: what was tried and is not shipped. TRAFFIC_MODEL=1 writes the model that ships
(src/argus/traffic/risk/model.json) and its card.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from argus.indexes.words import words
from argus.traffic.risk.calibration import Slope, calibration_error
from argus.traffic.risk.model import GROUPS, normal_scores, standing
from argus.traffic.risk.signals import SIGNS
from benchmarks.traffic_card import card
from benchmarks.traffic_collections import FAMILIES, RETRIEVERS, Log, judged, logs

HOME = Path(__file__).parents[1] / "src" / "argus" / "traffic" / "risk"
LEAST, DRAWS, TRIALS, SIZES, SEED = 5, 1_000, 200, (20, 30, 50), 0
"""Failures (and successes) that an AUC needs; bootstrap draws; draws of judged questions."""
Floats = Any


def run() -> dict[str, Any]:
    everything = [log for name in FAMILIES for log in _announced(name)]
    result: dict[str, Any] = {
        "definition": "failed: none of the first ten is relevant; pair: more than ten non-relevant "
        "documents stand above a relevant one (EVIDENCE.md)",
        "collections": [_about(log) for log in everything if log.retriever == "dense"],
    }
    for variant in ("vectors", "words"):
        result[variant] = _variant(everything, variant)
    result["tried"] = _tried(everything)
    if os.environ.get("TRAFFIC_MODEL"):
        _ship(result)
    return result


def _announced(name: str) -> list[Log]:
    own = list(logs(name))
    print(name, {log.retriever: round(float(log.failed.mean()), 3) for log in own}, flush=True)
    return own


def _about(log: Log) -> dict[str, Any]:
    source = judged(log.collection)
    counts = [len(words(q.text)) for q in source.questions]
    return {
        "collection": log.collection, "family": log.family, "questions": len(log.failed),
        "documents": len(source.documents), "most_words": max(counts),
    }  # fmt: skip


def _table(log: Log, variant: str) -> Floats:
    return log.signals if variant == "vectors" else log.words_only


def _variant(everything: Sequence[Log], variant: str) -> dict[str, Any]:
    """Return AUC by family and retriever, its interval, and calibration, of families left out."""
    z = {id(log): standing(_table(log, variant)).z for log in everything}
    slopes = {
        f: mean_slope([g for g in everything if g.family != f], z) for f in families_of(everything)
    }
    final = mean_slope(everything, z)
    return {
        "question": _aucs(everything, z, pairs=False),
        "pair": _aucs(everything, z, pairs=True),
        "calibration": _calibration(everything, z, slopes),
        "slope": asdict(final),
    }


def families_of(everything: Sequence[Log]) -> list[str]:
    return list(dict.fromkeys(log.family for log in everything))


def auc(labels: Floats, scores: Floats) -> float:
    """Return the area under the ROC curve; ties count half."""
    ranks, positive = rankdata(scores), labels.sum()
    return float(
        (ranks[labels > 0].sum() - positive * (positive + 1) / 2)
        / (positive * (len(labels) - positive))
    )


def _cases(log: Log, pairs: bool) -> tuple[Floats, Floats]:
    """Return the row of each case, and whether it failed."""
    if pairs:
        return log.pairs, log.pair_failed
    return np.arange(len(log.failed)), log.failed


def usable(labels: Floats) -> bool:
    return min(labels.sum(), (1 - labels).sum()) >= LEAST


def _aucs(everything: Sequence[Log], z: dict[int, Floats], pairs: bool) -> dict[str, Any]:
    logs_ = [log for log in everything if usable(_cases(log, pairs)[1])]
    own = {id(log): _one(log, z[id(log)], pairs) for log in logs_}
    rng = np.random.default_rng(SEED)
    drawn = {id(log): _bootstrap(log, z[id(log)], pairs, rng) for log in logs_}
    by = {r: _by_family([g for g in logs_ if g.retriever == r], own) for r in RETRIEVERS}
    families = _by_family(logs_, own)
    intervals = {
        f: _interval(np.nanmean([drawn[id(g)] for g in logs_ if g.family == f], axis=0))
        for f in families
    }
    names = list(families)
    table = np.stack(
        [np.nanmean([drawn[id(g)] for g in logs_ if g.family == f], axis=0) for f in names]
    )
    chosen = rng.integers(len(names), size=(DRAWS, len(names)))
    both = table[chosen, np.arange(DRAWS)[:, None]].mean(axis=1)
    return {
        "mean": round(float(np.mean(list(families.values()))), 4),
        "families_drawn_too": _interval(both),
        "families_fixed": _interval(table.mean(axis=0)),
        "by_retriever": {r: round(float(np.mean(list(f.values()))), 4) for r, f in by.items()},
        "by_family": {f: {"auc": round(v, 4), **intervals[f]} for f, v in families.items()},
        "by_family_and_retriever": by,
        "left_out": sorted({g.collection for g in everything} - {g.collection for g in logs_}),
    }


def _one(log: Log, z: Floats, pairs: bool) -> float:
    rows, labels = _cases(log, pairs)
    return auc(labels, z[rows])


def _by_family(some: Sequence[Log], values: dict[int, float]) -> dict[str, float]:
    own = defaultdict(list)
    for log in some:
        own[log.family].append(values[id(log)])
    return {family: round(float(np.mean(v)), 4) for family, v in own.items()}


def _bootstrap(log: Log, z: Floats, pairs: bool, rng: np.random.Generator) -> Floats:
    """Return AUCs of draws of questions, a question with all its relevant documents."""
    rows, labels = _cases(log, pairs)
    of = [np.flatnonzero(rows == i) for i in range(len(log.failed))]
    values = np.full(DRAWS, np.nan)
    for i in range(DRAWS):
        drawn = np.concatenate([of[q] for q in rng.integers(len(of), size=len(of))])
        if 0 < labels[drawn].sum() < len(drawn):
            values[i] = auc(labels[drawn], z[rows[drawn]])
    return values


def _interval(draws: Floats) -> dict[str, float]:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return {"low": round(float(low), 4), "high": round(float(high), 4)}


def mean_slope(some: Sequence[Log], z: dict[int, Floats]) -> Slope:
    """Return the mean over families of each one's slope and intercept, and their deviations."""
    wide = Slope(0.0, 0.0, 10.0, 10.0)
    own = defaultdict(list)
    for log in some:
        if usable(log.failed):
            fitted = wide.corrected(z[id(log)], log.failed)
            own[log.family].append((fitted.intercept, fitted.slope))
    means = np.array([np.mean(v, axis=0) for v in own.values()])
    (a, b), (da, db) = means.mean(axis=0), means.std(axis=0, ddof=1)
    return Slope(*(round(float(v), 4) for v in (a, b, da, db)))


def _calibration(
    everything: Sequence[Log], z: dict[int, Floats], slopes: dict[str, Slope]
) -> dict[str, Any]:
    """Return the calibration error of families left out: before, and after judgements.

    floor: that of exact probabilities on as many questions, which is noise alone.
    """
    rng = np.random.default_rng(SEED)
    rows = defaultdict(list)
    for log in everything:
        place, slope = z[id(log)], slopes[log.family]
        p = slope.probability(place)
        errors = {"before": calibration_error(p, log.failed)}
        exact = [calibration_error(p, rng.random(len(p)) < p) for _ in range(50)]
        errors["floor"] = float(np.mean(exact))
        for size in SIZES:
            if size <= len(place) - LEAST:
                errors[str(size)] = _after(place, log.failed, slope, size, rng)
        rows[log.family].append(errors)
    by_family = {
        f: {key: round(float(np.mean([e[key] for e in v if key in e])), 4)
            for key in ("before", "floor", *map(str, SIZES)) if any(key in e for e in v)}
        for f, v in rows.items()
    }  # fmt: skip
    keys = ("before", "floor", *map(str, SIZES))
    mean = {
        key: round(float(np.mean([v[key] for v in by_family.values() if key in v])), 4)
        for key in keys
    }
    return {"mean": mean, "by_family": by_family, "draws": TRIALS}


def _after(z: Floats, failed: Floats, slope: Slope, size: int, rng: np.random.Generator) -> float:
    """Return the mean error on all questions of a log, with judgements of some drawn at random."""
    values = []
    for _ in range(TRIALS):
        rows = rng.choice(len(z), size, replace=False)
        corrected = slope.corrected(z[rows], failed[rows])
        values.append(calibration_error(corrected.probability(z), failed))
    return float(np.mean(values))


def _tried(everything: Sequence[Log]) -> dict[str, dict[str, float]]:
    """Return the mean AUC of what was tried beside: groups, weights that are learnt, raw values."""
    columns = {name: i for i, name in enumerate(SIGNS)}
    scored = {
        id(log): np.stack(
            [s * normal_scores(log.signals[:, columns[n]]) for n, s in SIGNS.items()], axis=1
        )
        for log in everything
    }
    arms: dict[str, Callable[[Log], Floats]] = {}
    for group in GROUPS:
        gone = {name: names for name, names in GROUPS.items() if name != group}
        arms[f"{group} alone"] = lambda g, own=group: _mean(scored[id(g)], {own: GROUPS[own]})
        arms[f"without {group}"] = lambda g, left=gone: _mean(scored[id(g)], left)
    arms["every signal alike"] = lambda g: np.nan_to_num(scored[id(g)]).mean(axis=1)
    result = {name: _means(everything, arm) for name, arm in arms.items()}
    raw = {id(log): np.nan_to_num(log.signals) for log in everything}
    for name, make, values in (
        ("logistic regression, learnt on the other families", _logistic, scored),
        ("gradient boosting, learnt on the other families", _boosted, scored),
        ("gradient boosting of values as they are", _boosted, raw),
    ):
        predicted = _learnt(everything, make, values)
        result[name] = _means(everything, lambda g, p=predicted: p[id(g)])
    return result


def _mean(scores: Floats, groups: dict[str, tuple[str, ...]]) -> Floats:
    columns = {name: i for i, name in enumerate(SIGNS)}
    return np.mean(
        [np.nan_to_num(scores[:, [columns[n] for n in names]]).mean(axis=1)
         for names in groups.values()], axis=0,
    )  # fmt: skip


def _means(everything: Sequence[Log], score: Callable[[Log], Floats]) -> dict[str, float]:
    means = {}
    for pairs in (False, True):
        some = [log for log in everything if usable(_cases(log, pairs)[1])]
        values = {id(log): _one(log, score(log), pairs) for log in some}
        families = _by_family(some, values)
        means["pair" if pairs else "question"] = round(float(np.mean(list(families.values()))), 4)
    return means


def _learnt(everything: Sequence[Log], make: Callable[[], Any], values: dict[int, Floats]) -> Any:
    """Return predictions for each family of a model of the others; families and classes alike."""
    predicted = {}
    for family in families_of(everything):
        others = [g for g in everything if g.family != family and usable(g.failed)]
        x = np.vstack([np.nan_to_num(values[id(g)]) for g in others])
        y = np.concatenate([g.failed for g in others])
        count = {f: sum(g.family == f for g in others) for f in FAMILIES.values()}
        weight = np.concatenate(
            [np.where(g.failed > 0, 0.5 / g.failed.mean(), 0.5 / (1 - g.failed.mean()))
             / len(g.failed) / count[g.family] for g in others]
        )  # fmt: skip
        model = make().fit(x, y, sample_weight=weight * len(y) / weight.sum())
        for log in everything:
            if log.family == family:
                own = np.nan_to_num(values[id(log)])
                predicted[id(log)] = model.predict_proba(own)[:, 1]
    return predicted


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.01, max_iter=2_000)


def _boosted() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_depth=3, max_iter=80, learning_rate=0.06, min_samples_leaf=60, l2_regularization=5.0,
        random_state=SEED,
    )  # fmt: skip


def _ship(result: dict[str, Any]) -> None:
    sizes = [row["documents"] for row in result["collections"]]
    model = {
        "version": 1,
        **{variant: _shipped(result, variant) for variant in ("vectors", "words")},
        "region": {
            "most_words": max(row["most_words"] for row in result["collections"]),
            "most_unknown": 0.5,
            "least_documents": min(sizes),
            "most_documents": max(sizes),
        },
    }
    text = json.dumps(model, indent=2) + "\n"
    (HOME / "model.json").write_text(text, encoding="utf-8")
    (HOME / "card.md").write_text(card(result), encoding="utf-8")


def _shipped(result: dict[str, Any], variant: str) -> dict[str, Any]:
    own = result[variant]
    error = own["calibration"]["mean"]
    return {
        "slope": own["slope"],
        "worth": {
            "auc": own["question"]["mean"],
            **own["question"]["families_drawn_too"],
            "auc_pairs": own["pair"]["mean"],
            "error": error["before"],
            "error_corrected": error["30"],
            "judgements": 30,
            "families": len(own["question"]["by_family"]),
            "questions": sum(
                row["questions"] for row in result["collections"]
                if row["collection"] not in own["question"]["left_out"]
            ),
        },
    }  # fmt: skip
