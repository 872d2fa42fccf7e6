"""The lint's section: how much of a run is superseded, and every violation with its chain."""

from __future__ import annotations

from pathlib import Path

from argus.authority.jobs.relation_table import rules
from argus.authority.jobs.summary import RATES, LintSummary, Violation
from argus.data.tables import read_records
from argus.reports.section import MAX_ROWS, Section, Table, table


def section(folder: Path, lint: LintSummary) -> Section:
    """Build it from lint.parquet."""
    rows = read_records(Violation, folder / "lint.parquet")
    columns = {"query": "text", "what": "text", "served": "text", "instead": "text"}
    columns |= {"chain": "text"}
    shown = [
        [row["query_id"], row["kind"], row["document"], row["instead"] or "", row["chain"]]
        for row in rows[:MAX_ROWS]
    ]
    tables = {
        "lint_rates": _rates(lint),
        "lint_rules": rules(lint["relation"]),
        "lint_violations": table(columns, shown, total=len(rows)),
    }
    return Section({}, tables, _brief(lint))


def _rates(lint: LintSummary) -> Table:
    rows = [
        [RATES[name], rate["share"], [rate["low"], rate["high"]], rate["queries"]]
        for name, rate in lint["rates"].items()
        if rate is not None
    ]
    columns = {"": "text", "share": "share", "95% interval": "interval", "queries": "count"}
    return table(columns, rows)


def _brief(lint: LintSummary) -> str:
    rate, stale = lint["rates"]["violations"], lint["rates"]["stale_queries"]
    if rate is None or stale is None:
        return "no query could be measured"
    return (
        f"{rate['share']:.1%} of {rate['queries']:,} queries lack what controls their results "
        f"(top {lint['k']}), {stale['share']:.1%} are served something "
        f"superseded: {lint['verdict']}"
    )
