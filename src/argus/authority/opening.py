"""Read records, rules and edges into one relation of which document supersedes which.

`open_authority`: the files of `AuthoritySource` -> `Authority` (`relation`) with a count per rule:
the records that take part, those that cannot and why, those undecided. A rule that no record can
come under is an error, because it is a typo more often than a plan. Every job that reads
supersessions begins here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.authority.config import AuthoritySource
from argus.authority.domains import Domain, load_domain
from argus.authority.relation import Authority
from argus.authority.rules import ALWAYS, SUPERSEDES, Edge, Record, Rule, located
from argus.authority.scopes import Bucket
from argus.data.documents import CORPUS_STEMS, find_file
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.data.runs import ranking
from argus.data.yaml_file import nearest
from argus.errors import ArgusError, InputError
from argus.python_file import call_own, file_of, is_own, load_own
from argus.reports.section import Table, table

MAX_TYPES = 8  # types that no rule names, of those on the command line
OWN_RULE = "a function of records that returns pairs of ids: (superseder, superseded)"


def cover(authority: Authority) -> list[dict[str, Any]]:
    """Count per rule the records that take part, retire or stay undecided, at any time.

    rule: rule, in words.
    superseding: records that can supersede under it.
    superseded: records that can be superseded under it.
    retired: records that are superseded under it, directly.
    edges: direct supersessions, counted without being made. One of two scopes counts twice.
    undecided: records that a superseding record of their scope neither follows nor precedes for
    certain.
    absent: types that it names and no record has.
    no_scope: records of its types without one of its scope keys: it cannot apply to them.
    no_time: records of its types without the time that it orders by.
    """
    records = authority.records
    types = {record.type for record in records.values()}
    buckets: dict[int, list[Bucket]] = defaultdict(list)
    for (number, _), bucket in authority.index.buckets.items():
        buckets[number].append(bucket)
    covered = []
    for number, rule in enumerate(authority.rules):
        counts = {"superseding": 0, "superseded": 0, "no_scope": 0, "no_time": 0}
        for record in records.values():
            newer, older = rule.can_supersede(record), rule.can_be_superseded(record)
            if not newer and not older:
                continue
            newer = newer and next(rule.superseding_scopes(record), None) is not None
            older = older and next(rule.superseded_scopes(record), None) is not None
            if not newer and not older:
                counts["no_scope"] += 1
            elif rule.moment(record) is None:
                counts["no_time"] += 1
            else:
                counts["superseding"] += newer
                counts["superseded"] += older
        absent = [t for t in (*rule.superseding, *rule.superseded) if t not in types]
        pairs = _count_pairs(rule, buckets[number], records)
        covered.append({"rule": rule.name, **counts, **pairs, "absent": absent})
    return covered


def _count_pairs(
    rule: Rule, buckets: Sequence[Bucket], records: Mapping[str, Record]
) -> dict[str, int]:
    """Count retired records, supersessions and undecided records.

    Buckets are counted by their sorted times: no pair is made. A record of several buckets counts
    once.
    """
    retired, undecided, edges = set[str](), set[str](), 0
    for bucket in buckets:
        starts = [start for start, _ in bucket.superseding]
        there = {id_ for _, id_ in bucket.superseding}
        ends = sorted((rule.moment(records[id_]) or ALWAYS).end for id_ in there)
        for last, id_ in bucket.superseded:
            first, time = bisect_left(starts, last), rule.moment(records[id_]) or ALWAYS
            edges += len(starts) - first
            if first < len(starts):
                retired.add(id_)
            if first - bisect_right(ends, time.start) - (id_ in there) > 0:
                undecided.add(id_)
    return {"retired": len(retired), "edges": edges, "undecided": len(undecided)}


def require_covered(authority: Authority) -> list[dict[str, Any]]:
    """Return the coverage. Raise InputError for a rule that no record can come under.

    No record is then of a type of one side, or none of them has its scope key or its time.
    """
    covered = cover(authority)
    sides = ((entry, side) for entry in covered for side in ("superseding", "superseded"))
    lacking = next(((entry, side) for entry, side in sides if not entry[side]), None)
    if lacking is None:
        return covered
    rule, side = authority.rules[covered.index(lacking[0])], lacking[1]
    types = getattr(rule, side)
    matches = rule.can_supersede if side == "superseding" else rule.can_be_superseded
    records = [r for r in authority.records.values() if r.type in types]
    meeting = [r for r in records if matches(r)]
    known = sorted({record.type for record in authority.records.values()})
    keys = sorted({k for record in meeting for k in record.scope})
    absent = [
        name
        for name in (getattr(key, side) for key in rule.scope)
        if not any(record.values(name) for record in meeting)
    ]
    none, fix = f"has a time to order by ({rule.order})", "Name its column, or say `order: type`."
    if not records:
        none, fix = "there", nearest(types[0], known, "Mend the rule, or give all records.")
    elif not meeting:
        none, fix = f"meets its condition {dict(rule.condition)}", "Mend the condition."
    elif absent:
        none, fix = f"has the scope key {absent[0]!r}", nearest(absent[0], keys, "Mend the rule.")
        if any(absent[0] in record.metadata for record in meeting):
            fix = f"It is a column: say so (`records:`, `scope: {{{absent[0]}: {absent[0]}}}`)."
    of = f"of {len(records):,} records of type {' or '.join(types)}"
    got = f"rule {rule.name!r}: {of}, none {none}"
    expected = f"types such as {', '.join(known[:20])}; scope keys such as {', '.join(keys[:20])}"
    raise InputError(got, expected=expected, fix=fix)


@dataclass(frozen=True)
class OpenedAuthority:
    """The relation, and the records that its rules found.

    coverage: of each rule, as `cover` counts it. below_theta: rules and edges that were left out
    for too little confidence.
    """

    authority: Authority
    coverage: list[dict[str, Any]]
    source: AuthoritySource
    below_theta: int = 0

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files it was made of, for the manifest."""
        rules = file_of(self.source.rules) if self.source.rules else None
        records = self.source.records
        file = find_file(records, CORPUS_STEMS) if records.is_dir() else records
        return {"records": file or records, "rules": rules, "edges": self.source.edges}

    def summary(self) -> dict[str, Any]:
        """Return the contents of the relation, for summary.json.

        records: records of the relation.
        given_edges: supersessions that were given as edges.
        theta: confidence that rules and edges need, θ.
        below_theta: rules and edges that were left out for too little confidence.
        undated: records without any time, which an earlier time lets in. None: the time is now.
        rules: of each rule the counts of `cover`.
        unruled_types: types of records that no rule names, with how many records. Empty without
        rules.
        """
        records, rules = self.authority.records, self.authority.rules
        undated = sum(r.time is None and r.published is None for r in records.values())
        named = {type_ for rule in rules for type_ in (*rule.superseding, *rule.superseded)}
        types = Counter(r.type for r in records.values() if rules and r.type not in named)
        return {
            "records": len(self.authority),
            "given_edges": sum(map(len, self.authority.edges.values())),
            "as_of": self.source.as_of,
            "known_by": self.source.known_by,
            "theta": self.source.theta,
            "below_theta": self.below_theta,
            "undated": undated if self.authority.is_view else None,
            "rules": self.coverage,
            "unruled_types": dict(types.most_common()),
        }

    def retires(self) -> bool:
        """Return whether anything is superseded, at the time of the view."""
        ids = self.authority.records
        return any(self.authority.in_force(i) and not self.authority.is_active(i) for i in ids)


def open_authority(source: AuthoritySource) -> OpenedAuthority:
    """Read records, rules and edges. Raise InputError for mistakes in them."""
    if source.rules is None and source.edges is None:
        expected = "--rules RULES.yaml (or a domain's name), or --edges FILE, or both"
        fix = "Say what supersedes what."
        raise InputError("neither rules nor edges", expected=expected, fix=fix)
    domain = domain_of(source)
    effective = domain.moment(source.as_of, "--as-of")
    known_by = domain.moment(source.known_by, "--known-by")
    edges = read_edges(source.edges) if source.edges is not None else []
    records = domain.read(source.records)
    if source.rules is not None and is_own(source.rules):
        _, rule = load_own(source.rules, callable, OWN_RULE)
        found = call_own(source.rules, rule, list(records))
        try:
            edges += [Edge(newer, older, rule=source.rules) for newer, older in found]
        except (TypeError, ValueError) as error:
            raise ArgusError(
                f"{source.rules} returned something else; expected {OWN_RULE}."
            ) from error
    rules = [rule for rule in domain.rules if rule.confidence >= source.theta]
    sure = [edge for edge in edges if edge.confidence >= source.theta]
    with located(source.edges or source.records):
        authority = Authority(records, rules, sure)
    coverage = require_covered(authority)
    left_out = len(domain.rules) - len(rules) + len(edges) - len(sure)
    by_id = authority.records
    times = [(by_id[e.superseder].time, by_id[e.superseded].time) for e in sure]
    dated = [(newer, older) for newer, older in times if newer and older]
    backwards = sum(newer.before(older) for newer, older in dated)
    if 2 * backwards > len(dated):
        got = f"{backwards:,} of {len(dated):,} dated edges go backwards in time"
        expected, fix = "superseders later than what they supersede", "Are the columns swapped?"
        raise InputError(got, expected=expected, fix=fix, where=source.edges)
    if effective or known_by:
        authority = authority.as_of(effective, known_by)
    return OpenedAuthority(authority, coverage, source, left_out)


def read_edges(file: Path | str) -> list[Edge]:
    """Read edges from any row format.

    Columns: `superseder` (or `superseding`) and `superseded`, and optionally `rule`, `confidence`
    and `relation`. Raises InputError for a missing file or column, an empty id, an edge from a
    document to itself, a confidence that is none, and a file without rows.
    """
    edges = []
    for row in read_rows(Path(file)):
        newer = pick_field(row, ("superseder", "superseding"), what="superseding document")
        older = pick_field(row, ["superseded"], what="superseded document")
        value, fix = row.values.get("confidence"), "Leave it out for a certain edge."
        try:
            confidence = 1.0 if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            expected, where = "a number above 0, at most 1", row.at("confidence")
            raise InputError(f"{value!r}", expected=expected, fix=fix, where=where) from error
        rule, relation = (text_value(row, name) for name in ("rule", "relation"))
        with located(row.at()):
            ends = id_value(row, newer), id_value(row, older)
            edges.append(Edge(*ends, rule or "given", confidence, relation or SUPERSEDES))
    if not edges:
        expected, fix = "rows of superseder, superseded", "Check that this is the right file."
        raise InputError("no row in it", expected=expected, fix=fix, where=file)
    return edges


def authority_of(edges: Sequence[Edge]) -> Authority:
    """Return the relation that edges make by themselves. Its records are ids, no more."""
    ids = dict.fromkeys(id_ for edge in edges for id_ in (edge.superseded, edge.superseder))
    return Authority([Record(id_, "document") for id_ in ids], edges=edges)


def read_authority(file: Path) -> Authority:
    """Read the relation of a file of edges. Raise InputError as `read_edges`, and for a cycle."""
    with located(file):
        return authority_of(read_edges(file))


def domain_of(source: AuthoritySource) -> Domain:
    """Return how records are read: as the rules' domain says, or by the usual columns."""
    if source.rules is None or is_own(source.rules):
        return Domain("records", ())
    return load_domain(source.rules)


def in_force(scores: Mapping[str, float], authority: Authority) -> dict[str, float]:
    """Return a ranking, best first, without the records that are not in force."""
    ranked = {id_: scores[id_] for id_ in ranking(dict(scores))}
    return {i: s for i, s in ranked.items() if i not in authority or authority.in_force(i)}


def require_records(ids: Collection[str], authority: Authority, where: str | Path) -> None:
    """Raise InputError where results are of another corpus: none of them has a record."""
    if ids and not any(id_ in authority for id_ in ids):
        got = f"no document found has a record; the first is {next(iter(ids))!r}"
        expected = f"ids of records, such as {next(iter(authority.records), '')!r}"
        fix = "Check that these results and the records are of one corpus."
        raise InputError(got, expected=expected, fix=fix, where=where)


def rule_table(relation: Mapping[str, Any]) -> Table:
    """Return one row per rule. Where there are only edges, return one for them."""
    columns = {
        "superseding": "can supersede", "superseded": "can be superseded", "retired": "superseded",
        "edges": "pairs", "undecided": "undecided", "no_scope": "without scope key",
        "no_time": "without time",
    }  # fmt: skip
    rows = [[rule["rule"], *(rule[name] for name in columns)] for rule in relation["rules"]]
    if relation["given_edges"]:
        rows.append(["edges given", *[None] * 3, relation["given_edges"], *[None] * 3])
    return table({"rule": "text"} | dict.fromkeys(columns.values(), "count"), rows)


def relation_lines(relation: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on the rules and their records, doubts included."""
    yield f"records: {relation['records']:,}; explicit edges: {relation['given_edges']:,}"
    if relation["as_of"] or relation["known_by"]:
        when = [f"as of {relation['as_of']}"] if relation["as_of"] else []
        when += [f"known by {relation['known_by']}"] if relation["known_by"] else []
        yield f"{', '.join(when)}; what rules find below is of all records, whatever the date"
    if relation["below_theta"]:
        yield f"{relation['below_theta']:,} rules and edges are less sure than --theta"
    if relation["undated"]:
        yield f"{relation['undated']:,} records have no time: taken to be in force"
    for type_, n in list(relation["unruled_types"].items())[:MAX_TYPES]:
        yield f"{n:,} records are of type {type_!r}, which no rule names"
    for rule in relation["rules"]:
        doubts = [
            f"; {rule[name]:,} {words}"
            for name, words in (
                ("undecided", "undecided (times overlap)"),
                ("no_scope", "records lack its scope key"),
                ("no_time", "records lack its time"),
            )
            if rule[name]
        ]  # fmt: skip
        absent = f"; no record is of type {', '.join(rule['absent'])}" if rule["absent"] else ""
        counts = f"{rule['retired']:,} of {rule['superseded']:,} superseded"
        yield f"rule {rule['rule']}: {counts}{''.join(doubts)}{absent}"
