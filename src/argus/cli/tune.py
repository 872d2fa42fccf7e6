"""`argus tune`: try remedies, apply one to an index or a store, list and undo them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import Group, example
from argus.cli.model_options import LanguageModel, needs_model
from argus.corpora import NamedCorpus
from argus.data.fields import CoerceIds
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.indexes.blend import Blend
from argus.remedies.config import (
    TAU,
    ExpandConfig,
    ReferenceConfig,
    SentenceSettings,
    SynthesizeConfig,
    SynthesizeSettings,
)  # fmt: skip
from argus.repair.config import RepairConfig
from argus.scenarios.adapt.config import AdaptConfig, Unlabelled
from argus.settings import TOP_K, Doc, Ge, Option, check_settings
from argus.stores.spec import PANEL, StoreConfig, refuse_unread

if TYPE_CHECKING:
    from argus.llm import Estimate
    from argus.remedies.remedy_result import RemedyResult


apply = Group("Apply one remedy to an index or a store, with a receipt.")
# Settings of an encoder that are not asked for beside a store: named otherwise, or seldom.
NOT_OF_STORES = ("model", "device", "trust_remote_code", "batch_size", "concurrency")


# Default folder of the receipt of records written into a store.
RECEIPTS = Path("argus-out")


def collection_of(options: Mapping[str, object]) -> str | None:
    """Return where a remedy's records are kept, for the message after Ctrl-C."""
    from argus.stores.spec import parse_store

    store = options["store"]
    return None if store is None else str(parse_store(str(store)))


_Index = Annotated[
    Path | None,
    Doc("Folder from argus index build; or else --store."),
    Option(("--index",)),
    o.INDEX,
]
Into = Annotated[
    str | None,
    Doc("Collection of the store for a remedy's records; default: COLLECTION_argus."),
    Option(panel=PANEL),
]


@dataclass(frozen=True, kw_only=True)
class RemedyPlace:
    """An index, or a store with the collection that holds its remedies' records."""

    index: _Index = None
    store: Annotated[
        str | None,
        Doc("In place of an index: KIND:PLACE/COLLECTION of the documents."),
        Option(("--store",), panel=PANEL),
    ] = None
    into: Into = None
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if (self.index is None) == (self.store is None):
            raise InputError(
                "neither --index nor --store" if self.index is None else "--index and --store",
                expected="one of them", where="--index",
                fix="Name an index (argus index build), or a store such as "
                "qdrant:http://HOST:6333/docs.",
            )  # fmt: skip
        if self.store is None:
            refuse_unread(self.opening)
            refuse({"--into": self.into}, "a store (--store)")

    @property
    def folder(self) -> Path:
        """The index."""
        assert self.index is not None
        return self.index

    @property
    def name(self) -> str:
        """The name in messages, without user and password."""
        if self.store is None:
            return str(self.index)
        from argus.stores.spec import parse_store

        return str(parse_store(self.store))


@dataclass(frozen=True, kw_only=True)
class RepairedPlace(RemedyPlace):
    """One that is changed."""

    index: Annotated[_Index, o.OUTPUT] = None
    into: Annotated[Into, o.Output(collection_of)] = None


def refuse(options: dict[str, object], of: str) -> None:
    """Raise InputError for options of something that the command was not given."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                "is said of what is not there", expected=f"it beside {of}", fix="Leave it out.",
                where=name,
            )  # fmt: skip


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


def show_rollback(note: dict[str, Any]) -> None:
    """Print the records taken out of a store."""
    typer.echo(
        f"removed {note['records_removed']:,} records of {note['remedy']} from {note['collection']}"
    )
    if note["collection_removed"]:
        typer.echo("the collection was Argus's own and is empty: it is gone as well")


def show_listed(listed: list[dict[str, Any]], where: object) -> None:
    """Print the remedies of an index or a store."""
    if not listed:
        typer.echo(f"no remedy in {where}")
        return
    shown = [("id", "kind", "when (UTC)", "views", "documents")]
    for r in listed:
        counts = (f"{r['views']:,}", f"{r['documents']:,}")
        shown.append((r["id"], r["kind"] or "?", r["at"] or "?", *counts))
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())


Index = Annotated[Path, Doc("Folder from argus index build."), Option(("--index",)), o.INDEX]
Repaired = Annotated[Index, o.OUTPUT]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Options that say which documents of an index are at risk."""

    encoder: o.IndexEncoder = None
    device: o.Device = None
    probe: o.ProbeFolder = None
    tau: o.Tau = TAU

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Options that say how a receipt is judged, and where it goes."""

    queries: Annotated[Path | None, Doc("Judged queries, for the receipt.")] = None
    qrels: o.MaybeQrels = None
    out: Annotated[Path | None, Doc("Folder for the receipt; default: in the index."), o.OUTPUT] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class BlendJudging(Judging):
    """The same, where a store may be in the place of the index."""

    out: Annotated[
        Path | None,
        Doc(f"Folder for the receipt; default: in the index; of a store: {RECEIPTS}."),
        o.OUTPUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Proof(Judging):
    """Options that add to the receipt of a repair at risk."""

    corpus: Annotated[
        NamedCorpus | None,
        Doc("Where titles are, to tell implicit questions apart."),
        o.CORPUS,
    ] = None
    k: Annotated[int, Ge(1), Doc("How far down a list counts.")] = TOP_K


@apply.command()
@example("argus tune apply blend --index index/")
@with_blocks
def blend(
    place: RepairedPlace,
    blend: Blend,
    sentences: SentenceSettings,
    judging: BlendJudging,
    chunks: ChunkedCorpus,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    *,
    embedding: Annotated[EncoderConfig | None, Without(*NOT_OF_STORES)],
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
        o.show(written, as_json=json, then="\n".join(written.last_lines()))
        return
    refuse({"--document-prompt and the like": embedding}, "a store (--store)")
    from argus.remedies.blend import blend_index

    result = blend_index(
        place.folder, blend, sentences=sentences, encoder=encoder, device=device,
        queries=judging.queries, qrels=judging.qrels, chunks=chunks, out=judging.out,
    )  # fmt: skip
    show_remedy(result, json)
    if not json:
        from argus.remedies.store_writing import blended_retriever, describe_serving

        o.print_lines(["To serve it over a retriever of your own, in Python:"])
        served = blended_retriever("my_retriever", repr(str(place.folder)))
        o.print_lines(describe_serving(served))


@apply.command()
@example("argus tune apply expand --index index/ --kb kb.jsonl --tau 1")
@with_blocks
def expand(
    index: Repaired,
    reference: ReferenceConfig,
    risk: Risk,
    proof: Proof,
    expansion: ExpandConfig,
    json: o.AsJson = False,
) -> None:
    """Add views that join documents at risk with what a knowledge base says of their entities.

    No language model is needed. The same repair is never added twice; `argus tune undo`
    takes it out again. Repairing only what is at risk loses most of what repairing all documents
    gains (docs/results/what-reachability-tells.md); `argus tune apply blend` repairs all.
    """
    from argus.remedies.expansion import expand_index

    result = expand_index(
        index, reference=reference, config=expansion,
        probe=risk.probe, encoder=risk.encoder, tau=risk.tau, device=risk.device,
        queries=proof.queries, qrels=proof.qrels, corpus=proof.corpus, k=proof.k, out=proof.out,
    )  # fmt: skip
    show_remedy(result, json)


@apply.command()
@example("argus tune apply synthesize --index index/ --kb kb.jsonl --tau 1")
@with_blocks
def synthesize(
    index: Repaired,
    reference: ReferenceConfig,
    risk: Risk,
    model: LanguageModel,
    engine: EngineConfig | None,
    proof: Proof,
    estimate: o.Estimate = False,
    *,
    settings: SynthesizeSettings,
    json: o.AsJson = False,
) -> None:
    """Add one text per document at risk, with short descriptions after first mentions.

    Without --model the knowledge base's own short descriptions are inserted. Whatever a model
    answers, only the document itself with descriptions of at most five words, that the knowledge
    base supports, is ever indexed; other answers are listed, and the original stays. Repairing only
    what is at risk loses most of what repairing all documents gains; --tau 1 takes all.
    """
    from argus.remedies.synthesis import estimate_synthesis, synthesize_index

    synthesis = _synthesis(model, settings)
    if estimate:
        prompts = estimate_synthesis(
            index, reference=reference, config=synthesis,
            probe=risk.probe, encoder=risk.encoder, tau=risk.tau, device=risk.device,
        )  # fmt: skip
        print_estimate(prompts, json)
        return
    result = synthesize_index(
        index, reference=reference, config=synthesis, engine=engine,
        probe=risk.probe, encoder=risk.encoder, tau=risk.tau, device=risk.device,
        queries=proof.queries, qrels=proof.qrels, corpus=proof.corpus, k=proof.k, out=proof.out,
    )  # fmt: skip
    show_remedy(result, json)


def _synthesis(model: LanguageModel, settings: SynthesizeSettings) -> SynthesizeConfig:
    """Return the settings with their model. InputError for one that would change nothing."""
    writer = model.config()
    if writer is None and settings.accept_unanswered:
        raise needs_model(["--accept-unanswered"])
    if writer is not None and settings.min_similarity is not None:
        raise InputError(
            "--min-similarity with --model",
            expected="one of them: a model is shown the passages and told to check the context",
            fix="Leave --min-similarity out.", where="--min-similarity",
        )  # fmt: skip
    return settings.by(writer)


def print_estimate(estimate: Estimate, as_json: bool) -> None:
    """Print how much a run would ask and cost at most."""
    if as_json:
        o.print_json(asdict(estimate))
        return
    typer.echo(str(estimate))


def show_remedy(result: RemedyResult[Mapping[str, object]], as_json: bool) -> None:
    """Print a receipt, with the evaluation where there is one, and how it is undone."""
    if as_json and result.evaluation:
        o.print_json({**result.summary, "evaluation": result.evaluation})
        return
    undo = o.command("tune", "undo", result.remedy, "--index", result.summary["index"])
    o.show(result, as_json=as_json, then=f"To undo it: {undo}")


@example("argus tune undo expand-robust-3f2a91c4 --index index/")
@with_blocks
def undo(
    remedy: Annotated[str, typer.Argument(help="Id of the remedy, as its receipt names it.")],
    place: RepairedPlace,
    json: o.AsJson = False,
) -> None:
    """Remove exactly what a remedy added to an index, or its records from a store."""
    if place.store is not None:
        from argus.remedies.store_writing import rollback_in_store

        gone = rollback_in_store(place.store, remedy, into=place.into, opening=place.opening)
        return o.print_json(gone) if json else show_rollback(gone)
    from argus.remedies.undo import rollback as run

    note = run(place.folder, remedy)
    if json:
        return o.print_json(note)
    if note.get("already"):
        return typer.echo(f"{remedy} was rolled back already ({note['at']}); nothing was removed")
    views = note["views_removed"]
    what = f"{views:,} views of {remedy}" if views else f"{remedy}, which had no views,"
    typer.echo(f"removed {what} from {place.index}")
    for other in note["relied_on_by"]:
        typer.echo(f"{other} left out views that this one held: run its command again to add them")


@example("argus tune list --index index/")
@with_blocks
def list_(place: RemedyPlace, json: o.AsJson = False) -> None:
    """Show the remedies in an index, oldest first; or those in a store, by id."""
    if place.store is not None:
        from argus.remedies.store_writing import list_in_store

        listed = list_in_store(place.store, into=place.into, opening=place.opening)
    else:
        from argus.remedies.undo import list_remedies

        listed = list_remedies(place.folder)
    if json:
        return o.print_json(listed)
    show_listed(listed, place.name)


@dataclass(frozen=True, kw_only=True)
class LearntFrom:
    """Options that say where needs come from: one of --profiles, --needs and --from."""

    profiles: o.NeedProfiles = None
    needs: Annotated[
        Path | None,
        Doc("Queries that say what documents are needed for; with --needs-qrels."),
    ] = None
    needs_qrels: Annotated[
        Path | None, Doc("Which documents each of --needs is for, as judgements.")
    ] = None
    learn_from: Annotated[
        Unlabelled | None,
        Doc(
            "titles, or sentences held out of documents, where nobody wrote needs. It did not "
            "carry over to questions where that was measured."
        ),
        Option(("--from",)),
    ] = None
    coerce_ids: CoerceIds = False


@apply.command()
@example("argus tune apply adapt --index index/ --profiles profiles/")
@with_blocks
def adapt(
    index: Repaired,
    source: LearntFrom,
    settings: AdaptConfig,
    proof: Annotated[Proof, Without("k")],
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    json: o.AsJson = False,
) -> None:
    """Learn a correction of all queries from what some documents are needed for.

    A repair that reaches beyond the documents that it was learnt from: no view is added, every
    query is moved a little, q' = unit(q + α·U Wᵀ q). Needs that are held out stop the learning and
    decide how far queries are moved; where they do not improve beyond chance, nothing is
    prescribed. `argus tune undo` takes it out again.
    """
    from argus.scenarios.adapt.job import adapt_index

    result = adapt_index(
        index, profiles=source.profiles, needs=source.needs, needs_qrels=source.needs_qrels,
        learn_from=source.learn_from, config=settings, encoder=encoder, device=device,
        queries=proof.queries, qrels=proof.qrels, corpus=proof.corpus, out=proof.out,
        coerce_ids=source.coerce_ids,
    )  # fmt: skip
    if result.summary["prescribed"]:
        show_remedy(result, json)
    else:
        o.show(result, as_json=json)


@example("argus tune try --index index/ --queries queries.jsonl --qrels qrels.tsv")
@with_blocks
def try_(
    *,
    index: Repaired,
    judging: Judging,
    chunks: ChunkedCorpus,
    profiles: o.NeedProfiles = None,
    reference: ReferenceConfig | None,
    model: LanguageModel,
    measure: RepairConfig,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    json: o.AsJson = False,
) -> None:
    """Try the remedies there are on a copy of an index, and keep what is proven to help.

    Judged questions judge, cross-validated: none both chooses and tells. Without them, information
    needs that are held out do: of --profiles, or written by --model for a sample of the documents.
    Without either the blend is added, and said to be the default. What harms is never kept.
    """
    from argus.repair.job import repair_index
    from argus.scenarios.profiles.config import ProfileSettings

    writer = model.config()
    result = repair_index(
        index, queries=judging.queries, qrels=judging.qrels, profiles=profiles,
        chunks=chunks, reference=reference,
        writer=None if writer is None else ProfileSettings().by(writer),
        config=measure, encoder=encoder, device=device, out=judging.out,
    )  # fmt: skip
    o.show(result, as_json=json)
