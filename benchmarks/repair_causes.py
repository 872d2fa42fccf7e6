"""What helps and what hurts when an index is repaired, MiniLM: by view, and by `explain`.

The demo's gain is taken apart by what its views are about: a document's own subject (the rest of
its own docstring, which its corpus lacks) or what it mentions. For every collection whose questions
`paper` harms: which views brought in what now stands above the relevant documents that fell, and
what `argus explain` names as the cause where they are no longer in the top 10; `robust` beside it.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.corpus import read_queries
from argus.data.qrels import read_qrels
from argus.data.types import FloatArray, Qrels, Query, Run, View
from argus.demo.job import demo
from argus.explanation.job import explain
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ORIGINAL
from argus.measures import compare, evaluate, harmed_queries
from argus.remedies.config import PRESETS
from argus.remedies.diagnosis.config import TAU
from argus.remedies.expand import is_about_own_subject
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.expand import expand_index
from argus.remedies.repair.remedy import rollback
from argus.retrievability.probes.fit import HOME as PROBE
from argus.retrievability.rps import HIGH
from benchmarks.repair import FB, TRIALS, WIKI2, fb_passages
from benchmarks.shared import collection

HARMED = ("hotpot100", "impliret_wknow_multi")
DEPTH, K, HEADLINE = 100, 10, "nDCG@10"


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "demo"
        made = demo(out=folder).repair
        assert made is not None
        judged = _judged(folder / "corpus")
        subjects = _by_subject(folder, made.remedy, *judged)
        rollback(folder, made.remedy)
        reference = ReferenceConfig(kb=(folder / "corpus" / "kb.jsonl",))
        causes = _causes("demo", folder, reference, *judged, tau=HIGH, probe=folder / PROBE)
        for trial in (t for t in TRIALS if t.name in HARMED):
            index = Path(home) / trial.name
            build_index(collection(trial.name), out=index)
            where = {WIKI2: collection(WIKI2), FB: fb_passages(Path(home))}
            reference = ReferenceConfig(kb=tuple(where[name] for name in trial.kb))
            causes += _causes(trial.name, index, reference, *_judged(collection(trial.name)))
    return {"demo_by_subject": subjects, "harm": causes}


def _judged(folder: Path) -> tuple[list[Query], Qrels]:
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    return [q for q in read_queries(folder) if q.id in qrels], qrels


def _by_subject(
    index: Path, remedy: str, queries: Sequence[Query], qrels: Qrels
) -> list[dict[str, Any]]:
    """Measure with all views of a remedy, with those about documents' own subjects, and without."""
    retriever = open_retriever(f"{index}@{remedy}")
    vectors = retriever.encoder.encode_queries([q.text for q in queries])
    whole = retriever.index.snapshot(remedy)
    original = whole.columns["remedy"].to_numpy(zero_copy_only=False) != remedy
    own = np.array([is_about_own_subject(view) for view in whole.views])
    before = evaluate(_searched(whole, original, queries, vectors), qrels, [HEADLINE])
    kept = {
        "all views": np.ones(len(own), bool),
        "own subjects": original | own,
        "mentions": ~own,
    }
    rows = []
    for name, rows_kept in kept.items():
        after = evaluate(_searched(whole, rows_kept, queries, vectors), qrels, [HEADLINE])
        found = compare(before, after, seed=0)[HEADLINE]
        row = {"views": name, "added": int((rows_kept & ~original).sum())}
        for field in ("mean_before", "mean_after", "mean_difference", "low", "high", "p_value"):
            value = getattr(found, field)
            row[field] = None if value is None else round(value, 4)
        rows.append(row | {"improved": found.improved, "harmed": found.harmed})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _searched(
    whole: Snapshot, kept: np.ndarray, queries: Sequence[Query], vectors: FloatArray
) -> Run:
    part = Snapshot(whole.columns.filter(kept), whole.vectors[kept])
    return part.search(vectors, DEPTH).run([q.id for q in queries])


def _causes(
    name: str,
    index: Path,
    reference: ReferenceConfig,
    queries: Sequence[Query],
    qrels: Qrels,
    *,
    tau: float = TAU,
    probe: Path | None = None,
) -> list[dict[str, Any]]:
    """Repair, look at who is harmed and by which views, undo; with both presets."""
    rows = []
    for preset in ("paper", "robust"):
        config = PRESETS[preset]
        made = expand_index(index, reference=reference, config=config, tau=tau, probe=probe)
        harm = _harm(index, made.remedy, queries, qrels)
        rows.append({"collection": name, "repair": preset, **harm})
        print(json.dumps(rows[-1]), flush=True)
        rollback(index, made.remedy)
    return rows


def _harm(index: Path, remedy: str, queries: Sequence[Query], qrels: Qrels) -> dict[str, Any]:
    before = open_retriever(f"{index}@before:{remedy}")
    after = open_retriever(f"{index}@{remedy}", before.encoder)
    texts = [q.text for q in queries]
    lists = [retriever.search_views(texts, DEPTH) for retriever in (before, after)]
    runs = [top.run([q.id for q in queries]) for top in lists]
    scored = [evaluate(found, qrels, [HEADLINE]) for found in runs]
    harmed = {change.query_id for change in harmed_queries(*scored, HEADLINE)}
    views = {view.id: view for view in after.index.snapshot(remedy).views}
    brought: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    fallen = 0
    for i, query in enumerate(queries):
        if query.id not in harmed:
            continue
        old, new = lists[0].doc_ids[i], lists[1].doc_ids[i]
        view_of = dict(zip(new, lists[1].view_ids[i], strict=True))
        for gold in (d for d, grade in qrels[query.id].items() if grade > 0 and d in old):
            place = new.index(gold) if gold in new else len(new)
            if place <= old.index(gold):
                continue
            fallen += 1
            passed = set(new[:place]) - set(old[: old.index(gold)])
            brought.update(_kind(views[view_of[doc]]) for doc in passed)
            if place >= K:
                found = explain(query.text, gold, after)
                causes[str(found.cause or "none: others are nearer")] += 1
    return {
        "harmed": len(harmed),
        "gold_fallen": fallen,
        "passed_by_views": dict(brought.most_common()),
        "explain_beyond_top_10": dict(causes.most_common()),
    }


def _kind(view: View) -> str:
    """Say what the view is about that brought a document past a relevant one."""
    if view.kind == ORIGINAL:
        return "its own text"
    if is_about_own_subject(view):
        return "its own subject"
    return f"a mention, passage by {json.loads(view.source)['found']}"
