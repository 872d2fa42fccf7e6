"""List the remedies in an index and take one out exactly. Keep the notes that this needs.

Each remedy has a folder `remedies/ID` in the index. made.json says how its views came about,
recorded.json that its command ran to the end, and rolled_back.json that they are gone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.data.reading import WRITTEN, reading
from argus.errors import InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.views import ViewIndex

MADE, RECORDED, ROLLED_BACK = "made.json", "recorded.json", "rolled_back.json"
AS_WRITTEN = "the file as Argus wrote it"


def read_origin(folder: ArtifactFolder) -> dict[str, Any]:
    """Read made.json: how the views of a remedy came about. Returns {} without the file.

    Raises InputError for a damaged one. From `preset` on each kind of remedy has keys of its own.

    kind: kind of the remedy.
    at: when it was made, UTC.
    views_failed: views that could not be embedded and are left out.
    views_known: views left out, since their documents have views with that text.
    views_beyond_cap: views left out, since their documents have as many as they may.
    tables: tables in the folder of the remedy.
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
    paper: under the preset `paper`, its differences from the paper.
    """
    made = folder.read_json(MADE)
    with reading(folder / MADE, "is damaged", expected=AS_WRITTEN, fix=WRITTEN):
        ", ".join([*made.get("tables", ()), *made.get("relied_on", ())])
    return made


def find_origin(folder: ArtifactFolder) -> dict[str, Any]:
    """Read made.json. Returns {} for a missing or damaged file."""
    try:
        return read_origin(folder)
    except InputError:
        return {}


def is_recorded(home: ArtifactFolder, remedy: str, index: ViewIndex, *, by_recipe: bool) -> bool:
    """Return whether a remedy is in an index and its command ran to the end.

    home: the remedy's folder in the index. by_recipe: look for its recipe, not for its views. After
    a kill a remedy may be there unrecorded. The next run then reports the whole command, though it
    may have nothing more to write. Removes the mark of a remedy that was rolled back.
    """
    recipes = {r.remedy for r in index.header.recipes}
    there = remedy in (recipes if by_recipe else {r.id for r in index.remedies() if r.views})
    if not there:
        (home / RECORDED).unlink(missing_ok=True)
    return (home / RECORDED).is_file()


def write_recorded(home: ArtifactFolder) -> None:
    """Mark a remedy's command as run to the end, in its folder in the index."""
    home.write_json(RECORDED, {"at": utc_now()})


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
    there = {r.id: r.views for r in views.remedies()}
    folder = ArtifactFolder(views.path / REMEDIES / remedy)
    earlier: dict[str, Any] = {}
    if folder.path.name == remedy:
        earlier = folder.read_json(ROLLED_BACK)
    begun = not earlier.pop("finished", True)  # and then killed
    if earlier and remedy not in there:
        if not begun:
            return {**earlier, "already": True}
        folder.write_json(ROLLED_BACK, earlier)
        return earlier
    removed = there.get(remedy, 0)
    if begun and not removed:
        with reading(folder / ROLLED_BACK, "is damaged", expected=AS_WRITTEN, fix=WRITTEN):
            removed = int(earlier["views_removed"])
    origins = {name: find_origin(ArtifactFolder(views.path / REMEDIES / name)) for name in there}
    note = {
        "remedy": remedy,
        "views_removed": removed,
        "at": utc_now(),
        "relied_on_by": [n for n, made in origins.items() if remedy in made.get("relied_on", ())],
    }
    if folder.path.is_dir() and remedy in there:
        folder.write_json(ROLLED_BACK, {**note, "finished": False})
    try:
        note["views_removed"] = views.rollback(remedy) or removed
    except InputError:
        if remedy not in there or remedy in {r.id for r in ViewIndex.open(index).remedies()}:
            raise
        return rollback(index, remedy)  # another process removed it meanwhile
    if folder.path.is_dir():
        folder.write_json(ROLLED_BACK, note)
    return note


def list_remedies(index: Path | str) -> list[dict[str, Any]]:
    """Return the remedies in an index, oldest first.

    id: id of the remedy.
    kind: kind of the remedy. None if its folder no longer says.
    at: when it was added, UTC. None likewise.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts and vectors.
    """
    views = ViewIndex.open(index_folder(index))
    listed = []
    for remedy in views.remedies():
        origin = find_origin(ArtifactFolder(views.path / REMEDIES / remedy.id))
        made = {"id": remedy.id, "kind": origin.get("kind"), "at": origin.get("at")}
        counts = {"views": remedy.views, "documents": remedy.documents, "bytes": remedy.bytes}
        listed.append(made | counts)
    return listed
