"""Read and write documents and questions: BEIR folders, tables, KILT, and DPR JSON with passages.

A BEIR folder (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`; Thakur et al., 2021) or any table
of rows -> `Document`s and `Query`s. `read_topics`: questions with answers -> `Topic`s. `write_dpr`
writes results as SEAL and MINDER do: one list of `{question, answers, ctxs: [{title, text, score,
passage_id, keys}]}`, where keys are `[[n-gram, occurrences in the corpus, weight], ...]`.
`argus.corpora` chooses the reader, and `runs` reads judgements and rankings.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

from argus.data.fields import FieldNames
from argus.data.reading import check_file, no_file, nothing_in, parse_json, read_lines, reading
from argus.data.rows import (
    FORMATS,
    Row,
    file_format,
    has_field,
    id_value,
    pick_field,
    read_rows,
    suffix_of,
    text_value,
    whole_characters,
)
from argus.data.types import Document, Qrels, Query, Topic
from argus.data.writing import replacing, write_jsonl, write_whole
from argus.errors import InputError, Location

# A chunk's own id comes before that of its document, which may stand beside it.
ID_FIELDS = ("_id", "id", "chunk_id", "doc_id", "docid", "docno", "document_id", "pid")
QUERY_ID_FIELDS = ("_id", "id", "query_id", "qid", *ID_FIELDS[2:])
TITLE_FIELDS = ("title", "label", "name")
TEXT_FIELDS = ("text", "contents", "content", "paragraph", "passage", "body")
CORPUS_STEMS = ("corpus", "documents", "entities")
EXPANSIONS = "expansions.jsonl"  # pseudo-queries and summaries, beside a corpus
BEIR_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")

INDENT = 4  # of the published DPR files
TOPIC_ID_FIELDS = ("id", "_id", "query_id", "qid")
FORM = '[{"question": "...", "answers": ["..."]}, ...], or one such object per line'
BLOCK = 1 << 20  # characters that are read at once
MAX_ITEM = 1 << 28  # characters: a longer item is a list whose quotation marks do not pair
_GAP = re.compile(r"[\s,]*")

T = TypeVar("T", Document, Query)


def find_file(folder: Path, stems: Sequence[str]) -> Path | None:
    """Return the first `folder/stem.format[.gz]` that exists."""
    names = (f"{stem}{end}{gz}" for stem in stems for end in FORMATS for gz in ("", ".gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def documents_in(file: Path, fields: FieldNames, *, limit: int | None = None) -> list[Document]:
    """Read the documents of a file of rows, in its order.

    Fields other than id, title and text become metadata. Raises InputError naming file, line and
    field for a missing column, no document, duplicate or non-string ids, non-UTF-8 bytes and broken
    JSON.
    """
    return _unique(file, _documents(islice(read_rows(file), limit), fields))


def queries_file(path: Path) -> Path:
    """Return the file of queries: `path` itself, or `queries.*` in a BEIR folder."""
    file = path if path.is_file() else find_file(path, ["queries"])
    if file is None:
        expected = "a file of questions, or a folder with queries.jsonl"
        got = "the folder holds no queries file" if path.is_dir() else no_file(path)
        raise InputError(got, expected=expected, fix="Check the path.", where=path)
    return file


def read_queries(path: Path, *, coerce_ids: bool = False, limit: int | None = None) -> list[Query]:
    """Read queries (`_id`, `text`) from a file or from `queries.*` in a BEIR folder.

    Rows of a question and its answers alone, as NQ-open has them, have their place from 0 as id.
    """
    file = queries_file(path)

    def parse(rows: Iterator[Row]) -> Iterator[tuple[Row, Query]]:
        for position, row in enumerate(rows):
            id_ = str(position)
            if not row.values.keys() <= {"question", "answer", "answers"}:
                id_ = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="id"), coerce=coerce_ids)
            text = text_value(row, pick_field(row, ("text", "query", "question"), what="text"))
            yield row, Query(id_, text)

    check_limit(limit)
    return _unique(file, parse(islice(read_rows(file), limit)), "query")


def _documents(rows: Iterator[Row], fields: FieldNames) -> Iterator[tuple[Row, Document]]:
    """Yield each row with its document.

    A `metadata` object, as BEIR has it, is opened: metadata stay one level deep. Where a column
    beside it has the name of a field inside, that field goes by its path.
    """
    if (first := next(rows, None)) is None:
        return
    ids = [fields.id] if fields.id else ID_FIELDS
    texts = [fields.text] if fields.text else TEXT_FIELDS
    id_field = pick_field(first, ids, what="id", option="--id-field")
    text_field = pick_field(first, texts, what="text", option="--text-field")
    names = [fields.title] if fields.title else TITLE_FIELDS
    has_titles = False
    for row in chain([first], rows):
        pick_field(row, [text_field], what="text", option="--text-field")
        title_field = next((name for name in names if has_field(row, name)), None)
        has_titles = has_titles or title_field is not None
        used = {id_field, title_field, text_field}
        metadata: dict[str, Any] = {k: v for k, v in row.values.items() if k not in used}
        if isinstance(nested := metadata.get("metadata"), dict):
            del metadata["metadata"]
            metadata |= {f"metadata.{k}" if k in metadata else k: v for k, v in nested.items()}
        id_ = id_value(row, id_field, coerce=fields.coerce_ids)
        title = text_value(row, title_field) if title_field else ""
        text, named = text_value(row, text_field), {"id_field": id_field, "text_field": text_field}
        yield row, Document(id_, text, title, metadata, **named)
    if not has_titles and fields.title:
        pick_field(first, [fields.title], what="title", option="--title-field")


def _unique(place: Path, parsed: Iterator[tuple[Row, T]], what: str = "document") -> list[T]:
    """Return the items of rows. Raises InputError for an id that comes twice, and for no item."""
    lines: dict[str, int] = {}
    items: list[T] = []
    for row, item in parsed:
        if item.id in lines:
            fix = "Remove or rename one of the two; or name the column of ids with --id-field."
            got = f"id {item.id!r} was already given on line {lines[item.id]}"
            raise InputError(got, expected=f"one {what} per id", fix=fix, where=row.at())
        lines[item.id] = row.line
        items.append(item)
    if not items:
        raise nothing_in(place, what)
    return items


def file_in(path: Path, name: str) -> Path:
    """Return `path/name` where that is a file in a folder, else `path` itself."""
    return path / name if path.is_dir() and (path / name).is_file() else path


def rows_by_document(path: Path, *, coerce_ids: bool = False) -> Iterator[tuple[str, Row]]:
    """Yield document id and row of a file with a row per document, such as profiles.

    Raises InputError, with the line, for a row without an id and a document that comes twice.
    """
    lines: dict[str, int] = {}
    for row in read_rows(path):
        field = pick_field(row, ("_id", "id", "doc_id"), what="document id")
        doc_id = id_value(row, field, coerce=coerce_ids)
        if doc_id in lines:
            got = f"document {doc_id!r} comes twice: it was given on line {lines[doc_id]}"
            expected, fix = "one line per document", "Make one line of the two."
            raise InputError(got, expected=expected, fix=fix, where=row.at())
        lines[doc_id] = row.line
        yield doc_id, row


def write_beir(
    folder: Path, documents: Iterable[Document], queries: Iterable[Query], qrels: Qrels
) -> None:
    """Write the three files of a BEIR collection into `folder`, making it if need be."""
    write_questions(folder, queries, qrels)
    write_jsonl(folder / "corpus.jsonl", as_rows(documents))


def write_questions(folder: Path, queries: Iterable[Query], qrels: Qrels) -> tuple[Path, Path]:
    """Write queries and judgements into `folder`, making it if need be. Return both files."""
    questions, judgements = folder / "queries.jsonl", folder / "qrels" / "test.tsv"
    judgements.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(questions, ({"_id": q.id, "text": q.text} for q in queries))
    write_qrels(judgements, qrels)
    return questions, judgements


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write judgements as BEIR has them."""
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q}\t{d}\t{grade}" for q, grades in qrels.items() for d, grade in grades.items()]
    write_whole(path, "\n".join(lines) + "\n")


def as_rows(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """Yield documents as the rows of a BEIR corpus."""
    for d in documents:
        yield {"_id": d.id, "title": d.title, "text": d.text, "metadata": dict(d.metadata)}


def listed(values: Iterable[str], what: str = "ids") -> list[str]:
    """Return the values of an iterable. Raises InputError for one text, which gives its letters."""
    if isinstance(values, str | bytes):
        got, fix = f"{what} are the text {values!r:.60}", f"For one: [{values!r:.60}]."
        raise InputError(got, expected=f"a list of {what}", fix=fix)
    return list(values)


def is_count(value: object) -> bool:
    """Return whether a value is a whole number from 1, of Python or another library."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def check_limit(limit: int | None) -> None:
    """Raise InputError for a limit that leaves no document or question."""
    if limit is not None and limit < 1:
        expected = "a whole number from 1, or None for all"
        raise InputError(f"limit={limit}", expected=expected, fix="For example 100.")


def check_unique(items: Sequence[Document] | Sequence[Query], where: Path | None = None) -> None:
    """Raise InputError where two documents, or two queries, have one id."""
    ids = Counter(item.id for item in items)
    if len(ids) < len(items):
        kind = "document" if isinstance(items[0], Document) else "query"
        got = f"two of them have the id {ids.most_common(1)[0][0]!r:.60}"
        place = where or ("corpus" if kind == "document" else None)
        fix = "Remove or rename one of the two."
        raise InputError(got, expected=f"one {kind} per id", fix=fix, where=place)


def whole_documents(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Return documents of a program. Raises InputError for a repeated id and half a character.

    Tokenizers and Parquet accept whole characters only.
    """
    check_unique(documents)
    for document in documents:
        for name in ("id", "title", "text"):
            of = f" of the {name} of document {document.id!r}"
            whole_characters(getattr(document, name), lambda _: "corpus", name, of)
    return documents


class TopicFormat(StrEnum):
    """The format of a file of questions."""

    AUTO = "auto"
    DPR = "dpr"
    QAS = "dpr_qas"
    KILT = "kilt"
    QUERIES = "queries"


@dataclass(frozen=True, slots=True)
class DprPassage:
    """A passage that was found, with the n-grams that raise its score.

    keys: text with its special tokens, occurrences in the corpus, and part of the score, of each
    n-gram. None in files that were written without them.
    """

    passage_id: str
    title: str
    text: str
    score: float
    keys: tuple[tuple[str, int, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class DprResult:
    """One question and the passages that were found for it, best first."""

    topic: Topic
    passages: tuple[DprPassage, ...]


def read_topics(
    path: Path, kind: str = TopicFormat.AUTO, *, coerce_ids: bool = False, limit: int | None = None
) -> list[Topic]:
    """Read questions in file order.

    AUTO: `.json` is DPR. A file whose first line is `question<TAB>[...` is dpr_qas. JSONL with
    `input` is KILT. Any other file, or a BEIR folder, is read by `read_queries`. Raises InputError
    as those do, for an id that comes twice, and where there is no question.
    """
    check_limit(limit)
    file = queries_file(path)
    kind = _guess(file) if kind == TopicFormat.AUTO else kind
    found: Iterable[Topic]
    if kind == TopicFormat.DPR:
        found = _read_dpr(file, coerce_ids)
    elif kind == TopicFormat.QAS:
        found = _read_qas(file)
    elif kind == TopicFormat.KILT:
        found = (topic_of(row, coerce_ids=coerce_ids) for row in read_rows(file))
    else:
        queries = read_queries(file, coerce_ids=coerce_ids, limit=limit)
        rows = zip(queries, read_rows(file), strict=False)
        found = (Topic(query, _answers(row)) for query, row in rows)
    topics = list(islice(found, limit))
    check_unique([topic.query for topic in topics], where=file)
    if not topics:
        raise nothing_in(file, "question")
    return topics


def _guess(file: Path) -> TopicFormat:
    if (suffix := suffix_of(file)) == ".json":
        return TopicFormat.DPR
    if suffix != ".parquet":
        _, line = next(read_lines(file), (0, ""))
        if line.partition("\t")[2].lstrip(' "').startswith(("[", "(")):
            return TopicFormat.QAS
    if file_format(file) in (".jsonl", ".ndjson"):
        first = next(read_rows(file), None)
        if first is not None and "input" in first.values:
            return TopicFormat.KILT
    return TopicFormat.QUERIES


def _read_qas(path: Path) -> Iterator[Topic]:
    """Yield the questions of a `dpr_qas` file. Ids are line numbers from 0."""
    fix = "Write question and answers on one line, a tab between; quote each answer."
    for number, line in read_lines(path):
        if not line.strip():
            continue
        question, _, answers = line.rstrip("\r\n").partition("\t")
        if answers.startswith('"') and answers.endswith('"'):  # csv quotes a list with quotes in it
            answers = answers[1:-1].replace('""', '"')
        where, form = Location(path, number), "question<TAB>['answer', ...]"
        with reading(where, f"cannot read {_short(line.strip())}", expected=form, fix=fix):
            value = ast.literal_eval(answers.strip())
            if not question.strip():
                raise ValueError("no question")
            if not isinstance(value, list | tuple) or not all(isinstance(a, str) for a in value):
                raise TypeError("no list of strings")
        yield Topic(Query(str(number - 1), question), tuple(value))


def topic_of(row: Row, *, coerce_ids: bool = False) -> Topic:
    """Return the question of a row of KILT, with the different answers in `output`."""
    question = text_value(row, pick_field(row, ["input"], what="question"))
    output = row.values.get("output") or []
    if not isinstance(output, list) or not all(isinstance(one, dict) for one in output):
        expected = 'a list of objects, [{"answer": "..."}, ...]'
        fix, where = "Leave the field out where no answer is known.", row.at("output")
        raise InputError(_short(output), expected=expected, fix=fix, where=where)
    answers = (one.get("answer") for one in output)
    query = Query(id_value(row, "id", coerce=coerce_ids), question)
    return Topic(query, tuple(dict.fromkeys(a for a in answers if isinstance(a, str) and a)))


class _Item(Row):
    """A record of a JSON list. Its line is its place in the list, from 1."""

    __slots__ = ()

    def at(self, field: str | None = None) -> Location:
        return Location(self.file, None, f"[{self.line - 1}]" + (f".{field}" if field else ""))


def _read_dpr(path: Path, coerce_ids: bool) -> Iterator[Topic]:
    """Yield the items of a DPR list: the question, its answers and all other fields."""
    for position, content in enumerate(json_items(path)):
        fix = "Mend or remove the item."
        with reading(path, f"item {position + 1} is broken JSON", expected=FORM, fix=fix):
            values = parse_json(content)
        row = _Item(values, path, position + 1)
        if not isinstance(values, dict) or not isinstance(values.get("question"), str):
            got = f"item {position + 1} is {_short(values)}"
            raise InputError(got, expected=f"a question in each: {FORM}", fix=fix, where=row.at())
        id_field = next((name for name in TOPIC_ID_FIELDS if values.get(name) is not None), None)
        id_ = id_value(row, id_field, coerce=coerce_ids) if id_field else str(position)
        own = {"question", "answers", "ctxs", id_field}
        rest = {name: value for name, value in values.items() if name not in own}
        yield Topic(Query(id_, text_value(row, "question")), _answers(row), rest)


def json_items(path: Path) -> Iterator[bytes]:
    """Yield the items of a JSON list, or the lines of JSON lines, gzipped or not, as bytes.

    A file of several GB is read a block at a time, and other processes can parse the items. Raises
    InputError for any other file, and, behind all whole items, where a list breaks off.
    """
    check_file(path, FORM)
    decoder, number = json.JSONDecoder(), 0
    with path.open("rb") as packed:
        opener = gzip.open if packed.read(2) == b"\x1f\x8b" else open
    fix = "Check that this is a file of results, and that writing it did not break off."
    with (
        reading(path, "broken JSON", expected=FORM, fix=fix),
        opener(path, "rt", encoding="utf-8-sig", errors="surrogateescape") as file,
    ):
        buffer = file.read(BLOCK).lstrip()
        if buffer[:1] == "{":
            buffer += file.readline()
            for line in chain(buffer.split("\n"), file):
                if line.strip():
                    yield _as_bytes(line.strip())
            return
        if buffer[:1] != "[":
            raise ValueError(f"it begins with {buffer[:40]!r}")
        at = 1
        while True:
            gap = _GAP.match(buffer, at)
            at = gap.end() if gap else at
            if buffer[at : at + 1] == "]":
                return
            try:
                _, end = decoder.raw_decode(buffer, at)
            except (ValueError, RecursionError) as error:
                more = file.read(max(BLOCK, len(buffer) - at))
                if not more or len(buffer) - at > MAX_ITEM:
                    raise ValueError(f"it breaks off at item [{number}]") from error
                buffer, at = buffer[at:] + more, 0
                continue
            yield _as_bytes(buffer[at:end])
            at, number = end, number + 1


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _answers(row: Row) -> tuple[str, ...]:
    """Return the `answers` (NQ-open: `answer`) of a row, a text or a list. None if it has none."""
    answers = row.values.get(name := "answers") or row.values.get(name := "answer") or []
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        fix = "Quote each answer; leave the field out where none is known."
        raise InputError(_short(answers), expected="a list of strings", fix=fix, where=row.at(name))
    return tuple(answers)


def write_dpr(path: Path, results: Iterable[DprResult]) -> Path:
    """Write results as they come, the file whole or not at all. Return the path.

    The topic's own fields come first, then ctxs. Holds one result in memory.
    """
    margin = " " * INDENT
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, result in enumerate(results):
            topic = result.topic
            own = {"id": topic.query.id, "question": topic.query.text, "answers": topic.answers}
            rest = {name: value for name, value in topic.given.items() if name not in own}
            names = ("title", "text", "score", "passage_id", "keys")
            rest["ctxs"] = [{name: getattr(p, name) for name in names} for p in result.passages]
            text = json.dumps(own | rest, ensure_ascii=False, allow_nan=False, indent=INDENT)
            # Line breaks within texts are escaped: these are the ones of the layout.
            file.write("," * bool(number) + f"\n{margin}" + text.replace("\n", f"\n{margin}"))
        file.write("\n]\n")
    return path


def _short(value: object) -> str:
    text = repr(value)
    return text[:60] + "..." * (len(text) > 60)
