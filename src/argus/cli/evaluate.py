"""`argus evaluate`: measure one or two search systems on judged questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import output
from argus.cli.signatures import with_blocks
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, QrelsName
from argus.evaluation.config import EvaluateConfig
from argus.jobs import options as o
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import CORPUS, INDEX, Doc, Ge, Le, Option


@with_blocks
def evaluate(
    *,
    queries: Path,
    qrels: Annotated[Path, QrelsName()],
    out: o.Out = o.OUT,
    index: Annotated[list[str] | None, INDEX] = None,
    retriever: Annotated[
        list[str] | None,
        Doc(f"{NAMES}; counts after --index, before --run."),
        Option(panel=RETRIEVER),
    ] = None,
    run: list[Path] | None = None,
    corpus: Annotated[NamedCorpus | None, CorpusName(), CORPUS] = None,
    encoder: str | None = None,
    hybrid: list[str] | None = None,
    config: EvaluateConfig,
    asking: AskingConfig,
    columns: FieldNames,
    excluded: o.Excluded = None,
    diagnosis: Path | None = None,
    weights: Annotated[list[float] | None, Ge(0), Le(1), Option(("--lambda",))] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Measure an index, a retriever or a run on judged questions, or the second of two.

    Two are compared by a paired test, with the queries that the second harms. Writes
    per_query.parquet and .csv. Without judgements `argus compare` sets two beside one another.

    Args:
        queries: Queries (JSONL, CSV, TSV, Parquet, BEIR folder).
        qrels: Judgements (BEIR: query-id, corpus-id, score; or TREC).
        index: PATH, PATH@original or PATH@REMEDY; once or twice.
        run: TREC run file (.gz too) or JSON; counts after --index.
        corpus: Where titles and texts come from.
        encoder: For an index that names none, and the queries of a store.
        hybrid: Fuse with BM25: min-max (by question), rrf or dbsf; dense: not. For all indexes, or
            once for each; default: as a blend in the index says, else dense.
        diagnosis: Folder with diagnosis.parquet: for ARGUS Table 4.
        weights: What a document's own score counts against its scenarios'; for all indexes, or once
            for each; default: as each says, else 0.7.
    """
    from argus.evaluation.job import evaluate as run_judged

    result = run_judged(
        queries, qrels, out=out, fresh=fresh, excluded=excluded, diagnosis=diagnosis, config=config,
        indexes=index or (), retrievers=retriever or (), runs=run or (), encoder=encoder,
        hybrid=hybrid or (), weights=weights or (), asking=asking, corpus=corpus, fields=columns,
    )  # fmt: skip
    output.show(result, as_json=json)
