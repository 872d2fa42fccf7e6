"""Tasks in the layout of BEIR: corpus, queries, qrels/SPLIT. RAR-b has it, with an instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from argus.corpora.opening import open_corpus
from argus.data.documents import find_file, read_queries
from argus.data.fields import FieldNames
from argus.data.qrels import read_qrels
from argus.data.types import Document, Query
from argus.settings import Doc
from argus.tasks.task import Task, refused

OWN_DOCUMENT = ("arguana", "quora")
"""Collections of BEIR whose queries are documents of the corpus, under the same ids."""
INSTRUCTION = "instruction.txt"


@dataclass(frozen=True, kw_only=True)
class CollectionConfig:
    """Which judgements of a BEIR folder count."""

    split: Annotated[str, Doc("Which judgements: qrels/SPLIT.tsv.")] = "test"
    identical: Annotated[
        bool | None,
        Doc(
            "Whether the document of a query's own id is taken out of its results, as BEIR's "
            "scorer does for all collections; default: for those whose queries are documents."
        ),
    ] = None


def read_beir(folder: Path, config: CollectionConfig) -> Task:
    """Read a BEIR folder. Of its queries read those that the split judges, as BEIR itself does.

    Raises InputError as reading its files does, and for a split that is not there.
    """
    documents = open_corpus(folder).documents(FieldNames())
    files = {name: find_file(folder, [name]) for name in ("corpus", "queries")}
    judgements = files["qrels"] = find_file(folder / "qrels", [config.split])
    if judgements is None:
        there = sorted(path.stem for path in (folder / "qrels").glob("*") if path.is_file())
        expected = f"qrels/{config.split}.tsv; there is {', '.join(there) or 'none'}"
        got = f"no judgements of the split {config.split!r}"
        raise refused(folder, got, expected, "Name the split (split=...).")
    qrels = read_qrels(judgements)
    judged = [query for query in read_queries(folder) if query.id in qrels]
    names = {part.lower() for part in folder.resolve().parts[-2:]}
    takes_out = config.identical
    if takes_out is None:
        takes_out = not names.isdisjoint(OWN_DOCUMENT)
    return Task(
        folder.resolve().name, documents, judged, qrels,
        excluded=identical_ids(documents, judged) if takes_out else {},
        files={name: file for name, file in files.items() if file is not None},
    )  # fmt: skip


def read_rarb(folder: Path, config: CollectionConfig) -> Task:
    """Read a folder of RAR-b: that of BEIR, with `instruction.txt`, the task's own instruction."""
    file = folder / INSTRUCTION
    if not file.is_file():
        expected = "a folder of RAR-b (full/NAME), with its instruction"
        fix = "Read it as beir:FOLDER, if there is none."
        raise refused(folder, f"no {INSTRUCTION} in the folder", expected, fix)
    task = read_beir(folder, config)
    text = file.read_text(encoding="utf-8").strip()
    return replace(task, name=f"rarb/{task.name}", instruction=text)


def is_collection(folder: Path) -> bool:
    """Return whether a folder holds a corpus, queries and judgements."""
    return bool(
        find_file(folder, ["corpus"]) and find_file(folder, ["queries"])
        and (folder / "qrels").is_dir()
    )  # fmt: skip


def identical_ids(
    documents: Sequence[Document], queries: Sequence[Query]
) -> dict[str, frozenset[str]]:
    """Return the exclusions of queries that are documents themselves: their own id."""
    known = {document.id for document in documents}
    return {query.id: frozenset({query.id}) for query in queries if query.id in known}
