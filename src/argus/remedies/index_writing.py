"""`argus remedy write`: write an index and its remedies beside the documents of a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.indexes.header import IndexSpec, parse_index_spec
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import Record
from argus.remedies.store_records import state_records
from argus.remedies.store_writing import (
    JOB,
    WrittenResult,
    WrittenSource,
    deliver,
    make_home,
    parent_payloads,
)  # fmt: skip
from argus.stores.opening import open_store
from argus.stores.protocol import Payload, Store, WritableStore, writable
from argus.stores.records import values_of
from argus.stores.spec import StoreConfig


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
    """Write the documents of an index and its remedies' views beside a store's records.

    index: its path, or `PATH@STATE`. store: `KIND:PLACE/COLLECTION` of the same documents, or an
    opened one. Its records stay as they are. into: the collection of the new records. None makes
    NAME_argus. id_field: the field of the store's records that holds the ids of the index. None
    uses the records' own. out: folder for the receipt. A run that was stopped goes on when it is
    called again. A correction of queries and BM25 are no part of records: `BlendedRetriever` takes
    them from the index. Raises InputError for bad input, and if the store has none of the
    documents. Raises ArgusError if it cannot be written.
    """
    spec, folder = parse_index_spec(index), ArtifactFolder(Path(out), fresh=fresh)
    opened = ViewIndex.open(spec.path)
    if not opened.header.unit:
        raise InputError(
            f"vectors that are compared by {opened.header.similarity}",
            expected="cosine: the records are scaled",
            fix="Embed the documents with such an encoder, or serve the index itself.",
            where=opened.path,
        )
    state, weight = opened.snapshot(spec.as_of), opened.weight(spec.as_of)
    with open_store(store, opening) as there:
        base = writable(there)
        config: dict[str, object] = {"index": str(spec), "store": base.name, "into": into}
        record = Record(
            JOB, config | {"id_field": id_field}, {"index": spec.path},
            {"fingerprint": opened.header.asked_with},
        )  # fmt: skip
        if (dim := base.describe().dim) not in (0, opened.dim):  # 0: the store is empty
            raise InputError(
                f"vectors of {dim} dimensions",
                expected=f"{opened.dim}, as {opened.path} has",
                fix="Name the store of the same documents and encoder, or serve the index itself.",
                where=base.name,
            )
        payloads = parent_payloads(base)
        parents = _find_parents(payloads, id_field, state, base)
        target = make_home(base, into)
        folder.open()
        penalty, blend = state.layout().penalty, state.blend
        ids = state.columns["id"].to_pylist()
        made_of = (  # equal records share an id
            opened.fingerprint,
            json.dumps([None if blend is None else blend.weight, weight, ids]),
            state.vectors.tobytes(),
            b"" if penalty is None else penalty.tobytes(),
            json.dumps(payloads, sort_keys=True, default=str),
        )
        name = f"index-{content_hash(*made_of, size=4).hex()}"
        records = state_records(name, state, weight, opened.fingerprint).of(parents)
        recipe = opened.recipe(spec.as_of)
        # A blend may have no views. A correction is of queries, and no part of records.
        blends = recipe.remedies[:1] if recipe.blend is not None else ()
        source: WrittenSource = {
            "index": str(spec),
            "remedies": sorted({*state.columns["remedy"].to_pylist(), *blends} - {""}),
            "settings": None if blend is None else asdict(blend),
            "weight": weight if state.scenario_rows is not None else None,
            "left_out": len(state) - len({*records.parents}),
            "sentences": None,
        }
        return deliver(
            base, target, into, records, payloads, source, repr(str(spec)),
            folder=folder, record=record, id_field=id_field,
        )  # fmt: skip


def _find_parents(
    payloads: Mapping[str, Payload], id_field: str | None, state: Snapshot, store: WritableStore
) -> dict[str, str]:
    """Return the store's record of each document of the index.

    Raises InputError if the store has none of them, or several records of one.
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
