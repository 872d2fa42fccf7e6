"""`argus explain`: search an index, or say why one document does not come back for a query."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import example
from argus.cli.places import check_inputs
from argus.cli.signatures import with_blocks
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.explanation.config import ExplainConfig, RunConfig
from argus.jobs import options as o
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.names import is_index
from argus.settings import (
    INDEX,
    Doc,
    Option,
)

if TYPE_CHECKING:
    from argus.explanation.evidence import (
        Explanation,
        Finding,
        Place,
        RunExplanation,
        RunStanding,
        Standing,
    )
    from argus.indexes.retriever import IndexRetriever

SNIPPET = 160
WIDTH = 98
LABEL = 28
SHOWN = 5


@example("argus explain 'which one is about rivers?' d7 --index index/")
@with_blocks
def explain(
    *,
    query: Annotated[
        str, typer.Argument(help="The question; with --queries or --run, the id of one.")
    ],
    doc_id: Annotated[
        str | None,
        typer.Argument(help="The document that should come back; without it, --index is searched."),
    ] = None,
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
    the documents of --index that answer QUERY best.

    Args:
        index: Index folder; PATH@original or PATH@REMEDY for that state.
        run: Or what any search found: a TREC or JSON run; QUERY is an id in it.
        store: With --corpus and --encoder alone: folder of vectors, such as OUT/embeddings.
    """
    own = _of_index(index, measure)
    if doc_id is None:
        _check_search(index, run=run, retriever=retriever, corpus=of_run.corpus)
        return _search(query, _index(index, None, encoder, device), measure, encoder, device, json)
    if encoder is not None and of_run.corpus is not None and not (run or index or retriever):
        from argus.evaluation.config import refuse_beside
        from argus.explanation.run import explain_corpus

        refuse_beside("--corpus alone", "what it needs is an index", **own)
        model = EncoderConfig(model=encoder, device=device)
        searched = explain_corpus(query, doc_id, model, of_run, store=store)
        return _print(searched, describe_run(searched), as_json=json)
    if store is not None:
        raise InputError(
            "--cache without --corpus and --encoder alone",
            expected="a search through a corpus: an index has its vectors, a run needs none",
            fix="Leave --cache out.",
            where="--cache",
        )
    if run is not None:
        from argus.evaluation.config import run_alone
        from argus.explanation.run import explain_run

        run_alone(retriever=retriever, encoder=encoder, device=device, **own)
        explanation_of_run = explain_run(query, doc_id, run, of_run)
        return _print(explanation_of_run, describe_run(explanation_of_run), as_json=json)
    if retriever is not None:
        from argus.evaluation.config import retriever_alone

        retriever_alone(index=index)
        if not is_index(retriever):
            from argus.explanation.run import explain_retriever

            retriever_alone(**own)
            answer = explain_retriever(
                query, doc_id, retriever, of_run, asking=asking, encoder=_encoder(encoder, device)
            )
            return _print(answer, describe_run(answer), as_json=json)
    home = _index(index, retriever, encoder, device)
    from argus.explanation.job import explain as explain_index

    explanation = explain_index(query, doc_id, home, measure, encoder=encoder, device=device)
    _print(explanation, describe(explanation), as_json=json)


def _check_search(index: str | None, **others: object) -> None:
    """Refuse a search of something other than an index."""
    named = [f"--{name}" for name, value in others.items() if value is not None]
    if index is None or named:
        raise InputError(
            f"no DOC_ID{' beside ' + ', '.join(named) if named else ''}",
            expected="a document to explain, or --index PATH alone to search",
            fix="Name the document that should come back.",
            where="DOC_ID",
        )


def _search(
    query: str, index: Any, measure: ExplainConfig, encoder: str | None, device: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the documents of an index that answer a question best."""
    from argus.indexes.retriever import search_index

    answer = search_index(
        query, index, k=measure.k, hybrid=measure.hybrid, weight=measure.weight,
        encoder=encoder, device=device,
    )  # fmt: skip
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
        output.say(f"     {snippet(hit['text'])}")
        for name, text in (hit["scenario"] or {}).items():
            if text:
                output.say(f"     {name.replace('_', ' ')}: {' '.join(text.split())}")


def snippet(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else line[: SNIPPET - 3] + "..."


def _of_index(index: str | None, measure: ExplainConfig) -> dict[str, object]:
    """Return the values that only an index has, by option."""
    return {
        "index": index, "hybrid": measure.hybrid,
        "lambda": measure.weight != ExplainConfig.weight,
    }  # fmt: skip


def _index(
    index: str | None, retriever: str | None, encoder: str | None, device: str | None
) -> str | IndexRetriever:
    """Return the index, by its name or opened as a retriever. InputError where there is none."""
    if retriever is not None:
        from argus.retrievers.dense import open_index

        return open_index(retriever, _encoder(encoder, device))
    if index is None:
        raise InputError(
            "neither an index nor a run nor a retriever",
            expected="--index PATH, --retriever NAME, or --run FILE with the id of a query in it; "
            "or --corpus with --encoder",
            fix="Name what was searched, or what was found.",
            where="--index",
        )
    check_inputs({"index": INDEX}, {"index": index})
    return index


def _encoder(model: str | None, device: str | None) -> EncoderConfig | None:
    return None if model is None else EncoderConfig(model=model, device=device)


def _print(explanation: Explanation | RunExplanation, lines: list[str], *, as_json: bool) -> None:
    output.print_json(explanation.as_dict()) if as_json else output.print_lines(lines)


def describe(explanation: Explanation) -> list[str]:
    """Return an explanation for a person, as lines."""
    lines = [*textwrap.wrap(f"{explanation.doc_id} {explanation.verdict}", WIDTH), ""]
    lines += _row("query", explanation.query)
    lines += _row("index", f"{explanation.index}, {explanation.standing.dense.of:,} documents")
    return lines + _standing(explanation.standing, explanation.k) + _findings(explanation)


def describe_run(explanation: RunExplanation) -> list[str]:
    """Return an explanation of a run for a person, as lines."""
    place = explanation.standing
    lines = [*textwrap.wrap(f"{explanation.doc_id} {explanation.verdict}", WIDTH), ""]
    lines += _row(
        "query", f"{explanation.query_id}: {explanation.query or '(its text is not known)'}"
    )
    source = explanation.source
    lines += _row(source, f"{explanation.run}, {_place(place.run)}")
    for name, at in (("BM25", place.bm25), (f"{source} and BM25 ({place.fusion})", place.fused)):
        lines += [] if at is None else _row(name, _place(at))
    lines += _missing(place, explanation.k)
    return lines + _above(place, source) + _findings(explanation)


def _above(place: RunStanding, source: str) -> list[str]:
    """Return rows of the first documents above the one that is explained, and of the last."""
    rows = [*place.above[:SHOWN], *place.above[SHOWN:][-1:]]
    label = "above it" if place.rank is not None else f"in the {source}"
    lines: list[str] = []
    for row in rows:
        says = f"  says {', '.join(map(repr, row.says[:SHOWN]))}" if row.says else ""
        score = "" if row.score is None else f"{row.score:.4f}  "
        lines += _row("", f"{row.rank:>3}  {score}{row.id}  {row.title}{says}")
    return [f"{label:<{LABEL}}{lines[0][LABEL:]}", *lines[1:]] if lines else []


def _findings(explanation: Explanation | RunExplanation) -> list[str]:
    """Return every cause: those found first, the most probable before all."""
    lines, cause = [], explanation.cause
    first = sorted(explanation.findings, key=lambda f: (f.cause != cause, _ORDER[f.state]))
    for before, finding in zip([None, *first], first, strict=False):
        apart = before is None or finding.state == "found" or before.state != finding.state
        lines += [""] * apart + _finding(finding)
    return lines


_ORDER = {"found": 0, "could not check": 1, "ruled out": 2}


def _standing(place: Standing, k: int) -> list[str]:
    rows = [("dense", place.dense), ("BM25", place.bm25), (f"fused ({place.fusion})", place.fused)]
    lines: list[str] = []
    for name, at in rows:
        note = "  <- what a search returns" if name.startswith(place.ranked_by) else ""
        lines += _row(name, _place(at) + note)
    lines += _missing(place, k)
    shown = [f"{v.kind} {v.score:.4f}" for v in place.views[:SHOWN]]
    more = f" and {len(place.views) - SHOWN} more" if len(place.views) > SHOWN else ""
    return lines + (_row("views, best first", ", ".join(shown) + more) if shown else [])


def _missing(place: Standing | RunStanding, k: int) -> list[str]:
    if not place.gap:
        return []
    return _row(f"missing to the top {k}", f"{place.gap:.4f} (needs {place.kth_score:.4f})")


def _place(place: Place) -> str:
    if place.rank is None:
        return f"not among {place.of:,}"
    score = "" if place.score is None else f", score {place.score:.4f}"
    return f"rank {place.rank} of {place.of:,}{score}"


def _finding(finding: Finding) -> list[str]:
    lines = _row(f"{finding.cause}", f"{str(finding.state).upper()}: {finding.summary}")
    evidence = finding.evidence
    if finding.state == "found" and "outranked_by" in evidence:
        lines += [
            line
            for row in evidence["outranked_by"][:SHOWN]
            for line in _row("", f"{row['rank']:>3}  {row['score']:.4f}  {row['id']}"
                             f"{'  hub' if row['hub'] else ''}")
        ]  # fmt: skip
    if near := evidence.get("near_ids"):
        lines += _row("", f"near ids: {', '.join(near)}")
    return lines + (_row("", f"-> {finding.advice}") if finding.advice else [])


def _row(label: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(" ".join(text.split()) if label else text, WIDTH - LABEL) or [""]
    return [f"{name:<{LABEL}}{line}" for name, line in
            zip([label, *[""] * (len(wrapped) - 1)], wrapped, strict=True)]  # fmt: skip
