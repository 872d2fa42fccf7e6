"""Released."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.records import Record
from argus.authority.rules import Edge
from argus.authority.times import parse_moment
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.errors import InputError, Location


@dataclass(frozen=True)
class Side:
    """One of the two documents of a pair: its type, and which fields are its text, time and scope.

    scope: key of the scope to the field of the pair.
    """

    type: str
    text: str
    scope: tuple[tuple[str, str], ...]
    time: str = ""


@dataclass(frozen=True)
class PairShape:
    """A list of pairs. question: a template, where pairs may have none. of_question: its fields."""

    name: str
    older: Side
    newer: Side
    question: str = ""
    of_question: tuple[str, ...] = ()


_ADVISORY = (("product", "product"), ("cve_id", "cve_id"), ("ghsa_id", "id"))
_DRUG = (("norm_name", "norm_name"),)
SHAPES = (
    PairShape(
        "GHSA",
        Side("disclosure", "disclosure_text", _ADVISORY),
        Side("patch", "patch_text", _ADVISORY),
    ),
    PairShape(
        "FDA",
        Side("label", "anchor_text", _DRUG),
        Side("recall", "superseder_text", _DRUG, "recall_date"),
    ),
    PairShape(
        "SCOTUS",
        Side(
            "original",
            "original_text",
            (("case_name", "original_case"), ("us_cite", "original_citation")),
        ),
        Side(
            "overruling",
            "overruling_text",
            (("case_name", "overruling_case"), ("us_cite", "overruling_citation")),
        ),
        "Is {original_case} still good law and controlling precedent?",
        ("original_case",),
    ),
)


def shape_of(row: Row | None, file: Path) -> PairShape:
    """Return the form of a list by its first pair. Raise InputError for none and an unknown one."""
    if row is None:
        raise InputError(
            "no pair in it", expected="at least one", fix="Check that this is the right file.",
            where=file,
        )  # fmt: skip
    for shape in SHAPES:
        if {shape.older.text, shape.newer.text} <= row.values.keys():
            return shape
    known = "; ".join(f"{s.older.text} and {s.newer.text} ({s.name})" for s in SHAPES)
    raise InputError(
        f"fields {', '.join(map(repr, row.values))}",
        expected=f"questions with their events (kb), or pairs: {known}",
        fix="Check that this is a released file of CAR.",
        where=row.at(),
    )


def read_pair(row: Row, shape: PairShape) -> tuple[Record, Record]:
    """Return the superseded document of a pair, and the superseding one."""
    return _record(row, shape.older), _record(row, shape.newer)


def _record(row: Row, side: Side) -> Record:
    pick_field(row, [side.text], what="text")
    text = text_value(row, side.text)
    if not text.strip():
        raise InputError(
            "no text", expected="the text of the document",
            fix="Write it, or remove the pair.", where=row.at(side.text),
        )  # fmt: skip
    scope = {key: text_value(row, field) for key, field in side.scope if row.values.get(field)}
    time = parse_moment(row.values.get(side.time), where=row.at(side.time)) if side.time else None
    return Record(f"{id_value(row, 'id')}#{side.type}", side.type, time, scope, text)


EVENTS, PROVENANCE, EDGES = "kb", "provenance", "supersession_edges"
# Of a question; all of its events have it, whatever their texts name.
SCOPE = ("employee", "ticker")
DISTRACTOR_IDS = ("doc_id", "_id", "id", "event_id")


@dataclass(frozen=True)
class Released:
    """Paths of the parts of a released set.

    queries: of pairs that have none beside them. They replace a question's own words, where they
    have the question.
    split: ids of the questions that count, one per line. distractors: further documents, as the
    released scorer makes them. hypotheticals: `id` and `hypothetical` (HyDE).
    """

    file: Path
    queries: Path | None = None
    split: Path | None = None
    distractors: Path | None = None
    hypotheticals: Path | None = None


def read_released(released: Released) -> Benchmark:
    """Read a released set. The relation is that of the files themselves, without rules.

    Of a split, the corpus holds the events of its questions alone, as the released scorer has it.
    The distractors come to all of them. Raises InputError naming file, line and field for another
    form, an id that stands twice with two texts, a question without text or gold, and an unknown id
    in a split.
    """
    rows = list(_rows(released.file))
    if released.split is not None:
        rows = _of_split(rows, released.file, released.split)
    if any(EVENTS in row.values for row in rows[:1]):
        records, questions, edges = _questions_with_events(rows, released)
    else:
        records, questions, edges = _pairs(rows, released)
    if released.distractors is not None:
        _add(records, map(_distractor, read_rows(released.distractors)), released.distractors)
    questions = _with_equivalents(questions, records)
    return Benchmark(
        released.file.stem, list(records.values()), questions, edges,
        hypotheticals=_texts(released.hypotheticals, "hypothetical"), file=released.file,
    )  # fmt: skip


def _rows(file: Path) -> Iterator[Row]:
    """Yield the objects of a JSON list, or the rows of JSON lines."""
    if file.suffix.lower() != ".json":
        yield from read_rows(file)
        return
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"cannot be read as JSON ({error})",
            expected="a list of pairs, as published",
            fix="Check the path, or fetch the file again.",
            where=file,
        ) from error
    for number, values in enumerate(content if isinstance(content, list) else [content], start=1):
        if not isinstance(values, dict):
            raise InputError(
                f"a JSON {type(values).__name__}", expected="a list of objects, one per pair",
                fix="Check that this is the right file.", where=Location(file, number),
            )  # fmt: skip
        yield Row(values, file, number)


def _of_split(rows: list[Row], file: Path, split: Path) -> list[Row]:
    """Return the rows of the questions of a file that a split names."""
    if not split.is_file():
        raise InputError(
            "no such file", expected="ids of questions, one per line",
            fix="Check the name of the split.", where=split,
        )  # fmt: skip
    ids = split.read_text(encoding="utf-8").split()
    known = {_question_id(row): row for row in rows}
    unknown = next((id_ for id_ in ids if id_ not in known), None)
    if unknown is not None or not ids:
        raise InputError(
            "no id in it" if unknown is None else f"{unknown!r} is no question of {file}",
            expected=f"ids such as {next(iter(known), 'FIN-00001')!r}",
            fix="Check that split and questions are of one set.",
            where=split,
        )
    members = set(ids)
    return [row for id_, row in known.items() if id_ in members]


def _question_id(row: Row) -> str:
    return id_value(row, pick_field(row, ["example_id", "id"], what="question id"))


Parts = tuple[dict[str, Record], list[Question], list[Edge]]


def _questions_with_events(rows: Iterable[Row], released: Released) -> Parts:
    texts = _texts(released.queries, "query")
    records: dict[str, Record] = {}
    questions: list[Question] = []
    edges: dict[tuple[str, str], Edge] = {}
    for row in rows:
        scope = {key: text_value(row, key) for key in SCOPE if row.values.get(key)}
        events = [_event(one, scope) for one in _objects(row, EVENTS)]
        _add(records, events, row.at(EVENTS))
        own = {(e.superseder, e.superseded): e for e in _edges(row, {e.id for e in events})}
        edges |= own
        chain = _chain(row, events)
        gold = _gold(row, chain, {older for _, older in own})
        id_ = _question_id(row)
        questions.append(
            Question(
                id_, texts.get(id_) or _text(row, "query"), gold, chain[:1], chain, scope=scope,
                answer=text_value(row, "answer"), hop=_hop(text_value(row, "hop_type")),
            )
        )  # fmt: skip
    return records, questions, list(edges.values())


def _chain(row: Row, events: list[Record]) -> tuple[str, ...]:
    """Return the events that answer a question, oldest first: its provenance, or all it has."""
    known = [event.id for event in events]
    hops = [id_value(hop, "event_id") for hop in _objects(row, PROVENANCE)] or known
    unknown = next((id_ for id_ in hops if id_ not in known), None)
    if unknown is not None or not hops:
        raise InputError(
            "no event" if unknown is None else f"{unknown!r} is no event of the question",
            expected=f"ids of its {EVENTS!r}", fix="Mend the question.", where=row.at(PROVENANCE),
        )  # fmt: skip
    return tuple(hops)


def _gold(row: Row, chain: tuple[str, ...], older: set[str]) -> tuple[str, ...]:
    """Return the last hop of the provenance, or the events that no other supersedes."""
    gold = chain[-1:] if row.values.get(PROVENANCE) else tuple(e for e in chain if e not in older)
    if not gold:
        raise InputError(
            "every event is superseded by another", expected="one that controls",
            fix="Mend the supersessions of the question.", where=row.at(),
        )  # fmt: skip
    return gold


def _event(row: Row, scope: dict[str, str]) -> Record:
    return Record(
        id_value(row, pick_field(row, ["event_id", "doc_id"], what="event id")),
        text_value(row, "event_type"),
        parse_moment(row.values.get("timestamp"), where=row.at("timestamp")),
        scope,
        text_value(row, "text"),
    )


def _edges(row: Row, known: set[str]) -> Iterator[Edge]:
    """Yield the supersessions of a question: of its provenance, or of its own list of edges."""
    hops = _objects(row, PROVENANCE)
    pairs = [(hop, "event_id", "supersedes") for hop in hops if hop.values.get("supersedes")] or [
        (edge, "trigger_id", "target_id") for edge in _objects(row, EDGES)
    ]
    for one, newer, older in pairs:
        ids = id_value(one, newer), id_value(one, older)
        unknown = next((id_ for id_ in ids if id_ not in known), None)
        if unknown is not None:
            raise InputError(
                f"{unknown!r} is no event of the question", expected=f"ids of its {EVENTS!r}",
                fix="Mend the id.", where=one.at(),
            )  # fmt: skip
        yield Edge(*ids, rule=text_value(one, "rule") or "given")


def _objects(row: Row, field: str) -> list[Row]:
    values = row.values.get(field) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(
            f"{values!r:.60}", expected="a list of objects",
            fix="Check that this is the right file.", where=row.at(field),
        )  # fmt: skip
    return [Row(value, row.file, row.line) for value in values]


def _hop(name: str) -> str:
    """Return T0 for "type0_no_supersession", and a name of another form as it is."""
    digit = name.removeprefix("type")[:1]
    return f"T{digit}" if name.startswith("type") and digit.isdigit() else name


def _pairs(rows: list[Row], released: Released) -> Parts:
    shape = shape_of(rows[0] if rows else None, released.file)
    queries = _texts(released.queries, "query")
    records: dict[str, Record] = {}
    questions, edges = [], []
    times: Counter[str] = Counter()
    for row in rows:
        id_ = named = _question_id(row)
        times[named] += 1
        if times[named] > 1:  # 14 ids of legal_scotus_expanded_pairs.json are of two pairs each
            id_ = f"{named}-{times[named]}"
        older, newer = read_pair(replace(row, values={**row.values, "id": id_}), shape)
        _add(records, (older, newer), row.at())
        edges.append(Edge(newer.id, older.id))
        chain = (older.id, newer.id)
        text = _query_of(row, named, queries, shape, released)
        questions.append(
            Question(id_, text, (newer.id,), (older.id,), chain, scope=dict(_flat(older)))
        )
    return records, questions, edges


def _query_of(
    row: Row, id_: str, queries: dict[str, str], shape: PairShape, released: Released
) -> str:
    if id_ in queries:
        return queries[id_]
    if "query" in row.values and released.queries is None:
        return _text(row, "query")
    if shape.question and released.queries is None:
        return shape.question.format(**{key: text_value(row, key) for key in shape.of_question})
    raise InputError(
        f"pair {id_!r} has no question",
        expected="a question for every pair: rows of id and query",
        fix="Name their file (queries=FILE), such as ghsa_freeform_cache.jsonl.",
        where=released.queries or row.at("query"),
    )


def _flat(record: Record) -> Iterator[tuple[str, str]]:
    for key in record.scope:
        yield key, " ".join(record.values(key))


def _distractor(row: Row) -> Record:
    values = row.values.get("entities") or {}
    scope = {str(key): str(one) for key, one in values.items()} if isinstance(values, dict) else {}
    kind = next((name for name in ("event_type", "type") if name in row.values), None)
    time = row.values.get("timestamp")
    return Record(
        id_value(row, pick_field(row, DISTRACTOR_IDS, what="id")),
        text_value(row, kind) if kind else "distractor",
        parse_moment(time, where=row.at("timestamp")),
        scope,
        _text(row, "text"),
    )


def _add(records: dict[str, Record], more: Iterable[Record], where: Location | Path) -> None:
    """Keep records. One that is there already may come again with the same text."""
    for record in more:
        first = records.setdefault(record.id, record)
        if first.text != record.text:
            raise InputError(
                f"two documents have the id {record.id!r}", expected="one text per id",
                fix="Rename one of the two.", where=where,
            )  # fmt: skip


def _with_equivalents(questions: list[Question], records: dict[str, Record]) -> list[Question]:
    """Return questions with the documents whose texts are those of gold ones, to the letter."""
    same: dict[str, list[str]] = {}
    for record in records.values():
        same.setdefault(record.text, []).append(record.id)
    return [
        replace(q, equivalent=tuple(dict.fromkeys([*q.gold, *_like(q.gold, records, same)])))
        for q in questions
    ]


def _like(
    gold: Iterable[str], records: dict[str, Record], same: dict[str, list[str]]
) -> Iterator[str]:
    for id_ in gold:
        yield from same[records[id_].text]


def _texts(file: Path | None, field: str) -> dict[str, str]:
    if file is None:
        return {}
    return {_question_id(row): _text(row, field) for row in read_rows(file)}


def _text(row: Row, field: str) -> str:
    pick_field(row, [field], what="text")
    text = text_value(row, field)
    if not text.strip():
        raise InputError(
            "no text", expected="a text", fix="Write it, or remove the row.", where=row.at(field)
        )
    return text
