"""`argus check`: search with each superseded document for the documents that replace it.

No questions are needed: the title or the text of a superseded document is the query, and a document
in force that controls it must come into the top k. `audit_authority`: an `AuthoritySource` and an
encoder or a retriever -> a row per pair with its rank, the share found, and a section of the
report. `argus.checks` calls it, the demo `audit_opened`. `lint` checks the answers to real
questions instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.authority.config import AuthoritySource
from argus.authority.opening import (
    OpenedAuthority,
    in_force,
    open_authority,
    relation_lines,
    require_records,
    rule_table,
)
from argus.authority.relation import Authority, Link, describe
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import FloatArray, IntArray, Query, State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, documents, embed, queries
from argus.indexes.exact import known_item_search
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, TextWindow, open_encoder, require_some, texts_cut
from argus.measures import wilson
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import note_lines, note_of
from argus.settings import TOP_K

PROXIES = ("title", "text")  # what a superseded document asks with
BUDGETS, COSTED = (1, 2, 4), 1_000  # look-ups, and superseded documents whose cost is counted
BEYOND = 1 << 30  # a rank beyond the end of a list
BATCH = 4096
MAX_CONTROLLING = 16  # controlling documents of one superseded document
MAX_LINKS = 20  # links of a chain that are named, from the superseded document on

MANY = 100  # superseders of one document, from which on its chains are walked by themselves

# A document in force that controls one: links of the chain to it, its id, and the first links.
End = tuple[int, str, tuple[Link, ...]]
# Superseded document, and one that controls it.
Pairs = Sequence[tuple[str, End]]
# Of pairs by number: rank (None beyond the end of a list), N+ and divergence (None of a retriever)
# for those that asked, and state and reason for those that could not ask.
Found = tuple[dict[int, tuple[int | None, int | None, float | None]], dict[int, tuple[State, str]]]


def supersessions(authority: Authority) -> Pairs:
    """Return every superseded document with each of its controllers, by id of the former.

    Chains are followed to their ends: of d1, d2, d3 there are (d1, d3) and (d2, d3). Of more than
    MAX_CONTROLLING, those by the shortest chains. So there are at most MAX_CONTROLLING per
    superseded document, and never as many as pairs of a scope. Raises ArgusError when nothing is
    superseded.
    """
    ids = list(filter(authority.in_force, sorted(authority.records)))
    ends: dict[str, list[End]] = {}  # chains share theirs: each record is looked at once
    above: dict[str, dict[str, Link]] = {}
    todo = list(ids)
    while todo:
        one = todo[-1]
        if one not in ends and one not in above:
            links = list(islice(authority.ahead(one), MANY))
            above[one] = {link.superseder: link for link in reversed(links)}
            if len(links) == MANY:  # of a crowded scope, most of which a walk skips
                chains = islice(authority.controlling_chains([one]).items(), MAX_CONTROLLING)
                ends[one] = [(len(chain), end, chain[:MAX_LINKS]) for end, chain in chains]
        if one in ends:
            above.pop(todo.pop(), None)
        elif missing := [newer for newer in above[one] if newer not in ends]:
            todo += missing
        else:
            nearest: dict[str, End] = {}
            ways = [(end, link) for newer, link in above[one].items() for end in ends[newer]]
            for (hops, end, chain), link in sorted(ways, key=lambda way: way[0][0]):
                nearest.setdefault(end, (hops + 1, end, (link, *chain[: MAX_LINKS - 1])))
            ends[one] = list(nearest.values())[:MAX_CONTROLLING] or [(0, one, ())]
    pairs = [(id_, end) for id_ in ids for end in ends[id_] if end[0]]
    require_some(len(pairs), "record is superseded", "Look at what the rules found.")
    return pairs


def rank_targets(
    queries: FloatArray, documents: FloatArray, targets: IntArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    """Return where document `targets[i]` stands for query i: three arrays of shape (n_pairs,).

    queries: (n_pairs, dim), documents: (n_documents, dim), unit rows. The rank is 1-based among all
    documents, the asking one included, equal scores by row. N+ (Corollary 1) counts documents that
    score strictly above the controlling one. The divergence is the best score less the score of the
    controlling document: Delta of Def. 4 for a single controlling document, at least 0.
    """
    ranks, outranking, divergences = [], [], []
    for start in range(0, len(queries), BATCH):
        part = slice(start, start + BATCH)
        hits = known_item_search(queries[part], documents, targets[part], 1)
        ranks.append(hits.rank)
        outranking.append(hits.above)
        first = documents[hits.top.rows[:, 0]].astype(np.float64)
        asking = queries[part].astype(np.float64)
        divergences.append(np.einsum("ij,ij->i", asking, first - documents[targets[part]]))
    divergence = np.maximum(np.concatenate(divergences), 0.0)
    return np.concatenate(ranks), np.concatenate(outranking), divergence


def resolving_cost(authority: Authority, superseded: Sequence[str]) -> dict[str, Any]:
    """Return what resolving a superseded document takes (CAR Proposition 3, §8), of COSTED."""
    calls, lookups, edges = authority.calls, [], []
    reached, wanted = Counter[int](), 0
    for id_ in superseded[:: -(-len(superseded) // COSTED)]:
        before = calls.lookups, calls.edges
        controlling = set(authority.controlling([id_]))
        lookups.append(calls.lookups - before[0])
        edges.append(calls.edges - before[1])
        order = authority.closure([id_])  # the n-th look-up tells of those behind the n-th record
        wanted += len(controlling)
        for budget in BUDGETS:
            known = {link.superseder for one in order[:budget] for link in authority.links(one)}
            reached[budget] += len(controlling & known)
    within = {str(budget): reached[budget] / max(1, wanted) for budget in BUDGETS}
    return {"lookups": float(np.mean(lookups)), "edges": float(np.mean(edges)),
            "most": max(lookups), "within": within}  # fmt: skip


@dataclass(frozen=True, repr=False)
class AuthorityAuditResult(TableResult):
    """Result of `audit_authority`. The folder holds all of it, too.

    summary.documents: documents of the relation (total), those that are superseded, and pairs of a
    superseded document and one that controls it, by state. A pair is measured if at least one proxy
    could ask for it.
    summary.proxies: figures by proxy, title or text. documents: superseded documents that asked.
    reachable: share whose controlling document is in the top k. low, high: its 95% Wilson interval.
    first: share whose controlling document comes first. mean_divergence: mean of the best score
    less the score of the controlling document. median_outranking: median number of documents that
    score above the controlling one (N+). The last two are absent of a retriever, and all but
    documents where none asked.
    summary.cost: what resolving one superseded document takes (Proposition 3). lookups: mean scope
    look-ups. edges: mean direct supersessions that were read. most: look-ups of the costliest one.
    within: by number of look-ups, the share of controllers that so many reach, nearest first (§8,
    budgeted closure recovery).
    summary.relation: see `OpenedAuthority.summary`.
    summary.text_window: how much of the documents the encoder reads. None where not known.
    summary.retriever, summary.queries: retriever that was asked, and how many queries. Absent where
    vectors are compared.
    table: one row per superseded document and document that controls it.
    """

    def headline(self) -> Iterator[str]:
        """Yield the reachable shares, by proxy and by rule."""
        summary = self.summary
        counts = summary["documents"]
        yield from relation_lines(summary["relation"])
        yield (
            f"superseded: {counts['superseded']:,} of {counts['total']:,} documents; pairs with "
            f"what controls them: {counts['measured']:,} measured, {counts['failed']:,} failed, "
            f"{counts['not applicable']:,} not applicable"
        )
        cost = summary["cost"]
        yield (
            f"to resolve one takes {cost['lookups']:.1f} look-ups and {cost['edges']:.1f} edges in "
            f"the mean, {cost['most']:,} look-ups at most; within one {cost['within']['1']:.0%} of "
            "the controlling documents are reached"
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
    answerer = Answerer(retriever, None, asking, encoder)
    opened = source if isinstance(source, OpenedAuthority) else open_authority(source)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    times = {"as_of": opened.source.as_of, "known_by": opened.source.known_by}
    record = Record("authority", {"k": k, **times}, opened.inputs)
    if not answerer.is_named:
        return audit_opened(opened, folder, record, encoder=encoder, k=k, store=store)
    authority, proxies = opened.authority, dict[str, Found]()
    pairs = supersessions(authority)
    with record.timed("asking"):
        questions = [
            Query(f"{proxy} of {id_}", text)
            for proxy in PROXIES
            for id_, text in _proxy_texts(pairs, authority, proxy).items()
        ]
        corpus = [r.document for r in authority.records.values()]
        name, answers = answers_of(
            answerer, questions, k, documents=corpus, folder=folder, record=record
        )
        require_records([id_ for scores in answers.run.values() for id_ in scores], authority, name)
        for proxy in PROXIES:
            found, why_not = proxies.setdefault(proxy, ({}, {}))
            for i, (id_, (_, controlling, _)) in enumerate(pairs):
                query = f"{proxy} of {id_}"
                if query in answers.run:
                    ids = list(in_force(answers.run[query], authority))
                    rank = ids.index(controlling) + 1 if controlling in ids else None
                    found[i] = rank, None, None
                elif query in answers.failed:
                    why_not[i] = State.FAILED, answers.failed[query]
                else:
                    why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
    asking_part = {"retriever": note_of(name, answers), "queries": len(questions)}
    return _write(opened, folder, record, pairs, proxies, k, None, asking_part)


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
    authority, pairs = opened.authority, supersessions(opened.authority)
    ids = sorted(id_ for id_ in authority.records if authority.in_force(id_))
    texts = {id_: authority.records[id_].document.content for id_ in ids}
    texts = {id_: text for id_, text in texts.items() if text.strip()}
    sample = list(texts.values())
    proxies: dict[str, Found] = {}
    with open_encoder(folder, encoder, record, store=store) as (model, opened_store):
        with record.timed("embedding documents"):
            embedded = embed(documents(sample), model, opened_store, what="documents")
            cut = texts_cut(model, sample)
        with_vector = [id_ for id_, ok in zip(texts, embedded.ok, strict=True) if ok]
        corpus_rows = {id_: row for row, id_ in enumerate(with_vector)}
        for proxy in PROXIES:
            with record.timed(f"asking with the {proxy}"):
                words = _proxy_texts(pairs, authority, proxy)
                items = queries(list(words.values()))
                asking = embed(items, model, opened_store, what=f"{proxy}s")
            names = list(words)
            failed = {names[i]: why for i, why in asking.failures.items()}
            answered = [id_ for id_, ok in zip(names, asking.ok, strict=True) if ok]
            rows = {id_: row for row, id_ in enumerate(answered)}
            found, why_not = proxies.setdefault(proxy, ({}, {}))
            for i, (id_, (_, controlling, _)) in enumerate(pairs):
                if id_ in failed:
                    why_not[i] = State.FAILED, failed[id_]
                elif id_ not in rows:
                    why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
                elif controlling not in corpus_rows:
                    why_not[i] = State.NOT_APPLICABLE, "the controlling document has no vector"
            if able := [i for i in range(len(pairs)) if i not in why_not]:
                ranks = rank_targets(
                    asking.vectors[[rows[pairs[i][0]] for i in able]],
                    embedded.vectors,
                    np.array([corpus_rows[pairs[i][1][1]] for i in able], np.int64),
                )
                values = zip(*(array.tolist() for array in ranks), strict=True)
                found |= zip(able, values, strict=True)
    return _write(opened, folder, record, pairs, proxies, k, cut, {})


def _proxy_texts(pairs: Pairs, authority: Authority, proxy: str) -> dict[str, str]:
    """Return the title or text of every superseded document that has one, by id."""
    texts = {id_: getattr(authority.records[id_], proxy) for id_, _ in pairs}
    return {id_: text for id_, text in texts.items() if text.strip()}


def _write(
    opened: OpenedAuthority,
    folder: ArtifactFolder,
    record: Record,
    pairs: Pairs,
    proxies: Mapping[str, Found],
    k: int,
    text_window: TextWindow | None,
    asking: Mapping[str, Any],
) -> AuthorityAuditResult:
    """Write table, summary, manifest and report."""
    rows: list[dict[str, Any]] = []
    for i, (id_, (hops, controlling, chain)) in enumerate(pairs):
        older, newer = (opened.authority.records[one] for one in (id_, controlling))
        why = [why_not[i] for _, why_not in proxies.values() if i in why_not]
        failed = any(state is State.FAILED for state, _ in why)
        state = State.FAILED if failed else State.NOT_APPLICABLE
        row: dict[str, Any] = {
            "superseded": older.id, "controlling": newer.id,
            "superseded_title": older.title, "controlling_title": newer.title,
            "types": f"{older.type} → {newer.type}", "rule": chain[0].rule, "hops": hops,
            "chain": describe(chain),
            "state": str(State.MEASURED if len(why) < len(proxies) else state),
            "reason": "; ".join(dict.fromkeys(reason for _, reason in why)),
        }  # fmt: skip
        for proxy, (found, why_not) in proxies.items():
            rank, n_plus, divergence = found.get(i, (None, None, None))
            reachable = None if i in why_not else rank is not None and rank <= k
            row |= {
                f"{proxy}_rank": rank, f"{proxy}_n_plus": n_plus,
                f"{proxy}_divergence": divergence, f"{proxy}_reachable": reachable,
            }  # fmt: skip
        rows.append(row)
    states = Counter(row["state"] for row in rows)
    summary: dict[str, Any] = {
        "k": k,
        "documents": {
            "total": len(opened.authority),
            "superseded": len({id_ for id_, _ in pairs}),
            "pairs": len(pairs),
            "measured": states[State.MEASURED],
            "failed": states[State.FAILED],
            "not applicable": states[State.NOT_APPLICABLE],
        },
        "proxies": {proxy: _summarise(rows, proxy, k) for proxy in PROXIES},
        "cost": resolving_cost(opened.authority, sorted({id_ for id_, _ in pairs})),
        "relation": opened.summary(),
        "text_window": text_window,
        **asking,
    }
    table = pa.Table.from_pylist(rows, schema=_SCHEMA)
    folder.write_table("authority", table, csv=True)
    folder.write_results("authority", summary, record.manifest(summary["documents"]))
    return AuthorityAuditResult(folder.path, write_report(folder.path), summary, table)


_OF_PROXY = {
    "rank": pa.int64(), "n_plus": pa.int64(), "divergence": pa.float64(), "reachable": pa.bool_(),
}  # fmt: skip
_TEXTS = (
    "superseded", "controlling", "superseded_title", "controlling_title", "types", "rule", "chain",
    "state", "reason",
)  # fmt: skip
# One row per superseded document and document that controls it.
#
# superseded, controlling: id of the document.
# superseded_title, controlling_title: its title. Empty without one.
# types: their types, older → newer.
# hops: supersessions from one to the other.
# chain: these, in words. Of more than 20 the first.
# state: measured where one of the two proxies could ask.
# title_rank, text_rank: rank of the controlling one, asked with this. Null beyond a list's end.
# title_n_plus, text_n_plus: documents that score strictly above it (N+).
# title_divergence, text_divergence: best score less its score, at least 0.
# title_reachable, text_reachable: whether it is in the top k.
_SCHEMA = pa.schema(
    dict.fromkeys(_TEXTS, pa.string())
    | {"hops": pa.int64()}
    | {f"{proxy}_{name}": kind for proxy in PROXIES for name, kind in _OF_PROXY.items()}
)


def _summarise(rows: Sequence[Mapping[str, Any]], proxy: str, k: int) -> dict[str, Any]:
    """Return the figures of one proxy. Of several controlling documents the best counts."""
    best: dict[str, tuple[int, int, float]] = {}
    for row in rows:
        rank, n_plus, divergence, reachable = (row[f"{proxy}_{name}"] for name in _OF_PROXY)
        if reachable is not None:
            own = BEYOND if rank is None else rank, n_plus or 0, divergence or 0.0
            best[row["superseded"]] = min(best.get(row["superseded"], own), own)
    if not best:
        return {"documents": 0}
    ranks = np.array([rank for rank, _, _ in best.values()])
    share = float((ranks <= k).mean())
    low, high = wilson(share, len(ranks))
    figures = {
        "documents": len(ranks), "reachable": share, "low": float(low), "high": float(high),
        "first": float((ranks == 1).mean()),
    }  # fmt: skip
    if any(row[f"{proxy}_n_plus"] is not None for row in rows):  # a retriever's lists do not tell
        figures["mean_divergence"] = float(np.mean([d for _, _, d in best.values()]))
        figures["median_outranking"] = float(np.median([n for _, n, _ in best.values()]))
    return figures


def section(folder: Path, authority: Mapping[str, Any]) -> Section:
    """Build the report's section from authority.parquet, worst first."""

    def worst_first(row: Mapping[str, Any]) -> tuple[int, int, str, str]:
        title, text = row["title_rank"] or BEYOND, row["text_rank"] or BEYOND
        return -min(title, text), -max(title, text), row["superseded"], row["controlling"]

    rows = read_table(folder / "authority.parquet", _SCHEMA.names).to_pylist()
    measured = sorted((row for row in rows if row["state"] == State.MEASURED), key=worst_first)
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
    return Section({}, tables, brief)
