"""Put an evaluation into words and tables: the lines for the terminal and a section of the report.

It reads the summary and per_query.parquet that `job` writes. `EvaluateResult` there documents the
keys. Jobs that judge a remedy use `headline` and `change`, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.measures.significance import change_words, difference_words, ends_words, means_words
from argus.measures.slices import slice_lines
from argus.reports.section import Section, slices_table, table
from argus.retrievers.protocol import kept_note

SLICES = "evaluation_slices"


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield every measure, the doubts about it, and the effect of a change."""
    counts, systems, comparison = summary["queries"], summary["systems"], summary["comparison"]
    yield (
        f"queries: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable"
    )
    if fold := summary.get("parents"):
        yield (
            f"{fold['chunks']:,} chunks folded to {fold['documents']:,} documents by "
            f"{fold['field']}: a document scores as its best chunk"
        )
    for name in systems[0]["measures"]:
        values = " -> ".join(f"{system['measures'][name]:.4f}" for system in systems)
        difference = f" ({change_words(comparison[name])})" if comparison else ""
        yield f"{name}: {values}{difference}"
    for row in summary["failed"][:5]:
        yield f"failed: query {row['query_id']}: {row['reason']}"
    for system in systems:
        yield from _doubts(system, counts["measured"])
    if summary["association_left_out"]:
        ks = ", ".join(map(str, summary["association_left_out"]))
        yield f"Table 4 is not told for k = {ks}: the runs are not that deep"
    if comparison:
        name = summary["headline"]
        yield f"by {name}: {_improved_and_harmed(comparison[name])}"
    share = summary["implicitness"]["share"]
    if share is not None:
        yield f"{share:.1%} of the queries share no word with a relevant title"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    for system in systems:
        if system["kept"]:
            yield f"{system['name']}: {kept_note(system['kept'], counts['total'])}"


def _doubts(system: Mapping[str, Any], measured: int) -> Iterator[str]:
    name, empty = system["name"], system["queries_without_results"]
    if empty:
        loud = "WARNING: " if empty * 10 >= measured else ""
        yield f"{loud}{name}: {empty:,} of {measured:,} queries have no result; they count as 0"
    if system["beyond_its_lists"]:
        yield (
            f"{name}: no list is longer than {system['longest_list']:,}, so "
            f"{', '.join(system['beyond_its_lists'])} cannot tell what stood further down"
        )
    missing = system["missing_judged_documents"]
    if missing and missing["documents"]:
        yield (
            f"{name}: {missing['documents']:,} relevant documents are not in it "
            f"({missing['queries']:,} queries); no retriever could bring them back"
        )
    if system["warning"]:
        yield f"WARNING: {system['warning']}"


def change(summary: Mapping[str, Any]) -> str:
    """Return the change of judged questions in one line. The summary must have two systems."""
    name = summary["headline"]
    test = summary["comparison"][name]
    return (
        f"{test['queries']:,} judged questions, {name}: {means_words(test)}; "
        f"{_improved_and_harmed(test)}"
    )


def _improved_and_harmed(difference: Mapping[str, Any]) -> str:
    return (
        f"{difference['improved']:,} queries improved, {difference['harmed']:,} harmed, "
        f"{difference['unchanged']:,} unchanged"
    )


def section(folder: Path, evaluation: Mapping[str, Any]) -> Section:
    """Build the report's section from the summary and per_query.parquet."""
    name, comparison = evaluation["headline"], evaluation["comparison"]
    systems, measured = evaluation["systems"], evaluation["queries"]["measured"]
    compared = {"value": "share"}
    if comparison:
        compared = {"before": "share", "after": "share"}
        compared |= dict.fromkeys(("difference", "95% interval", "p"), "text")
        compared |= dict.fromkeys(("improved", "harmed", "unchanged"), "count")

    def cells(measure: str, sides: Sequence[Mapping[str, float]], tests: Any) -> list[object]:
        """Return the measure of each side, and its test."""
        values: list[object] = [side[measure] for side in sides]
        if not tests:
            return values
        test = tests[measure]
        difference = f"{test['mean_difference']:+.4f}"
        ends = ends_words(test["low"], test["high"], test["no_interval"])
        p = f"{test['p_value']:.4f}" + (" (exact)" if test["exact"] else "")
        counts = (test[key] for key in ("improved", "harmed", "unchanged"))
        return [*values, difference, ends, p, *counts]

    means = [system["measures"] for system in systems]
    rows = [[measure, *cells(measure, means, comparison)] for measure in means[0]]
    tables = {"evaluation_measures": table({"measure": "text"} | compared, rows)}
    suffixes = [" before", " after"] if comparison else [""]
    queries = read_table(folder / "per_query.parquet").to_pylist()
    queries = [row for row in queries if row["state"] == "measured"]
    queries.sort(key=lambda row: (row[name + suffixes[-1]], row["query_id"]))
    columns = {"query": "text", "relevant": "count", "shares a word with a title": "text"}
    columns |= {(name + suffix).strip(): "share" for suffix in suffixes}
    columns |= {("first relevant rank" + suffix).strip(): "count" for suffix in suffixes}
    rows = []
    for row in queries:
        sharing = {True: "no", False: "yes", None: ""}[row["implicit"]]
        values = [row[start + suffix] for start in (name, "rank") for suffix in suffixes]
        rows.append([f"{row['text']} · {row['query_id']}", row["relevant"], sharing, *values])
    tables["evaluation_queries"] = table(columns, rows)
    if evaluation["harmed"]:
        columns = {"query": "text", "before": "share", "after": "share", "difference": "text"}
        ranks = ("first relevant rank, before", "after (none: not in the run)")
        rows = [
            [
                f"{row['text']} · {row['query_id']}", row["before"], row["after"],
                f"{row['difference']:+.4f}", row["rank_before"], row["rank_after"],
            ]
            for row in evaluation["harmed"]
        ]  # fmt: skip
        tables["evaluation_harmed"] = table(columns | dict.fromkeys(ranks, "count"), rows)
    if groups := evaluation["implicitness"]["groups"]:
        words = {"implicit": "share no word", "sharing": "share a word"}
        rows = [
            [f"{words[group['name']]} with a relevant title", group["queries"],
             *cells(name, group["measures"], group["comparison"])]
            for group in groups
        ]  # fmt: skip
        columns = {"questions that": "text", "queries": "count"} | compared
        tables["evaluation_groups"] = table(columns, rows)
    if evaluation["association"]:
        columns = {
            "system": "text", "k": "count", "retrieved": "count", "their mean highest RPS": "share",
            "unretrieved": "count", "their mean": "share", "difference": "text",
            "95% interval": "text", "not in the index": "count", "no RPS": "count",
        }  # fmt: skip
        rows = [
            [
                system["name"], at_k["k"], at_k["retrieved"], at_k["mean_retrieved"],
                at_k["unretrieved"], at_k["mean_unretrieved"],
                "–" if at_k["difference"] is None else f"{at_k['difference']:+.4f}",
                ends_words(at_k["low"], at_k["high"]), at_k["not_indexed"], at_k["without_rps"],
            ]
            for system, figures in zip(systems, evaluation["association"], strict=True)
            for at_k in figures
        ]  # fmt: skip
        tables["evaluation_association"] = table(columns, rows)
    if "slices" in evaluation:
        tables[SLICES] = slices_table(folder, SLICES)
    brief = f"{name} {means[-1][name]:.3f} on {measured:,} queries"
    if comparison:
        brief = f"{name} {difference_words(comparison[name])} on {measured:,} queries"
    return Section({}, tables, brief)
