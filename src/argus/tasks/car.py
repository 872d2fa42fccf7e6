"""CAR (Bacellar, 2026): the released files, or a benchmark folder of Argus, as a task.

`car:data/finsuperqa_v1.jsonl`, `car:data/ghsa_real_pairs.json`, `car:data/fda_recall_pairs.json`,
`car:data/legal_scotus_expanded_pairs.json`; `split=test` reads `finsuperqa_test_ids.txt` beside it.
TCA@k, the share of questions with a controlling document among the first k, is Success@k.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.authority.benchmarks.collection import CORPUS, EDGES, QUERIES, Benchmark, read_benchmark
from argus.authority.benchmarks.released import read_released
from argus.data.types import Query
from argus.settings import Doc
from argus.tasks.task import Task, refused

METRICS = ("Success@5", "Success@10", "Success@20", "RR")
"""TCA at 5, 10 and 20, and MRR."""
VERSION = "_v1"
BESIDE = {"ghsa_real_pairs": ("ghsa_freeform_cache.jsonl", "ghsa_hyde_cache.jsonl")}
"""Files with the questions and hypothetical documents of a released file."""


@dataclass(frozen=True, kw_only=True)
class CarConfig:
    """Parts that belong to a released file."""

    split: Annotated[str, Doc("train, dev or test; all questions where none is named.")] = ""
    queries: Annotated[
        Path | None, Doc("Questions, in place of its own: rows of id and query.")
    ] = None
    distractors: Annotated[
        Path | None, Doc("Further documents: rows of doc_id and text, such as the scorer's corpus.")
    ] = None


def read_car(place: Path, config: CarConfig) -> Task:
    """Read a released file, or a folder of `corpus.jsonl`, `queries.jsonl`, `supersedes.jsonl`.

    Raises InputError as `read_released` and `read_benchmark` do, and for settings of a file that
    are said of a folder.
    """
    benchmark = _of_folder(place, config) if place.is_dir() else _of_file(place, config)
    name = "-".join(filter(None, [benchmark.name.removesuffix(VERSION), config.split]))
    qrels = {question.id: dict.fromkeys(question.gold, 1) for question in benchmark.questions}
    return Task(
        f"car/{name}",
        [record.document for record in benchmark.records],
        [Query(question.id, question.text) for question in benchmark.questions],
        qrels, METRICS, benchmark=benchmark,
        files={"benchmark": place / CORPUS if place.is_dir() else place},
    )  # fmt: skip


def _of_folder(folder: Path, config: CarConfig) -> Benchmark:
    if config.split or config.distractors:
        got, expected = "a folder with split or distractors", "those of a released file"
        raise refused(folder, got, expected, "Name the file itself, such as finsuperqa_v1.jsonl.")
    queries = config.queries
    return read_benchmark(folder, QUERIES if queries is None else str(queries))


def _of_file(file: Path, config: CarConfig) -> Benchmark:
    if not file.is_file():
        expected = "a released file of CAR, or a benchmark folder"
        raise refused(file, "no such file or folder", expected, "Check the path.")
    beside = [file.with_name(name) for name in BESIDE.get(file.stem, ())]
    queries, texts = [one if one.is_file() else None for one in beside] or (None, None)
    split = f"{file.stem.removesuffix(VERSION)}_{config.split}_ids.txt"
    return read_released(
        file,
        queries=config.queries or queries,
        split=file.with_name(split) if config.split else None,
        distractors=config.distractors,
        hypotheticals=texts,
    )


def is_car(place: Path) -> bool:
    """Return whether a folder has supersessions, or a file is called as a released one is."""
    if place.is_dir():
        return (place / CORPUS).is_file() and (place / EDGES).is_file()
    return place.is_file() and (place.stem.endswith(VERSION) or place.stem.endswith("_pairs"))
