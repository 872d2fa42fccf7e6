"""Declare the commands of `argus tune`: try ways to search, apply one, list them, undo them.

`argus.repair` tries them and `argus.remedies` applies them. `undo`, `list_`, `arm` and `blend` are
written here, because they work on an index or on a vector database alike (`RemedyPlace`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group
from argus.cli.signatures import with_blocks
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus, refuse_beside
from argus.indexes.blend import Blend
from argus.jobs import options as o
from argus.remedies.config import SentenceSettings
from argus.settings import INDEX, OUTPUT, Doc, Options, Without, Writes, check_settings
from argus.stores.spec import StoreConfig, refuse_unread
from argus.visible import aligned


def collection_of(options: Mapping[str, object]) -> str | None:
    """Return where a remedy's records are kept, for the message after Ctrl-C."""
    from argus.stores.spec import parse_store

    store = options["store"]
    return None if store is None else str(parse_store(str(store)))


_Index = Annotated[Path | None, Doc("Folder from argus index build; or else --store."), INDEX]
Into = Annotated[
    str | None, Doc("Collection of the store for a remedy's records; default: COLLECTION_argus.")
]


@dataclass(frozen=True, kw_only=True)
class RemedyPlace:
    """An index, or a store with the collection that holds its remedies' records.

    Attributes:
        store: In place of an index: KIND:PLACE/COLLECTION of the documents.
    """

    index: _Index = None
    store: str | None = None
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
            refuse_beside("--index", "an index keeps its remedies itself", into=self.into)

    @property
    def folder(self) -> Path:
        """The index."""
        assert self.index is not None
        return self.index


@dataclass(frozen=True, kw_only=True)
class RepairedPlace(RemedyPlace):
    """One that is changed."""

    index: Annotated[_Index, OUTPUT] = None
    into: Annotated[Into, Writes(collection_of)] = None


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
        if json:
            return output.print_json(gone)
        removed = f"{gone['records_removed']:,} records of {gone['remedy']}"
        typer.echo(f"removed {removed} from {gone['collection']}")
        if gone["collection_removed"]:
            typer.echo("the collection was Argus's own and is empty: it is gone as well")
        return None
    from argus.remedies.undo import rollback as run

    note = run(place.folder, remedy)
    if json:
        return output.print_json(note)
    if note.get("already"):
        return typer.echo(f"{remedy} was rolled back already ({note['at']}); nothing was removed")
    views = note["views_removed"]
    what = f"{views:,} views of {remedy}" if views else f"{remedy}, which had no views,"
    typer.echo(f"removed {what} from {place.index}")
    for other in note["relied_on_by"]:
        typer.echo(f"{other} left out views that this one held: run its command again to add them")


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
        return output.print_json(listed)
    if not listed:
        return typer.echo("no remedy in it")
    shown = [("id", "kind", "when (UTC)", "views", "documents")]
    for r in listed:
        counts = (f"{r['views']:,}", f"{r['documents']:,}")
        shown.append((r["id"], r["kind"] or "?", r["at"] or "?", *counts))
    output.print_lines(aligned(shown))


Target = Annotated[
    str | None,
    Doc("Print the code for: python, langchain, llamaindex, qdrant, lancedb, milvus, "
        "elasticsearch, opensearch, weaviate."),
]  # fmt: skip


@with_blocks
def arm(
    arm: Annotated[str, typer.Argument(help="Name of an arm: DBSF, 'min-max 0.3', texts:FILE ...")],
    place: RepairedPlace,
    chunks: ChunkedCorpus,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    target: Target = None,
    out: Annotated[Path | None, OUTPUT] = None,
    encoder: o.EncoderName = None,
    device: Device = None,
    *,
    json: o.AsJson = False,
) -> None:
    """Add an arm of argus tune try to an index, and print the code of a fusion for an application.

    A fusion changes how the index is searched, nothing in it. Any other arm is added as the last
    trial of the index measured it. `argus tune undo` takes it out again. With --store, a fusion is
    printed as the store's own query, and nothing is written.

    Args:
        out: Folder for the receipt; default: in the index.
    """
    from argus.tuning.arms import APPLICABLE, FUSION_ARMS
    from argus.tuning.native import code_of

    if place.store is not None:
        if arm not in FUSION_ARMS:
            raise InputError(
                f"{arm!r} and a store", expected=f"blend, or one of {', '.join(FUSION_ARMS)}",
                fix="Name an index for the others.", where="ARM",
            )  # fmt: skip
        return output.print_lines(code_of(arm, target, place.store, place.opening.vector_field))
    if arm not in APPLICABLE:
        from argus.repair import RepairConfig
        from argus.repair.job import repair_index

        tried = repair_index(
            place.folder, arm=[arm.partition(" by ")[0]], config=RepairConfig(apply=arm),
            encoder=encoder, device=device, out=out,
        )  # fmt: skip
        return output.show(tried, as_json=json)
    from argus.remedies.blend import blend_index

    result = blend_index(
        place.folder, APPLICABLE[arm], encoder=encoder, device=device, chunks=chunks,
        queries=queries, qrels=qrels, out=out,
    )  # fmt: skip
    output.show(result, as_json=json)
    if arm in FUSION_ARMS and not json:
        output.print_lines(code_of(arm, target, place.store, place.opening.vector_field))


@with_blocks
def blend(
    place: RepairedPlace,
    blend: Annotated[Blend, Without("fusion", "by_question")],
    sentences: SentenceSettings,
    chunks: ChunkedCorpus,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    out: Annotated[Path | None, OUTPUT] = None,
    encoder: o.EncoderName = None,
    device: Device = None,
    *,
    embedding: Annotated[  # without settings that are named otherwise, or seldom
        EncoderConfig | None,
        Options(EncoderConfig, optional=True),
        Without("model", "device", "batch_size", "concurrency"),
    ] = None,
    json: o.AsJson = False,
) -> None:
    """Mix sentences and BM25 into the search of an index.

    All documents get a view of title and sentence for each of their sentences. No label and no
    language model is needed; it is the repair that helped without them. `argus tune undo` takes it
    out again.

    With --store the views are written as records into a collection beside the documents, which
    stay as they are; then the store is asked for what was written.

    Args:
        out: Folder for the receipt; default: in the index; of a store: argus-out.
    """
    if place.store is not None:
        refuse_beside("--store", "an index is judged", queries=queries, qrels=qrels)
        if encoder is None:
            raise InputError(
                "a store without its encoder", expected="the model that made its vectors",
                fix="Name it with --encoder, such as all-MiniLM-L6-v2.", where="--encoder",
            )  # fmt: skip
        from argus.remedies.store_blend import blend_store

        written = blend_store(
            place.store, blend, sentences=sentences, into=place.into, opening=place.opening,
            encoder=replace(embedding or EncoderConfig(), model=encoder, device=device),
            fields=chunks.fields, out=out or o.OUT,
        )  # fmt: skip
        return output.show(written, as_json=json)
    refuse_beside("--index", "an index names its encoder", **{"document-prompt": embedding})
    from argus.remedies.blend import blend_index

    result = blend_index(
        place.folder, blend, sentences=sentences, encoder=encoder, device=device, chunks=chunks,
        queries=queries, qrels=qrels, out=out,
    )  # fmt: skip
    output.show(result, as_json=json)
    if not json:
        from argus.remedies.store_writing import blended_retriever, describe_serving

        output.print_lines(["To serve it over a retriever of your own, in Python:"])
        served = blended_retriever("my_retriever", repr(str(place.folder)))
        output.print_lines(describe_serving(served))


apply = Group(
    "Add an arm of argus tune try, with a receipt: argus tune apply ARM.",
    first="arm",
    entries=(
        Entry(
            "arm", "tune:arm", "A fusion by its name, or an arm of the last trial.",
            example="argus tune apply arm DBSF --index index/",
        ),
        Entry(
            "blend", "tune:blend", "The default: mix sentences and BM25 in.",
            example="argus tune apply blend --index index/",
        ),
        Entry(
            "expand", "argus.remedies.expansion:expand_index",
            "Join documents at risk with what a knowledge base says.",
            example="argus tune apply expand --index index/ --kb kb.jsonl --tau 1",
        ),
        Entry(
            "synthesize", "argus.remedies.synthesis:synthesize_index",
            "Insert short descriptions of entities.",
            example="argus tune apply synthesize --index index/ --kb kb.jsonl --tau 1",
            estimate="argus.remedies.synthesis:estimate_synthesis",
        ),
        Entry(
            "adapt", "argus.scenarios.adapt:adapt_index", "Learn a correction of all queries.",
            example="argus tune apply adapt --index index/ --profiles profiles/",
        ),
        Entry(
            "write", "argus.remedies.store_writing:write_index",
            "Write what remedies added into a store.",
            example="argus tune apply write --index index/ --store chroma:store/docs",
        ),
        Entry(
            "scenarios", "argus.scenarios.remedy:add_scenarios",
            "Index what documents are needed for (SPIKE).",
            example="argus tune apply scenarios --index index/ --profiles profiles/",
        ),
    ),
)  # fmt: skip
app = Group(
    "Try what may help a retriever, keep what is proven, undo it.",
    entries=(
        Entry(
            "try", "argus.repair.job:repair_index", "What to change, and what it is worth.",
            estimate="argus.repair.job:estimate_trial",
            example="argus tune try --index index/ --queries queries.jsonl --qrels qrels.tsv",
        ),
        Entry(
            "judge", "argus.tuning.judge:judge_pool", "Judge questions; see what they decide.",
            example="argus tune judge --index index/ --queries log.jsonl --out judged/",
        ),
        Entry("apply", "tune:apply", "Add an arm, with a receipt; print its code."),
        Entry(
            "list", "tune:list_", "Show the remedies in an index or a store.",
            example="argus tune list --index index/",
        ),
        Entry(
            "undo", "tune:undo", "Remove exactly what a remedy added.",
            example="argus tune undo expand-robust-3f2a91c4 --index index/",
        ),
    ),
)  # fmt: skip
