"""Records, rules and edges as they are named on the command line, to an authority relation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from argus.authority.coverage import RuleCoverage, require_covered, unruled_types
from argus.authority.domains import Domain, load_domain
from argus.authority.edges import read_edges
from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.summary import RelationSummary, RuleCounts, UndecidedPair
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Order
from argus.authority.times import Moment, parse_moment
from argus.data.runs import ranking
from argus.errors import InputError

SHOWN = 5
"""Ids that a summary names of the records that a rule does not apply to."""


@dataclass(frozen=True)
class OpenedAuthority:
    """The relation, and what its rules found in the records."""

    authority: Authority
    coverage: list[RuleCoverage]
    source: AuthoritySource
    below_theta: int = 0
    """Rules and edges that were left out for too little confidence."""
    edges_against_time: tuple[Edge, ...] = ()
    """Given edges whose superseder took effect before what it supersedes."""

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files it was made of, for the manifest."""
        rules = Path(self.source.rules) if self.source.rules else None
        return {"records": self.source.records, "rules": rules, "edges": self.source.edges}

    def summary(self) -> RelationSummary:
        """Return what the relation holds, for summary.json."""
        edges = sum(len(edges) for edges in self.authority.edges.values())
        tied = list(self.authority.tied)
        return {
            "records": len(self.authority),
            "given_edges": edges - len(tied),
            "as_of": self.source.as_of,
            "known_by": self.source.known_by,
            "theta": self.source.theta,
            "below_theta": self.below_theta,
            "edges_against_time": len(self.edges_against_time),
            "undated": self._undated() if self.authority.is_view else None,
            "rules": [_counts(rule, self.authority) for rule in self.coverage],
            "decided_by_id": len(tied),
            "decided_by_id_examples": [
                f"{edge.superseded!r}, superseded by {edge.superseder!r}" for edge in tied[:SHOWN]
            ],
            "unruled_types": unruled_types(
                self.authority.records.values(), self.authority.rules, self._edges()
            ),
        }

    def _edges(self) -> Iterator[Edge]:
        return (edge for edges in self.authority.edges.values() for edge in edges)

    def retires(self) -> bool:
        """Return whether anything is superseded, at the time of the view."""
        ids = self.authority.records
        return any(self.authority.in_force(i) and not self.authority.is_active(i) for i in ids)

    def _undated(self) -> int:
        """Count the records that a view lets in because nothing is known of their time."""
        return sum(r.time is None and r.published is None for r in self.authority.records.values())


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
        "undecided_pairs": list(islice(undecided_pairs(rule, authority), SHOWN)),
        "absent": list(rule.absent),
        "no_scope": len(rule.no_scope),
        "no_scope_examples": list(rule.no_scope[:SHOWN]),
        "no_time": len(rule.no_time),
        "no_time_examples": list(rule.no_time[:SHOWN]),
    }


def open_authority(source: AuthoritySource) -> OpenedAuthority:
    """Read records, rules and edges; raise InputError for whatever cannot be what was meant."""
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
    _require_ends(edges, records, source)
    rules = [rule for rule in domain.rules if rule.confidence >= source.theta]
    sure = [edge for edge in edges if edge.confidence >= source.theta]
    authority = Authority(records, rules, sure)
    coverage = require_covered(authority)
    left_out = len(domain.rules) - len(rules) + len(edges) - len(sure)
    backwards = _against_time(sure, authority)
    return OpenedAuthority(_at(authority, moments), coverage, source, left_out, backwards)


def domain_of(source: AuthoritySource) -> Domain:
    """Return how records are read: as the rules' domain says, or by the usual columns."""
    return load_domain(source.rules) if source.rules is not None else Domain("records", ())


def moment_of(value: str | None, domain: Domain, option: str) -> Moment | None:
    """Return a date as the domain reads it; InputError names the option."""
    if value is not None and not value.strip():
        raise InputError(
            "an empty date",
            expected="a date such as 2024-03-01",
            fix="Leave it out to ask about today.",
            where=option,
        )
    return parse_moment(value, zone=domain.zone, where=option, forms=domain.dates)


def _require_ends(
    edges: Sequence[Edge], records: Sequence[Record], source: AuthoritySource
) -> None:
    """Raise InputError for an edge of a document that has no record."""
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


def _against_time(edges: Sequence[Edge], authority: Authority) -> tuple[Edge, ...]:
    """Return the edges that time contradicts; InputError where these are most of the dated ones."""
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


def _at(authority: Authority, moments: dict[str, Moment | None]) -> Authority:
    if not any(moments.values()):
        return authority
    return authority.as_of(moments["as_of"], moments["known_by"])


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
