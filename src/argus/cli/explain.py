"""`argus explain`: search an index, or say why one document does not come back for a query.

It picks the job by the options and prints the causes or the hits: `argus.explanation.job` for an
index, `argus.explanation.run` for a run, a retriever or an encoder over a corpus, and
`argus.indexes.retriever` for a plain search.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import output
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.data.fields import QrelsName
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.explanation.config import ExplainConfig, RunConfig
from argus.jobs import options as o
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.names import is_index
from argus.settings import Doc, Option

if TYPE_CHECKING:
    from argus.explanation.evidence import Explanation, FailedExplanations, RunExplanation

    Shown = Explanation | RunExplanation | FailedExplanations


@with_blocks
def explain(
    *,
    query: Annotated[
        str | None, typer.Argument(help="The question; with --queries or --run, the id of one.")
    ] = None,
    doc_id: Annotated[
        str | None,
        typer.Argument(help="The document that should come back; without it, --index is searched."),
    ] = None,
    failed: bool = False,
    qrels: Annotated[Path | None, QrelsName()] = None,
    index: str | None = None,
    run: Path | None = None,
    retriever: Annotated[
        str | None, Doc(f"Or what is asked: {NAMES}."), Option(panel=RETRIEVER)
    ] = None,
    asking: AskingConfig,
    measure: ExplainConfig,
    of_run: RunConfig,
    encoder: o.EncoderName = None,
    store: Annotated[Path | None, Option(("--cache",))] = None,
    device: Device = None,
    json: o.AsJson = False,
) -> None:
    """Say why DOC_ID does not come back for QUERY: every cause checked, the likeliest first.

    Of an index, of a run, of a retriever, or of an exact search by --encoder through --corpus: so
    for sparse and late-interaction encoders, with what of the query they matched. Without DOC_ID:
    the documents of --index that answer QUERY best. With --failed, --queries and --qrels: every
    judged question of which nothing relevant comes back, causes counted.

    Args:
        failed: Explain all judged questions that fail at once, in place of QUERY.
        qrels: Their judgements (BEIR: query-id, corpus-id, score; or TREC).
        index: Index folder; PATH@original or PATH@REMEDY for that state.
        run: Or what any search found: a TREC or JSON run; QUERY is an id in it.
        store: With --corpus and --encoder alone: folder of vectors, such as OUT/embeddings.
    """
    from argus.evaluation.config import refuse_beside, retriever_alone, run_alone

    weight = None if measure.weight == ExplainConfig.weight else measure.weight
    own: dict[str, object] = {"index": index, "hybrid": measure.hybrid, "lambda": weight}
    model = None if encoder is None else EncoderConfig(model=encoder, device=device)
    answer: Any
    if failed:
        return show_failed(
            query, qrels, json, index=index, retriever=retriever, run=run, config=measure,
            of_run=of_run, asking=asking, encoder=model,
        )  # fmt: skip
    if query is None:
        raise InputError(
            "no QUERY", expected="a question, or --failed for all that fail",
            fix="argus explain WORDS --index PATH searches.", where="QUERY",
        )  # fmt: skip
    if doc_id is None:
        others = {"run": run, "retriever": retriever, "corpus": of_run.corpus}
        given = [f"--{name}" for name, value in others.items() if value is not None]
        if index is None or given:
            raise InputError(
                f"no DOC_ID{' beside ' + ', '.join(given) if given else ''}",
                expected="a document to explain, or --index PATH alone to search",
                fix="Name the document that should come back.",
                where="DOC_ID",
            )
        from argus.indexes.retriever import search_index

        answer = search_index(
            query, index, k=measure.k, hybrid=measure.hybrid, weight=measure.weight,
            encoder=encoder, device=device,
        )  # fmt: skip
        return show_answer(answer, json)
    if model and of_run.corpus and not (run or index or retriever):
        from argus.explanation.run import explain_corpus

        refuse_beside("--corpus alone", "what it needs is an index", **own)
        answer = explain_corpus(query, doc_id, model, of_run, store=store)
        return show_explanation(answer, json)
    refuse_beside("an index or a run", "an index has its vectors, a run needs none", cache=store)
    if run is not None:
        from argus.explanation.run import explain_run

        run_alone(retriever=retriever, encoder=encoder, device=device, **own)
        return show_explanation(explain_run(query, doc_id, run, of_run), json)
    if retriever is not None and not is_index(retriever):
        from argus.explanation.run import explain_retriever

        retriever_alone(**own)
        answer = explain_retriever(query, doc_id, retriever, of_run, asking=asking, encoder=model)
        return show_explanation(answer, json)
    from argus.explanation.job import explain as explain_index
    from argus.retrievers.dense import open_index

    if retriever is not None:
        retriever_alone(index=index)
    elif index is None:
        raise _nothing_named()
    home: Any = index if retriever is None else open_index(retriever, model)
    answer = explain_index(query, doc_id, home, measure, encoder=encoder, device=device)
    return show_explanation(answer, json)


def _nothing_named() -> InputError:
    return InputError(
        "neither an index nor a run nor a retriever",
        expected="--index PATH, --retriever NAME, or --run FILE with the id of a query in it; "
        "or --corpus with --encoder",
        fix="Name what was searched, or what was found.", where="--index",
    )  # fmt: skip


def show_failed(
    query: str | None, qrels: Path | None, as_json: bool, *, index: str | None,
    retriever: str | None, config: ExplainConfig, **more: Any,
) -> None:  # fmt: skip
    """Explain all judged questions that fail, and print their causes."""
    from argus.explanation.run import explain_failed
    from argus.retrievers.dense import open_index

    if qrels is None or config.queries is None or query is not None:
        raise InputError(
            f"--failed {'beside a QUERY' if query is not None else 'without judged questions'}",
            expected="--queries FILE --qrels FILE, and no QUERY", fix="Name both.",
            where="--failed",
        )  # fmt: skip
    if index is None and retriever is None and more["run"] is None:
        raise _nothing_named()
    home: Any = index
    if retriever is not None and is_index(retriever):
        home, retriever = open_index(retriever, more["encoder"]), None
    found = explain_failed(config.queries, qrels, index=home, retriever=retriever, config=config,
                           **more)  # fmt: skip
    if home is not None and isinstance(home, str):
        trying = ("--index", home, "--queries", config.queries, "--qrels", qrels)
        found = replace(found, then=command("tune", "try", *trying))
    show_explanation(found, as_json)


def show_explanation(explanation: Shown, as_json: bool) -> None:
    """Print every cause, the likeliest first."""
    if as_json:
        output.print_json(explanation.as_dict())
    else:
        output.print_lines(explanation.headline())


def show_answer(answer: dict[str, Any], as_json: bool) -> None:
    """Print the documents of an index that answer a question best."""
    if answer["warning"]:
        typer.echo(f"warning: {answer['warning']}", err=True)
    if as_json:
        return output.print_json(answer)
    if not answer["results"]:
        typer.echo("nothing found")
    for hit in answer["results"]:
        through = hit["view"] if hit["kind"] not in {None, "original"} else None
        view = f"  (through {hit['kind']} {through})" if through else ""
        output.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{view}")
        output.say(f"     {output.snippet(hit['text'])}")
        for name, text in (hit["scenario"] or {}).items():
            if text:
                output.say(f"     {name.replace('_', ' ')}: {' '.join(text.split())}")
