"""Audit of an authority relation: is what controls a document reachable from it? No queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.authority.cycles import describe
from argus.authority.jobs.inputs import AuthoritySource, OpenedAuthority, open_authority
from argus.authority.reachability import Reach, Supersession, reach, supersessions
from argus.authority.relation import Authority
from argus.data.artifacts import ArtifactFolder
from argus.data.types import FloatArray, State
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.errors import InputError
from argus.jobs.workspace import Record, open_encoder, require_some, texts_cut
from argus.measures import wilson
from argus.reports import write_report

PROXIES = ("title", "text")
"""What a superseded document asks with."""


@dataclass(frozen=True)
class AuthorityAuditResult:
    """What the proxy queries found; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per superseded document and document that controls it."""


@dataclass(frozen=True)
class _Asked:
    """One proxy of every pair. Rows of pairs that were not asked hold 0."""

    ok: npt.NDArray[np.bool_]
    rank: npt.NDArray[np.int64]
    outranking: npt.NDArray[np.int64]
    divergence: npt.NDArray[np.float64]
    why_not: dict[int, tuple[State, str]]


def audit_authority(
    source: AuthoritySource | OpenedAuthority,
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    k: int = 10,
    store: Path | None = None,
    fresh: bool = False,
    record: Record | None = None,
) -> AuthorityAuditResult:
    """Ask for what controls every superseded document with its own title and text.

    k: how far down a list counts as reachable. store: as for `argus.audit`. record: what to note
    the run as, where another job runs it. Raises InputError for bad input, ArgusError when nothing
    is superseded.
    """
    if k < 1:
        raise InputError(f"{k}", expected="a whole number from 1", fix="Try 10.", where="--k")
    opened = source if isinstance(source, OpenedAuthority) else open_authority(source)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    authority = opened.authority
    pairs = list(supersessions(authority))
    require_some(len(pairs), "record is superseded", "Look at what the rules found.")
    record = record or Record("authority", {"k": k, **_times(opened)}, opened.inputs)
    ids = sorted(i for i in authority.records if authority.in_force(i))
    texts = {id_: authority.records[id_].document.content for id_ in ids}
    usable = [id_ for id_ in ids if texts[id_].strip()]
    sample = [texts[id_] for id_ in usable]
    with open_encoder(folder, encoder, record, sample=sample, store=store) as (model, opened_store):
        with record.timed("embedding documents"):
            indexed = embed(as_documents(sample), model, opened_store, what="documents")
            cut = texts_cut(model, sample)
        row = {id_: i for i, id_ in enumerate(_kept(usable, indexed.ok))}
        asked = {}
        for proxy in PROXIES:
            with record.timed(f"asking with the {proxy}"):
                asked[proxy] = _ask(
                    proxy, pairs, authority, row, indexed.vectors, model, opened_store
                )
    table = _table(pairs, asked, authority, k)
    summary = _summary(table, opened, k) | {"text_window": cut}
    folder.write_table("authority", table, csv=True)
    folder.write_section("summary.json", "authority", summary)
    folder.write_section("manifest.json", "authority", record.manifest(summary["documents"]))
    return AuthorityAuditResult(folder.path, write_report(folder.path), summary, table)


def _times(opened: OpenedAuthority) -> dict[str, Any]:
    values = asdict(opened.source)
    return {name: values[name] for name in ("as_of", "known_by")}


def _kept(ids: Sequence[str], ok: npt.NDArray[np.bool_]) -> list[str]:
    return [id_ for id_, good in zip(ids, ok, strict=True) if good]


def _ask(
    proxy: str,
    pairs: Sequence[Supersession],
    authority: Authority,
    row: dict[str, int],
    vectors: FloatArray,
    model: Encoder,
    store: EmbeddingStore,
) -> _Asked:
    """Embed one proxy of every superseded document and rank what controls it."""
    sources = list(dict.fromkeys(pair.superseded for pair in pairs))
    words = {id_: _words(authority, id_, proxy) for id_ in sources}
    given = [id_ for id_ in sources if words[id_].strip()]
    embedded = embed(as_queries([words[i] for i in given]), model, store, what=f"{proxy}s")
    failed = {given[i]: why for i, why in embedded.failures.items()}
    at = {id_: i for i, id_ in enumerate(_kept(given, embedded.ok))}
    why_not: dict[int, tuple[State, str]] = {}
    for i, pair in enumerate(pairs):
        if pair.superseded in failed:
            why_not[i] = State.FAILED, failed[pair.superseded]
        elif pair.superseded not in at:
            why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
        elif pair.controlling not in row:
            why_not[i] = State.NOT_APPLICABLE, "the controlling document has no vector"
    ok = np.array([i not in why_not for i in range(len(pairs))], bool)
    asking = [pair for pair, good in zip(pairs, ok, strict=True) if good]
    found = Reach(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    if asking:
        found = reach(
            embedded.vectors[[at[pair.superseded] for pair in asking]],
            vectors,
            np.array([row[pair.controlling] for pair in asking], np.int64),
        )
    rank, outranking = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    divergence = np.zeros(len(pairs))
    rank[ok], outranking[ok], divergence[ok] = found.rank, found.outranking, found.divergence
    return _Asked(ok, rank, outranking, divergence, why_not)


def _words(authority: Authority, id_: str, proxy: str) -> str:
    record = authority.records[id_]
    return record.title if proxy == "title" else record.text


def _table(
    pairs: Sequence[Supersession], asked: dict[str, _Asked], authority: Authority, k: int
) -> pa.Table:
    rows = []
    for i, pair in enumerate(pairs):
        older, newer = authority.records[pair.superseded], authority.records[pair.controlling]
        reasons = [f"{why}" for a in asked.values() if i in a.why_not for _, why in [a.why_not[i]]]
        states = [a.why_not[i][0] for a in asked.values() if i in a.why_not]
        measured = [a for a in asked.values() if a.ok[i]]
        state = State.MEASURED if measured else State.FAILED
        if not measured and State.FAILED not in states:
            state = State.NOT_APPLICABLE
        row: dict[str, Any] = {
            "superseded": pair.superseded, "controlling": pair.controlling,
            "superseded_title": older.title, "controlling_title": newer.title,
            "types": f"{older.type} → {newer.type}", "rule": pair.rule, "hops": len(pair.chain),
            "chain": describe(list(pair.chain)),
            "state": str(state), "reason": "; ".join(dict.fromkeys(reasons)),
        }  # fmt: skip
        for proxy, a in asked.items():
            good = bool(a.ok[i])
            row |= {
                f"{proxy}_rank": int(a.rank[i]) if good else None,
                f"{proxy}_n_plus": int(a.outranking[i]) if good else None,
                f"{proxy}_divergence": float(a.divergence[i]) if good else None,
                f"{proxy}_reachable": bool(a.rank[i] <= k) if good else None,
            }
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


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


def _summary(table: pa.Table, opened: OpenedAuthority, k: int) -> dict[str, Any]:
    rows = table.to_pylist()
    return {
        "k": k,
        "documents": {
            "total": len(opened.authority),
            "superseded": len({row["superseded"] for row in rows}),
            "pairs": len(rows),
            **{str(s): sum(row["state"] == str(s) for row in rows) for s in State},
        },
        "proxies": {proxy: _proxy(rows, proxy, k) for proxy in PROXIES},
        "by_rule": _groups(rows, lambda row: row["rule"], k),
        "by_types": _groups(rows, lambda row: row["types"], k),
        "relation": opened.summary(),
    }


def _groups(
    rows: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], str], k: int
) -> list[dict[str, Any]]:
    names = sorted({key(row) for row in rows})
    return [
        {"name": name, "proxies": {p: _proxy([r for r in rows if key(r) == name], p, k)
                                   for p in PROXIES}}
        for name in names
    ]  # fmt: skip


def _proxy(rows: Sequence[dict[str, Any]], proxy: str, k: int) -> dict[str, Any]:
    """Sum up one proxy over superseded documents; the best of several controlling ones counts."""
    best: dict[str, tuple[int, int, float]] = {}
    for row in rows:
        rank = row[f"{proxy}_rank"]
        if rank is not None:
            own = rank, row[f"{proxy}_n_plus"], row[f"{proxy}_divergence"]
            best[row["superseded"]] = min(best.get(row["superseded"], own), own)
    if not best:
        return {"documents": 0}
    ranks = np.array([rank for rank, _, _ in best.values()])
    share = float((ranks <= k).mean())
    low, high = wilson(share, len(ranks))
    return {
        "documents": len(ranks),
        "reachable": share, "low": float(low), "high": float(high),
        "first": float((ranks == 1).mean()),
        "mean_divergence": float(np.mean([d for _, _, d in best.values()])),
        "median_outranking": float(np.median([n for _, n, _ in best.values()])),
    }  # fmt: skip
