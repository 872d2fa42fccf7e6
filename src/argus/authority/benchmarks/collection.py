"""Read and write a benchmark as a folder: corpus, questions, supersessions, judgements.

`corpus.jsonl` (`_id`, `type`, `timestamp`, `published`, `entities`, `title`, `text`, `metadata`;
read as `domains` reads records, by the folder's `rules.yaml` where there is one), `queries.jsonl`
(`_id`, `text`, `gold`, `anchor`, `chain`, `gold_equivalent`, `hop` or `hop_type`, `answer`,
`scope`), `supersedes.jsonl` (`superseder`, `superseded`), `qrels/test.tsv`; `rules.yaml` and
`hyde.jsonl` (`_id`, `hypothetical`) where there are some. Ids, texts and gold must be there, types
where there are rules; the rest may be missing. The corpus alone is a BEIR corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.benchmarks.writing import (
    ABOUT,
    CORPUS,
    EDGES,
    HYDE,
    QRELS,
    QUERIES,
    RULES,
    write_benchmark,
)
from argus.authority.domains import Domain, load_domain
from argus.authority.edges import read_edges
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.data.qrels import read_qrels
from argus.data.reading import parse_json
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.data.types import Qrels
from argus.errors import InputError

__all__ = ["read_benchmark", "stale_gold", "write_benchmark"]

RECORDS = Domain("records", ())
"""Of a folder without rules: records in the usual columns."""


def read_benchmark(folder: Path, queries: str = QUERIES) -> Benchmark:
    """Read a benchmark folder; its records by the zone and shapes of its rules, if they say some.

    queries: name of the questions' file in it. Without gold of its own a question takes the graded
    documents of the qrels; without an anchor, what the edges say that its gold supersedes, or
    its gold; without a chain, anchor and gold. Raises InputError with file, line and field for what
    is broken: ids twice or not in the corpus, a question without gold, unreadable times, edges in a
    circle. Gold that an edge supersedes is read as it is: see `stale_gold`.
    """
    domain = load_domain(folder / RULES) if (folder / RULES).is_file() else RECORDS
    records = _records(folder / CORPUS, domain)
    known = {record.id for record in records}
    edges = _edges(folder / EDGES, known, required=not domain.rules)
    qrels = read_qrels(folder / QRELS) if (folder / QRELS).is_file() else {}
    older: dict[str, list[str]] = {}
    for edge in edges:
        older.setdefault(edge.superseder, []).append(edge.superseded)
    rows = _unique(folder / queries, "question")
    questions = [_question(row, known, qrels, older) for row in rows]
    return Benchmark(
        _name(folder),
        records,
        questions,
        edges,
        domain.rules,
        _hypotheticals(folder / HYDE, {question.id for question in questions}),
    )


def stale_gold(benchmark: Benchmark) -> dict[str, list[str]]:
    """Return question id -> gold documents that the edges supersede: they control nothing."""
    authority = Authority(benchmark.records, (), benchmark.edges)
    stale = {
        question.id: [id_ for id_ in question.gold if not authority.is_active(id_)]
        for question in benchmark.questions
    }
    return {question: ids for question, ids in stale.items() if ids}


def _records(file: Path, domain: Domain) -> list[Record]:
    """Read the corpus; InputError where none of its documents has a word."""
    records = domain.read(file)
    if not any(record.text.strip() or record.title.strip() for record in records):
        raise InputError(
            f"none of {len(records):,} documents has a text or a title",
            expected="documents with `text`",
            fix="Check the names of the fields.",
            where=file,
        )
    return records


def _unique(file: Path, what: str) -> Iterator[Row]:
    """Yield the rows of a file; InputError for an id twice, and for none at all."""
    lines: dict[str, int] = {}
    for row in read_rows(file):
        pick_field(row, ["_id"], what=f"{what} id")
        id_ = id_value(row, "_id")
        if id_ in lines:
            raise InputError(
                f"{what} {id_!r} is on line {lines[id_]} already",
                expected=f"each {what} once",
                fix="Remove or rename one of the two.",
                where=row.at("_id"),
            )
        lines[id_] = row.line
        yield row
    if not lines:
        raise InputError(
            "no row in it",
            expected=f"one {what} per line",
            fix="Check that this is the right file.",
            where=file,
        )


def _question(row: Row, known: set[str], qrels: Qrels, older: Mapping[str, list[str]]) -> Question:
    id_ = id_value(row, "_id")
    gold = _ids(row, "gold", known)
    if not gold:
        gold = tuple(doc for doc, grade in qrels.get(id_, {}).items() if grade > 0)
        _require_known(row, "gold", gold, known)
    if not gold:
        raise InputError(
            f"question {id_!r} has no gold",
            expected="at least one controlling document",
            fix=f"Name it in `gold` or in {QRELS}, or remove the question.",
            where=row.at("gold"),
        )
    anchor = _ids(row, "anchor", known)
    anchor = anchor or _distinct(id_ for g in gold for id_ in older.get(g, ())) or gold
    text = text_value(row, "text")
    if not text.strip():
        raise InputError(
            f"question {id_!r} has no text",
            expected="a question",
            fix="Write it, or remove the question.",
            where=row.at("text"),
        )
    _ids(row, "all_superseders", known)
    return Question(
        id_,
        text,
        gold,
        anchor,
        chain=_ids(row, "chain", known) or _distinct((*anchor, *gold)),
        equivalent=_distinct((*gold, *_ids(row, "gold_equivalent", known))),
        scope=_scope(row),
        answer=text_value(row, "answer"),
        hop=text_value(row, "hop") or text_value(row, "hop_type"),
    )


def _scope(row: Row) -> dict[str, str]:
    """Return the entities that a question asks about."""
    value = row.values.get("scope")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(
            f"{value!r} is of type {type(value).__name__}",
            expected="an object: {key: value}",
            fix="Write it as an object, or leave it out.",
            where=row.at("scope"),
        )
    return {key: str(one) for key, one in value.items()}


def _ids(row: Row, field: str, known: set[str]) -> tuple[str, ...]:
    """Return the document ids of a field: a list, one string, or nothing."""
    value = row.values.get(field)
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    bad = next((v for v in values if not isinstance(v, str) or not v), None)
    if len(values) and (bad is not None or None in values):
        raise InputError(
            f"{value!r}",
            expected="a list of document ids, as text",
            fix="Write each id in quotes.",
            where=row.at(field),
        )
    ids = _distinct(values)
    _require_known(row, field, ids, known)
    return ids


def _require_known(row: Row, field: str, ids: Iterable[str], known: set[str]) -> None:
    unknown = next((id_ for id_ in ids if id_ not in known), None)
    if unknown is not None:
        raise InputError(
            f"{unknown!r} is no document of the corpus",
            expected=f"ids of {CORPUS}",
            fix="Mend the id, or add the document.",
            where=row.at(field),
        )


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _edges(file: Path, known: set[str], *, required: bool) -> list[Edge]:
    if not required and not file.is_file():
        return []
    edges = read_edges(file)
    if any(e.superseder not in known or e.superseded not in known for e in edges):
        for row in read_rows(file):
            for field in ("superseder", "superseding", "superseded"):
                if field in row.values:
                    _require_known(row, field, [id_value(row, field)], known)
    try:
        Authority([Record(id_, "") for id_ in known], (), edges)
    except InputError as error:
        raise InputError(error.got, expected=error.expected, fix=error.fix, where=file) from error
    return edges


def _hypotheticals(file: Path, questions: set[str]) -> dict[str, str]:
    if not file.is_file():
        return {}
    texts = {}
    for row in _unique(file, "question"):
        pick_field(row, ["hypothetical"], what="hypothetical document")
        id_ = id_value(row, "_id")
        if id_ in questions:
            texts[id_] = text_value(row, "hypothetical")
    return texts


def _name(folder: Path) -> str:
    file = folder / ABOUT
    if not file.is_file():
        return folder.resolve().name
    try:
        return str(parse_json(file.read_text(encoding="utf-8"))["name"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"no name in it ({error!r})",
            expected='{"name": ..., "seed": ...}, as Argus wrote it',
            fix="Remove the file: the folder's name then counts.",
            where=file,
        ) from error
