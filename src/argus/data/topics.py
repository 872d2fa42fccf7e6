"""Read questions with their answers, and write the passages found: DPR, dpr_qas, KILT, BEIR.

DPR JSON, as SEAL and MINDER write it, is one list of `{question, answers, ctxs: [{title, text,
score, passage_id, keys}]}`, where keys are `[[n-gram, occurrences in the corpus, weight], ...]`.
KILT JSONL has a line per question: `{id, input, output: [{provenance: [{title, text, score,
passage_id, meta}]}]}`. Its passages read `title @@ body`, their n-grams are in `meta.keys`, and
there is no `wikipedia_id`, which KILT's own scorer reads: passages need not be pages.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path

from argus.data.documents import check_limit, check_unique, queries_file, read_queries
from argus.data.reading import check_file, nothing_in, parse_json, read_lines, reading
from argus.data.rows import Row, file_format, id_value, pick_field, read_rows, suffix_of, text_value
from argus.data.types import Query, Topic
from argus.data.writing import replacing, write_jsonl
from argus.errors import InputError, Location

INDENT = 4  # of the published DPR files
TITLE_END = " @@ "
TOPIC_ID_FIELDS = ("id", "_id", "query_id", "qid")
FORM = '[{"question": "...", "answers": ["..."]}, ...], or one such object per line'
BLOCK = 1 << 20  # characters that are read at once
MAX_ITEM = 1 << 28  # characters: a longer item is a list whose quotation marks do not pair
_GAP = re.compile(r"[\s,]*")


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
        found = (topic for _, topic in _dpr_records(file, coerce_ids))
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


def read_dpr(path: Path, *, coerce_ids: bool = False) -> Iterator[DprResult]:
    """Yield the questions of a file of results with their passages, in file order.

    Title and text may be missing, as keys may. Raises InputError naming the record for a file that
    is no such list, fields of another type, a passage without id or score, and keys that are no
    `[text, count, weight]`.
    """
    form = "ctxs: a list of passages with passage_id, score, and keys of [n-gram, count, weight]"
    for row, topic in _dpr_records(path, coerce_ids):
        passages = []
        contexts = row.values.get("ctxs")
        with reading(row.at("ctxs"), _short(contexts), expected=form, fix="Write the file again."):
            for fields in contexts:  # type: ignore[union-attr]  # others raise, as damage does
                id_, given = fields["passage_id"], fields.get("keys")
                if isinstance(id_, bool) or not isinstance(id_, str | int):
                    raise TypeError("passage_id is neither text nor a whole number")
                keys = None
                if given is not None:
                    keys = tuple((str(t), int(n), float(w)) for t, n, w in given)
                title, text = str(fields.get("title") or ""), str(fields.get("text") or "")
                passages.append(DprPassage(str(id_), title, text, float(fields["score"]), keys))
        yield DprResult(topic, tuple(passages))


class _Item(Row):
    """A record of a JSON list. Its line is its place in the list, from 1."""

    __slots__ = ()

    def at(self, field: str | None = None) -> Location:
        return Location(self.file, None, f"[{self.line - 1}]" + (f".{field}" if field else ""))


def _dpr_records(path: Path, coerce_ids: bool) -> Iterator[tuple[Row, Topic]]:
    """Yield the items of a DPR list, with the question, its answers and all other fields."""
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
        yield row, Topic(Query(id_, text_value(row, "question")), _answers(row), rest)


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
    """Return the `answers` of a row, one text or a list. None where it has none."""
    answers = row.values.get("answers") or []
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        fix = "Quote each answer; leave the field out where none is known."
        where = row.at("answers")
        raise InputError(_short(answers), expected="a list of strings", fix=fix, where=where)
    return tuple(answers)


def write_dpr(path: Path, results: Iterable[DprResult], *, indent: int | None = INDENT) -> Path:
    """Write results as they come, the file whole or not at all. Return the path.

    The topic's own fields come first, then ctxs. indent: spaces per level, or None for one line per
    question. Holds one result in memory.
    """
    margin = " " * (indent or 0)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, result in enumerate(results):
            topic = result.topic
            own = {"id": topic.query.id, "question": topic.query.text, "answers": topic.answers}
            rest = {name: value for name, value in topic.given.items() if name not in own}
            rest["ctxs"] = [{**_context(p, p.text), "keys": p.keys} for p in result.passages]
            text = json.dumps(own | rest, ensure_ascii=False, allow_nan=False, indent=indent)
            # Line breaks within texts are escaped: these are the ones of the layout.
            file.write("," * bool(number) + f"\n{margin}" + text.replace("\n", f"\n{margin}"))
        file.write("\n]\n")
    return path


def write_kilt(path: Path, results: Iterable[DprResult]) -> Path:
    """Write one line per question as they come, the file whole or not at all. Return the path."""

    def line(result: DprResult) -> dict[str, object]:
        provenance = [
            {**_context(p, f"{p.title}{TITLE_END}{p.text}"), "meta": {"keys": p.keys}}
            for p in result.passages
        ]
        query = result.topic.query
        return {"id": query.id, "input": query.text, "output": [{"provenance": provenance}]}

    write_jsonl(path, map(line, results))
    return path


def _context(passage: DprPassage, text: str) -> dict[str, object]:
    id_, score = passage.passage_id, passage.score
    return {"title": passage.title, "text": text, "score": score, "passage_id": id_}


def _short(value: object) -> str:
    text = repr(value)
    return text[:60] + "..." * (len(text) > 60)
