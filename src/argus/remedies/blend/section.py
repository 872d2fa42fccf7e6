"""The blend's section: what each part of it changes, and what it costs."""

from __future__ import annotations

from pathlib import Path

from argus.measures.significance import with_interval
from argus.remedies.blend.summary import BlendSummary
from argus.reports.section import Section, table


def section(folder: Path, blend: BlendSummary) -> Section:
    """Build it from the summary alone."""
    columns = ["search", "KiB more", "ms a query", "times the vectors alone"]
    judged = blend["parts"][0]["ndcg10"] is not None
    if judged:
        columns += ["nDCG@10", "difference (95%)", "R@10"]
    rows = []
    for part in blend["parts"]:
        row = [part["part"], f"{part['bytes'] / 1024:,.0f}"]
        row += [f"{part['milliseconds']:.2f}", f"{part['times_dense']:.2f}"]
        if judged:
            ndcg, recall = part["ndcg10"], part["recall10"]
            assert ndcg is not None and recall is not None
            row += [f"{ndcg['mean_after']:.3f}", with_interval(ndcg)]
            row.append(f"{recall['mean_after']:.3f}")
        rows.append(row)
    documents = blend["documents"]
    brief = f"{blend['views']:,} sentence views of {documents['with_views']:,} documents"
    return Section({}, {"blend_parts": table(dict.fromkeys(columns, "text"), rows)}, brief)
