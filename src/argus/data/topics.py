"""Questions with their answers, out of any file that holds such: DPR, dpr_qas, KILT, BEIR."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path

from argus.data.corpus import check_limit, find_file, read_queries
from argus.data.dpr import looks_like_qas, read_dpr_topics, read_qas
from argus.data.kilt import read_kilt_topics
from argus.data.rows import Row, file_format, read_rows
from argus.data.text_files import no_file
from argus.data.types import Topic
from argus.errors import InputError


class TopicFormat(StrEnum):
    """How a file of questions is read."""

    AUTO = "auto"
    DPR = "dpr"
    QAS = "dpr_qas"
    KILT = "kilt"
    QUERIES = "queries"


def read_topics(
    path: Path,
    kind: TopicFormat = TopicFormat.AUTO,
    *,
    coerce_ids: bool = False,
    limit: int | None = None,
) -> list[Topic]:
    """Read questions in file order.

    AUTO: `.json` is DPR; a file whose first line is `question<TAB>[...` is dpr_qas; JSONL with
    `input` is KILT; else what `read_queries` reads, a BEIR folder too. Raises InputError as those
    do, for an id that comes twice, and where there is no question.
    """
    check_limit(limit)
    file = topics_file(path)
    topic_format = _guess(file) if kind is TopicFormat.AUTO else kind
    topics = list(islice(_read(file, topic_format, coerce_ids, limit), limit))
    if not topics:
        raise InputError(
            "no question in it",
            expected="at least one question",
            fix="Check that this is the right file and that writing it did not break off.",
            where=file,
        )
    ids: set[str] = set()
    for topic in topics:
        if topic.query.id in ids:
            raise InputError(
                f"two questions have the id {topic.query.id!r}",
                expected="one question per id",
                fix="Rename one of the two; give all questions of a DPR file an id, or none.",
                where=file,
            )
        ids.add(topic.query.id)
    return topics


def topics_file(path: Path) -> Path:
    """Return the file that `path`, a file or a BEIR folder, stands for."""
    file = path if path.is_file() else find_file(path, ["queries"])
    if file is None:
        raise InputError(
            "the folder holds no queries file" if path.is_dir() else no_file(path),
            expected="questions: .json (DPR), .jsonl (BEIR or KILT), .tsv, or a BEIR folder",
            fix="Check the path.",
            where=path,
        )
    return file


def _guess(file: Path) -> TopicFormat:
    suffixes = [s.lower() for s in file.suffixes if s.lower() != ".gz"]
    if suffixes[-1:] == [".json"]:
        return TopicFormat.DPR
    if suffixes[-1:] != [".parquet"] and looks_like_qas(file):
        return TopicFormat.QAS
    if file_format(file) in (".jsonl", ".ndjson"):
        first = next(read_rows(file), None)
        if first is not None and "input" in first.values:
            return TopicFormat.KILT
    return TopicFormat.QUERIES


def _read(file: Path, kind: TopicFormat, coerce_ids: bool, limit: int | None) -> Iterator[Topic]:
    if kind is TopicFormat.DPR:
        return read_dpr_topics(file, coerce_ids=coerce_ids)
    if kind is TopicFormat.QAS:
        return read_qas(file)
    if kind is TopicFormat.KILT:
        return read_kilt_topics(file, coerce_ids=coerce_ids)
    queries = read_queries(file, coerce_ids=coerce_ids, limit=limit)
    return (
        Topic(query, _answers(row)) for query, row in zip(queries, read_rows(file), strict=False)
    )


def _answers(row: Row) -> tuple[str, ...]:
    """Return the `answers` of a row of queries, a list or one text; none where it has none."""
    value = row.values.get("answers")
    answers = [value] if isinstance(value, str) and value else value
    if not answers:
        return ()
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise InputError(
            f"{str(value)[:60]!r}",
            expected="a list of strings",
            fix="Quote each answer; leave the field out where none is known.",
            where=row.at("answers"),
        )
    return tuple(answers)
