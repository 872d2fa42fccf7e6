"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli.config import read_config
from argus.errors import InputError

if TYPE_CHECKING:
    from argus.workflows.reference import ReferenceConfig


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Parse "50" or "10,50,100"."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(
            f"{text!r}",
            expected="whole numbers, separated by commas",
            fix="For example 10,50.",
            where=option,
        ) from error


def reference(
    kb: list[Path] | None, mentions: str, ignore_case: bool, common_words: bool, min_length: int
) -> ReferenceConfig:
    """Put together what a diagnosis or a remedy is told by."""
    from argus.knowledge.gazetteer import GazetteerConfig
    from argus.workflows.reference import ReferenceConfig

    names = GazetteerConfig(
        ignore_case=ignore_case, min_length=min_length, common_words=common_words
    )
    return ReferenceConfig(kb=tuple(kb or ()), mentions=mentions, names=names)


def print_json(value: Any) -> None:
    """Print one JSON document for machines."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


Corpus = Annotated[
    Path, typer.Option("--corpus", help="BEIR folder, or a JSONL, CSV, TSV or Parquet file.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
EncoderName = Annotated[
    str,
    typer.Option("--encoder", help="sentence-transformers name or folder, or openai:MODEL."),
]
BaseUrl = Annotated[
    str,
    typer.Option(
        "--base-url", help="Endpoint of openai:MODEL encoders.", rich_help_panel="Encoder"
    ),
]
ApiKeyEnv = Annotated[
    str,
    typer.Option(
        "--api-key-env",
        help="Environment variable that holds the API key.",
        rich_help_panel="Encoder",
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="auto (checked on your texts), float32, bfloat16, float16.",
        rich_help_panel="Encoder",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="cpu, cuda, ...; default: a GPU when there is one.",
        rich_help_panel="Encoder",
    ),
]
BatchSize = Annotated[
    int,
    typer.Option(
        "--batch", help="Texts per request to an endpoint.", min=1, rich_help_panel="Encoder"
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency", help="Requests at once to an endpoint.", min=1, rich_help_panel="Encoder"
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Folder for vectors, to share between runs; default OUT/embeddings.",
        rich_help_panel="Encoder",
    ),
]
IdField = Annotated[
    str | None, typer.Option("--id-field", help="Column of the id.", rich_help_panel="Input")
]
TitleField = Annotated[
    str | None, typer.Option("--title-field", help="Column of the title.", rich_help_panel="Input")
]
TextField = Annotated[
    str | None, typer.Option("--text-field", help="Column of the text.", rich_help_panel="Input")
]
CoerceIds = Annotated[
    bool,
    typer.Option(
        "--coerce-ids", help="Read ids that are whole numbers as text.", rich_help_panel="Input"
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", help="Only the first so many documents.", min=1, rich_help_panel="Input"
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.", min=0)]
Fresh = Annotated[
    bool, typer.Option("--fresh/--resume", help="Delete what OUT holds first, or go on with it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="TOML file with these options.", callback=read_config, is_eager=True
    ),
]

Hybrid = Annotated[
    list[str] | None,
    typer.Option(
        "--hybrid",
        help="Fuse with BM25: rrf, min-max or z; for all indexes, or once for each (dense: not).",
    ),
]
Kb = Annotated[
    list[Path] | None,
    typer.Option(
        "--kb", help="Passages with titles that say what entities are; may be given again."
    ),
]
Mentions = Annotated[
    str,
    typer.Option(
        "--mentions",
        help="gazetteer (names of the knowledge base), capitals, or ner:MODEL.",
        rich_help_panel="Mentions",
    ),
]
IgnoreCase = Annotated[
    bool,
    typer.Option("--ignore-case", help="Names in any case.", rich_help_panel="Mentions"),
]
CommonWords = Annotated[
    bool,
    typer.Option(
        "--common-words",
        help="Also one-word names that occur in lower case.",
        rich_help_panel="Mentions",
    ),
]
MinLength = Annotated[
    int,
    typer.Option(
        "--min-length", help="Shorter names are left out.", min=1, rich_help_panel="Mentions"
    ),
]
ProbeFolder = Annotated[
    Path | None,
    typer.Option(
        "--probe", help="Folder from argus probe fit; default: what ships for the encoder."
    ),
]
Tau = Annotated[float, typer.Option("--tau", help="Predicted RPS below this is at risk.")]
