"""`argus tune apply`: remedies that change an index, or are written into a store."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group, example
from argus.cli.signatures import with_blocks
from argus.cli.tune import (
    RECEIPTS,
    Judging,
    RepairedPlace,
    refuse,
    show_remedy,
)
from argus.commands import carry, command
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.engine import EngineConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.indexes.blend import Blend
from argus.jobs import options as o
from argus.llm.config import ModelOptions
from argus.remedies.config import (
    SentenceSettings,
)  # fmt: skip
from argus.scenarios.config import ProfileSettings
from argus.scenarios.profile import COMPONENT
from argus.settings import (
    CORPUS,
    INDEX,
    OUTPUT,
    Doc,
    Option,
    Options,
    Without,
    Writes,
    settings_of,
)

if TYPE_CHECKING:
    from argus.data.types import Document
    from argus.scenarios.remedy import AnyComponent, AnyWeight


apply = Group(
    "Apply one remedy to an index or a store, with a receipt.",
    entries=(
        Entry("blend", "tune_apply:blend", "Mix sentences, a hub correction and BM25 in."),
        Entry(
            "expand", "argus.remedies.expansion:expand_index",
            "Join documents at risk with what a knowledge base says.",
            example="argus tune apply expand --index index/ --kb kb.jsonl --tau 1",
            show=show_remedy,
        ),
        Entry(
            "synthesize", "argus.remedies.synthesis:synthesize_index",
            "Insert short descriptions of entities.",
            example="argus tune apply synthesize --index index/ --kb kb.jsonl --tau 1",
            show=show_remedy, estimate="argus.remedies.synthesis:estimate_synthesis",
        ),
        Entry(
            "adapt", "argus.scenarios.adapt:adapt_index", "Learn a correction of all queries.",
            example="argus tune apply adapt --index index/ --profiles profiles/", show=show_remedy,
        ),
        Entry(
            "write", "argus.remedies.store_writing:write_index",
            "Write what remedies added into a store.",
            example="argus tune apply write --index index/ --store chroma:store/docs",
        ),
        Entry("scenarios", "tune_apply:scenarios", "Write what documents are needed for (SPIKE)."),
    ),
)  # fmt: skip
# Settings of an encoder that are not asked for beside a store: named otherwise, or seldom.
NOT_OF_STORES = ("model", "device", "trust_remote_code", "batch_size", "concurrency")


def store_encoder(
    name: str | None, device: str | None, embedding: EncoderConfig | None
) -> EncoderConfig:
    """Return the encoder of a store. InputError where it is not named."""
    if name is None:
        raise InputError(
            "a store without its encoder", expected="the model that made its vectors",
            fix="Name it with --encoder, such as all-MiniLM-L6-v2.", where="--encoder",
        )  # fmt: skip
    return replace(embedding or EncoderConfig(), model=name, device=device)


@dataclass(frozen=True, kw_only=True)
class BlendJudging(Judging):
    """The same, where a store may be in the place of the index."""

    out: Annotated[
        Path | None,
        Doc(f"Folder for the receipt; default: in the index; of a store: {RECEIPTS}."),
        OUTPUT,
    ] = None


@example("argus tune apply blend --index index/")
@with_blocks
def blend(
    place: RepairedPlace,
    blend: Blend,
    sentences: SentenceSettings,
    judging: BlendJudging,
    chunks: ChunkedCorpus,
    encoder: o.EncoderName = None,
    device: Device = None,
    *,
    embedding: Annotated[
        EncoderConfig | None,
        Options(EncoderConfig, optional=True),
        Without(*NOT_OF_STORES),
    ] = None,
    json: o.AsJson = False,
) -> None:
    """Mix sentences, a hub correction and BM25 into the search of an index.

    All documents get a view of title and sentence for each of their sentences, and one number for
    how near they are to sentences of others. No label and no language model is needed; it is the
    repair that helped without them. `argus tune undo` takes it out again.

    With --store the views are written as records into a collection beside the documents, which
    stay as they are; then the store is asked for what was written.
    """
    if place.store is not None:
        refuse({"--queries": judging.queries, "--qrels": judging.qrels}, "an index (--index)")
        from argus.remedies.store_blend import blend_store

        written = blend_store(
            place.store, blend, encoder=store_encoder(encoder, device, embedding),
            sentences=sentences, into=place.into, opening=place.opening,
            fields=chunks.fields, parent_field=chunks.parent_field,
            out=judging.out or RECEIPTS,
        )  # fmt: skip
        output.show(written, as_json=json)
        return
    refuse({"--document-prompt and the like": embedding}, "a store (--store)")
    from argus.remedies.blend import blend_index

    result = blend_index(
        place.folder, blend, sentences=sentences, encoder=encoder, device=device, chunks=chunks,
        **vars(judging),
    )  # fmt: skip
    show_remedy(result, json)
    if not json:
        from argus.remedies.store_writing import blended_retriever, describe_serving

        output.print_lines(["To serve it over a retriever of your own, in Python:"])
        served = blended_retriever("my_retriever", repr(str(place.folder)))
        output.print_lines(describe_serving(served))


HOME = "scenarios"  # folder of an index for the profiles of its documents


@dataclass(frozen=True, kw_only=True)
class Source:
    """Options that say which documents are profiled, or where their profiles are.

    Attributes:
        corpus: Documents to profile; default: those of --index.
        index: Index to add the scenarios to; default: only write them.
        profiles: Scenarios that exist already (JSONL: _id, main_topic, scenarios of
            information_need and explanation) to add to --index, instead of --model.
        out: Folder for profiles; default INDEX/scenarios or argus-out.
    """

    corpus: Annotated[NamedCorpus | None, CORPUS] = None
    index: Annotated[Path | None, INDEX, OUTPUT] = None
    profiles: Path | None = None
    out: Annotated[
        Path | None, Writes(lambda options: None if options["index"] else "argus-out")
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


@example(
    "argus tune apply scenarios --index index/ --out profiles/ --model NAME "
    "--base-url http://127.0.0.1:8000/v1"
)
@with_blocks
def scenarios(
    context: typer.Context,
    source: Source,
    model: ModelOptions,
    asking: ProfileSettings,
    component: str = COMPONENT,
    weight: Annotated[str | None, Option(("--lambda",))] = None,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    encoder: o.EncoderName = None,
    device: Device = None,
    estimate: o.Estimate = False,
    json: o.AsJson = False,
) -> None:
    """Write what each document would be needed for, and index it (SPIKE).

    A language model profiles every document of --corpus, or of --index: main topic, key aspects,
    information needs and explanations. With --index, what --component names becomes views beside
    each document's own; a document without scenarios is found as before. The same command goes on
    where it was stopped, and asks only what is missing.

    Args:
        component: What is indexed: M, I, E, M+E or I+E; auto: as held-out needs choose.
        weight: What a document's own score counts against its scenarios' in searches that do not
            say; auto: as held-out needs choose.
    """
    from argus.scenarios.config import AUTO
    from argus.scenarios.profile import component as named

    views: AnyComponent = AUTO if component == AUTO else named(component)
    counts: AnyWeight = AUTO if weight == AUTO else _number(weight)
    if source.profiles is None:
        from argus.scenarios.profiles import estimate_profiles, profile_documents

        writer = model.config()
        if writer is None:
            raise InputError(
                "neither --model nor --profiles",
                expected="a language model that writes scenarios, or a file of them",
                fix="For example --model NAME --llm-base-url http://127.0.0.1:8000/v1.",
                where="--model",
            )
        common: dict[str, Any] = {
            "out": source.home, "config": asking.by(writer), "fields": source.columns,
            "limit": source.limit,
        }  # fmt: skip
        documents = source.documents()
        if estimate:
            return output.print_estimate(estimate_profiles(documents, **common), json)
        written = profile_documents(documents, fresh=source.fresh, **common)
        if source.index is None:
            read = ["--corpus", source.corpus, *carry("index build")]
            making = command("index", "build", *read, "--out", "index/")
            index = ["--index", "index/", "--profiles", source.home]
            adding = command("tune", "apply", "scenarios", *index)
            output.show(written, as_json=json, then=f"Next: {making} && {adding}")
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
    from argus.scenarios.remedy import add_scenarios

    result = add_scenarios(
        source.index, profiles, component=views, weight=counts, encoder=encoder,
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


def _refuse_writing(context: typer.Context, model: ModelOptions) -> None:
    """Refuse options of writing scenarios with --profiles: they are written already."""
    names = [s.key for config in (ProfileSettings, EngineConfig) for s in settings_of(config)]
    names = [name for name in (*names, "estimate", "limit", "out", "fresh") if name != "form"]
    options = [f"--{name.replace('_', '-')}" for name in names if output.is_given(context, name)]
    if model.config() is not None or options:
        raise InputError(
            f"--profiles with {', '.join(options) or '--model'}",
            expected="one of them: profiles that exist are not written again",
            fix="Leave --profiles out to have them written.",
            where="--profiles",
        )
