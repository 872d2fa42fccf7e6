"""Write a remedy's records in batches: what is in the store tells what is left to do."""

from __future__ import annotations

from collections.abc import Mapping

from argus.errors import ArgusError
from argus.progress import progress
from argus.remedies.writing.collection import READ, ids_of
from argus.remedies.writing.records import RemedyRecords
from argus.stores.protocol import Payload, WritableStore
from argus.stores.records import is_of_remedy

MOST, NUMBERS = 1_000, 400_000
"""Records, and numbers of vectors, that are sent at once: servers bound a request's size."""
BYTES = 8_000_000
"""Of payloads as JSON that are sent at once."""


def write(
    store: WritableStore, records: RemedyRecords, payloads: Mapping[str, Payload], *, undo: str
) -> None:
    """Write the records that are not in the store yet; no other record is touched.

    payloads: of the parents, by id. undo: the command that takes the records out. Raises ArgusError
    where the store fails; it says how many are in it then: the same call again writes the rest.
    """
    before = frozenset(ids_of(store, records.remedy))
    size = max(1, min(MOST, NUMBERS // max(1, records.vectors.shape[1])))
    done = len(before)
    with progress(f"writing into {store.name}", len(records), done=done) as advance:
        for batch in records.batches(store, payloads, size, weight=BYTES, without=before):
            try:
                store.upsert(batch)
            except ArgusError as error:
                raise _stopped(records, done, undo, error) from error
            done += len(batch.ids)
            advance(len(batch.ids))


def _stopped(records: RemedyRecords, done: int, undo: str, error: ArgusError) -> ArgusError:
    return ArgusError(
        f"{error}\n{done:,} of {len(records):,} records of {records.remedy} are in it, and no "
        "record of yours was changed. Run the same command again to write the rest, or "
        f"`{undo}` to take them out."
    )


def parent_payloads(store: WritableStore) -> dict[str, Payload]:
    """Return the payloads of the user's records, by id."""
    return {
        id_: payload
        for ids, payloads in store.payloads(READ)
        for id_, payload in zip(ids, payloads, strict=True)
        if not is_of_remedy(payload)
    }
