"""Audit of an authority relation: is what controls a document reachable from it? No queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.authority.jobs.audit_findings import (
    PROXIES,
    ProxyRanks,
    pair_table,
    proxy_texts,
    summarise_pairs,
)
from argus.authority.jobs.audit_retriever import ask_pairs
from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.headline import audit_headline
from argus.authority.jobs.inputs import OpenedAuthority, open_authority
from argus.authority.jobs.summary import AuthorityAuditSummary, Proxy, SearchFacts
from argus.authority.reachability import Supersession, reach, supersessions
from argus.authority.relation import Authority
from argus.data.folders import ArtifactFolder
from argus.data.types import FloatArray, State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, require_some, texts_cut
from argus.reports import write_report
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer
from argus.settings import TOP_K


@dataclass(frozen=True, repr=False)
class AuthorityAuditResult(Result):
    """How far superseded documents reach what controls them; all of it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: AuthorityAuditSummary
    table: pa.Table
    """One row per superseded document and document that controls it."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return audit_headline(self.summary)


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
    """Ask for what controls every superseded document with its own title and text.

    k: how far down a list counts as reachable. store: as for `argus.audit`. retriever: what is
    asked in place of the encoder, which then embeds the queries of a store; asking: how. Raises
    InputError for bad input, ArgusError when nothing is superseded, or every query failed.
    """
    if k < 1:
        raise InputError(f"{k}", expected="a whole number from 1", fix="Try 10.", where="--k")
    source_of_answers = Answerer(retriever, None, asking, encoder)
    opened = source if isinstance(source, OpenedAuthority) else open_authority(source)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    times = {"as_of": opened.source.as_of, "known_by": opened.source.known_by}
    record = Record("authority", {"k": k, **times}, opened.inputs)
    if source_of_answers.is_named:
        pairs = _pairs(opened.authority)
        with record.timed("asking"):
            proxies, note = ask_pairs(pairs, opened.authority, source_of_answers, k, folder, record)
        return _keep(opened, folder, record, pairs, proxies, {"text_window": None, **note}, k)
    return audit_opened(opened, folder, record, encoder=encoder, k=k, store=store)


def audit_opened(
    opened: OpenedAuthority,
    folder: ArtifactFolder,
    record: Record,
    *,
    encoder: Encoder | EncoderConfig | str,
    k: int,
    store: Path | None = None,
) -> AuthorityAuditResult:
    """Audit a relation that is open, as `audit_authority` does, into a folder.

    record: what the run is noted as. Raises ArgusError when nothing is superseded.
    """
    pairs = _pairs(opened.authority)
    texts = _texts(opened.authority)
    sample = list(texts.values())
    with open_encoder(folder, encoder, record, sample=sample, store=store) as (model, opened_store):
        with record.timed("embedding documents"):
            embedded = embed(as_documents(sample), model, opened_store, what="documents")
            cut = texts_cut(model, sample)
        corpus = _Corpus(_numbers(texts, embedded.ok), embedded.vectors)
        proxies: dict[Proxy, ProxyRanks] = {}
        for proxy in PROXIES:
            with record.timed(f"asking with the {proxy}"):
                words = proxy_texts(pairs, opened.authority, proxy)
                proxies[proxy] = _rank(proxy, pairs, words, corpus, model, opened_store)
    return _keep(opened, folder, record, pairs, proxies, {"text_window": cut}, k)


def _pairs(authority: Authority) -> list[Supersession]:
    pairs = list(supersessions(authority))
    require_some(len(pairs), "record is superseded", "Look at what the rules found.")
    return pairs


def _keep(
    opened: OpenedAuthority,
    folder: ArtifactFolder,
    record: Record,
    pairs: Sequence[Supersession],
    proxies: Mapping[Proxy, ProxyRanks],
    facts: SearchFacts,
    k: int,
) -> AuthorityAuditResult:
    """Write table, summary, manifest and report."""
    table = pair_table(pairs, proxies, opened.authority, k)
    summary: AuthorityAuditSummary = {**summarise_pairs(table, opened, k), **facts}
    folder.write_table("authority", table, csv=True)
    folder.write_results("authority", summary, record.manifest(summary["documents"]))
    return AuthorityAuditResult(folder.path, write_report(folder.path), summary, table)


@dataclass(frozen=True)
class _Corpus:
    """The documents in force: vectors, and the row of each that has one."""

    rows: dict[str, int]
    vectors: FloatArray


def _texts(authority: Authority) -> dict[str, str]:
    """Return what is embedded of the records in force that have a text, by id."""
    ids = sorted(id_ for id_ in authority.records if authority.in_force(id_))
    texts = {id_: authority.records[id_].document.content for id_ in ids}
    return {id_: text for id_, text in texts.items() if text.strip()}


def _numbers(ids: Iterable[str], ok: npt.NDArray[np.bool_]) -> dict[str, int]:
    """Return the row of every id that has a vector among the vectors."""
    with_vector = (id_ for id_, good in zip(ids, ok, strict=True) if good)
    return {id_: row for row, id_ in enumerate(with_vector)}


def _rank(
    proxy: Proxy,
    pairs: Sequence[Supersession],
    words: dict[str, str],
    corpus: _Corpus,
    model: Encoder,
    store: EmbeddingStore,
) -> ProxyRanks:
    """Embed one proxy of every superseded document and rank what controls it."""
    embedded = embed(as_queries(list(words.values())), model, store, what=f"{proxy}s")
    ids = list(words)
    failed = {ids[i]: why for i, why in embedded.failures.items()}
    rows = _numbers(ids, embedded.ok)
    why_not: dict[int, tuple[State, str]] = {}
    for i, pair in enumerate(pairs):
        if pair.superseded in failed:
            why_not[i] = State.FAILED, failed[pair.superseded]
        elif pair.superseded not in rows:
            why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
        elif pair.controlling not in corpus.rows:
            why_not[i] = State.NOT_APPLICABLE, "the controlling document has no vector"
    asking = [pair for i, pair in enumerate(pairs) if i not in why_not]
    if not asking:
        none = np.zeros(0, np.int64)
        return ProxyRanks(none, why_not, none, np.zeros(0))
    ranks = reach(
        embedded.vectors[[rows[pair.superseded] for pair in asking]],
        corpus.vectors,
        np.array([corpus.rows[pair.controlling] for pair in asking], np.int64),
    )
    return ProxyRanks.of(ranks, why_not)
