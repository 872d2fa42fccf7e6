"""`argus compare`: gains and losses between two results, encoders, indexes or retrievers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import Block, Without, with_blocks
from argus.cli.groups import example
from argus.cli.places import check_inputs
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, QrelsFields, QrelsName
from argus.encoders.config import EncoderConfig
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import Doc, Option
from argus.stores.spec import StoreConfig

if TYPE_CHECKING:
    from argus.evaluation.comparison import CompareResult

OF_ONE_MODEL = (
    "model", "query_prompt", "document_prompt", "token_pooling", "revision", "trust_remote_code",
    "base_url", "api_key_env", "batch_size", "concurrency",
)  # fmt: skip
# Options of both encoders, of which the names are given twice.
Running = Annotated[EncoderConfig, Without(*OF_ONE_MODEL)]


@example("argus compare --run before.trec --run after.trec --out comparison/")
@with_blocks
def compare(
    *,
    context: typer.Context,
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Two folders that audit or exposure wrote.")
    ] = None,
    out: o.Out = Path("argus-compare"),
    encoder: Annotated[
        list[str] | None,
        Doc("Twice, with --corpus: before, after. Once: for the queries of a store."),
    ] = None,
    index: Annotated[
        list[str] | None,
        Doc("Twice, or beside a retriever or run: PATH, PATH@original or PATH@REMEDY."),
    ] = None,
    run: Annotated[
        list[Path] | None,
        Doc("Twice: run files (TREC or JSON) of any retrievers; or beside an index or retriever."),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        Doc(f"Twice, or after an --index, or before a --run: {NAMES}."),
        Option(panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    corpus: Annotated[
        NamedCorpus | None,
        Doc("What both encoders read; with --index, whose titles ask; with --by, whose fields."),
        CorpusName(),
    ] = None,
    columns: FieldNames,
    queries: Annotated[
        Path | None, Doc("Queries to ask two indexes or encoders, too; what retrievers are asked.")
    ] = None,
    qrels: Annotated[
        Path | None,
        Doc("Judgements: what both encoders score, what one retriever or run alone finds."),
        QrelsName(),
    ] = None,
    diagnosis: Annotated[
        Path | None,
        Doc("With --index: whose entities are asked for by name."),
    ] = None,
    hybrid: o.Hybrid = None,
    weights: o.Weights = None,
    exact: Annotated[
        bool | None,
        Doc("With --index. Default: as each is served."),
        Option(("--exact/--approximate",), default=""),
    ] = None,
    measure: Annotated[ExposureConfig, Without("sentences")],
    relations: Annotated[
        str | None,
        Doc('For the audits: triples file, or "mentions".'),
    ] = None,
    running: Running,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Name the documents and entities that a change gains and loses.

    argus compare DIR_A DIR_B, or --corpus C --encoder A --encoder B, or any two of --index,
    --retriever and --run with --queries. Two indexes are asked for documents by their titles, too,
    and for the entities of a --diagnosis by name. Writes comparison.parquet and .csv,
    summary.json, manifest.json and report.html.
    """
    kind = _one_kind(folders or [], encoder or [], index or [], run or [], retriever or [], corpus)
    _no_other_options(context, kind, sliced=bool(measure.by))
    check_inputs({"index": o.INDEX, "corpus": o.CORPUS}, {"index": index, "corpus": corpus})
    from argus.evaluation.compared_lists import compare_indexes, compare_retrievers
    from argus.evaluation.compared_results import compare_folders

    lists: dict[str, Any] = {
        "out": out, "queries": queries or (), "corpus": corpus, "k": measure.k,
        "parent_field": measure.parent_field, "by": measure.by,
        "fields": columns, "hybrid": hybrid or (), "exact": exact, "weights": weights or (),
        "fresh": fresh,
    }  # fmt: skip
    if folders:
        result = compare_folders(
            folders[0], folders[1], out=out, corpus=corpus,
            parent_field=measure.parent_field, by=measure.by, fields=columns, fresh=fresh,
        )  # fmt: skip
    elif kind in ("retriever", "run"):
        of_store = replace(running, model=encoder[0]) if encoder else None
        result = compare_retrievers(
            retriever or (), runs=run or (), indexes=index or (), qrels=qrels, encoder=of_store,
            asking=asking, **lists,
        )  # fmt: skip
    elif index:
        result = compare_indexes((index[0], index[1]), diagnosis=diagnosis, **lists)
    else:
        assert encoder is not None and corpus is not None  # _one_kind has seen to it
        result = _two_encoders(
            corpus, [replace(running, model=name) for name in encoder], measure,
            out=out, source=KnowledgeSource(fields=columns, relations=relations), limit=limit,
            queries=queries, qrels=qrels, fresh=fresh,
        )  # fmt: skip
    o.show(result, as_json=json)


def _two_encoders(
    corpus: NamedCorpus,
    encoders: Sequence[EncoderConfig],
    measure: ExposureConfig,
    *,
    out: Path,
    source: KnowledgeSource,
    limit: int | None,
    queries: Path | None,
    qrels: Path | None,
    fresh: bool,
) -> CompareResult:
    """Measure a corpus with both encoders. The audits share the seed and the device."""
    from argus.evaluation.compared_results import compare_encoders
    from argus.retrievability.audit.config import AuditConfig

    first, second = encoders
    return compare_encoders(
        corpus,
        (first, second),
        out=out,
        source=source,
        audit_config=AuditConfig(seed=measure.seed, device=first.device),
        exposure_config=measure,
        queries=queries,
        qrels=qrels,
        limit=limit,
        fresh=fresh,
    )


def _one_kind(
    folders: list[Path],
    encoders: list[str],
    indexes: list[str],
    runs: list[Path],
    retrievers: list[str],
    corpus: NamedCorpus | None,
) -> str:
    """Return which kind of things, of `_BELONGS`, are two. Anything else is an InputError."""
    from argus.errors import InputError

    counts = {
        "folders": len(folders), "--encoder": len(encoders), "--index": len(indexes),
        "--retriever": len(retrievers), "--run": len(runs),
    }  # fmt: skip
    named = {name: n for name, n in counts.items() if n}
    answering = len(indexes) + len(retrievers) + len(runs)
    if answering == 2 and not folders and max(len(indexes), len(runs)) < 2 and len(encoders) < 2:
        return "retriever"
    if list(named.values()) != [2] or (encoders and corpus is None):
        got = ", ".join(f"{n} {name}" for name, n in named.items()) or "nothing to compare"
        raise InputError(
            got + (" without --corpus" if encoders and corpus is None else ""),
            expected="two folders, or --corpus with --encoder twice, or two of --index, "
            "--retriever and --run",
            fix="For example: argus compare before/ after/ --out comparison/",
            where="argus compare",
        )
    return next(iter(named)).lstrip("-")


_ASKING = {setting.key for setting, _ in Block(AskingConfig).all_settings()}
_COLUMNS = {s.key for s, _ in Block(FieldNames).all_settings()}
_SLICES = {"corpus", "parent_field", "by"} | _COLUMNS
_CORPUS = _SLICES | {"k", *(s.key for s, _ in Block(StoreConfig).all_settings())}
_LISTS = _CORPUS | {"queries", "qrels", *(s.key for s, _ in Block(QrelsFields).all_settings())}
# The kinds of comparison that options besides --out, --fresh, --json and --config go with.
_BELONGS = {
    "folders": _SLICES,
    "run": _LISTS,
    "index": _CORPUS | {"queries", "diagnosis", "hybrid", "exact", "lambda_"},
    "encoder": _LISTS | {"relations", "precision", "device", "limit", "seed"},
    "retriever": _LISTS | _ASKING | {"hybrid", "exact", "lambda_", "precision", "device"},
}


def _no_other_options(context: typer.Context, kind: str, *, sliced: bool) -> None:
    """Refuse an option of the command line that this kind of comparison would not read.

    sliced: --by names slices, for which alone folders read a corpus. The settings of a --config
    file may be meant for other commands.
    """
    from argus.errors import InputError

    belongs = _BELONGS | ({} if sliced else {"folders": {"by"}})
    for name in sorted(set().union(*belongs.values()) - belongs[kind]):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            spelling = f"--{name.rstrip('_').replace('_', '-')}"
            goes_with = [f"--{k}" for k in belongs if name in belongs[k] and k != "folders"]
            goes_with += ["folders and --by"] * (name in _BELONGS["folders"])
            raise InputError(
                f"is not read when {'folders' if kind == 'folders' else f'--{kind}'} are compared",
                expected=f"{spelling} with {' or '.join(goes_with)}",
                fix="Leave it out.",
                where=spelling,
            )
