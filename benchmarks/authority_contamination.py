"""FinSuperQA, contaminated: how often time alone, and how often the rules, still give the answer.

"time alone" reads the latest event of the asked pair (same ticker, the employee the same or none);
it is what the contamination rates were set on. "rules" is the two-stage pipeline over BM25's
anchors, "one chain per scope" passes over anchors whose scope a better one has (`Chains.FIRST`),
"first anchor" takes the first retrieved document alone. Four seeds at the
default rates, and a grid of rates at seed 0. TCA@5 with Wilson intervals, overall and on T3.
"""

from __future__ import annotations

from typing import Any

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.judging import Judge, about, share
from argus.authority.benchmarks.makers import RATES, make_finsuperqa
from argus.authority.relation import Authority
from argus.authority.resolution import Chains, trace
from argus.authority.rules import Record
from argus.indexes.lexical import LexicalIndex

SEEDS, K, ANCHORS = range(4), 5, 20
# Chances per distractor to be about the asking pair: in cases of one provenance, and of two.
GRID = ((0, 0.05), (0, 0.10), (0, 0.20), (0.02, 0.02), (0.035, 0.035), (0.1, 0.1))
SYSTEMS = ("time alone", "rules", "rules, one chain per scope", "rules, first anchor")


def run() -> dict[str, Any]:
    rows = [{"seed": seed} | _measure(seed, RATES) for seed in SEEDS]
    grid = [{"within": rates[0], "across": rates[1]} | _measure(0, rates) for rates in GRID]
    return {"k": K, "rates": list(RATES), "seeds": rows, "grid": grid}


def _measure(seed: int, rates: tuple[float, float]) -> dict[str, Any]:
    benchmark = make_finsuperqa(seed=seed, contaminated=True, rates=rates)
    authority = Authority(benchmark.records, benchmark.rules)
    judge = Judge(benchmark)
    by_ticker = _by_ticker(benchmark)
    index = LexicalIndex.build(
        [record.id for record in benchmark.records],
        [record.document.content for record in benchmark.records],
    )
    hits = index.search([question.text for question in benchmark.questions], ANCHORS)
    right: dict[str, list[tuple[str, bool]]] = {name: [] for name in SYSTEMS}
    for question, ids, scores in zip(benchmark.questions, hits.ids, hits.scores, strict=True):
        found = dict(zip(ids, scores, strict=True))
        served = {
            "time alone": _latest(by_ticker[question.scope["ticker"]], question.scope),
            "rules": _ids(trace(found, authority, k=K).hits),
            "rules, one chain per scope": _ids(
                trace(found, authority, k=K, chains=Chains.FIRST).hits
            ),
            "rules, first anchor": _ids(trace(found, authority, k=K, anchors=1).hits),
        }
        for name in SYSTEMS:
            tca = judge.figures(question, served[name]).tca
            right[name].append((question.hop, tca))
    return {name: _shares(values) for name, values in right.items()}


def _by_ticker(benchmark: Benchmark) -> dict[str, list[Record]]:
    tickers: dict[str, list[Record]] = {}
    for record in benchmark.records:
        for ticker in record.values("ticker"):
            tickers.setdefault(ticker, []).append(record)
    return tickers


def _latest(records: list[Record], scope: Any) -> list[str]:
    bearing = [r for r in records if about(r, scope) and r.time is not None]
    return [max(bearing, key=lambda r: (r.time.start if r.time else 0, r.id)).id]


def _ids(hits: Any) -> list[str]:
    return [hit.id for hit in hits]


def _shares(values: list[tuple[str, bool]]) -> dict[str, list[float]]:
    shares = {"all": share(tca for _, tca in values)}
    shares["T3"] = share(tca for hop, tca in values if hop == "T3")
    return {
        name: [round(found["value"], 4), round(found["low"], 4), round(found["high"], 4)]
        for name, found in shares.items()
        if found is not None
    }
