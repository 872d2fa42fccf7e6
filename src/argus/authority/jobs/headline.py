"""What the audit and the lint of controlling authority say in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from argus.authority.coverage import unruled_lines
from argus.authority.jobs.summary import (
    RATES,
    AuthorityAuditSummary,
    LintSummary,
    RelationSummary,
)
from argus.retrievers.protocol import note_lines

VIOLATIONS = 8
"""Of a lint that are named."""


def audit_headline(summary: AuthorityAuditSummary) -> Iterator[str]:
    """Yield what can be reached, by proxy and by rule."""
    documents = summary["documents"]
    yield from _relation(summary["relation"])
    yield (
        f"superseded: {documents['superseded']:,} of {documents['total']:,} documents; pairs with "
        f"what controls them: {documents['measured']:,} measured, {documents['failed']:,} failed, "
        f"{documents['not applicable']:,} not applicable"
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
    if len(summary["by_rule"]) > 1:
        for group in summary["by_rule"]:
            shares = ", ".join(
                f"{proxy} {figures['reachable']:.1%} of {figures['documents']:,}"
                for proxy, figures in group["proxies"].items()
                if figures["documents"]
            )
            yield f"  {group['name']}: {shares}"


def lint_headline(summary: LintSummary) -> Iterator[str]:
    """Yield the first violations, rates with intervals, and the verdict."""
    counts = summary["queries"]
    yield (
        f"queries: {counts['measured']:,} measured, {counts['not applicable']:,} not applicable"
        f" (nothing retrieved, or nothing with a record); top {summary['k']}"
    )
    if "retriever" in summary:
        yield from note_lines(summary["retriever"], counts["total"])
    if counts.get("without_anchor"):
        yield f"{counts['without_anchor']:,} queries of the run have no anchor in --queries"
    if counts.get("not_in_the_run"):
        yield f"WARNING: {counts['not_in_the_run']:,} queries of --queries are not in the run"
    yield from _relation(summary["relation"])
    unknown = summary["documents"]["without_record"]
    if unknown:
        yield f"{unknown:,} retrieved documents have no record: taken as not superseded"
    yield from _violations(summary)
    for name, rate in summary["rates"].items():
        if rate is None:
            yield f"{RATES[name]}: not measured (needs --before)"
        else:
            yield f"{rate['share']:.1%} ({rate['low']:.1%} to {rate['high']:.1%}) {RATES[name]}"
    if summary["verdict"] == "not measured" and counts["measured"]:
        yield "nothing is superseded in these records: rules that do not fit, or swapped edges?"
    yield f"verdict: {summary['verdict']}"


def _violations(summary: LintSummary) -> Iterator[str]:
    for row in summary["violations"][:VIOLATIONS]:
        yield f"  {row['query_id']}: {row['kind']}: {row['chain'] or row['document']}"
    more = summary["violations_total"] - min(VIOLATIONS, len(summary["violations"]))
    if more > 0:
        yield f"  and {more:,} more"


def _relation(relation: RelationSummary) -> Iterator[str]:
    """Yield what the rules make of the records, doubts included."""
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
    yield from _told(relation)
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


def _told(relation: RelationSummary) -> Iterator[str]:
    """Yield what ids have decided, and the types that fit no rule."""
    if n := relation["decided_by_id"]:
        examples = "; ".join(relation["decided_by_id_examples"])
        yield f"{n:,} pairs of equal times are decided by id: {examples}"
    yield from unruled_lines(relation["unruled_types"])


def _doubt(n: int, what: str) -> str:
    return f"; {n:,} {what}" if n else ""
