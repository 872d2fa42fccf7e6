"""`argus evaluate`: one system on judged queries, or a change, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.evaluation.config import EvaluateConfig
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import Doc, Option


@example("argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ --out judged/")
@with_blocks
def evaluate(
    *,
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = Path("argus-out"),
    index: Annotated[
        list[str] | None,
        Doc("PATH, PATH@original or PATH@REMEDY; once or twice."),
        o.INDEX,
    ] = None,
    run: Annotated[
        list[Path] | None,
        Doc("TREC run file (.gz too) or JSON; counts after --index."),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        Doc(f"{NAMES}; counts after --index, before --run."),
        Option(panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    corpus: Annotated[
        NamedCorpus | None,
        Doc("Where titles and texts come from; runs need it for both."),
        o.CORPUS,
    ] = None,
    columns: FieldNames,
    excluded: o.Excluded = None,
    diagnosis: Annotated[
        Path | None,
        Doc("Folder with diagnosis.parquet, for ARGUS Table 4."),
    ] = None,
    encoder: Annotated[
        str | None,
        Doc("For an index that does not name its own, and for the queries of a store."),
    ] = None,
    hybrid: o.Hybrid = None,
    weights: o.Weights = None,
    exact: Annotated[
        bool | None,
        Doc("Default: as the index is served, approximately where it was built with --ann."),
        Option(("--exact/--approximate",), default=""),
    ] = None,
    measure: EvaluateConfig,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure an index or a run on judged queries; with two, the second against the first.

    Writes per_query.parquet and .csv, summary.json, manifest.json and report.html. With two
    systems: paired randomisation test, bootstrap intervals, and the queries that were harmed.
    """
    from argus.evaluation.job import evaluate as judge

    result = judge(
        queries,
        qrels,
        out=out,
        indexes=index or (),
        runs=run or (),
        corpus=corpus,
        excluded=excluded,
        fields=columns,
        diagnosis=diagnosis,
        encoder=encoder,
        hybrid=hybrid or (),
        exact=exact,
        weights=weights or (),
        config=measure,
        fresh=fresh,
        retrievers=retriever or (),
        asking=asking,
    )  # fmt: skip
    o.show(result, as_json=json)
