"""Outputs of retrievers as records: DPR JSON, KILT, answers of a search, and runs with texts."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from argus.corpora import NamedCorpus
from argus.corpora.opening import read_corpus
from argus.data.documents import json_items, read_topics
from argus.data.fields import FieldNames
from argus.data.reading import parse_json
from argus.data.runs import ranking, read_run
from argus.data.types import Document, Qrels, Run, Topic
from argus.errors import InputError
from argus.generative.results import DPR, KILT, RUN, RUN_JSON
from argus.generative.results import FILE as ANSWERS

_PLAIN_NAMES = {"dpr", "kilt", "answers", "run", "output", "outputs", "results"}
Texts = tuple[Mapping[str, Topic], Mapping[str, Document]]
"""Questions and documents by id."""


@dataclass
class Output:
    """The output of one system, as records that are read one at a time.

    broken: after reading, where and why the file breaks off. settings: of the search that made it,
    where the file says. border: the text that begins titles. None if the file does not say.
    records: of a run, which has no n-grams. None where the file holds records.
    """

    name: str
    file: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    border: str | None = None
    broken: str | None = None
    records: Callable[[], Iterator[bytes]] | None = None

    def items(self) -> Iterator[bytes]:
        """Yield the records."""
        try:
            yield from self.records() if self.records is not None else json_items(self.file)
        except InputError as error:
            self.broken = error.got


def open_outputs(
    paths: list[Path],
    *,
    corpus: NamedCorpus | None,
    queries: Path | None,
    fields: FieldNames,
    qrels: Qrels | None = None,
) -> list[Output]:
    """Open the outputs of one or two systems. Names tell them apart.

    A path is a file, or the folder of a search. qrels: of a run. Raises InputError for more than
    two, for none, and for a run without the texts and questions that belong to it.
    """
    if not 1 <= len(paths) <= 2:
        raise InputError(
            f"{len(paths)} outputs",
            expected="one, or two to compare",
            fix="Give the files of one or two systems.",
            where="OUTPUT",
        )

    @cache
    def texts() -> Texts | None:
        if corpus is None or queries is None:
            return None
        topics = read_topics(queries, coerce_ids=fields.coerce_ids)
        return {t.query.id: t for t in topics}, {d.id: d for d in read_corpus(corpus, fields)}

    outputs = []
    for file in map(_file, paths):
        stem, home = file.name.split(".")[0], file.resolve().parent.name
        name = home if stem.lower() in _PLAIN_NAMES and home else stem
        if _is_run(file):
            run = read_run(file)
            records = _run_records(run, *_checked(file, run, texts()), qrels or {})
            outputs.append(Output(name, file, records=records))
        else:
            outputs.append(Output(name, file, *_header(file)))
    if len({output.name for output in outputs}) < len(outputs):
        for number, output in enumerate(outputs, start=1):
            output.name = f"{output.name} ({number})"
    return outputs


def _run_records(
    run: Run, topics: Mapping[str, Topic], corpus: Mapping[str, Document], qrels: Qrels
) -> Callable[[], Iterator[bytes]]:
    """Return what yields a record per question of a run, with texts of relevant documents, too."""

    def passage(id_: str) -> dict[str, str]:
        known = corpus.get(id_)
        title, text = (known.title, known.text) if known else ("", "")
        return {"passage_id": id_, "title": title, "text": text}

    def records() -> Iterator[bytes]:
        for query, scores in run.items():
            topic = topics[query]
            record: dict[str, object] = {"id": query, "question": topic.query.text}
            if topic.answers:
                record["answers"] = list(topic.answers)
            judged = [doc for doc, grade in qrels.get(query, {}).items() if grade > 0]
            if judged:
                record["positive_ctxs"] = [passage(doc) for doc in judged]
            elif "positive_ctxs" in topic.given:
                record["positive_ctxs"] = topic.given["positive_ctxs"]
            record["ctxs"] = [{**passage(d), "score": scores[d]} for d in ranking(scores)]
            yield json.dumps(record, ensure_ascii=False).encode("utf-8")

    return records


def _checked(file: Path, run: Run, texts: Texts | None) -> Texts:
    """Return the questions and documents of a run. Raises InputError unless they belong to it."""
    if texts is None:
        raise InputError(
            "a run, which has ids alone",
            expected="--corpus and --queries with it: texts of passages and questions",
            fix="Give both, or the DPR JSON of the search.",
            where=file,
        )
    topics, documents = texts
    if unknown := [query for query in run if query not in topics]:
        raise InputError(
            f"{len(unknown):,} questions of the run are not in --queries, the first {unknown[0]!r}",
            expected="the questions that the run answers",
            fix="Check that both belong together.",
            where=file,
        )
    if not any(doc in documents for scores in run.values() for doc in scores):
        raise InputError(
            "none of its documents is in --corpus",
            expected="the corpus that was searched",
            fix="Check that both belong together; --coerce-ids for ids that are numbers.",
            where=file,
        )
    return texts


def _header(file: Path) -> tuple[Mapping[str, object], str | None]:
    """Return the settings of the search that made a file, and its border, where it says.

    Its first line does, or that of the answers beside it.
    """
    beside = [file.with_name(ANSWERS)] if file.name in (DPR, KILT) else []
    for path in [file, *filter(Path.is_file, beside)]:
        first = next(json_items(path), None)
        try:
            header = parse_json(first) if first else None
        except ValueError:
            continue
        if isinstance(header, dict) and isinstance(header.get("settings"), dict):
            border = header.get("border")
            return header["settings"], border if isinstance(border, str) else None
    return {}, None


def _is_run(file: Path) -> bool:
    """Whether a file is a TREC run, or a JSON object as runs are."""
    suffixes = [s.lower() for s in file.suffixes if s.lower() != ".gz"][-1:]
    if suffixes != [".json"]:
        return suffixes not in ([".jsonl"], [".ndjson"])
    opener = gzip.open if file.suffix.lower() == ".gz" else open
    try:
        with opener(file, "rb") as opened:  # a file that is written on one line is long
            return opened.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{"
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False  # whoever reads it says so


def _file(path: Path) -> Path:
    """Return the file that a path stands for. Raises InputError where there is none."""
    if path.is_file():
        return path
    names = (DPR, ANSWERS, RUN, RUN_JSON)
    if file := next((path / name for name in names if (path / name).is_file()), None):
        return file
    raise InputError(
        f"the folder holds none of {DPR}, {ANSWERS}, {RUN}" if path.is_dir() else "no such file",
        expected="DPR JSON, KILT JSONL, a run, or the folder of argus research generative search",
        fix="Check the path.",
        where=path,
    )
