"""`argus tune apply`: remedies that change an index, or are written into a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from argus.cli import output
from argus.cli.groups import Entry, Group
from argus.cli.signatures import with_blocks
from argus.cli.tune import RepairedPlace, refuse, show_remedy
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.indexes.blend import Blend
from argus.jobs import options as o
from argus.remedies.config import SentenceSettings
from argus.settings import OUTPUT, Options, Without

apply = Group(
    "Apply one remedy to an index or a store, with a receipt.",
    entries=(
        Entry(
            "blend", "tune_apply:blend", "Mix sentences, a hub correction and BM25 in.",
            example="argus tune apply blend --index index/",
        ),
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
        Entry(
            "scenarios", "argus.scenarios.remedy:add_scenarios",
            "Index what documents are needed for (SPIKE).",
            example="argus tune apply scenarios --index index/ --profiles profiles/",
            show=show_remedy,
        ),
    ),
)  # fmt: skip
# Settings of an encoder that are not asked for beside a store: named otherwise, or seldom.
NOT_OF_STORES = ("model", "device", "trust_remote_code", "batch_size", "concurrency")


@with_blocks
def blend(
    place: RepairedPlace,
    blend: Blend,
    sentences: SentenceSettings,
    chunks: ChunkedCorpus,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    out: Annotated[Path | None, OUTPUT] = None,
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

    Args:
        out: Folder for the receipt; default: in the index; of a store: argus-out.
    """
    if place.store is not None:
        refuse({"--queries": queries, "--qrels": qrels}, "an index (--index)")
        if encoder is None:
            raise InputError(
                "a store without its encoder", expected="the model that made its vectors",
                fix="Name it with --encoder, such as all-MiniLM-L6-v2.", where="--encoder",
            )  # fmt: skip
        from argus.remedies.store_blend import blend_store

        written = blend_store(
            place.store, blend, sentences=sentences, into=place.into, opening=place.opening,
            encoder=replace(embedding or EncoderConfig(), model=encoder, device=device),
            fields=chunks.fields, parent_field=chunks.parent_field, out=out or o.OUT,
        )  # fmt: skip
        return output.show(written, as_json=json)
    refuse({"--document-prompt and the like": embedding}, "a store (--store)")
    from argus.remedies.blend import blend_index

    result = blend_index(
        place.folder, blend, sentences=sentences, encoder=encoder, device=device, chunks=chunks,
        queries=queries, qrels=qrels, out=out,
    )  # fmt: skip
    show_remedy(result, json)
    if not json:
        from argus.remedies.store_writing import blended_retriever, describe_serving

        output.print_lines(["To serve it over a retriever of your own, in Python:"])
        served = blended_retriever("my_retriever", repr(str(place.folder)))
        output.print_lines(describe_serving(served))
