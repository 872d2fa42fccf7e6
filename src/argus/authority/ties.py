"""Equal times, decided by id where a rule says so (`ties: id`).

Def. 1 orders by time alone, so two records of one day are not ordered. A rule may say that of equal
times the greater id is the later one. The pairs are explicit edges, made of the records: they are
few, and a name in the chain tells each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from argus.authority.heads import Bucket
from argus.authority.places import LAST, Place
from argus.authority.records import Record
from argus.authority.rules import Edge, Rule, Ties
from argus.authority.scopes import ScopeIndex
from argus.authority.times import Moment
from argus.errors import InputError

MOST_TIED = 200
"""Records of one scope and one time that are ordered by their ids: every two of them are a pair."""
BY_ID = "equal times, by id"


def has_ties(rules: Iterable[Rule]) -> bool:
    """Return whether any rule decides equal times by id."""
    return any(rule.ties is Ties.ID for rule in rules)


def all_ties(index: ScopeIndex, records: Mapping[str, Record]) -> dict[Edge, None]:
    """Return the edges between all records of equal times; InputError for too many of one time."""
    if not has_ties(index.rules):
        return {}
    return {edge: None for record in records.values() for edge in tie_edges(record, index, records)}


def tie_edges(record: Record, index: ScopeIndex, records: Mapping[str, Record]) -> Iterator[Edge]:
    """Yield the edges of one record with the records in the index that have its time."""
    newer, older = index.superseding_places(record), index.superseded_places(record)
    for supersedes, places in ((True, newer), (False, older)):
        for place, moment in places:
            rule, bucket = index.rules[place[0]], index.buckets.get(place)
            if rule.ties is not Ties.ID or bucket is None:
                continue
            for other in _of_time(bucket, moment, record, place, rule, records, supersedes):
                first, second = (other, record) if supersedes else (record, other)
                if rule.ties_over(first, second):
                    yield Edge(
                        second.id, first.id, f"{rule.name} ({BY_ID})", rule.confidence,
                        rule.relation,
                    )  # fmt: skip


def _of_time(
    bucket: Bucket,
    moment: Moment,
    record: Record,
    place: Place,
    rule: Rule,
    records: Mapping[str, Record],
    supersedes: bool,
) -> list[Record]:
    """Return the records of the other side of a bucket that have exactly one time."""
    side, at = (bucket.superseded, moment.end) if supersedes else (bucket.superseding, moment.start)
    ids = [id_ for _, id_ in side.irange((at, ""), (at, LAST)) if id_ != record.id]
    equal = [records[id_] for id_ in ids if rule.moment(records[id_]) == moment]
    if len(equal) > MOST_TIED:
        raise InputError(
            f"{len(equal) + 1:,} records of {', '.join(place[1]) or 'one scope'} have the time "
            f"{moment} under rule {rule.name!r}",
            expected=f"at most {MOST_TIED:,} that are ordered by id",
            fix="Give finer times, or leave `ties` out of the rule.",
        )
    return equal
