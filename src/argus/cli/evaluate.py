"""`argus evaluate`: measure systems on judged questions, and compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import example
from argus.cli.places import check_inputs
from argus.cli.signatures import Block, with_blocks
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, QrelsFields, QrelsName
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.jobs import options as o
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import (
    CORPUS,
    INDEX,
    Doc,
    Ge,
    Le,
    Option,
    Without,
)
from argus.stores.spec import StoreConfig

OF_ONE_MODEL = (
    "model", "query_prompt", "document_prompt", "token_pooling", "revision", "trust_remote_code",
    "base_url", "api_key_env", "batch_size", "concurrency",
)  # fmt: skip
# Options of both encoders, of which the names are given twice.
Running = Annotated[EncoderConfig, Without(*OF_ONE_MODEL)]


@example("argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ --out judged/")
@with_blocks
def evaluate(
    context: typer.Context,
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="To compare: two folders that research audit or check wrote."),
    ] = None,
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
    encoder: list[str] | None = None,
    hybrid: list[str] | None = None,
    config: EvaluateConfig,
    measure: Annotated[ExposureConfig, Without("sentences")],
    asking: AskingConfig,
    columns: FieldNames,
    excluded: o.Excluded = None,
    diagnosis: Path | None = None,
    weights: Annotated[list[float] | None, Ge(0), Le(1), Option(("--lambda",))] = None,
    relations: str | None = None,
    running: Running,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Measure a system on judged questions; or compare two, judged or not.

    With --queries and --qrels: an index, a retriever or a run, or the second against the first by
    a paired test, with the queries that were harmed. Writes per_query.parquet and .csv. Without
    judgements: the documents and entities that a change gains and loses, of two folders, of
    --corpus with --encoder twice, or of two of --index, --retriever and --run with --queries.
    Writes comparison.parquet and .csv.

    Args:
        queries: Queries (JSONL, CSV, TSV, Parquet, BEIR folder).
        qrels: Judgements (BEIR: query-id, corpus-id, score; or TREC). Without: two are compared.
        compare: With judgements, too, name what the second of two gains and loses.
        index: PATH, PATH@original or PATH@REMEDY; once or twice.
        run: TREC run file (.gz too) or JSON; counts after --index.
        corpus: Where titles and texts come from; what two encoders read.
        encoder: For an index that names none, and the queries of a store; twice: both are compared.
        hybrid: Fuse with BM25: min-max (by question), rrf or dbsf; dense: not. For all indexes, or
            once for each; default: as a blend in the index says, else dense.
        diagnosis: Folder with diagnosis.parquet: for ARGUS Table 4, or whose entities are asked
            for.
        weights: What a document's own score counts against its scenarios'; for all indexes, or once
            for each; default: as each says, else 0.7.
        relations: To compare encoders: triples file, or "mentions".
    """
    systems: dict[str, Sequence[object]] = {
        "folders": folders or [], "--encoder": encoder or [], "--index": index or [],
        "--retriever": retriever or [], "--run": run or [],
    }  # fmt: skip
    kind = _kind(systems, corpus, judged=qrels is not None and not compare)
    _refuse_unread_options(context, kind, sliced=bool(measure.by))
    check_inputs({"index": INDEX, "corpus": CORPUS}, {"index": index, "corpus": corpus})
    common: dict[str, Any] = {
        "out": out, "corpus": corpus, "fields": columns, "fresh": fresh,
    }  # fmt: skip
    result: Any
    if qrels is not None and kind == "qrels":
        from argus.evaluation.job import evaluate as run_judged

        if queries is None:
            raise InputError(
                "judgements without queries",
                expected="the questions that are judged",
                fix="Name them with --queries.",
                where="--queries",
            )
        result = run_judged(
            queries, qrels, indexes=index or (), runs=run or (), retrievers=retriever or (),
            asking=asking, excluded=excluded, diagnosis=diagnosis,
            encoder=encoder[0] if encoder else None, hybrid=hybrid or (), weights=weights or (),
            config=config, **common,
        )  # fmt: skip
        output.show(result, as_json=json)
        return
    from argus.evaluation import compared_lists, compared_results

    common |= {"parent_field": measure.parent_field, "by": measure.by}
    lists: dict[str, Any] = {
        "queries": queries or (), "k": measure.k, "hybrid": hybrid or (),
        "weights": weights or (),
    }  # fmt: skip
    if folders:
        result = compared_results.compare_folders(folders[0], folders[1], **common)
    elif kind in ("retriever", "run"):
        of_store = replace(running, model=encoder[0]) if encoder else None
        result = compared_lists.compare_retrievers(
            retriever or (), runs=run or (), indexes=index or (), qrels=qrels, encoder=of_store,
            asking=asking, **lists, **common,
        )  # fmt: skip
    elif index:
        result = compared_lists.compare_indexes(
            (index[0], index[1]), diagnosis=diagnosis, **lists, **common
        )
    else:
        from argus.retrievability.audit.config import AuditConfig

        assert encoder is not None and corpus is not None  # _kind has seen to it
        first, second = (replace(running, model=name) for name in encoder)
        result = compared_results.compare_encoders(
            corpus, (first, second), out=Path(out), queries=queries, qrels=qrels, limit=limit,
            source=KnowledgeSource(fields=columns, relations=relations), fresh=fresh,
            audit_config=AuditConfig(seed=measure.seed, device=first.device),
            exposure_config=measure,
        )  # fmt: skip
    output.show(result, as_json=json)


def _kind(
    systems: Mapping[str, Sequence[object]], corpus: NamedCorpus | None, *, judged: bool
) -> str:
    """Return the kind of comparison, of `_BELONGS`: "qrels" where judgements measure."""
    counts = {name: len(named) for name, named in systems.items() if named}
    encoders = counts.get("--encoder", 0)
    answering = sum(counts.get(name, 0) for name in ("--index", "--retriever", "--run"))
    if judged and "folders" not in counts and encoders < 2:
        return "qrels"
    alike = max(counts.get("--index", 0), counts.get("--run", 0)) == 2
    if answering == 2 and "folders" not in counts and not alike and encoders < 2:
        return "retriever"
    if list(counts.values()) != [2] or (encoders and corpus is None):
        got = ", ".join(f"{n} {name}" for name, n in counts.items()) or "nothing to measure"
        raise InputError(
            got + (" without --corpus" if encoders and corpus is None else ""),
            expected="judged questions (--queries, --qrels), two folders, --corpus with --encoder "
            "twice, or two of --index, --retriever and --run",
            fix="For example: argus evaluate before/ after/ --out comparison/",
            where="argus evaluate",
        )
    return next(iter(counts)).lstrip("-")


def _keys(*configs: type) -> set[str]:
    return {s.key for config in configs for s, _ in Block(config).all_settings()}


_SLICES = {"corpus", "parent_field", "by"} | _keys(FieldNames)
_CORPUS = _SLICES | {"k"} | _keys(StoreConfig)
_LISTS = _CORPUS | {"queries", "qrels"} | _keys(QrelsFields)
_JUDGED = _keys(EvaluateConfig)
_ASKED = _keys(AskingConfig) | {"hybrid", "lambda_"}
# The kinds of comparison that options besides --out, --fresh, --json and --config go with.
_BELONGS = {
    "folders": _SLICES,
    "run": _LISTS,
    "index": _CORPUS | {"queries", "diagnosis", "hybrid", "lambda_"},
    "encoder": _LISTS | {"relations", "precision", "device", "limit", "seed"},
    "retriever": _LISTS | _ASKED | {"precision", "device"},
    "qrels": (_LISTS - {"k"}) | _ASKED | _JUDGED | {"diagnosis", "excluded"},
}


def _refuse_unread_options(context: typer.Context, kind: str, *, sliced: bool) -> None:
    """Refuse an option of the command line that this kind of comparison would not read.

    sliced: --by names slices, for which alone folders read a corpus. The settings of a --config
    file may be meant for other commands.
    """
    belongs = _BELONGS | ({} if sliced else {"folders": {"by"}})
    for name in sorted(set().union(*belongs.values()) - belongs[kind]):
        if output.is_given(context, name):
            spelling = f"--{name.rstrip('_').replace('_', '-')}"
            goes_with = [f"--{k}" for k in belongs if name in belongs[k] and k != "folders"]
            goes_with += ["folders and --by"] * (name in _BELONGS["folders"])
            shown = "folders are compared" if kind == "folders" else f"--{kind} is what is measured"
            raise InputError(
                f"is not read where {shown}",
                expected=f"{spelling} with {' or '.join(goes_with)}",
                fix="Leave it out.",
                where=spelling,
            )
