"""What the audit of an authority relation finds: a table of pairs, and what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from argus.authority.cycles import describe
from argus.authority.jobs.inputs import OpenedAuthority
from argus.authority.jobs.summary import GroupFigures, MeasuredPairs, Proxy, ProxyFigures
from argus.authority.reachability import Reach, Supersession
from argus.authority.relation import Authority
from argus.data.types import IntArray, State
from argus.measures import wilson

PROXIES: tuple[Proxy, ...] = ("title", "text")
_TEXTS = (
    "superseded", "controlling", "superseded_title", "controlling_title", "types", "rule", "chain",
    "state", "reason",
)  # fmt: skip
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in _TEXTS]
    + [("hops", pa.int64())]
    + [
        (f"{proxy}_{name}", kind)
        for proxy in PROXIES
        for name, kind in (
            ("rank", pa.int64()),
            ("n_plus", pa.int64()),
            ("divergence", pa.float64()),
            ("reachable", pa.bool_()),
        )
    ]
)
"""One row per superseded document and document that controls it.

superseded, controlling: id of the document.
superseded_title, controlling_title: its title; empty without one.
types: their types, older → newer.
hops: supersessions from one to the other.
chain: these, in words; of more than 20 the first.
state: measured where one of the two proxies could ask.
title_rank, text_rank: rank of the controlling one, asked with this; null beyond a list's end.
title_n_plus, text_n_plus: documents that score strictly above it (N+).
title_divergence, text_divergence: score of what comes first less its score, at least 0.
title_reachable, text_reachable: whether it is in the top k.
"""


BEYOND = 1 << 30
"""A rank beyond the end of a list."""


@dataclass(frozen=True)
class ProxyRanks:
    """Where what controls each superseded document stands, asked with one proxy.

    Arrays are of the pairs that could ask, in their order; see `Reach`.
    """

    rank: IntArray
    """BEYOND where a retriever's list ends before it."""
    why_not: Mapping[int, tuple[State, str]]
    """Of the pairs that could not, by number."""
    outranking: IntArray | None = None
    """None of a retriever, whose lists end."""
    divergence: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(cls, reach: Reach, why_not: Mapping[int, tuple[State, str]]) -> ProxyRanks:
        """Return those of vectors."""
        return cls(reach.rank, why_not, reach.outranking, reach.divergence)


def proxy_texts(
    pairs: Iterable[Supersession], authority: Authority, proxy: Proxy
) -> dict[str, str]:
    """Return one proxy of every superseded document that has it, by id."""
    records = [authority.records[id_] for id_ in dict.fromkeys(pair.superseded for pair in pairs)]
    texts = {r.id: r.title if proxy == "title" else r.text for r in records}
    return {id_: text for id_, text in texts.items() if text.strip()}


def pair_table(
    pairs: Sequence[Supersession],
    proxies: Mapping[Proxy, ProxyRanks],
    authority: Authority,
    k: int,
) -> pa.Table:
    """Return one row per superseded document and document that controls it."""
    older = [authority.records[pair.superseded] for pair in pairs]
    newer = [authority.records[pair.controlling] for pair in pairs]
    why_not = [
        [ranks.why_not[i] for ranks in proxies.values() if i in ranks.why_not]
        for i in range(len(pairs))
    ]
    columns = {
        "superseded": [record.id for record in older],
        "controlling": [record.id for record in newer],
        "superseded_title": [record.title for record in older],
        "controlling_title": [record.title for record in newer],
        "types": [f"{a.type} → {b.type}" for a, b in zip(older, newer, strict=True)],
        "rule": [pair.rule for pair in pairs],
        "hops": [pair.hops for pair in pairs],
        "chain": [_chain(pair) for pair in pairs],
        "state": [
            str(State.MEASURED if len(why) < len(proxies) else _failed(why)) for why in why_not
        ],
        "reason": ["; ".join(dict.fromkeys(reason for _, reason in why)) for why in why_not],
    }
    for proxy, ranks in proxies.items():
        columns |= _columns(proxy, ranks, len(pairs), k)
    return pa.Table.from_pydict(columns, schema=_SCHEMA)


def _chain(pair: Supersession) -> str:
    more = pair.hops - len(pair.chain)
    rest = f", and by {more:,} more up to {pair.controlling!r}" if more else ""
    return describe(list(pair.chain)) + rest


def _failed(why: Iterable[tuple[State, str]]) -> State:
    """Return the state of a pair that no proxy could ask for."""
    failed = any(state is State.FAILED for state, _ in why)
    return State.FAILED if failed else State.NOT_APPLICABLE


def _columns(proxy: Proxy, ranks: ProxyRanks, n: int, k: int) -> dict[str, pa.Array]:
    """Return the columns of one proxy; null where it could not ask."""
    absent = np.array([i in ranks.why_not for i in range(n)], bool)

    def column(values: npt.NDArray[np.generic] | None, *, known: bool = True) -> pa.Array:
        if values is None:
            return pa.nulls(n)
        spread, mask = np.zeros(n, values.dtype), absent.copy()
        spread[~absent] = values
        if not known:
            mask[~absent] |= ranks.rank == BEYOND
        return pa.array(spread, mask=mask)

    return {
        f"{proxy}_rank": column(ranks.rank, known=False),
        f"{proxy}_n_plus": column(ranks.outranking),
        f"{proxy}_divergence": column(ranks.divergence),
        f"{proxy}_reachable": column(ranks.rank <= k),
    }


def summarise_pairs(table: pa.Table, opened: OpenedAuthority, k: int) -> MeasuredPairs:
    """Return what the table of pairs comes to, over all, by rule and by types."""
    states = Counter(table["state"].to_pylist())
    return {
        "k": k,
        "documents": {
            "total": len(opened.authority),
            "superseded": len(table["superseded"].unique()),
            "pairs": len(table),
            "measured": states[State.MEASURED],
            "failed": states[State.FAILED],
            "not applicable": states[State.NOT_APPLICABLE],
        },
        "proxies": _proxies(table, k),
        "by_rule": _groups(table, "rule", k),
        "by_types": _groups(table, "types", k),
        "relation": opened.summary(),
    }


def _groups(table: pa.Table, column: str, k: int) -> list[GroupFigures]:
    return [
        {"name": name, "proxies": _proxies(table.filter(pc.equal(table[column], name)), k)}
        for name in sorted(table[column].unique().to_pylist())
    ]


def _proxies(table: pa.Table, k: int) -> dict[Proxy, ProxyFigures]:
    return {proxy: _proxy(table, proxy, k) for proxy in PROXIES}


def _proxy(table: pa.Table, proxy: Proxy, k: int) -> ProxyFigures:
    """Sum up one proxy over superseded documents; the best of several controlling ones counts."""
    names = ("rank", "n_plus", "divergence", "reachable")
    columns = (table[name].to_pylist() for name in ("superseded", *(f"{proxy}_{n}" for n in names)))
    best: dict[str, tuple[int, int, float]] = {}
    for id_, rank, n_plus, divergence, reachable in zip(*columns, strict=True):
        if reachable is not None:
            own = BEYOND if rank is None else rank, n_plus or 0, divergence or 0.0
            best[id_] = min(best.get(id_, own), own)
    if not best:
        return {"documents": 0}
    ranks = np.array([rank for rank, _, _ in best.values()])
    share = float((ranks <= k).mean())
    low, high = wilson(share, len(ranks))
    figures: ProxyFigures = {
        "documents": len(ranks),
        "reachable": share, "low": float(low), "high": float(high),
        "first": float((ranks == 1).mean()),
    }  # fmt: skip
    if table[f"{proxy}_n_plus"].null_count < len(table):  # a retriever's lists do not tell
        figures["mean_divergence"] = float(np.mean([d for _, _, d in best.values()]))
        figures["median_outranking"] = float(np.median([n for _, n, _ in best.values()]))
    return figures
