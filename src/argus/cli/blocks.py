"""Groups of options that several commands share, each a dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from argus.cli import options as o
from argus.cli.model_options import API_KEY, LanguageModel, needs_model

if TYPE_CHECKING:
    from argus.authority.jobs.inputs import AuthoritySource
    from argus.data import FieldNames
    from argus.encoders import EncoderConfig
    from argus.engine import EngineConfig
    from argus.remedies.repair.reference import ReferenceConfig

__all__ = [
    "Columns",
    "Encoding",
    "Engine",
    "Entities",
    "LanguageModel",
    "Supersession",
    "needs_model",
    "with_blocks",
]

R = TypeVar("R")


def with_blocks(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command take dataclasses of options: every field becomes an option of the command.

    A field is written as an option is, `Annotated[type, typer.Option(...)] = default`; no two
    blocks of a command, and no option beside them, may share a name.
    """
    hints = get_type_hints(command, include_extras=True)
    blocks: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in blocks:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))
            continue
        own = get_type_hints(blocks[name], include_extras=True)
        parameters += [
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if f.default is MISSING else f.default,
                annotation=own[f.name],
            )
            for f in fields(blocks[name])
        ]

    @functools.wraps(command)
    def run(**options: Any) -> R:
        for name, block in blocks.items():
            options[name] = block(**{f.name: options.pop(f.name) for f in fields(block)})
        return command(**options)

    run.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """Options that say which encoder embeds, and how it is run."""

    encoder: o.EncoderName = "all-MiniLM-L6-v2"
    base_url: Annotated[
        str,
        typer.Option(
            "--base-url", help="Endpoint of openai:MODEL encoders.", rich_help_panel="Encoder"
        ),
    ] = "https://api.openai.com/v1"
    api_key_env: Annotated[
        str,
        typer.Option(
            "--api-key-env",
            help="Environment variable that holds the API key.",
            rich_help_panel="Encoder",
        ),
    ] = API_KEY
    precision: o.Precision = "auto"
    device: o.Device = None
    batch: Annotated[
        int,
        typer.Option(
            "--batch", help="Texts per request to an endpoint.", min=1, rich_help_panel="Encoder"
        ),
    ] = 64
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency",
            help="Requests at once to an endpoint.",
            min=1,
            rich_help_panel="Encoder",
        ),
    ] = 4

    def config(self) -> EncoderConfig:
        """Return the encoder to load."""
        from argus.encoders import EncoderConfig

        return EncoderConfig(
            model=self.encoder,
            precision=self.precision,
            device=self.device,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            batch_size=self.batch,
            concurrency=self.concurrency,
        )


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Options that say where heavy work runs."""

    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            help="local: this machine; work that keeps all cores busy by itself stays in one "
            "process. ray: a Ray cluster. Default: this process. Results are the same; models and "
            "keys have to be where workers look for them; endpoints of language models are asked "
            "from here anyway.",
            rich_help_panel="Engine",
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Of a Ray cluster that runs; default: one of this machine, for this run.",
            rich_help_panel="Engine",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            help="Processes at once, of work that does not keep all cores busy by itself; on a "
            "cluster of all work. Default: what machine and work allow.",
            min=1,
            rich_help_panel="Engine",
        ),
    ] = None

    def config(self) -> EngineConfig:
        """Return the engine to open; without --engine, ray where an address is given, else local.

        Raises InputError for an engine that there is not, or options that do not fit it.
        """
        from argus.engine import EngineConfig

        name: Any = self.engine or ("ray" if self.address is not None else "local")
        return EngineConfig(name=name, address=self.address, workers=self.workers)

    def chosen(self) -> EngineConfig | None:
        """Return the engine to open, None where no option names one: then it is this process."""
        given = (self.engine, self.address, self.workers)
        return None if all(option is None for option in given) else self.config()


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Options that say how a corpus is read."""

    id_field: Annotated[
        str | None, typer.Option("--id-field", help="Column of the id.", rich_help_panel="Input")
    ] = None
    title_field: Annotated[
        str | None,
        typer.Option("--title-field", help="Column of the title.", rich_help_panel="Input"),
    ] = None
    text_field: Annotated[
        str | None,
        typer.Option("--text-field", help="Column of the text.", rich_help_panel="Input"),
    ] = None
    coerce_ids: Annotated[
        bool,
        typer.Option(
            "--coerce-ids", help="Read ids that are whole numbers as text.", rich_help_panel="Input"
        ),
    ] = False

    def names(self) -> FieldNames:
        """Return the columns to read."""
        from argus.data import FieldNames

        return FieldNames(self.id_field, self.title_field, self.text_field, self.coerce_ids)


@dataclass(frozen=True, kw_only=True)
class Entities:
    """Options that say where entities are found and what is known of them."""

    kb: Annotated[
        list[Path] | None,
        typer.Option(
            "--kb",
            help="Knowledge base (argus kb build), or passages with titles that say what entities "
            "are; may be given again.",
        ),
    ] = None
    mentions: Annotated[
        str,
        typer.Option(
            "--mentions",
            help="gazetteer (names of the knowledge base), capitals, or ner:MODEL.",
            rich_help_panel="Mentions",
        ),
    ] = "gazetteer"
    ignore_case: Annotated[
        bool,
        typer.Option("--ignore-case", help="Names in any case.", rich_help_panel="Mentions"),
    ] = False
    common_words: Annotated[
        bool,
        typer.Option(
            "--common-words",
            help="Also one-word names that occur in lower case.",
            rich_help_panel="Mentions",
        ),
    ] = False
    min_length: Annotated[
        int,
        typer.Option(
            "--min-length", help="Shorter names are left out.", min=1, rich_help_panel="Mentions"
        ),
    ] = 3

    def reference(self) -> ReferenceConfig:
        """Return what a diagnosis or a remedy is told by."""
        from argus.knowledge.gazetteer import GazetteerConfig
        from argus.remedies.repair.reference import ReferenceConfig

        names = GazetteerConfig(
            ignore_case=self.ignore_case,
            min_length=self.min_length,
            common_words=self.common_words,
        )
        return ReferenceConfig(kb=tuple(self.kb or ()), mentions=self.mentions, names=names)


@dataclass(frozen=True, kw_only=True)
class Supersession:
    """Options that say what supersedes what, and as of when."""

    records: Annotated[
        Path,
        typer.Option("--records", help="Documents with type, time and scope: a file or a folder."),
    ]
    rules: Annotated[
        str | None,
        typer.Option("--rules", help="RULES.yaml, or a domain that ships (docs/domains.md)."),
    ] = None
    edges: Annotated[
        Path | None,
        typer.Option("--edges", help="File of superseder, superseded; beside or instead of rules."),
    ] = None
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="Only what had taken effect by this date."),
    ] = None
    known_by: Annotated[
        str | None,
        typer.Option("--known-by", help="Only what had been published by this date."),
    ] = None

    theta: Annotated[
        float,
        typer.Option(
            "--theta", help="Least confidence of a supersession that counts.", min=0, max=1
        ),
    ] = 0.0

    def source(self) -> AuthoritySource:
        """Return where the authority relation comes from."""
        from argus.authority.jobs.inputs import AuthoritySource

        return AuthoritySource(
            records=self.records, rules=self.rules, edges=self.edges,
            as_of=self.as_of, known_by=self.known_by, theta=self.theta,
        )  # fmt: skip
