"""Take a remedy's records out of a store again, and list the remedies in it."""

from __future__ import annotations

from argus.data.provenance import utc_now
from argus.progress import progress
from argus.remedies.repair.summary import ListedRemedy
from argus.remedies.writing.collection import home, ids_of, open_home, remedies_in, unknown_remedy
from argus.remedies.writing.mixtures import DOCUMENT
from argus.remedies.writing.summary import StoreRollback
from argus.stores.opening import open_store
from argus.stores.protocol import Store, writable
from argus.stores.spec import StoreConfig

REMOVED = 1_000
"""Records that are removed at once."""


def rollback_in_store(
    store: str | Store, remedy: str, *, into: str | None = None, opening: StoreConfig | None = None
) -> StoreRollback:
    """Remove exactly a remedy's records; and their collection, if Argus made it and it is empty.

    store: that of the documents; into: the collection of the records, if it was named. What was
    stopped goes on when it is called again. Raises InputError, naming the remedies that there are,
    for an unknown one; ArgusError where the store fails.
    """
    with open_store(store, opening) as opened:
        base = writable(opened)
        there = open_home(base, into)
        ids = ids_of(there, remedy) if there else []
        if there is not None:
            with progress(f"removing from {there.name}", len(ids)) as advance:
                for start in range(0, len(ids), REMOVED):
                    part = ids[start : start + REMOVED]
                    there.delete(part)
                    advance(len(part))
        is_own = there is not None and there is not base
        dropped = is_own and base.drop_sibling(home(base, into))
        if not ids and not dropped:
            known = list(remedies_in(there)) if there else []
            raise unknown_remedy(remedy, known, base, into)
        assert there is not None
        return {
            "remedy": remedy,
            "collection": there.name,
            "records_removed": len(ids),
            "collection_removed": dropped,
            "at": utc_now(),
        }


def list_in_store(
    store: str | Store, *, into: str | None = None, opening: StoreConfig | None = None
) -> list[ListedRemedy]:
    """Return the remedies whose records are in a store, by id."""
    with open_store(store, opening) as opened:
        there = open_home(writable(opened), into)
        if there is None:
            return []
        dim = there.describe().dim
        return [
            {
                "id": remedy,
                "kind": remedy.partition("-")[0],
                "at": None,
                "views": sum(kind != DOCUMENT for _, kind in entries),
                "documents": len({parent for parent, _ in entries}),
                "bytes": 4 * dim * len(entries),
            }
            for remedy, entries in remedies_in(there).items()
        ]
