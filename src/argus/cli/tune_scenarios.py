"""`argus tune apply scenarios`: write the needs that documents would serve, and index them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.cli.tune import apply as apply
from argus.cli.tune import print_estimate, show_remedy
from argus.cli.tune_stores import queries as queries
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.engine.config import EngineConfig
from argus.errors import InputError
from argus.scenarios.profile import COMPONENT
from argus.scenarios.profiles.config import ProfileSettings
from argus.settings import Doc, Option, settings_of

if TYPE_CHECKING:
    from argus.data.types import Document
    from argus.llm import Estimate
    from argus.scenarios.choice.of_index import AnyComponent, AnyWeight
    from argus.scenarios.profiles.config import ProfileConfig
    from argus.scenarios.profiles.job import ProfileResult

HOME = "scenarios"  # folder of an index for the profiles of its documents


@dataclass(frozen=True, kw_only=True)
class Source:
    """Options that say which documents are profiled, or where their profiles are."""

    corpus: Annotated[
        NamedCorpus | None,
        Doc("Documents to profile; default: those of --index."),
        o.CORPUS,
    ] = None
    index: Annotated[
        Path | None,
        Doc("Index to add the scenarios to; default: only write them."),
        o.INDEX,
        o.OUTPUT,
    ] = None
    profiles: Annotated[
        Path | None,
        Doc(
            "Scenarios that exist already (JSONL: _id, main_topic, scenarios of "
            "information_need and explanation) to add to --index, instead of --model."
        ),
    ] = None
    out: Annotated[
        Path | None,
        Doc("Folder for profiles; default INDEX/scenarios or argus-out."),
        o.Output(lambda options: None if options["index"] else "argus-out"),
    ] = None
    columns: FieldNames = field(default_factory=FieldNames)
    limit: o.Limit = None
    fresh: o.Fresh = False

    @property
    def home(self) -> Path:
        """The folder of profiles and answers."""
        return self.out or (self.index / HOME if self.index else o.OUT)

    def documents(self) -> NamedCorpus | list[Document]:
        """Return the documents to profile. InputError where nothing is named."""
        if self.corpus is not None:
            return self.corpus
        if self.index is None:
            raise InputError(
                "neither --corpus nor --index",
                expected="documents to profile",
                fix="Name a corpus, or an index whose documents are to get scenarios.",
                where="--corpus",
            )
        from argus.indexes.header import index_folder
        from argus.indexes.views import ViewIndex, originals

        return originals(ViewIndex.open(index_folder(self.index)))


@apply.command()
@example(
    "argus tune apply scenarios --index index/ --out profiles/ --model NAME "
    "--base-url http://127.0.0.1:8000/v1"
)
@with_blocks
def scenarios(
    context: typer.Context,
    source: Source,
    model: LanguageModel,
    asking: ProfileSettings,
    engine: EngineConfig | None,
    component: Annotated[
        str, Doc("What is indexed: M, I, E, M+E or I+E; auto: as held-out needs choose.")
    ] = COMPONENT,
    weight: Annotated[
        str | None,
        Doc(
            "What a document's own score counts against its scenarios' in searches that do not "
            "say; auto: as held-out needs choose."
        ),
        Option(("--lambda",)),
    ] = None,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    estimate: o.Estimate = False,
    json: o.AsJson = False,
) -> None:
    """Write what each document would be needed for, and index it (SPIKE).

    A language model profiles every document of --corpus, or of --index: main topic, key aspects,
    information needs and explanations. With --index, what --component names becomes views beside
    each document's own; a document without scenarios is found as before. The same command goes on
    where it was stopped, and asks only what is missing.
    """
    from argus.scenarios.cells import AUTO
    from argus.scenarios.profile import component as named

    views: AnyComponent = AUTO if component == AUTO else named(component)
    counts: AnyWeight = AUTO if weight == AUTO else _number(weight)
    if source.profiles is None:
        settings = _settings(model, asking)
        if estimate:
            print_estimate(_estimate(source, settings), json)
            return
        written = _write(source, settings, engine)
        if source.index is None:
            read = ["--corpus", source.corpus, *o.carry("index build")]
            making = o.command("index", "build", *read, "--out", "index/")
            index = ["--index", "index/", "--profiles", source.home]
            adding = o.command("tune", "apply", "scenarios", *index)
            o.show(written, as_json=json, then=f"Next: {making} && {adding}")
            return
        profiles = written.folder
    else:
        _refuse_writing(context, model)
        profiles = source.profiles
    if source.index is None:
        raise InputError(
            "--profiles without --index",
            expected="an index to add them to",
            fix="Build one with `argus index build` and give --index.",
            where="--profiles",
        )
    from argus.scenarios.profiles.index import add_scenarios

    result = add_scenarios(
        source.index, profiles, component=views, weight=counts, form=asking.form, encoder=encoder,
        queries=queries, qrels=qrels, corpus=source.corpus, device=device,
        coerce_ids=source.columns.coerce_ids,
    )  # fmt: skip
    show_remedy(result, json)


def _number(weight: str | None) -> float | None:
    """Return λ. InputError unless it is a number from 0 to 1."""
    from argus.indexes.blend import check_weight

    if weight is None:
        return None
    try:
        return check_weight(float(weight))
    except ValueError as error:
        raise InputError(
            f"{weight!r}",
            expected="a number from 0 to 1, or auto",
            fix="Leave it out for 0.7.",
            where="--lambda",
        ) from error


def _settings(model: LanguageModel, asking: ProfileSettings) -> ProfileConfig:
    writer = model.config()
    if writer is None:
        raise InputError(
            "neither --model nor --profiles",
            expected="a language model that writes scenarios, or a file of them",
            fix="For example --model NAME --llm-base-url http://127.0.0.1:8000/v1.",
            where="--model",
        )
    return asking.by(writer)


def _refuse_writing(context: typer.Context, model: LanguageModel) -> None:
    """Refuse options of writing scenarios with --profiles: they are written already."""
    own, places = ([s.key for s in settings_of(c)] for c in (ProfileSettings, EngineConfig))
    names = (
        *(name for name in own if name != "form"),
        "estimate",
        "limit",
        "out",
        "fresh",
        *places,
    )
    options = [f"--{name.replace('_', '-')}" for name in names if _on_command_line(context, name)]
    if model.config() is not None or options:
        raise InputError(
            f"--profiles with {', '.join(options) or '--model'}",
            expected="one of them: profiles that exist are not written again",
            fix="Leave --profiles out to have them written.",
            where="--profiles",
        )


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _write(source: Source, settings: ProfileConfig, engine: EngineConfig | None) -> ProfileResult:
    from argus.scenarios.profiles.job import profile_documents

    return profile_documents(
        source.documents(), out=source.home, config=settings, fields=source.columns,
        limit=source.limit, fresh=source.fresh, engine=engine,
    )  # fmt: skip


def _estimate(source: Source, settings: ProfileConfig) -> Estimate:
    from argus.scenarios.profiles.job import estimate_profiles

    return estimate_profiles(
        source.documents(), out=source.home, config=settings, fields=source.columns,
        limit=source.limit,
    )  # fmt: skip
