"""`argus figures`: the audits of several retrievers in the figures of ARGUS (sections 3, B.5, B.6).

Nothing is embedded or ranked: ranks and vectors are what the audits kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.locks import one_writer
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.reports import write_report
from argus.reports.html import RETRIEVERS
from argus.retrievability.figures.config import FigureConfig
from argus.retrievability.figures.measuring import Panel, check_pools, figures_of, panels_of
from argus.retrievability.figures.plots import drawn
from argus.retrievability.figures.retrievers import AuditedRetriever, read_retrievers
from argus.retrievability.figures.section import PANELS
from argus.retrievability.figures.summary import FiguresSummary, headline

JOB = "figures"


@dataclass(frozen=True, repr=False)
class FiguresResult(Result):
    """Figures over several retrievers; everything in it is also in `folder`."""

    TABLES = ("table", "panels")
    folder: Path
    report: Path
    summary: FiguresSummary
    table: pa.Table
    """The curves: retriever, k, N, mean RPS, share above 0.5, entities."""
    panels: pa.Table
    """A row for each entity of each panel: where it lies, its RPS and group."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from headline(self.summary)
        yield f"figures, for plotly: {self.folder / JOB}"


@one_writer
def audit_figures(
    audits: Sequence[str | Path],
    *,
    out: Path | str,
    config: FigureConfig | None = None,
    fresh: bool = False,
) -> FiguresResult:
    """Draw ARGUS' Figures 1 (bottom), 2, 3, 5 and 6 of the audits in folders.

    audits: each FOLDER or NAME=FOLDER, one per retriever; names are the encoders' by default. k
    and N may differ from the audits'. Writes panels.parquet, curves.parquet and .csv,
    figures/figure-N.json (plotly), summary.json, manifest.json and report.html. Raises InputError
    for a folder without an audit, and for an N that an audit has no pairs for.
    """
    config = config or FigureConfig()
    retrievers = read_retrievers(audits)
    first = retrievers[0].audited
    k, pools = config.settle(first.k, first.pool)
    check_pools(retrievers, pools)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    scores = {one.name: one.folder / "retrievability.parquet" for one in retrievers}
    record = Record(JOB, {**asdict(config), "k": k, "pools": pools}, scores)
    record.encoder["fingerprint"] = ", ".join(one.name for one in retrievers)
    record.encoder["what"] = RETRIEVERS
    record.open(folder, about=[one.folder for one in retrievers])
    with record.timed("projecting"):
        panels = {one.name: list(panels_of(one, k, pools, config)) for one in retrievers}
    with record.timed("curves"):
        summary: FiguresSummary = {
            "k": k, "pools": pools, "groups": config.groups, "shared": _shared(retrievers),
            "retrievers": [figures_of(one, k, pools, panels[one.name]) for one in retrievers],
        }  # fmt: skip
    points = pa.concat_tables(
        [_points(one, panel, k, config) for one in retrievers for panel in panels[one.name]]
    )
    curves = _curves(summary)
    folder.write_table(PANELS, points)
    folder.write_table("curves", curves, csv=True)
    for name, figure in drawn(summary, points).items():
        folder.own(JOB).mkdir(exist_ok=True)
        folder.write_json(f"{JOB}/{name}.json", figure)
    counts = {"retrievers": len(retrievers), "entities": summary["shared"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return FiguresResult(folder.path, write_report(folder.path), summary, curves, points)


def _shared(retrievers: Sequence[AuditedRetriever]) -> int:
    return len(set.intersection(*(set(one.audited.ids) for one in retrievers)))


def _points(one: AuditedRetriever, panel: Panel, k: int, config: FigureConfig) -> pa.Table:
    """Return one row per entity of each panel, a retriever at one N.

    N: size of the pool.
    group: band or third of its RPS.
    x, y: place in the picture.
    shown: whether the report draws the entity, a draw by seed.
    """
    n = len(panel.rows)
    rng = np.random.default_rng(config.seed)
    shown = np.zeros(n, bool)
    shown[rng.permutation(n)[: config.shown]] = True
    return pa.table({
        "retriever": pa.array([one.name] * n, pa.string()),
        "k": pa.array(np.full(n, k), pa.int64()),
        "N": pa.array(np.full(n, panel.figures["pool"]), pa.int64()),
        "id": pa.array([one.audited.ids[i] for i in panel.rows], pa.string()),
        "label": pa.array([one.audited.labels[i] for i in panel.rows], pa.string()),
        "rps": pa.array(panel.rps, pa.float64()),
        "group": pa.array(panel.groups.tolist(), pa.string()),
        "x": pa.array(panel.points[:, 0], pa.float64()),
        "y": pa.array(panel.points[:, 1], pa.float64()),
        "shown": pa.array(shown, pa.bool_()),
    })  # fmt: skip


def _curves(summary: FiguresSummary) -> pa.Table:
    rows = []
    for one in summary["retrievers"]:
        pool, k = one["over_pool"], one["over_k"]
        settings = [("3", summary["k"], n) for n in pool["values"]]
        settings += [("5", value, summary["pools"][-1]) for value in k["values"]]
        columns = ("mean", "share_above_half", "entities")
        values = [[*pool[name], *k[name]] for name in columns]  # type: ignore[literal-required]
        rows += [
            {
                "figure": figure, "retriever": one["name"], "k": at, "N": n, "mean_rps": mean,
                "share_above_half": share, "entities": entities,
            }
            for (figure, at, n), mean, share, entities in zip(settings, *values, strict=True)
        ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=CURVES)


CURVES = pa.schema(
    [
        ("figure", pa.string()), ("retriever", pa.string()), ("k", pa.int64()), ("N", pa.int64()),
        ("mean_rps", pa.float64()), ("share_above_half", pa.float64()), ("entities", pa.int64()),
    ]
)  # fmt: skip
"""One row per point of a curve, mean RPS over N or over k.

figure: of the paper: 3 is over N, 5 over k.
N: size of the pool.
share_above_half: share of the entities with an RPS above 0.5.
entities: entities that are scored at this point.
"""
