"""Hold titles out of training, to test the model with them afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.text_files import read_ids
from argus.data.types import Document
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError

QUESTIONS, QRELS = "held_out.jsonl", "held_out.tsv"


def choose(documents: Sequence[Document], hold_out: int | Path) -> list[str]:
    """Return the ids of the documents whose titles are held out, in the order of the corpus.

    hold_out: how many, drawn by the hashes of their ids among those with a title. Or a file with
    an id per line. Raises InputError for too many, an id that is not in the corpus, and a document
    without title.
    """
    titled = [d.id for d in documents if d.title.strip()]
    if isinstance(hold_out, Path):
        return _listed(hold_out, documents, set(titled))
    if not 0 <= hold_out <= len(titled):
        raise InputError(
            f"{hold_out:,} titles to hold out, of {len(titled):,}",
            expected="a number from 0 to the titles that the corpus has",
            fix="Give another number.",
            where="--hold-out",
        )
    ranked = sorted(titled, key=lambda id_: content_hash("generative-hold-out", id_))
    first = set(ranked[:hold_out])
    return [id_ for id_ in titled if id_ in first]


def write_held_out(folder: ArtifactFolder, documents: Sequence[Document], ids: list[str]) -> None:
    """Write held-out titles as questions (BEIR queries and qrels), each with its document's id."""
    if not ids:
        return
    titles = {d.id: d.title for d in documents}
    write_jsonl(folder.own(QUESTIONS), ({"_id": id_, "text": titles[id_]} for id_ in ids))
    rows = ("query-id\tcorpus-id\tscore", *(f"{id_}\t{id_}\t1" for id_ in ids))
    write_whole(folder.own(QRELS), "\n".join(rows) + "\n")


def _listed(path: Path, documents: Sequence[Document], titled: set[str]) -> list[str]:
    listed = read_ids(path, "a number, or a file with the id of a document on each line")
    known = {d.id for d in documents}
    for line, id_ in listed:
        if id_ not in titled:
            raise InputError(
                f"line {line}: document {id_!r} "
                + ("has no title" if id_ in known else "is not in the corpus"),
                expected="ids of documents with a title, one a line",
                fix="Remove the line, or check that --corpus and the file belong together.",
                where=path,
            )
    ids = {id_ for _, id_ in listed}
    return [d.id for d in documents if d.id in ids]
