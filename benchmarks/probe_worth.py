"""What a probe that needs no label tells of real failures: its AUC, collection after collection.

A judged question fails a relevant document where the search does not bring it into the first ten.
A probe asks for the document in some way that needs no judgement, and its rank (log, mean of its
probes) is set beside that; of questions of a log, the share of three near ones that miss it.
Searches: the vectors of the default encoder, and their DBSF with BM25. Told beside each: how often
the probe itself brings the document, and of all together the AUC of a logistic regression fitted on
the other families. WORTH_VECTORS=FOLDER keeps vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from argus.data.types import Document, FloatArray
from argus.encoders import EncoderConfig, load_encoder
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex
from argus.measures.intervals import discrimination
from argus.retrievability.sentences import hold_out, without_rare_words
from benchmarks.blend_quality import judged_collection
from benchmarks.shared import dense_run, kept_vectors

FAMILIES = {
    "anthropic_docs": "anthropic_docs", "contextual_code": "contextual_code", "cosqa": "cosqa",
    "cranfield": "cranfield", "hotpot100": "wikipedia", "wiki2": "wikipedia",
    "theoremqa_theorems": "theoremqa", "impliret_wknow_multi": "impliret", "xquad_en": "xquad",
    "demo": "demo",
}  # fmt: skip
DEPTH, K, SENTENCES, NEAR = 200, 10, 3, 3
TITLE, LEFT_IN, HELD_OUT = "its title", "its own sentences, left in", "the same, held out"
PLAIN = "its sentences without their rarer half"
NEAR_BY = {by: f"questions of a log, near by {by}" for by in ("vectors", "words")}
SEARCHES = ("vectors", "DBSF")


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig())
    told: dict[str, Any] = {of: {} for of in SEARCHES}
    rows: dict[str, dict[str, Any]] = {of: {} for of in SEARCHES}
    for name in FAMILIES:
        for of, found in _collection(name, encoder).items():
            told[of][name] = found.pop("figures")
            rows[of][name] = found
        print(name, {of: told[of][name] for of in SEARCHES}, flush=True)
    return {
        of: {
            "collections": told[of], "mean of families": _by_family(told[of]),
            "all together, fitted on other families": _fitted(rows[of]),
        }
        for of in SEARCHES
    }  # fmt: skip


def _collection(name: str, encoder: Any) -> dict[str, dict[str, Any]]:
    """Return per search the figures, the log ranks of pairs by probe, and which pairs fail."""
    documents, judged = judged_collection(name)
    documents = sorted((d for d in documents if d.content.strip()), key=lambda d: d.id)
    row = {document.id: i for i, document in enumerate(documents)}
    pairs = [
        (i, row[id_])
        for i, query in enumerate(judged.queries)
        for id_, grade in judged.qrels.get(query.id, {}).items()
        if grade > 0 and id_ in row
    ]
    asked = sorted({target for _, target in pairs})
    lexical = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
    texts, probes = _probes(documents, asked)
    vectors = kept_vectors("WORTH_VECTORS", name, lambda: {
        "d": encoder.encode_documents([d.content for d in documents]),
        "q": encoder.encode_queries([q.text for q in judged.queries]),
        "p": encoder.encode_queries([text for text, _ in texts]),
        "r": encoder.encode_documents([rest for _, rest in texts]),
    })  # fmt: skip
    lists = {what: _lists(of, vectors[at], vectors["d"], documents, lexical)
             for what, of, at in (("q", [q.text for q in judged.queries], "q"),
                                  ("p", [text for text, _ in texts], "p"))}  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for of in SEARCHES:
        places, ranks_of = lists["q"][of], lists["p"][of]
        scores: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for i, (kind, target) in enumerate(probes):
            scores[kind][target].append(ranks_of[i].get(documents[target].id, DEPTH + 1))
            if kind == LEFT_IN and of == "vectors":
                own = float(vectors["p"][i] @ vectors["r"][i])
                others = vectors["d"] @ vectors["p"][i]
                others[target] = -2
                scores[HELD_OUT][target].append(min(int((others > own).sum()) + 1, DEPTH + 1))
        failed = [places[i].get(documents[t].id, DEPTH + 1) > K for i, t in pairs]
        columns = {kind: [_mean_log(ranks[t]) for _, t in pairs] for kind, ranks in scores.items()}
        likeness = {
            "vectors": vectors["q"] @ vectors["d"][asked].T,
            "words": np.array([lexical.scores(q.text)[asked] for q in judged.queries]),
        }
        for by, like in likeness.items():
            columns[NEAR_BY[by]] = _near(pairs, places, like, asked, documents)
        figures: dict[str, Any] = {"pairs": len(pairs), "fail": round(float(np.mean(failed)), 3)}
        for kind, values in columns.items():
            own = np.array([v is not None for v in values])
            clusters = [str(pairs[i][0]) for i in np.flatnonzero(own)]
            known = [value for value in values if value is not None]
            area = discrimination(known, np.array(failed)[own], clusters=clusters)
            first = [rank <= K for ranks in scores[kind].values() for rank in ranks]
            figures[kind] = {
                "auc": area and {f: round(area[f], 3) for f in ("auc", "low", "high")},
                "brings it": round(float(np.mean(first)), 3) if first else None,
            }
        found[of] = {"figures": figures, "columns": columns, "failed": failed}
    return found


def _probes(
    documents: Sequence[Document], rows: Sequence[int]
) -> tuple[list[tuple[str, str]], list[tuple[str, int]]]:
    """Return texts, each with the rest of its document, and of each its kind and document."""
    held, _ = hold_out([documents[row] for row in rows], per_document=SENTENCES)
    texts, probes = [], []
    for row in rows:
        if title := documents[row].title.strip():
            texts.append((title, title))
            probes.append((TITLE, row))
    for one, plain in zip(
        held, without_rare_words([h.sentence for h in held], documents), strict=True
    ):
        for kind, text in ((LEFT_IN, one.sentence), (PLAIN, plain)):
            texts.append((text, one.rest))
            probes.append((kind, rows[one.position]))
    return texts, probes


def _near(
    pairs: Any, places: Any, like: FloatArray, asked: Sequence[int], documents: Sequence[Document]
) -> list[Any]:
    """Return how many of the questions of the log that are like a document miss it, as a share.

    The log is the half of the questions that the pair's own is not of. like: (n_questions,
    n_asked).
    """
    column = {row: at for at, row in enumerate(asked)}
    values: list[float | None] = []
    for i, target in pairs:
        log = np.arange(1 - i % 2, len(like), 2)
        best = log[np.argsort(-like[log, column[target]], kind="stable")[:NEAR]]
        ranks = [places[j].get(documents[target].id, DEPTH + 1) for j in best]
        values.append(float(np.mean([rank > K for rank in ranks])))
    return values


def _mean_log(ranks: Sequence[int]) -> float | None:
    return float(np.mean(np.log(ranks))) if ranks else None


def _lists(
    texts: Sequence[str], asked: FloatArray, vectors: FloatArray,
    documents: Sequence[Document], lexical: LexicalIndex,
) -> dict[str, list[dict[str, int]]]:  # fmt: skip
    """Return the rank of each document that comes back, per search and text."""
    names = [str(i) for i in range(len(texts))]
    dense = dense_run(names, asked, documents, vectors, DEPTH)
    words = lexical.search(list(texts), DEPTH).run(names)
    runs = {"vectors": dense, "DBSF": fuse_with_bm25(dense, words, DEPTH, "dbsf")}
    return {
        of: [{id_: rank for rank, id_ in enumerate(run.get(name, {}), 1)} for name in names]
        for of, run in runs.items()
    }


def _by_family(told: dict[str, Any]) -> dict[str, Any]:
    """Return the mean AUC of each probe over families, with the least and the most."""
    areas: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, figures in told.items():
        for kind, own in figures.items():
            if isinstance(own, dict) and own["auc"]:
                areas[kind][FAMILIES[name]].append(own["auc"]["auc"])
    means = {kind: [float(np.mean(own)) for own in of.values()] for kind, of in areas.items()}
    return {kind: _spread(own) for kind, own in means.items()}


def _spread(areas: Sequence[float]) -> dict[str, float]:
    low, mean, high = min(areas), float(np.mean(areas)), max(areas)
    return {"auc": round(mean, 3), "least": round(low, 3), "most": round(high, 3),
            "families": len(areas)}  # fmt: skip


def _fitted(rows: dict[str, Any]) -> dict[str, Any]:
    """Return the AUC of all probes together on each family, fitted on the others."""
    from sklearn.linear_model import LogisticRegression

    kinds = sorted({kind for one in rows.values() for kind in one["columns"]})

    def table(names: Sequence[str]) -> Iterator[tuple[list[float], bool]]:
        for name in names:
            own = rows[name]
            for i, failed in enumerate(own["failed"]):
                values = [own["columns"].get(kind, [None] * (i + 1))[i] for kind in kinds]
                yield [v for x in values for v in (x or 0.0, float(x is None))], failed

    areas = []
    for family in dict.fromkeys(FAMILIES.values()):
        inside = [name for name in rows if FAMILIES[name] == family]
        x, y = zip(*table([name for name in rows if name not in inside]), strict=True)
        asked, failed = zip(*table(inside), strict=True)
        model = LogisticRegression(max_iter=1_000).fit(np.array(x), np.array(y))
        area = discrimination(model.predict_proba(np.array(asked))[:, 1], np.array(failed))
        if area is not None:
            areas.append(area["auc"])
    return _spread(areas)
