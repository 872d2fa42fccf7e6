"""Open an authority relation from files, and count the records that its rules find.

`open_authority` reads records, rules and edges and refuses rules that no record can come under,
because such a rule is a typo more often than a plan. `cover` counts per rule the records that take
part, those that cannot and why, and those that stay undecided.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from typing_extensions import TypedDict

from argus.authority.config import AuthoritySource
from argus.authority.domains import Domain, load_domain
from argus.authority.edges import read_edges
from argus.authority.own import own_edges
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Order, Rule, Ties
from argus.authority.scopes import Bucket
from argus.authority.times import Moment, parse_moment
from argus.data.runs import ranking
from argus.errors import InputError
from argus.python_file import file_of, is_own
from argus.reports.section import Table, table


class UndecidedPair(TypedDict):
    """Two records of one scope whose times are equal or overlap: neither supersedes the other.

    superseded: id of the record that may be superseded.
    time: when it took effect. None where that is not known.
    superseding: id of the record that may supersede it.
    superseding_time: when that took effect. None where that is not known.
    """

    superseded: str
    time: str | None
    superseding: str
    superseding_time: str | None


class RuleCounts(TypedDict):
    """One rule and the records that it finds, as `argus.authority.opening.RuleCoverage`.

    rule: rule, in words.
    superseding: records that can supersede under it.
    superseded: records that can be superseded under it.
    retired: records that are superseded under it, directly.
    edges: direct supersessions that it makes.
    undecided: records that it can neither put before nor after one of their scope.
    undecided_pairs: the first of them. The table of a lint holds more.
    absent: types that it names and no record has.
    no_scope: records of its types without one of its scope keys.
    no_scope_examples: ids of the first of them.
    no_time: records of its types without the time that it orders by.
    no_time_examples: ids of the first of them.
    """

    rule: str
    superseding: int
    superseded: int
    retired: int
    edges: int
    undecided: int
    undecided_pairs: list[UndecidedPair]
    absent: list[str]
    no_scope: int
    no_scope_examples: list[str]
    no_time: int
    no_time_examples: list[str]


class UnruledType(TypedDict):
    """A type that no rule names.

    type: type that records have.
    records: records of the type.
    instead: type of a rule that it is nearly the name of. None without.
    """

    type: str
    records: int
    instead: str | None


class RelationSummary(TypedDict):
    """An authority relation: its records, its rules, and how much of its input counts.

    records: records of the relation.
    given_edges: supersessions that were given as edges.
    theta: confidence that rules and edges need, θ.
    below_theta: rules and edges that were left out for too little confidence.
    edges_against_time: given edges whose superseder took effect before its superseded record.
    undated: records without any time, which an earlier time lets in. None: the time is now.
    decided_by_id: pairs of equal times that a rule orders by id (`ties: id`).
    decided_by_id_examples: ids of the first of these pairs.
    unruled_types: types that no rule names, of records that no edge names, the most frequent first.
    """

    records: int
    given_edges: int
    as_of: str | None
    known_by: str | None
    theta: float
    below_theta: int
    edges_against_time: int
    undated: int | None
    rules: list[RuleCounts]
    decided_by_id: int
    decided_by_id_examples: list[str]
    unruled_types: list[UnruledType]


MAX_PAIRS = 1_000  # undecided pairs of one rule that are listed
MAX_TYPES = 8  # types that no rule names, of those on the command line
MAX_EXAMPLES = 5  # ids in a summary


@dataclass(frozen=True)
class RuleCoverage:
    """Records that one rule finds.

    superseding: records that can supersede under it.
    superseded: records that can be superseded under it.
    retired: records that are superseded under it, directly.
    edges: direct supersessions, counted without being made. One of two scopes counts twice.
    undecided: records that a superseding record of their scope neither follows nor precedes for
    certain.
    pairs: the first of them, each with such a record. Of two that could go either way, one pair.
    no_scope: records of its types that lack one of its scope keys: it does not apply to them.
    no_time: records of its types that lack the time by which it orders: likewise.
    absent: types that it names and no record has.
    """

    rule: str
    order: Order
    superseding: int
    superseded: int
    retired: int
    edges: int
    undecided: int
    pairs: tuple[tuple[str, str], ...]
    no_scope: tuple[str, ...]
    no_time: tuple[str, ...]
    absent: tuple[str, ...]


def cover(authority: Authority) -> list[RuleCoverage]:
    """Count per rule the records that take part, retire or stay undecided, at any time."""
    tallies = [_Tally() for _ in authority.rules]
    for (number, _), bucket in authority.index.buckets.items():
        tallies[number].add(bucket, authority.records, authority.rules[number])
    coverage = authority.index.coverage(authority.records.values())
    types = {record.type for record in authority.records.values()}
    return [
        RuleCoverage(
            rule.name, rule.order, entry.superseding, entry.superseded,
            len(tally.retired), tally.edges, len(tally.undecided), tuple(tally.pairs),
            tuple(entry.no_scope), tuple(entry.no_time),
            tuple(t for t in (*rule.superseding, *rule.superseded) if t not in types),
        )
        for rule, entry, tally in zip(authority.rules, coverage, tallies, strict=True)
    ]  # fmt: skip


def require_covered(authority: Authority) -> list[RuleCoverage]:
    """Return the coverage. Raise InputError for a rule that no record can come under.

    No record is then of a type of one side, or none of them has its scope key or its time. One of
    several types may be absent, unless it is nearly the name of one that is there.
    """
    covered = cover(authority)
    types = list(dict.fromkeys(record.type for record in authority.records.values()))
    for rule, entry in zip(authority.rules, covered, strict=True):
        unused = [t for t in types if t not in {*rule.superseding, *rule.superseded}]
        for type_ in entry.absent:
            side = rule.superseding if type_ in rule.superseding else rule.superseded
            if set(side) <= set(entry.absent) or _close(type_, unused):
                close = _close(type_, types)
                shown = ", ".join(map(repr, sorted(types)[:20])) or "none"
                raise InputError(
                    f"rule {rule.name!r}: no record is of type {type_!r}",
                    expected=f"one of the types of the records: {shown}",
                    fix=f"Did you mean {close[0]!r}?"
                    if close
                    else "Mend the rule, or give all records.",
                )
    for rule, entry in zip(authority.rules, covered, strict=True):
        for name, n in (("superseding", entry.superseding), ("superseded", entry.superseded)):
            if n == 0:
                _refuse(authority, rule, name)
    return covered


def _close(name: str, names: list[str]) -> list[str]:
    return difflib.get_close_matches(name, names, n=1)


def _refuse(authority: Authority, rule: Rule, side: str) -> None:
    """Raise InputError with the one thing that all records of one side of a rule lack."""
    types = rule.superseding if side == "superseding" else rule.superseded
    matches = rule.can_supersede if side == "superseding" else rule.can_be_superseded
    records = [r for r in authority.records.values() if r.type in types]
    meeting = [r for r in records if matches(r)]
    where = f"rule {rule.name!r}: of {len(records):,} records of type {' or '.join(types)}"
    if not meeting:
        raise InputError(
            f"{where}, none meets its condition {dict(rule.condition)}",
            expected="some that do",
            fix="Look at the metadata of one of them, and mend the condition.",
        )
    for key in rule.scope:
        name = getattr(key, side)
        if not any(record.values(name) for record in meeting):
            keys = sorted({k for record in meeting for k in record.scope})
            close = _close(name, keys)
            fix = f"Did you mean {close[0]!r}?" if close else "Mend the rule or the records."
            if not close and any(name in record.metadata for record in meeting):
                fix = (
                    "It is a column: put it into the records' `entities`, or say in the rules "
                    f"file where it is (`records:`, `scope: {{{name}: {name}}}`: docs/records.md)."
                )
            raise InputError(
                f"{where}, none has the scope key {name!r}",
                expected=f"one of their keys: {', '.join(map(repr, keys[:20])) or 'none'}",
                fix=fix,
            )
    if all(rule.moment(record) is None for record in meeting):
        missing = "publication time" if rule.order is Order.PUBLISHED else "time"
        raise InputError(
            f"{where}, none has a {missing}",
            expected=f"times, since the rule orders by {rule.order}",
            fix="Say `order: type` where the type alone decides, or name the column of the time.",
        )


@dataclass
class _Tally:
    """Counts over the buckets of one rule. A record of several buckets counts once."""

    retired: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    edges: int = 0

    def add(self, bucket: Bucket, records: Mapping[str, Record], rule: Rule) -> None:
        """Count one bucket by its sorted times. No pair is made."""
        superseding = list(bucket.superseding)
        if not rule.is_timed:
            if superseding:
                self.retired.update(id_ for _, id_ in bucket.superseded)
            self.edges += len(bucket.superseded) * len(superseding)
            return
        starts = [start for start, _ in superseding]
        ends = sorted(_end(records[id_], rule) for _, id_ in superseding)
        own = {id_ for _, id_ in superseding}
        for end, id_ in bucket.superseded:
            moment = rule.moment(records[id_])
            first = bisect_left(starts, end)
            earlier = bisect_right(ends, moment.start) if moment is not None else 0
            self.edges += len(starts) - first
            if first < len(starts):
                self.retired.add(id_)
            doubts = first - earlier - (id_ in own)
            if doubts and moment is not None:
                begun = (superseding[i][1] for i in range(first - 1, -1, -1))
                others = (o for o in begun if o != id_ and _end(records[o], rule) > moment.start)
                self._doubt(id_, islice(others, doubts), records, rule)

    def _doubt(
        self, id_: str, others: Iterable[str], records: Mapping[str, Record], rule: Rule
    ) -> None:
        """Note a record as undecided, with who it is undecided to, unless ties are decided."""
        for other in others:
            if id_ in self.undecided and len(self.pairs) >= MAX_PAIRS:
                return
            if rule.ties is Ties.ID and rule.moment(records[other]) == rule.moment(records[id_]):
                continue
            self.undecided.add(id_)
            if (other, id_) not in self.pairs and len(self.pairs) < MAX_PAIRS:
                self.pairs[id_, other] = None


def _end(record: Record, rule: Rule) -> int:
    moment = rule.moment(record)
    return moment.end if moment is not None else 0


def unruled_types(
    records: Iterable[Record], rules: Iterable[Rule], edges: Iterable[Edge] = ()
) -> list[UnruledType]:
    """Return the types of records that no rule names, the most frequent first.

    Nothing is said where there are no rules, and of records that an explicit edge names.
    """
    named = dict.fromkeys(t for rule in rules for t in (*rule.superseding, *rule.superseded))
    if not named:
        return []
    linked = {id_ for edge in edges for id_ in (edge.superseder, edge.superseded)}
    types = Counter(r.type for r in records if r.id not in linked and r.type not in named)
    letters = {_letters(name): name for name in named}
    found: list[UnruledType] = []
    for type_, n in types.most_common():
        close = difflib.get_close_matches(_letters(type_), letters, n=1, cutoff=0.8)
        found.append({"type": type_, "records": n, "instead": letters[close[0]] if close else None})
    return found


def unruled_lines(types: Sequence[UnruledType]) -> Iterator[str]:
    """Yield a line for each of the first types that no rule names."""
    for entry in types[:MAX_TYPES]:
        meant = f": is {entry['instead']!r} meant?" if entry["instead"] else ""
        of_type = f"{entry['records']:,} records are of type {entry['type']!r}"
        yield f"{of_type}, which no rule names{meant}"
    if len(types) > MAX_TYPES:
        yield f"and {len(types) - MAX_TYPES:,} more types that no rule names"


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


@dataclass(frozen=True)
class OpenedAuthority:
    """The relation, and the records that its rules found.

    below_theta: rules and edges that were left out for too little confidence.
    edges_against_time: given edges whose superseder took effect before its superseded record.
    """

    authority: Authority
    coverage: list[RuleCoverage]
    source: AuthoritySource
    below_theta: int = 0
    edges_against_time: tuple[Edge, ...] = ()

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files it was made of, for the manifest."""
        rules = file_of(self.source.rules) if self.source.rules else None
        return {"records": self.source.records, "rules": rules, "edges": self.source.edges}

    def summary(self) -> RelationSummary:
        """Return the contents of the relation, for summary.json."""
        records, tied = self.authority.records, list(self.authority.tied)
        edges = [edge for edges in self.authority.edges.values() for edge in edges]
        return {
            "records": len(self.authority),
            "given_edges": len(edges) - len(tied),
            "as_of": self.source.as_of,
            "known_by": self.source.known_by,
            "theta": self.source.theta,
            "below_theta": self.below_theta,
            "edges_against_time": len(self.edges_against_time),
            "undated": sum(r.time is None and r.published is None for r in records.values())
            if self.authority.is_view
            else None,
            "rules": [_counts(rule, self.authority) for rule in self.coverage],
            "decided_by_id": len(tied),
            "decided_by_id_examples": [
                f"{edge.superseded!r}, superseded by {edge.superseder!r}"
                for edge in tied[:MAX_EXAMPLES]
            ],
            "unruled_types": unruled_types(records.values(), self.authority.rules, edges),
        }

    def retires(self) -> bool:
        """Return whether anything is superseded, at the time of the view."""
        ids = self.authority.records
        return any(self.authority.in_force(i) and not self.authority.is_active(i) for i in ids)


def undecided_pairs(rule: RuleCoverage, authority: Authority) -> Iterator[UndecidedPair]:
    """Yield the undecided pairs of a rule that are listed, with their times."""
    for older, newer in rule.pairs:
        times = (
            record.known if rule.order is Order.PUBLISHED else record.time
            for record in (authority.records[older], authority.records[newer])
        )
        first, second = (str(time) if time else None for time in times)
        yield {
            "superseded": older, "time": first,
            "superseding": newer, "superseding_time": second,
        }  # fmt: skip


def _counts(rule: RuleCoverage, authority: Authority) -> RuleCounts:
    return {
        "rule": rule.rule,
        "superseding": rule.superseding,
        "superseded": rule.superseded,
        "retired": rule.retired,
        "edges": rule.edges,
        "undecided": rule.undecided,
        "undecided_pairs": list(islice(undecided_pairs(rule, authority), MAX_EXAMPLES)),
        "absent": list(rule.absent),
        "no_scope": len(rule.no_scope),
        "no_scope_examples": list(rule.no_scope[:MAX_EXAMPLES]),
        "no_time": len(rule.no_time),
        "no_time_examples": list(rule.no_time[:MAX_EXAMPLES]),
    }


def open_authority(source: AuthoritySource) -> OpenedAuthority:
    """Read records, rules and edges. Raise InputError for mistakes in them."""
    if source.rules is None and source.edges is None:
        raise InputError(
            "neither rules nor edges",
            expected="--rules RULES.yaml (or a domain's name), or --edges FILE, or both",
            fix="Say what supersedes what.",
        )
    domain = domain_of(source)
    moments = {
        name: moment_of(getattr(source, name), domain, f"--{name.replace('_', '-')}")
        for name in ("as_of", "known_by")
    }
    edges = read_edges(source.edges) if source.edges is not None else []
    records = domain.read(source.records)
    if source.rules is not None and is_own(source.rules):
        edges = [*edges, *own_edges(source.rules, records)]
    known = {record.id for record in records}
    for edge in edges:
        for id_ in (edge.superseder, edge.superseded):
            if id_ not in known:
                raise InputError(
                    f"{edge.superseded!r} superseded by {edge.superseder!r}: no record {id_!r}",
                    expected=f"ids of the {len(known):,} records of {source.records}",
                    fix="Mend the id, or give all records.",
                    where=source.edges,
                )
    rules = [rule for rule in domain.rules if rule.confidence >= source.theta]
    sure = [edge for edge in edges if edge.confidence >= source.theta]
    authority = Authority(records, rules, sure)
    coverage = require_covered(authority)
    left_out = len(domain.rules) - len(rules) + len(edges) - len(sure)
    backwards = _against_time(sure, authority)
    if any(moments.values()):
        authority = authority.as_of(moments["as_of"], moments["known_by"])
    return OpenedAuthority(authority, coverage, source, left_out, backwards)


def domain_of(source: AuthoritySource) -> Domain:
    """Return how records are read: as the rules' domain says, or by the usual columns."""
    if source.rules is None or is_own(source.rules):
        return Domain("records", ())
    return load_domain(source.rules)


def moment_of(value: str | None, domain: Domain, option: str) -> Moment | None:
    """Return a date as the domain reads it. An InputError names the option."""
    if value is not None and not value.strip():
        raise InputError(
            "an empty date",
            expected="a date such as 2024-03-01",
            fix="Leave it out to ask about today.",
            where=option,
        )
    return parse_moment(value, zone=domain.zone, where=option, forms=domain.dates)


def _against_time(edges: Sequence[Edge], authority: Authority) -> tuple[Edge, ...]:
    """Return the edges that time contradicts. Raise InputError if most dated ones are."""
    dated = []
    for edge in edges:
        newer = authority.records[edge.superseder].time
        older = authority.records[edge.superseded].time
        if newer is not None and older is not None:
            dated.append((edge, newer.before(older)))
    backwards = tuple(edge for edge, is_backwards in dated if is_backwards)
    if 2 * len(backwards) > len(dated):
        first = backwards[0]
        raise InputError(
            f"{len(backwards):,} of {len(dated):,} dated edges go backwards in time; the first: "
            f"{first.superseder!r} supersedes the later {first.superseded!r}",
            expected="superseders that are later than what they supersede",
            fix="Are the two columns swapped?",
        )
    return backwards


def in_force(scores: Mapping[str, float], authority: Authority) -> dict[str, float]:
    """Return a ranking, best first, without the records that are not in force."""
    ranked = {id_: scores[id_] for id_ in ranking(dict(scores))}
    return {i: s for i, s in ranked.items() if i not in authority or authority.in_force(i)}


def require_records(ids: Collection[str], authority: Authority, where: str | Path) -> None:
    """Raise InputError where results are of another corpus: none of them has a record."""
    if ids and not any(id_ in authority for id_ in ids):
        raise InputError(
            f"no document found has a record; the first is {next(iter(ids))!r}",
            expected=f"ids of records, such as {next(iter(authority.records), '')!r}",
            fix="Check that these results and the records are of one corpus.",
            where=where,
        )


def rule_table(relation: RelationSummary) -> Table:
    """Return one row per rule. Where there are only edges, return one for them."""
    columns = {
        "rule": "text",
        "can supersede": "count",
        "can be superseded": "count",
        "superseded": "count",
        "pairs": "count",
        "undecided": "count",
        "without scope key": "count",
        "without time": "count",
    }
    rows: list[list[object]] = [
        [
            rule["rule"], rule["superseding"], rule["superseded"], rule["retired"], rule["edges"],
            rule["undecided"], rule["no_scope"], rule["no_time"],
        ]
        for rule in relation["rules"]
    ]  # fmt: skip
    if relation["given_edges"]:
        rows.append(["edges given", *[None] * 3, relation["given_edges"], *[None] * 3])
    return table(columns, rows)


def relation_lines(relation: RelationSummary) -> Iterator[str]:
    """Yield notes on the rules and their records, doubts included."""
    yield f"records: {relation['records']:,}; explicit edges: {relation['given_edges']:,}"
    if relation["as_of"] or relation["known_by"]:
        when = [f"as of {relation['as_of']}"] if relation["as_of"] else []
        when += [f"known by {relation['known_by']}"] if relation["known_by"] else []
        yield f"{', '.join(when)}; what rules find below is of all records, whatever the date"
    if relation["below_theta"]:
        yield f"{relation['below_theta']:,} rules and edges are less sure than --theta"
    if relation["edges_against_time"]:
        yield f"WARNING: {relation['edges_against_time']:,} edges go backwards in time"
    if relation["undated"]:
        yield f"{relation['undated']:,} records have no time: taken to be in force"
    if n := relation["decided_by_id"]:
        examples = "; ".join(relation["decided_by_id_examples"])
        yield f"{n:,} pairs of equal times are decided by id: {examples}"
    yield from unruled_lines(relation["unruled_types"])
    for rule in relation["rules"]:
        yield (
            f"rule {rule['rule']}: {rule['retired']:,} of {rule['superseded']:,} superseded"
            + _doubt(rule["undecided"], "undecided (times overlap)")
            + _doubt(rule["no_scope"], "records lack its scope key")
            + _doubt(rule["no_time"], "records lack its time")
            + (f"; no record is of type {', '.join(rule['absent'])}" if rule["absent"] else "")
        )
        for pair in rule["undecided_pairs"]:
            yield (
                f"  undecided: {pair['superseded']!r} ({pair['time']}) and "
                f"{pair['superseding']!r} ({pair['superseding_time']})"
            )


def _doubt(n: int, what: str) -> str:
    return f"; {n:,} {what}" if n else ""
