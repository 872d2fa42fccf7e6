"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from argus.cli.places import ALONE as ALONE
from argus.cli.places import CORPUS as CORPUS
from argus.cli.places import INDEX as INDEX
from argus.cli.places import OUTPUT as OUTPUT
from argus.cli.places import Output as Output
from argus.cli.streams import holds_all_characters
from argus.commands import carry as carry
from argus.commands import command as command
from argus.corpora import NamedCorpus
from argus.data.fields import QrelsName
from argus.devices import Device as Device
from argus.errors import InputError
from argus.hidden import LEAST_IN_FILES, without_known
from argus.indexes.blend import Weight as Weight
from argus.remedies.config import Tau as Tau
from argus.retrievers.config import NAMES, PANEL
from argus.settings import Doc, Ge, Le, Option
from argus.settings import Seed as Seed
from argus.visible import visible_line

E = TypeVar("E", bound=StrEnum)


def one_of(kind: type[E], text: str, option: str) -> E:
    """Return the member of an enumeration that is called `text`. InputError lists them."""
    try:
        return kind(text)
    except ValueError as error:
        raise InputError(
            f"{text!r}",
            expected=f"one of {', '.join(member.value for member in kind)}",
            fix="Leave it out for the default.",
            where=option,
        ) from error


def show(result: Any, *, as_json: bool, then: str = "") -> None:
    """Print a job's summary as JSON, or in words with its report's path, `then` and the verdict."""
    if as_json:
        print_json(result.summary)
        return
    print_lines(result.headline())
    if isinstance(result.summary, dict) and "stored_vectors" in result.summary:
        from argus.corpora.stored import remarks

        print_lines(remarks(result.summary["stored_vectors"]))
    report: Path | None = getattr(result, "report", None)
    if report is not None:
        typer.echo(f"report: {report}")
    if then:
        typer.echo(then)
    folder: Path | None = getattr(result, "folder", None)
    if report is not None and folder is not None:
        from argus.data.folders import SUMMARY
        from argus.verdict import read_verdict, verdict_lines

        if (folder / SUMMARY).is_file():
            print_lines(verdict_lines(read_verdict(folder)))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for a person."""
    for line in lines:
        say(line)


def say(line: str, *, to_stderr: bool = False) -> None:
    """Print one line. Characters that steer a terminal, or end the line, are shown as escapes.

    Secrets are hidden, here and in JSON.
    """
    typer.echo(visible_line(without_known(line)), err=to_stderr)


def print_json(value: Any) -> None:
    """Print one JSON document for machines."""
    text = json.dumps(value, indent=2, ensure_ascii=not holds_all_characters())
    typer.echo(without_known(text, LEAST_IN_FILES))


def print_estimate(estimate: Any, as_json: bool) -> None:
    """Print how much a run would ask and cost at most."""
    print_json(asdict(estimate)) if as_json else typer.echo(str(estimate))


def is_given(context: typer.Context, name: str) -> bool:
    """Tell whether an option stands on the command line, not in a file of settings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


Corpus = Annotated[
    NamedCorpus,
    Doc(
        "BEIR folder, knowledge base (argus research kb build), a JSONL, CSV, TSV or Parquet "
        "file, or a store (KIND:PLACE/COLLECTION)."
    ),
    Option(("--corpus",)),
    CORPUS,
]
MaybeCorpus = Annotated[
    NamedCorpus | None,
    Doc("Tells who serves nobody, and what it has for questions that nobody meets."),
    Option(("--corpus",)),
    CORPUS,
]
OUT = Path("argus-out")
Out = Annotated[Path, Doc("Folder for the results."), Option(("--out",)), OUTPUT]
Store = Annotated[
    Path | None,
    Doc("Folder for vectors, to share between runs; default OUT/embeddings."),
    Option(("--cache",), panel="Encoder"),
]
Limit = Annotated[
    int | None, Ge(1), Doc("Only the first so many documents."), Option(("--limit",), panel="Input")
]
Fresh = Annotated[
    bool, Doc("Delete what OUT holds first, or go on with it."), Option(("--fresh/--resume",))
]
AsJson = Annotated[bool, Doc("Print the summary as JSON."), Option(("--json",))]
NeedProfiles = Annotated[
    Path | None,
    Doc("Profiles of documents (argus tune apply scenarios), whose information needs are used."),
]
Hybrid = Annotated[
    list[str] | None,
    Doc(
        "Fuse with BM25: min-max (by question), rrf or dbsf; dense: not. For all indexes, or once "
        "for each; default: as a blend in the index says, else dense."
    ),
    Option(("--hybrid",)),
]
Weights = Annotated[
    list[float] | None,
    Ge(0),
    Le(1),
    Doc(
        "What a document's own score counts against its scenarios'; for all indexes, or once for "
        "each; default: as each says, else 0.7."
    ),
    Option(("--lambda",)),
]
Retriever = Annotated[
    str | None, Doc(f"What is asked in place of an encoder: {NAMES}."), Option(panel=PANEL)
]
ProbeFolder = Annotated[
    Path | None,
    Doc("Folder from argus research probe fit; default: what ships for the encoder."),
    Option(("--probe",)),
]
IndexEncoder = Annotated[
    str | None, Doc("Default: the encoder that the index names."), Option(("--encoder",))
]
K = Annotated[int, Ge(1), Doc("How many documents."), Option(("--k",))]
Queries = Annotated[Path, Doc("Queries (JSONL, CSV, TSV, Parquet, BEIR folder).")]
MaybeQueries = Annotated[Path | None, Doc("Judged queries, which tell what it is worth.")]
MaybeQrels = Annotated[Path | None, Doc("Their judgements."), QrelsName()]
Qrels = Annotated[Path, Doc("Judgements (BEIR: query-id, corpus-id, score; or TREC)."), QrelsName()]
Excluded = Annotated[
    Path | None,
    Doc("Rows of id and excluded_ids: what is taken out of a query's results first (BRIGHT)."),
]
Estimate = Annotated[bool, Doc("Only say what would be asked and what it would cost."), ALONE]
IndexState = Annotated[
    str, Doc("Index folder; PATH@STATE for an earlier one."), Option(("--index",)), INDEX
]
IndexOut = Annotated[Path, Doc("Folder for the index."), OUTPUT]
