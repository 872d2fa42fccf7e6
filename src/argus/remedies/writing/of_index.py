"""`remedy write`: what an index holds of remedies, written beside the documents of a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from argus.data.folders import ArtifactFolder, EncoderFacts
from argus.data.provenance import content_hash
from argus.data.reading import record_of
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.indexes.recipes import BlendRecord
from argus.indexes.snapshot import Snapshot
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import Record
from argus.remedies.serving import argument
from argus.remedies.writing.collection import make_home
from argus.remedies.writing.delivery import JOB, Destination, WrittenResult, deliver, receipt
from argus.remedies.writing.records import state_records
from argus.remedies.writing.summary import Delivered, WrittenSummary
from argus.remedies.writing.write import parent_payloads
from argus.stores.opening import open_store
from argus.stores.protocol import Payload, Store, WritableStore, writable
from argus.stores.records import values_of
from argus.stores.spec import StoreConfig

WRITTEN = "index"
"""What ids of such records begin with."""


@one_writer
def write_index(
    index: Path | str | IndexSpec,
    store: str | Store,
    *,
    into: str | None = None,
    opening: StoreConfig | None = None,
    id_field: str | None = None,
    out: Path | str = "argus-out",
    fresh: bool = False,
) -> WrittenResult:
    """Write the documents of an index and what remedies added to them beside a store's records.

    index: its path, or `PATH@STATE`. store: `KIND:PLACE/COLLECTION` of the same documents, or one
    that is opened; its records stay as they are. into: the collection of the new ones; None makes
    NAME_argus. id_field: the field of the store's records that holds the ids of the index; None
    takes the records' own. out: folder for the receipt. A run that was stopped goes on when it is
    called again. A correction of queries and BM25 are no part of records: `BlendedRetriever` has
    them of the index. Raises InputError for bad input, and
    where the store has none of the documents; ArgusError where it cannot be written.
    """
    spec, folder = parse_index_spec(index), ArtifactFolder(Path(out), fresh=fresh)
    opened = ViewIndex.open(spec.path)
    _check_cosine(opened)
    state, weight = opened.snapshot(spec.as_of), opened.weight(spec.as_of)
    with open_store(store, opening) as there:
        base = writable(there)
        config: dict[str, object] = {
            "index": str(spec),
            "store": base.name,
            "into": into,
            "id_field": id_field,
        }
        asks: EncoderFacts = {"fingerprint": opened.header.asked_with}
        record = Record(JOB, config, {"index": spec.path}, asks)
        _check_dimension(opened, base)  # before anything is read
        payloads = parent_payloads(base)
        parents = _parents(payloads, id_field, state, base)
        target = make_home(base, into)
        folder.open()
        remedy = _name(opened, state, weight, payloads)
        records = state_records(remedy, state, weight, opened.fingerprint).of(parents)
        destination = Destination(base, target, into)
        delivered = deliver(destination, records, payloads, folder.path, record)
    return receipt(destination, folder, _summary(spec, opened, state, delivered, record), record,
                   repr(str(spec)), argument("id_field", id_field))  # fmt: skip


def _check_cosine(index: ViewIndex) -> None:
    if not index.header.unit:
        raise InputError(
            f"vectors that are compared by {index.header.similarity}",
            expected="cosine: the records are scaled",
            fix="Embed the documents with such an encoder, or serve the index itself.",
            where=index.path,
        )


def _check_dimension(index: ViewIndex, store: WritableStore) -> None:
    dim = store.describe().dim
    if dim not in (0, index.dim):  # 0: nothing is in it
        raise InputError(
            f"vectors of {dim} dimensions",
            expected=f"{index.dim}, as {index.path} has",
            fix="Name the store of the same documents and encoder, or serve the index itself.",
            where=store.name,
        )


def _parents(
    payloads: Mapping[str, Payload], id_field: str | None, state: Snapshot, store: WritableStore
) -> dict[str, str]:
    """Return the store's record of each document of the index that it has.

    InputError where it has none of them, or several of one.
    """
    parents: dict[str, str] = {}
    for record, payload in payloads.items():
        values = [record] if id_field is None else values_of(payload, id_field)
        for document in map(str, values):
            if document in state and parents.setdefault(document, record) != record:
                raise InputError(
                    f"{document!r} is the {id_field} of {parents[document]!r} and {record!r}",
                    expected="one record for each document of the index",
                    fix="Name the field that tells records apart, or index the store itself: "
                    "argus index build --corpus STORE.",
                    where="--id-field",
                )
    if not parents:
        raise InputError(
            f"no record of the {len(state):,} documents of the index, such as "
            f"{state.doc_ids[0]!r}" if len(state) else "an index without documents",
            expected="the store that holds the same documents",
            fix="Check the store; --id-field names the field with the ids of the index.",
            where=store.name,
        )  # fmt: skip
    return parents


def _name(index: ViewIndex, state: Snapshot, weight: float, payloads: Mapping[str, Payload]) -> str:
    """Return the id that says what the records are made of; the same of the same."""
    penalty = state.layout().mixed.penalty
    blend = None if state.blend is None else state.blend.weight
    parts = (
        index.fingerprint,
        json.dumps([blend, weight, state.columns["id"].to_pylist()]),
        state.vectors.tobytes(),
        b"" if penalty is None else penalty.tobytes(),
        json.dumps(payloads, sort_keys=True, default=str),
    )
    return f"{WRITTEN}-{content_hash(*parts, size=4).hex()}"


def _summary(
    spec: IndexSpec, index: ViewIndex, state: Snapshot, delivered: Delivered, record: Record
) -> WrittenSummary:
    blend = state.blend
    has_scenarios = state.scenario_rows is not None
    return {
        **delivered,
        "index": str(spec),
        "remedies": sorted({*state.columns["remedy"].to_pylist(), *_recipe(index, spec)} - {""}),
        "settings": None if blend is None else record_of(BlendRecord, blend),
        "weight": index.weight(spec.as_of) if has_scenarios else None,
        "left_out": len(state) - delivered["counts"]["documents"],
        "sentences": None,
        "seconds": round(sum(record.timings_s.values()), 1),
        **record.of_store(),
    }


def _recipe(index: ViewIndex, spec: IndexSpec) -> set[str]:
    """Return the remedies of a blend, which may have no views; a correction is of queries."""
    recipe = index.recipe(spec.as_of)
    return {*recipe.remedies[:1]} if recipe.blend is not None else set()
