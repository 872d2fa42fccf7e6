"""Superseded documents beyond the tables of `authority_quality`, with the default encoder.

rows: PEPs and KEPs with the edges of their headers, free-form and structured questions, all
systems; GHSA and SCOTUS with the anchor known (CAR section 6.6). words: shares of documents with a
vocabulary (6.8, 6.10). proposals: of `authority propose` against the edges, all and right ones, by
kind. recovered: the share of controlling documents that the first 1, 2 and 4 look-ups of a closure
reach (section 8), by what is looked up next. maps: embeddings that preserve authority (section 8).
A linear map of all vectors, from the identity, is taught by InfoNCE to bring each superseded
document to its superseder, past 1,024 random ones. Five folds of the connected parts of the edges:
a question's own chain taught nothing. The rate and the epochs were looked at on GHSA, so its gain
is flattered. Vectors stay in ARGUS_BENCH (or the temporary folder): a run that was stopped goes on.
"""

from __future__ import annotations

import os
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from argus.authority.benchmarks.collection import Benchmark, read_benchmark
from argus.authority.benchmarks.job import ScoreConfig, score_systems, vocabulary_gap
from argus.authority.benchmarks.judging import Judge, Outcome, score, summarise
from argus.authority.benchmarks.systems import SYSTEMS, Bench
from argus.authority.proposals import KINDS, find_evidence
from argus.authority.relation import Authority
from argus.authority.rules import Record
from argus.data.types import FloatArray
from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder, queries
from argus.encoders.protocol import unit_rows
from benchmarks.authority_quality import K, rows_of, short
from benchmarks.shared import collection

ASKED = {
    "peps": ("queries", "queries_structured"), "keps": ("queries", "queries_structured"),
    "ghsa": ("queries", "queries_structured"), "scotus": ("queries", "queries_issue"),
}  # fmt: skip
KNOWN = ("bm25", "two-stage-bm25", "known", "two-stage-known", "closure")
WORDS = {
    "ghsa": ("vulnerab,exploit,attack", "cve-"),
    "scotus": ("overrul,abrogat", "good law,controlling precedent"),
}
BUDGETS = (1, 2, 4)
FOLDS, EPOCHS, RANDOM, TEMPERATURE, RATE = 5, 50, 1024, 0.05, 1e-4


def run() -> dict[str, Any]:
    root = os.environ.get("ARGUS_BENCH") or Path(tempfile.gettempdir()) / "argus-bench"
    home, rows, maps = Path(root) / "authority", list[dict[str, Any]](), list[dict[str, Any]]()
    for name, files in ASKED.items():
        known, folder = name in WORDS, collection("authority") / name
        for file in files:
            result = score_systems(
                folder, out=home / f"{name}-{file}", queries=f"{file}.jsonl", fresh=True,
                encoder=None if known else EncoderConfig(), store=home / name,
                config=ScoreConfig(k=K, systems=KNOWN if known else ()),
            )  # fmt: skip
            rows += rows_of(f"{name} {file}", result.summary)
        maps += _mapped(folder, home / name) if known else []
    words = {n: vocabulary_gap(collection("authority") / n, words=of) for n, of in WORDS.items()}
    shares = {n: found["measures"][3:] for n, found in words.items()}
    proposals = {name: _proposed(read_benchmark(collection("authority") / name)) for name in ASKED}
    recovered = {name: _recovered(read_benchmark(collection("authority") / name)) for name in ASKED}
    return {"k": K, "rows": rows, "words": shares, "proposals": proposals,
            "recovered": recovered, "maps": maps}  # fmt: skip


def _recovered(made: Benchmark) -> dict[str, list[float]]:
    authority, newer = Authority(made.records, edges=made.edges), dict[str, list[str]]()
    for edge in made.edges:
        newer.setdefault(edge.superseded, []).append(edge.superseder)
    order = {record.id: i for i, record in enumerate(sorted(made.records, key=_time))}
    nexts = {"nearest first": lambda one: 0, "newest first": lambda one: -order[one]}
    told = {}
    for name, key in nexts.items():
        shares = []
        for first in newer:
            wanted, seen, asked = {*authority.controlling([first])}, [first], set[str]()
            for n in range(1, max(BUDGETS) + 1):
                if left := [one for one in seen if one not in asked]:
                    asked.add(at := min(left, key=key))
                    seen += [one for one in newer.get(at, ()) if one not in seen]
                if n in BUDGETS:
                    shares.append(len(wanted.intersection(seen[1:])) / len(wanted))
        told[name] = np.reshape(shares, (-1, len(BUDGETS))).mean(axis=0).round(4).tolist()
    return told


def _time(record: Record) -> str:
    return str(record.time or record.published or "")


def _proposed(made: Benchmark) -> dict[str, Any]:
    edges = {(edge.superseder, edge.superseded) for edge in made.edges}
    kinds = {pair: kind for pair, (kind, _) in find_evidence(made.records).items()}
    right = [kinds[pair] for pair in edges & kinds.keys()]
    of = {kind: [list(kinds.values()).count(kind), right.count(kind)] for kind in KINDS}
    return {"edges": len(edges), "proposals": len(kinds), "right": len(right), "kinds": of}


def _mapped(folder: Path, home: Path) -> list[dict[str, Any]]:
    asked = {file: read_benchmark(folder, f"{file}.jsonl") for file in ASKED[folder.name]}
    made, encoder = asked["queries"], load_encoder(EncoderConfig())
    row = {record.id: i for i, record in enumerate(made.records)}
    with EmbeddingStore(home, fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
        texts = [record.document.content or "-" for record in made.records]
        vectors = embed(documents(texts), encoder, store).vectors
        points = {
            file: embed(queries([q.text for q in of.questions]), encoder, store).vectors
            for file, of in asked.items()
        }
    old = np.array([row[edge.superseded] for edge in made.edges])
    new = np.array([row[edge.superseder] for edge in made.edges])
    graph = csr_array((np.ones(len(old)), (old, new)), shape=(len(row), len(row)))
    part = connected_components(graph, directed=False)[1] % FOLDS
    maps = [_teach(vectors, old[part[old] != f], new[part[old] != f]) for f in range(FOLDS)]
    placed = [unit_rows(vectors @ one) for one in maps]
    told = []
    for (file, of), mapped in product(asked.items(), (False, True)):
        outcomes: dict[str, dict[str, Outcome]] = {"dense": {}, "two-stage-dense": {}}
        bench = Bench(of, k=K)
        for question, point in zip(of.questions, points[file], strict=True):
            fold = part[row[question.anchor[0]]]
            values = placed[fold] @ (point @ maps[fold]) if mapped else vectors @ point
            best = np.argsort(-values, kind="stable")[: bench.anchors]
            found = {made.records[i].id: float(values[i]) for i in best}
            for system, own in outcomes.items():
                own[question.id] = SYSTEMS[system].serve(bench, question, found)
        for system, own in outcomes.items():
            overall = summarise(score(of, own, Judge(of), k=K))["overall"]
            shares = {name: short(overall[name]) for name in ("controlling_hit", "anchor_recall")}
            about = {"benchmark": f"{folder.name} {file}", "mapped": mapped, "system": system}
            told.append(about | shares)
            print(told[-1], flush=True)
    return told


def _teach(rows: FloatArray, old: Any, new: Any) -> FloatArray:
    """Return the map learnt of pairs of rows, a superseded and a superseding document."""
    import torch

    rng, vectors = np.random.default_rng(0), torch.from_numpy(rows)
    unit = torch.nn.functional.normalize
    learnt = torch.nn.Parameter(torch.eye(rows.shape[1]))
    steps = torch.optim.Adam([learnt], lr=RATE)
    for _ in range(EPOCHS):
        for batch in np.array_split(rng.permutation(len(old)), -(-len(old) // 64)):
            columns = np.concatenate([new[batch], rng.choice(len(rows), RANDOM, replace=False)])
            scores = unit(vectors[old[batch]] @ learnt) @ unit(vectors[columns] @ learnt).T
            same = (columns == new[batch, None]) | (columns == old[batch, None])  # no rivals
            np.fill_diagonal(same, val=False)
            scores = (scores / TEMPERATURE).masked_fill(torch.from_numpy(same), -torch.inf)
            steps.zero_grad()
            torch.nn.functional.cross_entropy(scores, torch.arange(len(batch))).backward()
            steps.step()
    found: FloatArray = learnt.detach().numpy()
    return found
