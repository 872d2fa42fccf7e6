"""`remedy export`: a remedy's views, numbers, correction and recipe as JSONL and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argus.data.artifacts import ArtifactFolder, replacing, write_whole
from argus.data.locks import one_writer
from argus.data.records import record_of
from argus.errors import InputError
from argus.indexes.blend import SENTENCE
from argus.indexes.correction import FILE as CORRECTION
from argus.indexes.correction import read_correction
from argus.indexes.fold import RELEVANCE_WEIGHT, SCENARIO
from argus.indexes.prescribed import read_numbers
from argus.indexes.recipes import REMEDIES, BlendRecord, Recipe
from argus.indexes.remedy_views import find_remedy
from argus.indexes.spec import index_folder
from argus.indexes.table import check_read, quoted, storage
from argus.indexes.views import ViewIndex
from argus.jobs.result import Result
from argus.remedies.export.recipe import written_recipe
from argus.remedies.export.summary import ExportSummary, headline

JOB = "export"
VIEWS, DOCUMENTS, QUERIES = "views.jsonl", "documents.jsonl", "correction.json"
RECIPE, README = "recipe.json", "README.md"
COLUMNS = ("id", "doc_id", "kind", "text", "source")
READ = 2_000
DIGITS = 8
"""Of numbers in JSON: float32 holds no more."""


@dataclass(frozen=True, repr=False)
class ExportResult(Result):
    """A remedy as files."""

    remedy: str
    folder: Path
    summary: ExportSummary

    def headline(self) -> Iterator[str]:
        """Yield what was written."""
        return headline(self.summary)


@one_writer
def export_remedy(
    index: Path | str,
    remedy: str,
    *,
    out: Path | str,
    with_vectors: bool = False,
    fresh: bool = False,
) -> ExportResult:
    """Write what a remedy added to an index into a folder, with how it is searched.

    views.jsonl: id, parent, kind, text, source (and vector); documents.jsonl: hubness and penalty
    of each, where a blend has numbers; correction.json: of queries, where there is one;
    recipe.json and README.md: formula, weights, and how any store serves them. Raises InputError
    for a remedy that is not there or was rolled back.
    """
    opened = ViewIndex.open(index_folder(index))
    there = find_remedy(remedy, opened.remedies(), opened.path)
    recipe = next((r for r in opened.header.recipes if r.remedy == remedy), Recipe(remedy, 0))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    if folder.path.resolve() == opened.path.resolve():
        raise InputError(
            "is the index itself", expected="another folder", fix="Give another --out.",
            where=folder.path,
        )  # fmt: skip
    folder.open()
    kinds: dict[str, int] = {}
    _write_lines(folder, VIEWS, _views(opened, remedy, kinds, with_vectors=with_vectors))
    home, documents = opened.path / REMEDIES / remedy, 0
    if recipe.blend is not None and recipe.blend.per_document:
        documents = _write_lines(folder, DOCUMENTS, _numbers(home, opened.dim, recipe.blend.hubs))
    if recipe.corrects:
        folder.write_json(QUERIES, _correction(home))
    facts = _Facts(kinds, there.views, documents, with_vectors)
    summary = _summary(opened, recipe, facts)
    folder.write_json(RECIPE, summary)
    write_whole(folder.own(README), written_recipe(summary))
    return ExportResult(remedy, folder.path, summary)


@dataclass(frozen=True)
class _Facts:
    """What was written. views, documents: how many."""

    kinds: dict[str, int]
    views: int
    documents: int
    with_vectors: bool


def _summary(index: ViewIndex, recipe: Recipe, facts: _Facts) -> ExportSummary:
    return {
        "remedy": recipe.remedy,
        "index": str(index.path),
        "fingerprint": index.fingerprint,
        "dim": index.dim,
        "similarity": index.header.similarity,
        "views": facts.views,
        "kinds": dict(sorted(facts.kinds.items())),
        "with_vectors": facts.with_vectors,
        "documents": facts.documents,
        "blend": None if recipe.blend is None else record_of(BlendRecord, recipe.blend),
        "weight": _weight(recipe, facts),
        "corrects": recipe.corrects,
        "folds": {"sentences": SENTENCE in facts.kinds, "scenarios": SCENARIO in facts.kinds},
    }


def _weight(recipe: Recipe, facts: _Facts) -> float | None:
    if SCENARIO not in facts.kinds:
        return recipe.weight
    return RELEVANCE_WEIGHT if recipe.weight is None else recipe.weight


def _views(
    index: ViewIndex, remedy: str, kinds: dict[str, int], *, with_vectors: bool
) -> Iterator[Mapping[str, object]]:
    """Yield the views of a remedy; kinds are counted."""
    columns = [*COLUMNS, *(["vector"] if with_vectors else [])]
    with storage(index.path, "reading views"):
        query = index.table.search().select(columns).where(f"remedy = {quoted([remedy])}")
        for batch in query.to_batches(READ):
            rows = batch.to_pylist()
            if with_vectors and rows:
                vectors = np.asarray([row["vector"] for row in rows], np.float32)
                check_read(index.path, batch["doc_id"], vectors, unit=index.header.unit)
            for row in rows:
                row["parent"] = row.pop("doc_id")
                if with_vectors:
                    row["vector"] = _plain(np.asarray(row.pop("vector"), np.float32))
                kinds[row["kind"]] = kinds.get(row["kind"], 0) + 1
                yield row


def _numbers(home: Path, dim: int, hubs: float) -> Iterator[Mapping[str, object]]:
    """Yield hubness and penalty of each document; its smoothed vector, where there is one."""
    numbers = read_numbers(home, dim)
    for i, (doc, hubness) in enumerate(zip(numbers.ids, numbers.hubness.tolist(), strict=True)):
        row = {
            "id": doc,
            "hubness": round(hubness, DIGITS),
            "penalty": round(hubs * hubness, DIGITS),
        }
        if numbers.smoothed is not None:
            row["vector"] = _plain(numbers.smoothed[i])
        yield row


def _correction(home: Path) -> Mapping[str, object]:
    correction = read_correction(home / CORRECTION)
    return {
        "alpha": correction.alpha,
        "u": _plain(correction.u),
        "w": _plain(correction.w),
        "fingerprint": correction.fingerprint,
    }


def _write_lines(folder: ArtifactFolder, name: str, rows: Iterable[Mapping[str, object]]) -> int:
    """Write rows as JSON lines, whole or not at all; return how many."""
    n = 0
    with replacing(folder.own(name)) as temporary, temporary.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            n += 1
    return n


def _plain(values: np.ndarray) -> object:
    return values.astype(np.float64).round(DIGITS).tolist()
