"""Read questions with their answers, and write the passages found: DPR, dpr_qas, KILT, BEIR.

DPR JSON, as SEAL and MINDER write it, is one list of `{question, answers, ctxs: [{title, text,
score, passage_id, keys}]}`, where keys are `[[n-gram, occurrences in the corpus, weight], ...]`.
KILT JSONL has a line per question: `{id, input, output: [{provenance: [{title, text, score,
passage_id, meta}]}]}`. Its passages read `title @@ body`, their n-grams are in `meta.keys`, and
there is no `wikipedia_id`, which KILT's own scorer reads: passages need not be pages.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from argus.data.documents import check_limit, queries_file, read_queries
from argus.data.reading import parse_json, reading
from argus.data.rows import Row, file_format, id_value, read_rows, suffix_of, text_value
from argus.data.text_files import nothing_in, read_lines
from argus.data.types import Query, Topic
from argus.data.writing import replacing, write_jsonl
from argus.errors import InputError, Location

INDENT = 4  # of the published DPR files
TITLE_END = " @@ "
TOPIC_ID_FIELDS = ("id", "_id", "query_id", "qid")


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
    file = topics_file(path)
    kind = _guess(file) if kind == TopicFormat.AUTO else kind
    topics: Iterable[Topic]
    if kind == TopicFormat.DPR:
        topics = (topic for _, topic in _dpr_records(file, coerce_ids))
    elif kind == TopicFormat.QAS:
        topics = _read_qas(file)
    elif kind == TopicFormat.KILT:
        topics = (topic_of(row, coerce_ids=coerce_ids) for row in read_rows(file))
    else:
        queries = read_queries(file, coerce_ids=coerce_ids, limit=limit)
        rows = zip(queries, read_rows(file), strict=False)
        topics = (Topic(query, _answers(row, may_be_one=True)) for query, row in rows)
    ids: dict[str, Topic] = {}
    for topic in islice(topics, limit):
        if topic.query.id in ids:
            got = f"two questions have the id {topic.query.id!r}"
            fix = "Rename one of the two; give all questions of a DPR file an id, or none."
            raise InputError(got, expected="one question per id", fix=fix, where=file)
        ids[topic.query.id] = topic
    if not ids:
        raise nothing_in(file, "question")
    return list(ids.values())


def topics_file(path: Path) -> Path:
    """Return the file of questions: `path` itself, or `queries.*` in a BEIR folder."""
    return queries_file(
        path, "questions: .json (DPR), .jsonl (BEIR or KILT), .tsv, or a BEIR folder"
    )


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
    for number, line in read_lines(path):
        if not line.strip():
            continue
        where, form = Location(path, number), "question<TAB>['answer', ...]"
        question, tab, answers = line.rstrip("\r\n").partition("\t")
        if not tab or not question.strip():
            got = f"{_short(line.strip())} without {'a question' if tab else 'a tab'}"
            fix = "Write question and answers on one line, a tab between."
            raise InputError(got, expected=form, fix=fix, where=where)
        if answers.startswith('"') and answers.endswith('"'):  # csv quotes a list with quotes in it
            answers = answers[1:-1].replace('""', '"')
        got, fix = f"{_short(answers)} is no Python list", "Quote each answer and close the list."
        with reading(where, got, expected=form, fix=f"{fix} Backslashes are doubled."):
            value = ast.literal_eval(answers.strip())
        if not isinstance(value, list | tuple) or not all(isinstance(a, str) for a in value):
            got, fix = f"{_short(answers)} is no list of strings", "Quote each answer, numbers too."
            raise InputError(got, expected=form, fix=fix, where=where)
        yield Topic(Query(str(number - 1), question), tuple(value))


def topic_of(row: Row, *, coerce_ids: bool = False) -> Topic:
    """Return the question of a row of KILT, with the different answers in `output`."""
    missing = next((name for name in ("input", "id") if name not in row.values), None)
    if missing is not None:
        got = f"no {missing!r} among {', '.join(map(repr, row.values))}"
        expected = '{"id": "...", "input": "...", "output": [{"answer": "..."}]}'
        raise InputError(got, expected=expected, fix="Mend or remove the line.", where=row.at())
    output = row.values.get("output") or []
    if not isinstance(output, list) or not all(isinstance(one, dict) for one in output):
        expected = 'a list of objects, [{"answer": "..."}, ...]'
        fix, where = "Leave the field out where no answer is known.", row.at("output")
        raise InputError(f"{output!r:.60}", expected=expected, fix=fix, where=where)
    answers = (one.get("answer") for one in output)
    query = Query(id_value(row, "id", coerce=coerce_ids), text_value(row, "input"))
    return Topic(query, tuple(dict.fromkeys(a for a in answers if isinstance(a, str) and a)))


def read_dpr(path: Path, *, coerce_ids: bool = False) -> Iterator[DprResult]:
    """Yield the questions of a file of results with their passages, in file order.

    Title and text may be missing, as keys may. Raises InputError naming the record for a file that
    is no such list, fields of another type, a passage without id or score, and keys that are no
    `[text, count, weight]`.
    """
    for row, topic in _dpr_records(path, coerce_ids):
        contexts = row.values.get("ctxs")
        if not isinstance(contexts, list):
            expected = "ctxs: a list of the passages that were found"
            fix, where = "Check that these are results, not questions alone.", row.at("ctxs")
            raise InputError(_short(contexts), expected=expected, fix=fix, where=where)
        passages, form = [], "passage_id, score, and keys of [n-gram, count, weight]"
        for position, context in enumerate(contexts):
            where = row.at(f"ctxs[{position}]")
            with reading(where, _short(context), expected=form, fix="Write the file again."):
                fields = {**context}
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
    form = '[{"question": "...", "answers": ["..."]}, ...]'
    text = "".join(line for _, line in read_lines(path))
    fix = "Mend the file; questions with one JSON object per line must be named .jsonl."
    with reading(path, "broken JSON", expected=form, fix=fix):
        content = parse_json(text)
    if not isinstance(content, list):
        got, fix = f"a JSON {type(content).__name__}", "Check that this is a file of questions."
        raise InputError(got, expected=f"a list, {form}", fix=fix, where=path)
    for position, values in enumerate(content):
        row = _Item(values, path, position + 1)
        if not isinstance(values, dict) or not isinstance(values.get("question"), str):
            got, fix = f"item {position + 1} is {_short(values)}", "Mend or remove the item."
            expected = f"a question in each: {form}"
            raise InputError(got, expected=expected, fix=fix, where=row.at())
        id_field = next((name for name in TOPIC_ID_FIELDS if values.get(name) is not None), None)
        id_ = id_value(row, id_field, coerce=coerce_ids) if id_field else str(position)
        own = {"question", "answers", "ctxs", id_field}
        rest = {name: value for name, value in values.items() if name not in own}
        yield row, Topic(Query(id_, text_value(row, "question")), _answers(row), rest)


def _answers(row: Row, *, may_be_one: bool = False) -> tuple[str, ...]:
    """Return the `answers` of a row, a list of texts. None where it has none."""
    answers = row.values.get("answers", [])
    if may_be_one:
        answers = [answers] if isinstance(answers, str) and answers else answers or []
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
