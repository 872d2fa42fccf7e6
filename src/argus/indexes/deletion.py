"""Deleting documents from an index, and finishing what a killed deletion began."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from argus.data.folders import ArtifactFolder
from argus.data.reading import read_record
from argus.errors import InputError
from argus.indexes.views import ViewIndex

NOTE = "deleting.json"


class DeletionNote(TypedDict):
    """What is being deleted: documents, and how many views they have."""

    ids: list[str]
    views: int


def delete_views(index: ViewIndex, ids: Sequence[str], folder: ArtifactFolder) -> int:
    """Remove all views of documents in one commit; return how many.

    A note of it stays in the folder until `end_deletion`: where a run was killed behind the commit,
    the documents are gone, and the same deletion is done. InputError names unknown ids.
    """
    doc_ids = sorted(set(ids))
    there = index.texts()["doc_id"]
    views = _count(there, doc_ids)
    begun = _begun(folder)
    if begun is not None and begun["ids"] == doc_ids and not views:
        index.delete_documents(())  # a writer, which removes what the killed one left half written
        return begun["views"]
    if not set(doc_ids) - set(there):
        folder.write_json(NOTE, DeletionNote(ids=doc_ids, views=views))
    return index.delete_documents(doc_ids)


def end_deletion(folder: ArtifactFolder) -> None:
    """Remove the note: the deletion has been told."""
    (folder / NOTE).unlink(missing_ok=True)


def _count(there: Sequence[str], ids: Sequence[str]) -> int:
    deleted = set(ids)
    return sum(doc in deleted for doc in there)


def _begun(folder: ArtifactFolder) -> DeletionNote | None:
    try:
        note = folder.read_json(NOTE)
        return read_record(DeletionNote, note, where=folder / NOTE) if note else None
    except InputError:
        return None  # damaged: what is there now decides
