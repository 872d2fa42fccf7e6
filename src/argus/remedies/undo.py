"""List the remedies in an index and take one out exactly (`argus tune list`, `argus tune undo`).

Each remedy has a folder `remedies/ID` in the index. made.json says how its views came about, and
rolled_back.json that they are gone. Remedies in a vector store: `argus.remedies.store_writing`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.views import ViewIndex

MADE, ROLLED_BACK = "made.json", "rolled_back.json"


def read_origin(folder: ArtifactFolder) -> dict[str, Any]:
    """Read made.json: how the views of a remedy came about. Returns {} without the file.

    From `preset` on each kind of remedy has keys of its own.

    kind: kind of the remedy.
    at: when it was made, UTC.
    views_failed: views that could not be embedded and are left out.
    views_known: views left out, since their documents have views with that text.
    views_beyond_cap: views left out, since their documents have as many as they may.
    relied_on: remedies whose views were left out here.
    preset: paper or robust.
    passages_found: passages that fit a mention by name.
    passages_without_vector: of these, passages or mentions without a vector.
    passages_refused: of these, passages unlike the mention.
    written_by: model that wrote the texts.
    documents: documents by the state of their synthesis.
    insertions: descriptions that were put into texts.
    fallen_back: documents that keep their original alone, by reason.
    language_model: prompts, tokens and cost of the model.
    component: part of a scenario that is a view.
    """
    return folder.read_json(MADE)


def is_in_index(index: ViewIndex, remedy: str, *, by_recipe: bool) -> bool:
    """Return whether an index has a remedy. by_recipe: look for its recipe, not for its views."""
    recipes = {r.remedy for r in index.header.recipes}
    return remedy in (recipes if by_recipe else {r.id for r in index.remedies() if r.views})


def rollback(index: Path | str, remedy: str) -> dict[str, Any]:
    """Remove exactly the views of a remedy and mark its folder in the index.

    Returns the note of the removal, which is also in rolled_back.json. A second call removes
    nothing. Raises InputError, naming the remedies there are, for an unknown one.

    remedy: id of the remedy.
    views_removed: views that were removed.
    at: when it was rolled back, UTC.
    relied_on_by: remedies that left out views which this one held. Run them again to add these.
    already: true if an earlier call removed them, otherwise absent.
    """
    views = ViewIndex.open(index_folder(index))
    folder = ArtifactFolder(views.path / REMEDIES / remedy)
    there = {r.id for r in views.remedies()}
    was_there = remedy not in there and folder.path.name == remedy
    if was_there and (earlier := folder.read_json(ROLLED_BACK)):
        return {**earlier, "already": True}
    notes = {name: read_origin(ArtifactFolder(views.path / REMEDIES / name)) for name in there}
    note = {
        "remedy": remedy,
        "views_removed": views.rollback(remedy),
        "at": utc_now(),
        "relied_on_by": [n for n, made in notes.items() if remedy in made.get("relied_on", ())],
    }
    if folder.path.is_dir():
        folder.write_json(ROLLED_BACK, note)
    return note


def list_remedies(index: Path | str) -> list[dict[str, Any]]:
    """Return the remedies in an index, oldest first.

    id: id of the remedy.
    kind: kind of the remedy. None if it has no folder.
    at: when it was added, UTC. None likewise.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts and vectors.
    """
    views = ViewIndex.open(index_folder(index))
    listed = []
    for remedy in views.remedies():
        origin = read_origin(ArtifactFolder(views.path / REMEDIES / remedy.id))
        made = {"id": remedy.id, "kind": origin.get("kind"), "at": origin.get("at")}
        counts = {"views": remedy.views, "documents": remedy.documents, "bytes": remedy.bytes}
        listed.append(made | counts)
    return listed
