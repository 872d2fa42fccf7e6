"""`argus evaluate`: measure search systems on judged questions, or compare the lists of two.

With `--qrels` the job is `argus.evaluation.job`, without it (or with `--compare`)
`argus.evaluation.comparison`. This module reads the options and refuses those of the other job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import output
from argus.cli.places import check_inputs
from argus.cli.signatures import with_blocks
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, QrelsName
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.jobs import options as o
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import CORPUS, INDEX, TOP_K, Doc, Ge, Le, Option, TopK, settings_of


@with_blocks
def evaluate(
    context: typer.Context,
    *,
    queries: Path | None = None,
    qrels: Annotated[Path | None, QrelsName()] = None,
    compare: bool = False,
    out: o.Out = o.OUT,
    index: list[str] | None = None,
    retriever: Annotated[
        list[str] | None,
        Doc(f"{NAMES}; counts after --index, before --run."),
        Option(panel=RETRIEVER),
    ] = None,
    run: list[Path] | None = None,
    corpus: Annotated[NamedCorpus | None, CorpusName()] = None,
    encoder: str | None = None,
    hybrid: list[str] | None = None,
    config: EvaluateConfig,
    k: TopK = TOP_K,
    asking: AskingConfig,
    columns: FieldNames,
    excluded: o.Excluded = None,
    diagnosis: Path | None = None,
    weights: Annotated[list[float] | None, Ge(0), Le(1), Option(("--lambda",))] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Measure a system on judged questions; or compare two, judged or not.

    With --queries and --qrels: an index, a retriever or a run, or the second against the first by
    a paired test, with the queries that were harmed. Writes per_query.parquet and .csv. Without
    judgements: the documents that a change gains and loses, of two of --index, --retriever and
    --run. Writes comparison.parquet and .csv.

    Args:
        queries: Queries (JSONL, CSV, TSV, Parquet, BEIR folder).
        qrels: Judgements (BEIR: query-id, corpus-id, score; or TREC). Without: two are compared.
        compare: With judgements, too, name what the second of two gains and loses.
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
    is_judged = qrels is not None and not compare
    if is_judged:
        output.refuse_given(context, ["k"], "where --qrels is what is measured")
    else:
        names = {setting.key for setting in settings_of(EvaluateConfig)} - {"parent_field"}
        because = "where two systems are compared by their lists"
        output.refuse_given(context, sorted(names | {"diagnosis", "excluded"}), because)
    check_inputs({"index": INDEX, "corpus": CORPUS}, {"index": index, "corpus": corpus})
    common: dict[str, Any] = {"out": out, "fresh": fresh}
    of_corpus: dict[str, Any] = {"corpus": corpus, "fields": columns}
    systems: dict[str, Any] = {
        "indexes": index or (), "retrievers": retriever or (), "runs": run or (),
        "encoder": encoder, "hybrid": hybrid or (), "weights": weights or (), "asking": asking,
    }  # fmt: skip
    result: Any
    if is_judged and qrels is not None:
        from argus.evaluation.job import evaluate as run_judged

        if queries is None:
            raise InputError(
                "judgements without queries",
                expected="the questions that are judged",
                fix="Name them with --queries.",
                where="--queries",
            )
        result = run_judged(
            queries, qrels, excluded=excluded, diagnosis=diagnosis, config=config, **systems,
            **of_corpus, **common,
        )  # fmt: skip
        output.show(result, as_json=json)
        return
    from argus.evaluation.comparison import compare_retrievers

    result = compare_retrievers(
        queries=queries or (), qrels=qrels, k=k, parent_field=config.parent_field,
        **systems, **of_corpus, **common,
    )  # fmt: skip
    output.show(result, as_json=json)
