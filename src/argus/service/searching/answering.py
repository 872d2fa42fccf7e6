"""A question to what is served: searched, resolved to what controls, with the texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from argus.authority.jobs.inputs import in_force
from argus.authority.jobs.search import chain_link
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.resolve import Hit as Resolved
from argus.authority.resolve import Resolution, trace
from argus.authority.serving import ANCHORS
from argus.errors import InputError
from argus.indexes.summary import Hit
from argus.indexes.words import check_query
from argus.service.searching.authority import ServedAuthority
from argus.service.searching.searcher import Searcher
from argus.service.searching.sources import Answered, Text
from argus.service.searching.summary import SearchResults, ServedHit
from argus.settings import TOP_K

DEEPEST = 16_000
"""Results that are looked at at most, where few of them are in force at an earlier time."""
NO_RECORD = "no document that was retrieved has a record: nothing can be superseded"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the time as of which it is answered.

    anchors: retrieved documents that are looked at, k at least. watch: a key of a cached answer,
    which is named when records come that make it stale.
    """

    text: str
    k: int = TOP_K
    as_of: str | None = None
    known_by: str | None = None
    anchors: int = ANCHORS
    watch: str | None = None

    def require_plain(self) -> None:
        """Raise InputError for a time or a key, which mean nothing without records."""
        for name in ("as_of", "known_by", "watch"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"{name} {getattr(self, name)!r}, and no records are served",
                    expected="a service that was started with --records and --rules or --edges",
                    fix="Leave it out.",
                    where=name,
                )

    def require_now(self, as_of: str | None, known_by: str | None) -> None:
        """Raise InputError for a key at an earlier time, whose answers no record changes."""
        if as_of is not None or known_by is not None:
            raise InputError(
                f"watch {self.watch!r} as of {as_of or known_by}",
                expected="an answer of now: an earlier one does not go stale",
                fix="Leave watch out, or the time.",
                where="watch",
            )

    @property
    def depth(self) -> int:
        """How many documents are retrieved at least, where there are records."""
        return max(self.anchors, self.k)


@dataclass(frozen=True)
class Answering:
    """Answers questions by a searcher, and by records where there are some."""

    searcher: Searcher
    authority: ServedAuthority | None = None

    async def answer(self, question: Question) -> SearchResults:
        """Return the best documents.

        Raises InputError for an empty question, a date that is none, and for a time or a key where
        there are no records.
        """
        check_query(question.text)
        if self.authority is None:
            question.require_plain()
            answered = await self.searcher.ask(question.text, question.k)
            return _plain(question, answered)
        wide = question.depth
        while True:
            answered = await self.searcher.ask(question.text, wide)
            is_last = len(answered.hits) < wide or wide * 4 > DEEPEST
            results = await asyncio.to_thread(
                self._controlled, question, self.authority, answered, is_last
            )
            if results is not None:
                return results
            wide *= 4

    def _controlled(
        self, question: Question, authority: ServedAuthority, answered: Answered, is_last: bool
    ) -> SearchResults | None:
        """Return what is in force in place of what was retrieved; None where too little of it is.

        is_last: there is no more.
        """
        depth = question.depth
        scores = {hit["id"]: hit["score"] for hit in answered.hits}
        as_of, known_by = authority.times(question.as_of, question.known_by)
        with authority.at(as_of, known_by) as relation:
            current = list(in_force(scores, relation).items())
            if len(current) < depth and not is_last:
                return None
            resolution = trace(dict(current[:depth]), relation, k=question.k, anchors=depth)
            if question.watch is not None:
                question.require_now(as_of, known_by)
                authority.watch(question.watch, resolution.anchors)
            return {
                "query": question.text,
                "ranked_by": answered.ranked_by,
                "warning": _warning(answered, resolution),
                "version": answered.version,
                "as_of": as_of,
                "known_by": known_by,
                "results": self._hits(resolution, answered, relation),
                "retired": {id_: list(by) for id_, by in resolution.retired.items()},
                "without_record": list(resolution.unknown),
            }

    def _hits(
        self, resolution: Resolution, answered: Answered, relation: Authority
    ) -> list[ServedHit]:
        """Return what is served with its texts: of the index, else of its record."""
        retrieved = {hit["id"]: hit for hit in answered.hits}
        absent = [hit.id for hit in resolution.hits if hit.id not in retrieved]
        texts = self.searcher.texts(absent) if absent else {}
        served = []
        for hit in resolution.hits:
            own = retrieved.get(hit.id) or _unretrieved(hit.id, texts.get(hit.id, ("", "")))
            served.append(_served(own, hit, relation.records.get(hit.id), relation))
        return served


def _warning(answered: Answered, resolution: Resolution) -> str | None:
    """Return what is doubtful: about the search, and where the records are of another corpus."""
    other = resolution.anchors and len(resolution.unknown) == len(resolution.anchors)
    parts = [answered.warning, NO_RECORD if other else None]
    return "; ".join(part for part in parts if part) or None


def _served(own: Hit, hit: Resolved, record: Record | None, relation: Authority) -> ServedHit:
    return {
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
    }


def _unretrieved(id_: str, text: Text) -> Hit:
    """Return what is served in place of others, and was not retrieved itself."""
    title, own = text
    return {
        "rank": 0, "id": id_, "score": 0.0, "view": None, "kind": None, "text": own,
        "title": title, "scenario": None,
    }  # fmt: skip


def _plain(question: Question, answered: Answered) -> SearchResults:
    return {
        "query": question.text,
        "ranked_by": answered.ranked_by,
        "warning": answered.warning,
        "version": answered.version,
        "as_of": None,
        "known_by": None,
        "results": [
            {
                **hit,
                "anchor": hit["id"],
                "anchor_rank": hit["rank"],
                "chain": [],
                "type": None,
                "time": None,
            }
            for hit in answered.hits
        ],
        "retired": {},
        "without_record": [],
    }
