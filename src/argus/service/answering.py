"""Answer a question by search, with superseded documents replaced by those in force.

The search of `argus serve`, for HTTP, the pages and MCP: question -> hits
(`argus.service.searcher`) -> `SearchResults`. Where the service has records that tell which
documents supersede which, each hit leads on to the documents that control it now, or at a date
(`argus.authority`). The records are read at first use.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from typing_extensions import TypedDict

from argus.authority.config import ANCHORS, AuthoritySource
from argus.authority.domains import Domain
from argus.authority.opening import domain_of, in_force, open_authority
from argus.authority.relation import Authority
from argus.authority.resolution import trace
from argus.authority.rules import Edge
from argus.authority.search import ChainLink, chain_link
from argus.errors import InputError
from argus.indexes.lexical import check_query
from argus.indexes.retriever import Hit
from argus.service.searcher import Answered, Searcher, hit_of
from argus.settings import TOP_K

MAX_DEPTH = 16_000  # results of one search, if few of them are in force at an earlier time
MAX_CONTROLLING = 100  # documents named of those that control one document: the nearest
MAX_LINKS = 50  # links of one chain, from the document that was asked for
WITH_RECORDS = "a service that was started with --records and --rules or --edges"
NO_RECORD = "no document that was retrieved has a record: nothing can be superseded"


class ServedHit(Hit):
    """A document that is served, with the chain to it. Where there are records, it is in force.

    anchor: id of the retrieved document, which this one controls.
    anchor_rank: rank of the anchor, from 1.
    chain: from anchor to document, oldest first, empty where they are one.
    type: type of its record, None where there is none.
    time: when it took effect, None where not known.
    """

    anchor: str
    anchor_rank: int
    chain: list[ChainLink]
    type: str | None
    time: str | None


class SearchResults(TypedDict):
    """The best documents for one question.

    query: question that was asked.
    version: version of the index that answered.
    retired: superseded documents that were retrieved, and the documents that control each.
    without_record: retrieved documents that no record is known of. They are served as they are.
    """

    query: str
    ranked_by: str
    warning: str | None
    version: int | None
    as_of: str | None
    known_by: str | None
    results: list[ServedHit]
    retired: dict[str, list[str]]
    without_record: list[str]


class Controlling(TypedDict):
    """A document that controls another, and the chain that leads to it.

    id: id of the document.
    chain: supersessions that lead to it, oldest first. Of a long chain the first 50.
    hops: how many they are. More than `chain` has where that was cut.
    """

    id: str
    title: str
    chain: list[ChainLink]
    hops: int


class Resolved(TypedDict):
    """One document under the authority relation.

    id: id of the document.
    known: whether there is a record of it. Without one nothing supersedes it.
    in_force: whether it is in force at that time.
    active: whether nothing supersedes it.
    controlling: documents that control it, the nearest 100.
    more: whether more than these control it.
    """

    id: str
    known: bool
    in_force: bool
    active: bool
    controlling: list[Controlling]
    more: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the time as of which it is answered.

    anchors: retrieved documents that are looked at, k at least.
    """

    text: str
    k: int = TOP_K
    as_of: str | None = None
    known_by: str | None = None
    anchors: int = ANCHORS


class ServedAuthority:
    """The authority relation of the records that are served.

    Any thread may ask, one at a time. Raises InputError if the records cannot be read at first use.
    """

    def __init__(self, source: AuthoritySource) -> None:
        self.source, self._lock = source, threading.RLock()
        self._held: tuple[Domain, Authority] | None = None

    @contextmanager
    def at(self, as_of: str | None = None, known_by: str | None = None) -> Iterator[Authority]:
        """Hold the relation as of a time, by default the one that the service was started with."""
        with self._lock:
            yield self._view(as_of, known_by)

    def times(self, as_of: str | None, known_by: str | None) -> tuple[str | None, str | None]:
        """Return the times that count: those of a request, else those of the service."""
        return as_of or self.source.as_of, known_by or self.source.known_by

    def around(self, id_: str) -> Authority:
        """Return the part of the relation that leads on from one document, as a copy."""
        with self.at() as whole:
            if id_ not in whole:
                return Authority([])
            chains = whole.reach([id_])
            links = filter(None, chains.values())
            edges = [Edge(e.superseder, e.superseded, e.rule, e.confidence) for e in links]
            return Authority([whole.records[one] for one in chains], edges=edges)

    def resolve(
        self, ids: Iterable[str], as_of: str | None = None, known_by: str | None = None
    ) -> list[Resolved]:
        """Return the documents that control each document, each once.

        Other threads are let in between two documents.
        """
        with self._lock:
            relation = self._view(as_of, known_by)
        answer = list[Resolved]()
        for id_ in dict.fromkeys(ids):
            with self._lock:
                known = id_ in relation
                is_in_force = not known or relation.in_force(id_)
                chains = relation.controlling_chains([id_]) if known and is_in_force else {}
            controlling: list[Controlling] = [
                {
                    "id": end, "title": relation.records[end].title, "hops": len(chain),
                    "chain": [chain_link(link, relation) for link in chain[:MAX_LINKS]],
                }
                for end, chain in islice(chains.items(), MAX_CONTROLLING)
            ]  # fmt: skip
            answer.append({
                "id": id_, "known": known, "in_force": is_in_force,
                "active": id_ in chains or not known,
                "controlling": controlling, "more": len(chains) > MAX_CONTROLLING,
            })  # fmt: skip
            time.sleep(0)
        return answer

    def _view(self, as_of: str | None, known_by: str | None) -> Authority:
        """Return the relation as of a time."""
        if self._held is None:
            timeless = replace(self.source, as_of=None, known_by=None)
            self._held = domain_of(self.source), open_authority(timeless).authority
        domain, relation = self._held
        as_of, known_by = self.times(as_of, known_by)
        effective = domain.moment(as_of, "as_of")
        known = domain.moment(known_by, "known_by")
        return relation if effective is None and known is None else relation.as_of(effective, known)


async def answer(
    question: Question, searcher: Searcher, authority: ServedAuthority | None = None
) -> SearchResults:
    """Return the best documents for a question, of those in force if there are records.

    Raises InputError for an empty question, for a date that is none, and for a time without
    records.
    """
    check_query(question.text)
    if authority is None:
        for name in ("as_of", "known_by"):
            if (value := getattr(question, name)) is not None:
                got = f"{name} {value!r}, and no records are served"
                raise InputError(got, expected=WITH_RECORDS, fix="Leave it out.", where=name)
        answered = await searcher.ask(question.text, question.k)
        return {
            "query": question.text, "ranked_by": answered.ranked_by, "warning": answered.warning,
            "version": answered.version, "as_of": None, "known_by": None,
            "results": [
                {**hit, "anchor": hit["id"], "anchor_rank": hit["rank"], "chain": [], "type": None,
                 "time": None}
                for hit in answered.hits
            ],
            "retired": {}, "without_record": [],
        }  # fmt: skip
    wide = max(question.anchors, question.k)
    while True:
        answered = await searcher.ask(question.text, wide)
        is_last = len(answered.hits) < wide or wide * 4 > MAX_DEPTH
        results = await asyncio.to_thread(
            _controlled, question, searcher, authority, answered, is_last
        )
        if results is not None:
            return results
        wide *= 4


def _controlled(
    question: Question, searcher: Searcher, authority: ServedAuthority, answered: Answered,
    is_last: bool,
) -> SearchResults | None:  # fmt: skip
    """Return the documents in force in place of the hits, None if too few hits are in force.

    is_last: there are no more hits.
    """
    depth = max(question.anchors, question.k)
    retrieved = {hit["id"]: hit for hit in answered.hits}
    as_of, known_by = authority.times(question.as_of, question.known_by)
    with authority.at(as_of, known_by) as relation:
        scores = {id_: hit["score"] for id_, hit in retrieved.items()}
        current = list(in_force(scores, relation).items())
        if len(current) < depth and not is_last:
            return None
        resolution = trace(dict(current[:depth]), relation, k=question.k, anchors=depth)
        absent = [hit.id for hit in resolution.hits if hit.id not in retrieved]
        texts = searcher.source().texts(absent) if absent else {}
        served: list[ServedHit] = []
        for hit in resolution.hits:
            own = retrieved.get(hit.id) or hit_of(hit.id, texts.get(hit.id, ("", "")))
            record = relation.records.get(hit.id)
            served.append({
                **own,
                "rank": hit.rank,
                "score": hit.score,
                "title": own["title"] or (record.title if record else ""),
                "text": own["text"] or (record.text if record else ""),
                "anchor": hit.anchor,
                "anchor_rank": hit.anchor_rank,
                "chain": [chain_link(link, relation) for link in hit.chain],
                "type": record.type if record else None,
                "time": str(record.time) if record and record.time else None,
            })  # fmt: skip
    is_of_another_corpus = 0 < len(resolution.anchors) == len(resolution.unknown)
    warnings = [answered.warning, NO_RECORD if is_of_another_corpus else None]
    return {
        "query": question.text,
        "ranked_by": answered.ranked_by,
        "warning": "; ".join(filter(None, warnings)) or None,
        "version": answered.version,
        "as_of": as_of,
        "known_by": known_by,
        "results": served,
        "retired": {id_: list(by) for id_, by in resolution.retired.items()},
        "without_record": list(resolution.unknown),
    }
