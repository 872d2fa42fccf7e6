"""`argus init`: three questions, then argus.toml."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import typer

from argus.cli import output
from argus.cli.signatures import with_blocks
from argus.corpora import StoreCorpus, named
from argus.data.fields import FieldNames
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.health import ProjectParts
from argus.jobs import options as o
from argus.project import ProjectConfig
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import http_file, is_index
from argus.stores.spec import asks_store

DOCUMENTS = (
    "Where are the documents? A file (JSONL, CSV, TSV, Parquet), a BEIR folder,\n"
    "or a store (KIND:PLACE/COLLECTION, such as qdrant:http://127.0.0.1:6333/docs)"
)
SEARCH = (
    "What searches them? A model's name, FILE.py:NAME, http:FILE.yaml, a store,\n"
    "or an index's folder"
)
MADE_BY = "Which model made the vectors of the store?"
QUESTIONS = "Which questions are known? A file; Enter: none"
JUDGEMENTS = "Which documents answer them? A file (BEIR or TREC); Enter: not judged"


@with_blocks
def init(
    *,
    parts: ProjectParts,
    columns: FieldNames,
    asking: AskingConfig,
    encoder: EncoderConfig,
    project: ProjectConfig,
    json: o.AsJson = False,
) -> None:
    """Ask three questions, try what is named, write argus.toml, say what to run next.

    Where --corpus is named, or there is no terminal, nothing is asked. Exit 2 where something that
    was named does not work; the file is written all the same, to be mended.
    """
    from argus.project import check_place, start_project

    if parts.corpus is None and sys.stdin is not None and sys.stdin.isatty():
        check_place(project)
        parts, encoder = _asked_for(parts, encoder)
    result = start_project(parts, columns=columns, asking=asking, encoder=encoder, config=project)
    output.show(result, as_json=json)
    raise typer.Exit(result.exit_code)


def _asked_for(parts: ProjectParts, encoder: EncoderConfig) -> tuple[ProjectParts, EncoderConfig]:
    """Ask the three questions, except those that an option answers already."""
    corpus = named(typer.prompt(DOCUMENTS).strip())
    in_store = isinstance(corpus, StoreCorpus)
    retriever = parts.retriever
    if retriever is None:
        default = str(corpus.store) if isinstance(corpus, StoreCorpus) else encoder.model
        retriever = typer.prompt(SEARCH, default=default).strip()
        if not _names_retriever(retriever):
            encoder, retriever = replace(encoder, model=retriever), None
    if (in_store or asks_store(retriever or "")) and encoder.model == DEFAULT_MODEL:
        encoder = replace(encoder, model=typer.prompt(MADE_BY, default=DEFAULT_MODEL).strip())
    queries = parts.queries or _path(typer.prompt(QUESTIONS, default="", show_default=False))
    qrels = parts.qrels
    if queries is not None and qrels is None:
        qrels = _path(typer.prompt(JUDGEMENTS, default="", show_default=False))
    parts = replace(parts, corpus=corpus, retriever=retriever, queries=queries, qrels=qrels)
    return parts, encoder


def _names_retriever(name: str) -> bool:
    """Tell whether an answer names a retriever, not a model."""
    is_python = name.endswith(".py") or ".py:" in name
    return asks_store(name) or is_index(name) or http_file(name) is not None or is_python


def _path(text: str) -> Path | None:
    return Path(text.strip()) if text.strip() else None
