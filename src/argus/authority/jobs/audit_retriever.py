"""The audit of an authority relation by a retriever's own ranking, in place of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from argus.authority.jobs.audit_findings import BEYOND, PROXIES, ProxyRanks, proxy_texts
from argus.authority.jobs.inputs import in_force, require_records
from argus.authority.jobs.summary import Proxy, RetrieverFacts
from argus.authority.reachability import Supersession
from argus.authority.relation import Authority
from argus.data.folders import ArtifactFolder
from argus.data.types import Query, State
from argus.jobs.workspace import Record
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import Answers, note_of


def ask_pairs(
    pairs: Sequence[Supersession],
    authority: Authority,
    source: Answerer,
    k: int,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[dict[Proxy, ProxyRanks], RetrieverFacts]:
    """Ask for what controls every superseded document, with its title and with its text.

    Results that are not in force at the time of the view are passed over. Raises InputError where
    nothing that comes back has a record, ArgusError where every query failed.
    """
    texts = {proxy: proxy_texts(pairs, authority, proxy) for proxy in PROXIES}
    queries = [
        Query(_id(proxy, id_), text) for proxy in PROXIES for id_, text in texts[proxy].items()
    ]
    documents = [r.document for r in authority.records.values()]
    name, answers = answers_of(
        source, queries, k, documents=documents, folder=folder, record=record
    )
    require_records([id_ for scores in answers.run.values() for id_ in scores], authority, name)
    proxies = {proxy: _ranks(proxy, pairs, texts[proxy], answers, authority) for proxy in PROXIES}
    return proxies, {"retriever": note_of(name, answers), "queries": len(queries)}


def _ranks(
    proxy: Proxy,
    pairs: Sequence[Supersession],
    texts: Mapping[str, str],
    answers: Answers,
    authority: Authority,
) -> ProxyRanks:
    """Return where what controls each document stands in the list that the proxy brought back."""
    ranks: list[int] = []
    why_not: dict[int, tuple[State, str]] = {}
    for i, pair in enumerate(pairs):
        query = _id(proxy, pair.superseded)
        if pair.superseded not in texts:
            why_not[i] = State.NOT_APPLICABLE, f"no {proxy}"
        elif query in answers.failed:
            why_not[i] = State.FAILED, answers.failed[query]
        else:
            ids = list(in_force(answers.run[query], authority))
            there = pair.controlling in ids
            ranks.append(ids.index(pair.controlling) + 1 if there else BEYOND)
    return ProxyRanks(np.array(ranks, np.int64), why_not)


def _id(proxy: Proxy, doc_id: str) -> str:
    return f"{proxy} of {doc_id}"
