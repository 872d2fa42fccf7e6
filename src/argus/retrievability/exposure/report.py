"""Show an exposure run: the lines that the command prints, and the section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.measures.slices import slice_lines
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievers.protocol import kept_note

FEW_TITLES = 0.5  # share of documents with a title, below which it is said which probes that costs
Summary = Mapping[str, Any]


def headline(summary: Summary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do, also of chunks.

    Of a sample, estimates for all documents, without Gini: few lists are uneven by chance.
    """
    parents, unit = summary.get("parents"), "chunks" if "parents" in summary else "documents"
    levels = [(summary, "chunks " if parents else "", unit)]
    if parents is not None:
        levels.append((parents, "documents ", "documents, by any chunk"))
    left_in = ", left in" if "retriever" in summary else ""
    if "sample" in summary:
        sample = (parents or summary)["sample"]
        yield (
            f"a sample: {sample['drawn']:,} of {sample['of']:,} documents, drawn at random, were "
            "asked for in the whole corpus; 95% intervals say what holds for all"
        )
    for level, prefix, name in levels:
        yield from _found(level, prefix, left_in)
        if "missed_low" in (sample := level.get("sample", {})):
            yield (
                f"missed by every probe of their own: {sample['missed']:,} of {sample['asked']:,} "
                f"{name}: {sample['missed'] / sample['asked']:.1%} "
                f"({sample['missed_low']:.1%} to {sample['missed_high']:.1%})"
            )
    if "sample" not in summary:
        never = "; ".join(
            f"{level['never_retrieved']:,} of {level['documents']['total']:,} {name}"
            for level, _, name in levels
        )
        yield f"never retrieved: {never}; Gini {summary['concentration']['gini']:.2f}"
    titled, counts = summary["titled"], summary["documents"]
    searched = counts["total"] - counts["reasons"].get("no text", 0)
    if titled == 0:
        yield (
            f"no title probes: none of {searched:,} {unit} has a title, so that only sentences "
            "ask; name the field of titles with --title-field if there is one"
        )
    elif titled < FEW_TITLES * searched:
        has = f"{titled:,} of {searched:,} {unit} have a title"
        yield f"few title probes: {has}; sentences alone ask for the others"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if facts := summary.get("retriever"):
        yield from _of_retriever(facts, summary)


def _found(level: Summary, unit: str, left_in: str) -> Iterator[str]:
    """Yield how often each kind of probe brings its document back."""
    for kind, by in (("title", "their title"), ("sentence", f"a sentence of their own{left_in}")):
        if (found := level[kind])["probes"]:
            interval = ""
            if "sample" in level:
                interval = f"{found['low']:.1%} to {found['high']:.1%}; "
            yield (
                f"{unit}found by {by}, top {level['k']}: {found['success_at_k']:.1%} "
                f"({interval}first: {found['success_at_1']:.1%}) of {found['probes']:,} probes"
            )


def _of_retriever(facts: Summary, summary: Summary) -> Iterator[str]:
    """Yield doubts about a retriever's answers."""
    k = summary["k"]
    if "warning" in facts:
        yield f"WARNING: {facts['warning']}"
    if summary["probes_failed"]:
        reason, n = next(iter(facts["reasons"].items()))
        failed = f"{summary['probes_failed']:,} probes failed and are in no figure"
        yield f"{failed}; {n:,} of them: {reason}"
    if facts["longest_list"] < k:
        yield (
            f"WARNING: no list of {facts['name']} is longer than {facts['longest_list']}, though "
            f"k is {k}: ask it for more, or measure at --k {facts['longest_list']}"
        )
    if facts["strange"]:
        yield (
            f"WARNING: {facts['strange']:,} results are no document of the corpus: name where "
            "their id stands with --result-id, or give the corpus that was indexed"
        )
    if whole := facts.get("whole_documents"):
        yield (
            f"WARNING: {whole:,} results are documents, not chunks: they count for documents alone"
        )
    if undecided := facts.get("undecided"):
        yield (
            f"{undecided:,} probes are missed by documents in lists that end before the "
            f"{k}th document: the retriever gives no longer ones"
        )
    if facts["kept"]:
        yield kept_note(facts["kept"], summary["queries"])


def section(folder: Path, summary: Summary) -> Section:
    """Build the exposure's section from misses.parquet: concentration, hubs, misses."""
    spread, parents = summary["concentration"], summary.get("parents")
    misses = read_table(folder / "misses.parquet").to_pylist()
    tables = {"misses": _misses(misses), "hubs": _hubs(summary["hubs"])}
    brief = _come_back(summary, "")
    if parents is not None:
        tables["document_hubs"] = _hubs(parents["hubs"])
        brief = f"{_come_back(summary, ' chunks')}; {_come_back(parents, ' documents')}"
    if "slices" in summary:
        tables["exposure_slices"] = slices_table(folder)
    plots = {"lorenz": figures.lorenz(spread["lorenz"], spread["gini"])}
    pairs = read_table(folder / "displaced.parquet").to_pylist()
    return Section(plots, tables, brief, {"displaced": pairs})


def _come_back(level: Summary, unit: str) -> str:
    total = f"{level['documents']['total']:,}{unit}"
    never = f"{level['never_retrieved']:,} of {total} never come back"
    if (sample := level.get("sample")) is not None:
        never = (
            f"{sample['missed']:,} of {sample['asked']:,}{unit} that were drawn of "
            f"{sample['of']:,} are missed by every probe of their own"
        )
    kinds = (("sentence", "a sentence of their own"), ("title", "their title"))
    backs = ", ".join(
        f"{level[kind]['success_at_k']:.1%} by {name}"
        for kind, name in kinds
        if level[kind]["success_at_k"] is not None
    )
    return f"{backs} come back in the top {level['k']}; {never}" if backs else never


def _misses(misses: Sequence[Mapping[str, Any]]) -> Table:
    is_chunks = bool(misses) and "parent" in misses[0]
    columns = {
        "chunk" if is_chunks else "document": "text", "asked by": "text", "query": "text",
        "rank": "count", "returned instead": "text",
        **({"its document": "text", "the document's rank": "count"} if is_chunks else {}),
    }  # fmt: skip
    names = ["probe", "query", "rank", "displaced_by"]
    names += ["parent", "parent_rank"] if is_chunks else []
    rows = [
        [naming(row["label"], row["id"]), *(row[name] for name in names)]
        for row in misses[:MAX_ROWS]
    ]
    return table(columns, rows, total=len(misses))


def _hubs(hubs: Sequence[Mapping[str, Any]]) -> Table:
    return table(
        {"document": "text", "lists": "count", "share of all lists": "share"},
        [[naming(hub["label"], hub["id"]), hub["lists"], hub["share"]] for hub in hubs],
    )
