"""KILT (Petroni et al., 2021): a data set with provenance, and the pages that it points to.

A data set is JSON lines of `id`, `input` and `output`. Each output has its `provenance`, pages by
`wikipedia_id` and paragraphs from `start_paragraph_id` to `end_paragraph_id`. The knowledge source
is JSON lines, too, of `wikipedia_id`, `wikipedia_title` and `text`, a list of paragraphs. The
published file is called kilt_knowledgesource.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.data.documents import check_unique
from argus.data.rows import Row, id_value, pick_field, read_json_lines, read_rows, text_value
from argus.data.topics import topic_of
from argus.data.types import Document, Qrels, Query
from argus.settings import Choices, Doc, check_settings
from argus.tasks.files import once
from argus.tasks.task import Task, refused

PAGE, PARAGRAPH = "page", "paragraph"
METRICS = ("Rprec", "R@5")
"""Measures of the leaderboard, R-precision first."""


@dataclass(frozen=True, kw_only=True)
class KiltConfig:
    """Place of the pages, and the unit of a document."""

    knowledge: Annotated[Path | None, Doc("The knowledge source: JSON lines of pages.")] = None
    unit: Annotated[
        str, Doc("What is retrieved; KILT judges pages."), Choices((PAGE, PARAGRAPH))
    ] = PAGE

    def __post_init__(self) -> None:
        check_settings(self)


def read_kilt(place: Path, config: KiltConfig) -> Task:
    """Read a data set and its knowledge source, all of whose pages are the corpus.

    Pages that any output points to are relevant. Each output is a set of evidence of its own.
    Raises InputError naming file, line and field, and without a knowledge source.
    """
    if config.knowledge is None or not config.knowledge.is_file():
        got = f"no file {config.knowledge}" if config.knowledge else "no knowledge source"
        raise refused(place, got, f"kilt:{place},knowledge=FILE", "Name the file of pages.")
    documents = [
        doc for row in read_json_lines(config.knowledge) for doc in _documents(row, config)
    ]
    check_unique(documents)
    queries, qrels, evidence = [], Qrels(), {}
    for id_, row in once(read_rows(place), lambda row: topic_of(row, coerce_ids=True).query.id):
        queries.append(Query(id_, text_value(row, "input")))
        sets = list(dict.fromkeys(_evidence(row, config)))
        if sets:
            qrels[id_] = dict.fromkeys(sorted(frozenset().union(*sets)), 1)
            evidence[id_] = sets
    return Task(
        f"kilt/{place.stem.removesuffix('-kilt')}", documents, queries, qrels, METRICS,
        evidence=evidence, files={"questions": place, "knowledge": config.knowledge},
    )  # fmt: skip


def _documents(row: Row, config: KiltConfig) -> Iterator[Document]:
    pick_field(row, ["wikipedia_id"], what="page id")
    page = id_value(row, "wikipedia_id", coerce=True)
    title = text_value(row, "wikipedia_title")
    paragraphs = row.values.get("text")
    if not isinstance(paragraphs, list) or not all(isinstance(p, str) for p in paragraphs):
        got, fix = f"{paragraphs!r:.60}", "Check that this is a knowledge source."
        raise refused(row.at("text"), got, "a list of paragraphs", fix)
    texts = [paragraph.strip() for paragraph in paragraphs]
    if config.unit == PAGE:
        yield Document(page, "\n".join(text for text in texts if text), title)
        return
    for number, text in enumerate(texts):
        if text and not (number == 0 and text == title):
            yield Document(f"{page}:{number}", text, title, {"wikipedia_id": page})


def _evidence(row: Row, config: KiltConfig) -> Iterator[frozenset[str]]:
    """Yield the pages that each output of a question points to, if there are any."""
    for output in row.values.get("output") or []:
        parts = output.get("provenance") or []
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            got, expected = f"{parts!r:.60}", 'a list of objects, [{"wikipedia_id": "..."}, ...]'
            raise refused(row.at("output.provenance"), got, expected, "Mend or remove the line.")
        ids = frozenset(
            id_ for part in parts for id_ in _places(Row(part, row.file, row.line), config)
        )
        if ids:
            yield ids


def _places(part: Row, config: KiltConfig) -> Sequence[str]:
    pick_field(part, ["wikipedia_id"], what="page id")
    page = id_value(part, "wikipedia_id", coerce=True)
    if config.unit == PAGE:
        return [page]
    first, last = (part.values.get(f"{end}_paragraph_id") for end in ("start", "end"))
    if not isinstance(first, int) or not isinstance(last, int) or not 0 <= first <= last:
        got, where = f"paragraphs {first!r} to {last!r}", part.at("start_paragraph_id")
        fix = "Read pages (unit=page): this data set names no paragraphs."
        raise refused(where, got, "numbers of paragraphs, from 0", fix)
    return [f"{page}:{number}" for number in range(first, last + 1)]


def is_kilt(place: Path) -> bool:
    """Return whether a file is called as the data sets of KILT are."""
    return place.is_file() and place.name.endswith("-kilt.jsonl")
