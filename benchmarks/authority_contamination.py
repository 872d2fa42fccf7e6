"""FinSuperQA, contaminated: how often time alone, and how often the rules, still give the answer.

"time alone" reads the latest event of the asked pair (same ticker, the employee the same or none);
it is what the contamination rates were set on. The systems are those of `score`. Four seeds at the
default rates, and a grid of rates at seed 0. TCA@5 with Wilson intervals, overall and on T3.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from argus.authority.benchmarks.judging import Judge, Outcome, about, score, summarise
from argus.authority.benchmarks.makers import RATES, make_finsuperqa
from argus.authority.benchmarks.systems import SYSTEMS, Bench
from argus.authority.rules import Record
from benchmarks.authority_quality import K, short

SEEDS, RULED = range(4), ("two-stage-bm25", "two-stage-bm25-one-chain")
# Chances per distractor to be about the asking pair: in cases of one provenance, and of two.
GRID = ((0, 0.05), (0, 0.10), (0, 0.20), (0.02, 0.02), (0.035, 0.035), (0.1, 0.1))


def run() -> dict[str, Any]:
    rows = [{"seed": seed} | _measure(seed, RATES) for seed in SEEDS]
    grid = [{"within": rates[0], "across": rates[1]} | _measure(0, rates) for rates in GRID]
    return {"k": K, "rates": list(RATES), "seeds": rows, "grid": grid}


def _measure(seed: int, rates: tuple[float, float]) -> dict[str, Any]:
    made = make_finsuperqa(seed=seed, contaminated=True, rates=rates)
    bench, judge, tickers = Bench(made, k=K), Judge(made), defaultdict[str, list[Record]](list)
    for record in sorted(made.records, key=lambda r: (r.time.start if r.time else 0, r.id)):
        for ticker in record.values("ticker"):
            tickers[ticker].append(record)
    outcomes = {name: SYSTEMS[name].run(bench) for name in RULED}
    outcomes["time alone"] = {
        q.id: Outcome(([r.id for r in tickers[q.scope["ticker"]] if about(r, q.scope)][-1],))
        for q in made.questions
    }
    found = {name: summarise(score(made, own, judge, k=K)) for name, own in outcomes.items()}
    told = {
        name: {"all": short(of["overall"]["tca"]), "T3": short(of["hops"]["T3"]["tca"])}
        for name, of in found.items()
    }
    print(told, flush=True)
    return told
