"""`argus check`: test which superseded documents bring back their controlling documents.

No queries are needed. Every superseded document is a query itself, by its title and by its text,
and the documents that control it must come into the top k. `audit_authority` ranks them by the
vectors of an encoder over all documents in force, or asks a retriever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import TypedDict

from argus.authority.config import AuthoritySource
from argus.authority.opening import (
    OpenedAuthority,
    RelationSummary,
    in_force,
    open_authority,
    relation_lines,
    require_records,
    rule_table,
)
from argus.authority.reachability import Supersession, rank_targets, supersessions
from argus.authority.relation import Authority, describe
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_records
from argus.data.types import IntArray, Query, State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, documents, embed, queries
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import Record, TextWindow, open_encoder, require_some, texts_cut
from argus.measures import wilson
from argus.reports import write_report
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import MAX_ROWS, Section, Table, naming, table
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import RetrieverNote, note_lines, note_of
from argus.settings import TOP_K

Proxy = Literal["title", "text"]
PROXIES: tuple[Proxy, ...] = ("title", "text")
BEYOND = 1 << 30  # a rank beyond the end of a list

PairCounts = TypedDict(
    "PairCounts",
    {
        "total": int, "superseded": int, "pairs": int, "measured": int, "failed": int,
        "not applicable": int,
    },
)  # fmt: skip
"""Documents, and pairs of a superseded document and one that controls it, by state.

total: documents of the relation.
superseded: documents that are superseded.
pairs: pairs of a superseded document and one that controls it.
measured: pairs that at least one proxy could ask for.
"""


class ProxyFigures(TypedDict):
    """Shares of superseded documents that reach their controlling documents, or None.

    documents: superseded documents that asked with this proxy.
    reachable: share whose controlling document is in the top k, with its 95% Wilson interval.
    low, high: 95% Wilson interval of the reachable share.
    first: share whose controlling document comes first.
    mean_divergence: mean of the best score less the score of the controlling document.
    median_outranking: median number of documents that score above the controlling one (N+).
    """

    documents: int
    reachable: NotRequired[float]
    low: NotRequired[float]
    high: NotRequired[float]
    first: NotRequired[float]
    mean_divergence: NotRequired[float]
    median_outranking: NotRequired[float]


class GroupFigures(TypedDict):
    """The proxies of the pairs of one rule, or of two types.

    name: rule, or types as "older → newer".
    proxies: figures by proxy: title or text.
    """

    name: str
    proxies: dict[Proxy, ProxyFigures]


class AuthorityAuditSummary(TypedDict):
    """Figures of an audit of controlling authority.

    proxies: figures by proxy: title or text.
    by_rule: the same, by rule.
    by_types: the same, by the types of both documents.
    text_window: how much of the documents the encoder reads. None where that is not known.
    retriever: retriever that was asked. Absent where vectors are compared.
    queries: queries that the retriever was asked.
    """

    k: int
    documents: PairCounts
    proxies: dict[Proxy, ProxyFigures]
    by_rule: list[GroupFigures]
    by_types: list[GroupFigures]
    relation: RelationSummary
    text_window: TextWindow | None
    retriever: NotRequired[RetrieverNote]
    queries: NotRequired[int]


@dataclass(frozen=True, repr=False)
class AuthorityAuditResult(Result):
    """Result of `audit_authority`. The folder holds all of it, too."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: AuthorityAuditSummary
    table: pa.Table
    """One row per superseded document and document that controls it."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


class ProxyRanks(NamedTuple):
    """Ranks of the controlling documents with one proxy. Arrays are of the pairs that asked.

    rank: 1-based; BEYOND where a retriever's list ends before it. why_not: state and reason of the
    pairs that could not ask, by number. outranking, divergence: see `Reach`. None of a retriever.
    """

    rank: IntArray
    why_not: Mapping[int, tuple[State, str]]
    outranking: IntArray | None = None
    divergence: npt.NDArray[np.float64] | None = None


@one_writer
def audit_authority(
    source: AuthoritySource | OpenedAuthority,
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    k: int = TOP_K,
    store: Path | None = None,
    fresh: bool = False,
    retriever: Any = None,
    asking: AskingConfig | None = None,
) -> AuthorityAuditResult:
    """Look for the controlling documents of every superseded document by its title and text.

    k: how far down a list counts as reachable. store: as for `argus.audit`. retriever: asked in
    place of the encoder, which then embeds the queries of a store. asking: see `AskingConfig`.
    Raises InputError for bad input, ArgusError when nothing is superseded, or every query failed.
    """
    if k < 1:
        raise InputError(f"{k}", expected="a whole number from 1", fix="Try 10.", where="--k")
    answerer = Answerer(retriever, None, asking, encoder)
    opened = source if isinstance(source, OpenedAuthority) else open_authority(source)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    times = {"as_of": opened.source.as_of, "known_by": opened.source.known_by}
    record = Record("authority", {"k": k, **times}, opened.inputs)
    if not answerer.is_named:
        return audit_opened(opened, folder, record, encoder=encoder, k=k, store=store)
    authority = opened.authority
    pairs = _superseded_pairs(authority)
    with record.timed("asking"):
        texts = {proxy: _proxy_texts(pairs, authority, proxy) for proxy in PROXIES}
        asked = [
            Query(f"{proxy} of {id_}", text)
            for proxy in PROXIES
            for id_, text in texts[proxy].items()
        ]
        corpus = [r.document for r in authority.records.values()]
        name, answers = answers_of(
            answerer, asked, k, documents=corpus, folder=folder, record=record
        )
        require_records([id_ for scores in answers.run.values() for id_ in scores], authority, name)
        proxies: dict[Proxy, ProxyRanks] = {}
        for proxy in PROXIES:
            ranks: list[int] = []
            why_not: dict[int, tuple[State, str]] = {}
            for i, pair in enumerate(pairs):
                query = f"{proxy} of {pair.superseded}"
                if pair.superseded not in texts[proxy]:
                    why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
                elif query in answers.failed:
                    why_not[i] = State.FAILED, answers.failed[query]
                else:
                    ids = list(in_force(answers.run[query], authority))
                    there = pair.controlling in ids
                    ranks.append(ids.index(pair.controlling) + 1 if there else BEYOND)
            proxies[proxy] = ProxyRanks(np.array(ranks, np.int64), why_not)
    note = note_of(name, answers)
    return _write(opened, folder, record, pairs, proxies, k, None, note, asked)


def audit_opened(
    opened: OpenedAuthority,
    folder: ArtifactFolder,
    record: Record,
    *,
    encoder: Encoder | EncoderConfig | str,
    k: int,
    store: Path | None = None,
) -> AuthorityAuditResult:
    """Audit a relation that is open by an encoder, as `audit_authority` does, into a folder.

    record: manifest entry of the run. Raises ArgusError when nothing is superseded.
    """
    authority = opened.authority
    pairs = _superseded_pairs(authority)
    ids = sorted(id_ for id_ in authority.records if authority.in_force(id_))
    texts = {id_: authority.records[id_].document.content for id_ in ids}
    texts = {id_: text for id_, text in texts.items() if text.strip()}
    sample = list(texts.values())
    proxies: dict[Proxy, ProxyRanks] = {}
    with open_encoder(folder, encoder, record, sample=sample, store=store) as (model, opened_store):
        with record.timed("embedding documents"):
            embedded = embed(documents(sample), model, opened_store, what="documents")
            cut = texts_cut(model, sample)
        corpus_rows = _number_rows(texts, embedded.ok)
        for proxy in PROXIES:
            with record.timed(f"asking with the {proxy}"):
                words = _proxy_texts(pairs, authority, proxy)
                items = queries(list(words.values()))
                asking = embed(items, model, opened_store, what=f"{proxy}s")
            rows, names = _number_rows(words, asking.ok), list(words)
            failed = {names[i]: why for i, why in asking.failures.items()}
            why_not: dict[int, tuple[State, str]] = {}
            for i, pair in enumerate(pairs):
                if pair.superseded in failed:
                    why_not[i] = State.FAILED, failed[pair.superseded]
                elif pair.superseded not in rows:
                    why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
                elif pair.controlling not in corpus_rows:
                    why_not[i] = State.NOT_APPLICABLE, "the controlling document has no vector"
            able = [pair for i, pair in enumerate(pairs) if i not in why_not]
            if not able:
                none = np.zeros(0, np.int64)
                proxies[proxy] = ProxyRanks(none, why_not, none, np.zeros(0))
                continue
            reach = rank_targets(
                asking.vectors[[rows[pair.superseded] for pair in able]],
                embedded.vectors,
                np.array([corpus_rows[pair.controlling] for pair in able], np.int64),
            )
            proxies[proxy] = ProxyRanks(reach.rank, why_not, reach.outranking, reach.divergence)
    return _write(opened, folder, record, pairs, proxies, k, cut)


def _superseded_pairs(authority: Authority) -> list[Supersession]:
    pairs = list(supersessions(authority))
    require_some(len(pairs), "record is superseded", "Look at what the rules found.")
    return pairs


def _proxy_texts(
    pairs: Iterable[Supersession], authority: Authority, proxy: Proxy
) -> dict[str, str]:
    """Return the title or text of every superseded document that has one, by id."""
    records = [authority.records[id_] for id_ in dict.fromkeys(pair.superseded for pair in pairs)]
    texts = {r.id: r.title if proxy == "title" else r.text for r in records}
    return {id_: text for id_, text in texts.items() if text.strip()}


def _number_rows(ids: Iterable[str], ok: npt.NDArray[np.bool_]) -> dict[str, int]:
    """Return the row of every id that has a vector."""
    with_vector = (id_ for id_, good in zip(ids, ok, strict=True) if good)
    return {id_: row for row, id_ in enumerate(with_vector)}


def _write(
    opened: OpenedAuthority,
    folder: ArtifactFolder,
    record: Record,
    pairs: Sequence[Supersession],
    proxies: Mapping[Proxy, ProxyRanks],
    k: int,
    text_window: TextWindow | None,
    retriever: RetrieverNote | None = None,
    asked: Sequence[Query] = (),
) -> AuthorityAuditResult:
    """Write table, summary, manifest and report."""
    found = pair_table(pairs, proxies, opened.authority, k)
    states = Counter(found["state"].to_pylist())
    summary: AuthorityAuditSummary = {
        "k": k,
        "documents": {
            "total": len(opened.authority),
            "superseded": len(found["superseded"].unique()),
            "pairs": len(found),
            "measured": states[State.MEASURED],
            "failed": states[State.FAILED],
            "not applicable": states[State.NOT_APPLICABLE],
        },
        "proxies": {proxy: _summarise(found, proxy, k) for proxy in PROXIES},
        "by_rule": _summarise_by(found, "rule", k),
        "by_types": _summarise_by(found, "types", k),
        "relation": opened.summary(),
        "text_window": text_window,
    }
    if retriever is not None:
        summary |= {"retriever": retriever, "queries": len(asked)}
    folder.write_table("authority", found, csv=True)
    folder.write_results("authority", summary, record.manifest(summary["documents"]))
    return AuthorityAuditResult(folder.path, write_report(folder.path), summary, found)


_SCHEMA = pa.schema(
    [
        (name, pa.string())
        for name in (
            "superseded", "controlling", "superseded_title", "controlling_title", "types", "rule",
            "chain", "state", "reason",
        )
    ]
    + [("hops", pa.int64())]
    + [
        (f"{proxy}_{name}", kind)
        for proxy in PROXIES
        for name, kind in (
            ("rank", pa.int64()), ("n_plus", pa.int64()), ("divergence", pa.float64()),
            ("reachable", pa.bool_()),
        )
    ]
)  # fmt: skip
"""One row per superseded document and document that controls it.

superseded, controlling: id of the document.
superseded_title, controlling_title: its title. Empty without one.
types: their types, older → newer.
hops: supersessions from one to the other.
chain: these, in words. Of more than 20 the first.
state: measured where one of the two proxies could ask.
title_rank, text_rank: rank of the controlling one, asked with this. Null beyond a list's end.
title_n_plus, text_n_plus: documents that score strictly above it (N+).
title_divergence, text_divergence: best score less its score, at least 0.
title_reachable, text_reachable: whether it is in the top k.
"""


def pair_table(
    pairs: Sequence[Supersession],
    proxies: Mapping[Proxy, ProxyRanks],
    authority: Authority,
    k: int,
) -> pa.Table:
    """Return one row per superseded document and document that controls it."""
    columns: dict[str, Any] = {name: [] for name in _SCHEMA.names[:10]}
    for i, pair in enumerate(pairs):
        older, newer = authority.records[pair.superseded], authority.records[pair.controlling]
        more = pair.hops - len(pair.chain)
        rest = f", and by {more:,} more up to {pair.controlling!r}" if more else ""
        why = [ranks.why_not[i] for ranks in proxies.values() if i in ranks.why_not]
        failed = any(state is State.FAILED for state, _ in why)
        state = State.FAILED if failed else State.NOT_APPLICABLE
        row = {
            "superseded": older.id, "controlling": newer.id,
            "superseded_title": older.title, "controlling_title": newer.title,
            "types": f"{older.type} → {newer.type}", "rule": pair.rule, "hops": pair.hops,
            "chain": describe(pair.chain) + rest,
            "state": str(State.MEASURED if len(why) < len(proxies) else state),
            "reason": "; ".join(dict.fromkeys(reason for _, reason in why)),
        }  # fmt: skip
        for name, value in row.items():
            columns[name].append(value)
    n = len(pairs)
    for proxy, ranks in proxies.items():
        absent = np.array([i in ranks.why_not for i in range(n)], bool)
        for name, values in (
            ("rank", ranks.rank), ("n_plus", ranks.outranking), ("divergence", ranks.divergence),
            ("reachable", ranks.rank <= k),
        ):  # fmt: skip
            if values is None:
                columns[f"{proxy}_{name}"] = pa.nulls(n)
                continue
            spread, mask = np.zeros(n, values.dtype), absent.copy()
            spread[~absent] = values
            if name == "rank":
                mask[~absent] |= ranks.rank == BEYOND
            columns[f"{proxy}_{name}"] = pa.array(spread, mask=mask)
    return pa.Table.from_pydict(columns, schema=_SCHEMA)


def _summarise_by(found: pa.Table, column: str, k: int) -> list[GroupFigures]:
    groups: list[GroupFigures] = []
    for name in sorted(found[column].unique().to_pylist()):
        part = found.filter(pc.equal(found[column], name))
        groups.append(
            {"name": name, "proxies": {proxy: _summarise(part, proxy, k) for proxy in PROXIES}}
        )
    return groups


def _summarise(found: pa.Table, proxy: Proxy, k: int) -> ProxyFigures:
    """Return the figures of one proxy. Of several controlling documents the best counts."""
    names = ("rank", "n_plus", "divergence", "reachable")
    columns = (found[name].to_pylist() for name in ("superseded", *(f"{proxy}_{n}" for n in names)))
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
        "documents": len(ranks), "reachable": share, "low": float(low), "high": float(high),
        "first": float((ranks == 1).mean()),
    }  # fmt: skip
    if found[f"{proxy}_n_plus"].null_count < len(found):  # a retriever's lists do not tell
        figures["mean_divergence"] = float(np.mean([d for _, _, d in best.values()]))
        figures["median_outranking"] = float(np.median([n for _, n, _ in best.values()]))
    return figures


def headline(summary: AuthorityAuditSummary) -> Iterator[str]:
    """Yield the reachable shares, by proxy and by rule."""
    counts = summary["documents"]
    yield from relation_lines(summary["relation"])
    yield (
        f"superseded: {counts['superseded']:,} of {counts['total']:,} documents; pairs with "
        f"what controls them: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable"
    )
    for proxy, figures in summary["proxies"].items():
        if not figures["documents"]:
            yield f"asked with their {proxy}: none has one"
            continue
        outranked = ""
        if "median_outranking" in figures:
            outranked = (
                f"; a median of {figures['median_outranking']:,.0f} documents outrank it (N+), "
                f"mean divergence {figures['mean_divergence']:.3f}"
            )
        yield (
            f"asked with their {proxy}: {figures['reachable']:.1%} ({figures['low']:.1%} to "
            f"{figures['high']:.1%}) bring what controls them into the top {summary['k']}"
            f"{outranked}"
        )
    if "retriever" in summary:
        yield from note_lines(summary["retriever"], summary["queries"])
    for group in summary["by_rule"] if len(summary["by_rule"]) > 1 else ():
        shares = ", ".join(
            f"{proxy} {figures['reachable']:.1%} of {figures['documents']:,}"
            for proxy, figures in group["proxies"].items()
            if figures["documents"]
        )
        yield f"  {group['name']}: {shares}"


class PairRow(TypedDict):
    """Columns of authority.parquet that the report shows."""

    superseded: str
    controlling: str
    superseded_title: str
    controlling_title: str
    rule: str
    hops: int
    state: str
    title_rank: int | None
    text_rank: int | None
    title_reachable: bool | None
    text_reachable: bool | None
    text_divergence: float | None


def section(folder: Path, authority: AuthorityAuditSummary) -> Section:
    """Build the report's section from authority.parquet, worst first."""

    def worst_first(row: PairRow) -> tuple[int, int, str, str]:
        title, text = row["title_rank"] or BEYOND, row["text_rank"] or BEYOND
        return -min(title, text), -max(title, text), row["superseded"], row["controlling"]

    rows = read_records(PairRow, folder / "authority.parquet")
    measured = sorted((row for row in rows if row["state"] == State.MEASURED), key=worst_first)
    ranks = {
        "title": [row["title_rank"] or BEYOND for row in measured
                  if row["title_reachable"] is not None],
        "text": [row["text_rank"] or BEYOND for row in measured
                 if row["text_reachable"] is not None],
    }  # fmt: skip
    plots = {}
    if measured:
        total = authority["k"] if "retriever" in authority else authority["documents"]["total"]
        plots["authority_ranks"] = reachable_by_rank(ranks, authority["k"], total)
        if "retriever" not in authority:
            values = [row["text_divergence"] for row in measured]
            plots["authority_divergence"] = divergence([v for v in values if v is not None])
    columns = {
        "superseded": "text", "controlled by": "text", "rule": "text", "steps": "count",
        "rank, asked with the title": "count", "rank, asked with the text": "count",
        "divergence of the text": "share",
    }  # fmt: skip
    shown: list[list[object]] = [
        [
            naming(row["superseded_title"], row["superseded"]),
            naming(row["controlling_title"], row["controlling"]),
            row["rule"], row["hops"], row["title_rank"], row["text_rank"], row["text_divergence"],
        ]
        for row in measured[:MAX_ROWS]
    ]  # fmt: skip
    tables = {
        "authority_rules": rule_table(authority["relation"]),
        "authority_groups": _group_table(authority),
        "authority_pairs": table(columns, shown, total=len(measured)),
    }
    parts = [
        f"by {proxy} {reach['reachable']:.1%}"
        for proxy, reach in authority["proxies"].items()
        if reach["documents"]
    ]
    brief = (
        f"of {authority['documents']['superseded']:,} superseded documents, those that bring what "
        f"controls them into the top {authority['k']}: {', '.join(parts) or 'none could be asked'}"
    )
    return Section(plots, tables, brief)


def _group_table(authority: AuthorityAuditSummary) -> Table:
    columns = {
        "rule or types": "text", "asked with": "text", "documents": "count", "reachable": "share",
        "95% interval": "interval", "first": "share", "median N+": "count",
        "mean divergence": "share",
    }  # fmt: skip
    groups = [("all", authority["proxies"])]
    by_rule = authority["by_rule"] if len(authority["by_rule"]) > 1 else []
    groups += [(group["name"], group["proxies"]) for group in (*by_rule, *authority["by_types"])]
    rows: list[list[object]] = [
        [
            name, proxy, reach["documents"], reach["reachable"], [reach["low"], reach["high"]],
            reach["first"], reach.get("median_outranking"), reach.get("mean_divergence"),
        ]
        for name, proxies in groups
        for proxy, reach in proxies.items()
        if reach["documents"]
    ]  # fmt: skip
    return table(columns, rows)


def reachable_by_rank(ranks: Mapping[str, Sequence[int]], k: int, total: int) -> Figure:
    """Share of controlling documents within each depth, per proxy, with k marked."""
    colours = {"title": BAND_COLOURS["mid"], "text": BAND_COLOURS["high"]}
    depths = np.unique(np.geomspace(1, max(total, 2), 60).astype(int))
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"asked with the {proxy}",
            "x": depths.tolist(),
            "y": [round(float((np.array(own) <= d).mean()), 4) for d in depths],
            "line": {"color": colours[proxy], "width": 2},
            "hovertemplate": "top %{x:,}: %{y:.1%}<extra></extra>",
        }
        for proxy, own in ranks.items()
        if own
    ]
    line = {"color": INK, "width": 1, "dash": "dot"}
    marker = {"type": "line", "x0": k, "x1": k, "y0": 0, "y1": 1, "line": line}
    figure = framed(
        traces, "results read", "controlling documents", {"shapes": [marker]}, yrange=[0, 1]
    )
    figure["layout"]["xaxis"] |= {"type": "log"}
    return figure


def divergence(values: Sequence[float]) -> Figure:
    """Superseded documents per semantic-authority divergence."""
    counts, edges = np.histogram(values, bins=20, range=(0, max([*values, 0.1])))
    bars = {
        "type": "bar",
        "x": ((edges[:-1] + edges[1:]) / 2).round(4).tolist(),
        "y": counts.tolist(),
        "width": np.diff(edges).round(4).tolist(),
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "Δ about %{x:.2f}: %{y:,}<extra></extra>",
    }
    return framed([bars], "divergence Δ", "pairs", {"bargap": 0.04})
