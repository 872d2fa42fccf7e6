"""`argus evaluate`: measure systems on judged questions, and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import example
from argus.cli.places import check_inputs
from argus.cli.signatures import Block, with_blocks
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, QrelsFields, QrelsName
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.jobs import options as o
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import CORPUS, INDEX, TOP_K, Doc, Ge, Le, Option, TopK
from argus.stores.spec import StoreConfig


@example("argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ --out judged/")
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
    kind = "compared" if compare or qrels is None else "qrels"
    _refuse_unread_options(context, kind)
    check_inputs({"index": INDEX, "corpus": CORPUS}, {"index": index, "corpus": corpus})
    common: dict[str, Any] = {"out": out, "fresh": fresh}
    of_corpus: dict[str, Any] = {"corpus": corpus, "fields": columns}
    systems: dict[str, Any] = {
        "indexes": index or (), "retrievers": retriever or (), "runs": run or (),
        "encoder": encoder, "hybrid": hybrid or (), "weights": weights or (), "asking": asking,
    }  # fmt: skip
    result: Any
    if kind == "qrels" and qrels is not None:
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


def _keys(*configs: type) -> set[str]:
    return {s.key for config in configs for s, _ in Block(config).all_settings()}


_ASKED = _keys(FieldNames, StoreConfig, QrelsFields, AskingConfig) | {
    "corpus", "parent_field", "queries", "qrels", "encoder", "hybrid", "lambda_"
}  # fmt: skip
# The kinds of comparison that options besides --out, --fresh, --json and --config go with.
_BELONGS: dict[str, set[str]] = {
    "compared": _ASKED | {"k"},
    "qrels": _ASKED | _keys(EvaluateConfig) | {"diagnosis", "excluded"},
}
_SHOWN = {
    "compared": "two systems are compared by their lists",
    "qrels": "--qrels is what is measured",
}


def _refuse_unread_options(context: typer.Context, kind: str) -> None:
    """Refuse an option of the command line that this kind of comparison would not read.

    The settings of a --config file may be meant for other commands.
    """
    for name in sorted(set().union(*_BELONGS.values()) - _BELONGS[kind]):
        if output.is_given(context, name):
            spelling = f"--{name.rstrip('_').replace('_', '-')}"
            goes_with = " or where ".join(
                _SHOWN[k] for k, names in _BELONGS.items() if name in names
            )
            raise InputError(
                f"is not read where {_SHOWN[kind]}",
                expected=f"{spelling} where {goes_with}",
                fix="Leave it out.",
                where=spelling,
            )
