"""List the remedies in an index and take one out exactly. Keep the notes that this needs.

Each remedy has a folder `remedies/ID` in the index. made.json says how its views came about,
recorded.json that its command ran to the end, and rolled_back.json that they are gone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.data.reading import read_record
from argus.errors import InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.table import remove_half_written
from argus.indexes.views import ViewIndex
from argus.jobs.recorded_model import Answers
from argus.remedies.paper import PaperNotes

MADE, RECORDED, ROLLED_BACK = "made.json", "recorded.json", "rolled_back.json"
DocumentStates = TypedDict(
    "DocumentStates", {"measured": int, "failed": int, "not applicable": int}
)  # documents by the state of their synthesis


class Origin(TypedDict, total=False):
    """made.json: how the views of a remedy came about. Empty if the file is gone.

    From `preset` on each kind of remedy has keys of its own.

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
    component: part of a scenario that is a view.
    paper: under the preset `paper`, its differences from the paper.
    """

    remedy: str
    kind: str
    at: str
    views_failed: int
    views_known: int
    views_beyond_cap: int
    tables: list[str]
    relied_on: list[str]
    preset: str
    passages_found: int
    passages_without_vector: int
    passages_refused: int
    written_by: str
    documents: DocumentStates
    insertions: int
    fallen_back: dict[str, int]
    language_model: Answers
    component: str
    paper: PaperNotes


class RollbackNote(TypedDict):
    """rolled_back.json: the removal of a remedy.

    views_removed: views that were removed.
    at: when it was rolled back, UTC.
    relied_on_by: remedies that left out views which this one held.
    finished: false until the views are gone, then absent.
    already: true, in a returned note, if an earlier call removed them.
    """

    remedy: str
    views_removed: int
    at: str
    relied_on_by: list[str]
    finished: NotRequired[bool]
    already: NotRequired[bool]


class ListedRemedy(TypedDict):
    """A remedy in an index or a store.

    id: id of the remedy.
    kind: kind of the remedy. None if its folder no longer says.
    at: when it was added, UTC. None likewise.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts and vectors.
    """

    id: str
    kind: str | None
    at: str | None
    views: int
    documents: int
    bytes: int


def read_origin(folder: ArtifactFolder) -> Origin:
    """Read made.json. Returns {} without the file. Raises InputError for a damaged one."""
    return read_record(Origin, folder.read_json(MADE), where=folder / MADE)


def find_origin(folder: ArtifactFolder) -> Origin:
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
    recorded = (home / RECORDED).is_file()
    if there and not recorded:
        remove_half_written(index.path)
    return recorded


def write_recorded(home: ArtifactFolder) -> None:
    """Mark a remedy's command as run to the end, in its folder in the index."""
    home.write_json(RECORDED, {"at": utc_now()})


def rollback(index: Path | str, remedy: str) -> RollbackNote:
    """Remove exactly the views of a remedy and mark its folder in the index.

    A second call removes nothing, and its note says so. The note names the remedies that left out
    views which this one held: run them again to add these. Raises InputError, naming the remedies
    there are, for an unknown one.
    """
    views = ViewIndex.open(index_folder(index))
    there = {r.id: r.views for r in views.remedies()}
    folder = ArtifactFolder(views.path / REMEDIES / remedy)
    has_note = folder.path.name == remedy and (folder / ROLLED_BACK).is_file()
    earlier: RollbackNote | None = None
    if has_note:
        where = folder / ROLLED_BACK
        earlier = read_record(RollbackNote, folder.read_json(ROLLED_BACK), where=where)
    begun = earlier is not None and not earlier.pop("finished", True)  # and then killed
    if earlier is not None and remedy not in there:
        if not begun:
            return {**earlier, "already": True}
        remove_half_written(views.path)
        folder.write_json(ROLLED_BACK, earlier)
        return earlier
    origins = {name: find_origin(ArtifactFolder(views.path / REMEDIES / name)) for name in there}
    note: RollbackNote = {
        "remedy": remedy,
        "views_removed": there.get(remedy, 0)
        or (earlier["views_removed"] if begun and earlier is not None else 0),
        "at": utc_now(),
        "relied_on_by": [n for n, made in origins.items() if remedy in made.get("relied_on", ())],
    }
    if folder.path.is_dir() and remedy in there:
        folder.write_json(ROLLED_BACK, {**note, "finished": False})
    try:
        note["views_removed"] = views.rollback(remedy) or note["views_removed"]
    except InputError:
        if remedy not in there or remedy in {r.id for r in ViewIndex.open(index).remedies()}:
            raise
        return rollback(index, remedy)  # another process removed it meanwhile
    if folder.path.is_dir():
        folder.write_json(ROLLED_BACK, note)
    return note


def list_remedies(index: Path | str) -> list[ListedRemedy]:
    """Return the remedies in an index, oldest first."""
    views = ViewIndex.open(index_folder(index))
    views.check_recipes()
    origins = (find_origin(ArtifactFolder(views.path / REMEDIES / r.id)) for r in views.remedies())
    return [
        {
            "id": r.id,
            "kind": origin.get("kind"),
            "at": origin.get("at"),
            "views": r.views,
            "documents": r.documents,
            "bytes": r.bytes,
        }
        for r, origin in zip(views.remedies(), origins, strict=True)
    ]
