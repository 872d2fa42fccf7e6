"""Outputs of retrievers as records: DPR JSON, KILT, answers of a search, and runs with texts."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus.corpora import NamedCorpus
from argus.corpora.opening import read_corpus
from argus.data.fields import FieldNames
from argus.data.json_list import Item, JsonList
from argus.data.reading import parse_json
from argus.data.runs import ranking, read_run
from argus.data.topics import read_topics
from argus.data.types import Document, Qrels, Run, Topic
from argus.errors import InputError
from argus.generative.jobs.answers import FILE as ANSWERS
from argus.generative.jobs.outputs import DPR, KILT, RUN, RUN_JSON

_PLAIN_NAMES = {"dpr", "kilt", "answers", "run", "output", "outputs", "results"}


@dataclass
class Output:
    """The output of one system, as records that are read one at a time.

    broken: after reading, where and why the file breaks off. settings: of the search that made it,
    where the file says. border: the text that begins titles. None if the file does not say.
    """

    name: str
    file: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    border: str | None = None
    broken: str | None = None

    def items(self) -> Iterator[Item]:
        """Yield the records."""
        listed = JsonList(self.file)
        yield from listed
        self.broken = listed.broken


@dataclass
class RunOutput(Output):
    """A run with texts of the corpus, also of its relevant documents. It has no n-grams."""

    run: Run = field(default_factory=dict)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    corpus: Mapping[str, Document] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        """Yield a record per question of the run."""
        for number, (query, scores) in enumerate(self.run.items()):
            yield Item(number, 0, self._record(query, scores))

    def _record(self, query: str, scores: dict[str, float]) -> bytes:
        topic = self.topics[query]
        contexts = [{**self._passage(doc), "score": scores[doc]} for doc in ranking(scores)]
        positives = {n: topic.given[n] for n in ("positive_ctxs",) if n in topic.given}
        judged = [doc for doc, grade in self.qrels.get(query, {}).items() if grade > 0]
        if judged:
            positives["positive_ctxs"] = [self._passage(doc) for doc in judged]
        answers = {"answers": list(topic.answers)} if topic.answers else {}
        question = {"id": query, "question": topic.query.text}
        whole = {**question, **answers, **positives, "ctxs": contexts}
        return json.dumps(whole, ensure_ascii=False).encode("utf-8")

    def _passage(self, doc: str) -> dict[str, str]:
        known = self.corpus.get(doc)
        title, text = (known.title, known.text) if known else ("", "")
        return {"passage_id": doc, "title": title, "text": text}


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
    texts = _Texts(corpus, queries, fields, qrels or {})
    outputs = [_open(_file(path), texts) for path in paths]
    if len({output.name for output in outputs}) < len(outputs):
        for number, output in enumerate(outputs, start=1):
            output.name = f"{output.name} ({number})"
    return outputs


@dataclass
class _Texts:
    """Questions and documents that a run needs, read once and only when one does."""

    corpus: NamedCorpus | None
    queries: Path | None
    fields: FieldNames
    qrels: Qrels
    _read: tuple[dict[str, Topic], dict[str, Document]] | None = None

    def of(self, file: Path, run: Run) -> tuple[dict[str, Topic], dict[str, Document]]:
        if self.corpus is None or self.queries is None:
            raise InputError(
                "a run, which has ids alone",
                expected="--corpus and --queries with it: texts of passages and questions",
                fix="Give both, or the DPR JSON of the search.",
                where=file,
            )
        if self._read is None:
            topics = read_topics(self.queries, coerce_ids=self.fields.coerce_ids)
            documents = read_corpus(self.corpus, self.fields)
            self._read = {t.query.id: t for t in topics}, {d.id: d for d in documents}
        unknown = [query for query in run if query not in self._read[0]]
        if unknown:
            raise InputError(
                f"{len(unknown):,} questions of the run are not in --queries, the first "
                f"{unknown[0]!r}",
                expected="the questions that the run answers",
                fix="Check that both belong together.",
                where=file,
            )
        if not any(doc in self._read[1] for scores in run.values() for doc in scores):
            raise InputError(
                "none of its documents is in --corpus",
                expected="the corpus that was searched",
                fix="Check that both belong together; --coerce-ids for ids that are numbers.",
                where=file,
            )
        return self._read


def _open(file: Path, texts: _Texts) -> Output:
    name = _name(file)
    if _is_run(file):
        run = read_run(file)
        topics, corpus = texts.of(file, run)
        return RunOutput(name, file, run=run, topics=topics, corpus=corpus, qrels=texts.qrels)
    header = _header(file)
    beside = file.with_name(ANSWERS)  # says how the results beside it were made
    if header is None and file.name in (DPR, KILT) and beside.is_file():
        header = _header(beside)
    return Output(name, file) if header is None else Output(name, file, *header)


def _header(file: Path) -> tuple[dict[str, object], str | None] | None:
    """Return the settings of the search in the first line, and its border. None for other files."""
    first = next(iter(JsonList(file)), None)
    try:
        header = parse_json(first.content) if first else None
    except ValueError:
        return None
    if not isinstance(header, dict) or not isinstance(header.get("settings"), dict):
        return None
    border = header.get("border")
    return header["settings"], border if isinstance(border, str) else None


def _is_run(file: Path) -> bool:
    """Whether a file is a TREC run, or a JSON object as runs are."""
    suffixes = [s.lower() for s in file.suffixes if s.lower() != ".gz"][-1:]
    if suffixes == [".json"]:
        return _begins(file) == b"{"
    return suffixes not in ([".jsonl"], [".ndjson"])


def _begins(file: Path) -> bytes:
    """Return the first byte that is no space. A file that is written on one line is long."""
    opener = gzip.open if file.suffix.lower() == ".gz" else open
    try:
        with opener(file, "rb") as opened:
            return opened.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return b""  # whoever reads it says so


def _file(path: Path) -> Path:
    if not path.is_dir():
        if path.is_file():
            return path
        raise InputError(
            "no such file",
            expected="DPR JSON, KILT JSONL, a run, or the folder of argus research generative "
            "search",
            fix="Check the path.",
            where=path,
        )
    file = next((path / n for n in (DPR, ANSWERS, RUN, RUN_JSON) if (path / n).is_file()), None)
    if file is None:
        raise InputError(
            f"the folder holds none of {DPR}, {ANSWERS}, {RUN}",
            expected="the folder of argus research generative search, or a file",
            fix="Give the file itself.",
            where=path,
        )
    return file


def _name(file: Path) -> str:
    stem = file.name.split(".")[0]
    plain = stem.lower() in _PLAIN_NAMES and file.resolve().parent.name
    return file.resolve().parent.name if plain else stem
