"""`argus remedy write`: what an index holds of remedies, beside the documents of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.remedy_place import RECEIPTS, Into, collection_of
from argus.data.fields import FieldNames
from argus.settings import Doc, Option, check_settings
from argus.stores.config import PANEL, StoreConfig


@dataclass(frozen=True, kw_only=True)
class WrittenPlace:
    """The store of the documents, and the collection that takes the records."""

    store: Annotated[
        str,
        Doc("KIND:PLACE/COLLECTION of the same documents; its records stay as they are."),
        Option(("--store",), panel=PANEL),
    ]
    into: Annotated[Into, o.Output(collection_of)] = None
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __post_init__(self) -> None:
        check_settings(self)


@example("argus remedy write --index index/ --store chroma:store/docs")
@with_blocks
def write(
    index: o.IndexState,
    place: WrittenPlace,
    columns: Annotated[FieldNames, Without("title", "text", "coerce_ids", "template")],
    out: Annotated[Path, Doc("Folder for the receipt."), o.OUTPUT] = RECEIPTS,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Write what remedies added to an index beside the documents of a store.

    Documents, sentences, scenarios and expansions become records of a collection of their own. A
    record scores cosine · argus_scale - argus_penalty, and the best of a document's is what the
    index gives it. --id-field names the field of the store's records that holds the ids of the
    index, where they are not its own ids. BM25 and a correction of queries are no part of
    records; argus.BlendedRetriever takes them of the index. The documents stay as they are, and
    `argus remedy rollback ID --store` takes the records out again.
    """
    from argus.remedies.writing.of_index import write_index

    written = write_index(
        index, place.store, into=place.into, opening=place.opening,
        id_field=columns.id, out=out,
    )  # fmt: skip
    o.show(written, as_json=json, then="\n".join(written.last_lines()))
