"""Headline of an ablation."""

from __future__ import annotations

from collections.abc import Iterator

from argus.measures.coverage import coverage_words
from argus.measures.significance import with_interval
from argus.scenarios.ablation.summary import AblationSummary, CellName, Comparison, CorpusSummary


def headline(summary: AblationSummary) -> Iterator[str]:
    """Yield the usual cell, the best one and their doubts."""
    documents, whole = summary["documents"], summary["whole"]
    yield (
        f"{documents['with_scenarios']:,} of {documents['indexed']:,} documents "
        f"({documents['share']:.1%}) have scenarios; {whole['queries']:,} questions, "
        f"{summary['headline']}"
    )
    if covered := coverage_words(summary["coverage"]):
        yield f"a gain where {covered}"
    others = summary["profiles"]["of_other_documents"]
    if others:
        yield f"{others:,} profiles are of documents that the corpus does not hold"
    yield "whole corpus:"
    yield from _corpus(whole, summary["headline"])
    if summary["profiled"] is not None:
        yield "only documents with scenarios:"
        yield from _corpus(summary["profiled"], summary["headline"])
    yield from _types(summary)
    if summary["expansions"] is None:
        yield "document expansion: not applicable, neither --expansions nor --model was given"
        return
    for baseline, counts in summary["expansions"]["baselines"].items():
        reach = f"{counts['documents']:,} of {documents['indexed']:,} documents"
        state = "" if counts["documents"] else "failed: "
        yield f"{baseline}: {state}{reach} have any"


def _types(summary: AblationSummary) -> Iterator[str]:
    """Yield the λ that is recommended for each type, on the documents with scenarios if told."""
    rows = summary.get("types", [])
    corpus = "profiled" if summary["profiled"] is not None else "whole"
    for row in rows:
        if row["corpus"] != corpus or row["weight"] is None:
            continue
        recommended, change = row["weight"]["recommended"], row["weight"]["to_usual"]
        few = ", few" if row["is_few"] else ""
        yield (
            f"{row['field']} = {row['type']} ({row['questions']:,} questions{few}): "
            f"{_cell(recommended)} recommended; best {row['weight']['best']['lambda']:g}, chosen "
            f"crosswise {with_interval(change)} to the usual"
        )


def _corpus(corpus: CorpusSummary, measure: str) -> Iterator[str]:
    best, usual = corpus["best"], corpus["usual"]
    for row in corpus["rows"]:
        name: str = row["system"]
        if row["system"] == "scenarios" or row["system"] == "placebo":
            cell: CellName = {"component": row["component"], "lambda": row["lambda"]}
            if row["system"] == "scenarios" and cell not in (best, usual):
                continue
            name += f" {_cell(cell)}"
            if row["system"] == "scenarios" and cell == best:
                name += " (best, chosen on these questions)"
        change = f" ({_change(row['comparison'])})" if row["comparison"] else ""
        yield f"  {name}: {row['measures'][measure]:.4f}{change}"
    if tuned := corpus["tuned"]:
        difference = tuned["comparison"]
        yield (
            f"  chosen on {tuned['chosen_on']:,} questions: {_cell(tuned)}; on the other "
            f"{difference['queries']:,}: {difference['mean_before']:.4f} -> "
            f"{difference['mean_after']:.4f} ({_change(difference)})"
        )


def _cell(cell: CellName) -> str:
    return f"{cell['component']} at λ = {cell['lambda']:g}"


def _change(change: Comparison) -> str:
    interval = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% {change['low']:+.4f} to {change['high']:+.4f}"
    )
    return (
        f"{change['mean_difference']:+.4f}, {interval}, p={change['p_value']:.3g}; "
        f"{change['improved']:,} improved, {change['harmed']:,} harmed"
    )
