"""Read the test sets that the CAR paper released into a `Benchmark`.

`read_released`: a file of questions with their events (FinSuperQA), or of pairs of a superseded and
a superseding document (GHSA, FDA, SCOTUS) -> records, questions, and the supersessions that the
files themselves state. `argus.tasks.readers` calls it. `collection` reads Argus' own folders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.domains.reading import read_sources
from argus.authority.rules import Edge, Record
from argus.authority.times import parse_moment
from argus.data.reading import check_file
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.errors import InputError


class Side(NamedTuple):
    """One of the two documents of a pair: its type, and the fields of its text, scope and time."""

    type: str
    text: str
    scope: Mapping[str, str]
    time: str = ""


_ADVISORY = {"product": "product", "cve_id": "cve_id", "ghsa_id": "id"}
_DRUG = {"norm_name": "norm_name"}
_CASES = {
    side: {"case_name": f"{side}_case", "us_cite": f"{side}_citation"}
    for side in ("original", "overruling")
}
# Lists of pairs by name: the superseded and the superseding document.
SHAPES = {
    "GHSA": (
        Side("disclosure", "disclosure_text", _ADVISORY), Side("patch", "patch_text", _ADVISORY),
    ),
    "FDA": (
        Side("label", "anchor_text", _DRUG),
        Side("recall", "superseder_text", _DRUG, "recall_date"),
    ),
    "SCOTUS": (
        Side("original", "original_text", _CASES["original"]),
        Side("overruling", "overruling_text", _CASES["overruling"]),
    ),
}  # fmt: skip
# Question of a list whose pairs have none.
TEMPLATES = {"SCOTUS": "Is {original_case} still good law and controlling precedent?"}
EVENTS, PROVENANCE, EDGES = "kb", "provenance", "supersession_edges"
# Of a question; all of its events have it, whatever their texts name.
SCOPE = ("employee", "ticker")
RIGHT_FILE = "Check that this is the right file."


def read_released(
    file: Path,
    *,
    queries: Path | None = None,
    split: Path | None = None,
    distractors: Path | None = None,
    hypotheticals: Path | None = None,
) -> Benchmark:
    """Read a released set. The relation is that of the files themselves, without rules.

    queries: of pairs that have none beside them. They replace a question's own words, where they
    have the question. split: ids of the questions that count, one per line. The corpus then holds
    the events of these questions alone, as the released scorer has it. distractors: further
    documents, as the released scorer makes them, for all questions. hypotheticals: `id` and
    `hypothetical` (HyDE). Raises InputError naming file, line and field for another form, an id
    that stands twice with two texts, a question without text or gold, and an unknown id in a split.
    """
    rows = list(read_sources(file))
    if split is not None:
        check_file(split, "ids of questions, one per line", "Check the name of the split.")
        ids = dict.fromkeys(split.read_text(encoding="utf-8").split())
        known = {_question_id(row): row for row in rows}
        unknown = next((id_ for id_ in ids if id_ not in known), None)
        if unknown is not None or not ids:
            got = "no id in it" if unknown is None else f"{unknown!r} is no question of {file}"
            expected = f"ids such as {next(iter(known), 'FIN-00001')!r}"
            fix = "Check that split and questions are of one set."
            raise InputError(got, expected=expected, fix=fix, where=split)
        rows = [row for id_, row in known.items() if id_ in ids]
    if not rows:
        raise InputError("no row in it", expected="at least one", fix=RIGHT_FILE, where=file)
    texts = _texts(queries, "query")
    read = _read_events if EVENTS in rows[0].values else _read_pairs
    records: dict[str, Record] = {}
    questions: list[Question] = []
    edges: dict[tuple[str, str], Edge] = {}
    for row, (own, question, links) in zip(rows, read(rows, texts), strict=True):
        _add(records, own, row)
        questions.append(question)
        edges |= {(edge.superseder, edge.superseded): edge for edge in links}
    for row in read_rows(distractors) if distractors is not None else ():
        distractor = Record(
            id_value(row, pick_field(row, ("doc_id", "_id", "id", "event_id"), what="id")),
            text_value(row, "event_type") or text_value(row, "type") or "distractor",
            parse_moment(row.values.get("timestamp"), where=row.at("timestamp")),
            {str(k): str(v) for k, v in (row.values.get("entities") or {}).items()},
            _text(row, "text"),
        )
        _add(records, [distractor], row)
    same: dict[str, list[str]] = {}  # ids of the documents of one text
    for record in records.values():
        same.setdefault(record.text, []).append(record.id)
    for n, q in enumerate(questions):
        alike = [id_ for gold in q.gold for id_ in same[records[gold].text]]
        questions[n] = replace(q, equivalent=tuple(dict.fromkeys([*q.gold, *alike])))
    return Benchmark(
        file.stem, list(records.values()), questions, list(edges.values()),
        hypotheticals=_texts(hypotheticals, "hypothetical"), file=file,
    )  # fmt: skip


# Documents, question and supersessions of a row. A document may come again with the same text.
Part = tuple[Sequence[Record], Question, Sequence[Edge]]


def _add(records: dict[str, Record], own: Sequence[Record], row: Row) -> None:
    """Add documents. Raise InputError for one id of two texts."""
    for record in own:
        if records.setdefault(record.id, record).text != record.text:
            got, expected = f"two documents have the id {record.id!r}", "one text per id"
            raise InputError(got, expected=expected, fix="Rename one of the two.", where=row.at())


def _question_id(row: Row) -> str:
    return id_value(row, pick_field(row, ["example_id", "id"], what="question id"))


def _read_events(rows: Sequence[Row], texts: Mapping[str, str]) -> Iterator[Part]:
    """Yield questions, each with all the events of its scope."""
    for row in rows:
        scope = {key: text_value(row, key) for key in SCOPE if row.values.get(key)}
        events = [
            Record(
                id_value(one, pick_field(one, ["event_id", "doc_id"], what="event id")),
                text_value(one, "event_type"),
                parse_moment(one.values.get("timestamp"), where=one.at("timestamp")),
                scope,
                text_value(one, "text"),
            )
            for one in _objects(row, EVENTS)
        ]
        known, hops = [event.id for event in events], _objects(row, PROVENANCE)
        pairs = [(one, "event_id", "supersedes") for one in hops if one.values.get("supersedes")]
        pairs = pairs or [(one, "trigger_id", "target_id") for one in _objects(row, EDGES)]
        edges = [
            Edge(id_value(one, newer), id_value(one, older), text_value(one, "rule") or "given")
            for one, newer, older in pairs
        ]
        # The events that answer a question, oldest first: its provenance, or all it has.
        chain = [id_value(one, "event_id") for one in hops] or known
        named = [*chain, *(id_ for edge in edges for id_ in (edge.superseder, edge.superseded))]
        unknown = next((id_ for id_ in named if id_ not in known), None)
        older_ids = {edge.superseded for edge in edges}
        gold = chain[-1:] if hops else [id_ for id_ in chain if id_ not in older_ids]
        if unknown is not None or not gold:
            got = "no event that controls"
            if unknown is not None:
                got = f"{unknown!r} is no event of the question"
            expected, where = f"ids of its {EVENTS!r}, and one that controls", row.at()
            raise InputError(got, expected=expected, fix="Mend the question.", where=where)
        id_, hop = _question_id(row), text_value(row, "hop_type")
        digit = hop.removeprefix("type")[:1]  # T0 for "type0_no_supersession"
        question = Question(
            id_, texts.get(id_) or _text(row, "query"), tuple(gold), tuple(chain[:1]),
            tuple(chain), scope=scope, answer=text_value(row, "answer"),
            hop=f"T{digit}" if hop.startswith("type") and digit.isdigit() else hop,
        )  # fmt: skip
        yield events, question, edges


def _objects(row: Row, field: str) -> list[Row]:
    values = row.values.get(field) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        got, where = f"{values!r:.60}", row.at(field)
        raise InputError(got, expected="a list of objects", fix=RIGHT_FILE, where=where)
    return [Row(value, row.file, row.line) for value in values]


def _read_pairs(rows: Sequence[Row], texts: Mapping[str, str]) -> Iterator[Part]:
    """Yield pairs of a superseded and a superseding document, each with a question."""
    fields = rows[0].values.keys()
    name = next((n for n, (old, new) in SHAPES.items() if {old.text, new.text} <= fields), None)
    if name is None:
        known = "; ".join(f"{old.text} and {new.text} ({n})" for n, (old, new) in SHAPES.items())
        got = f"fields {', '.join(map(repr, fields))}"
        expected = f"questions with their events (kb), or pairs: {known}"
        fix = "Check that this is a released file of CAR."
        raise InputError(got, expected=expected, fix=fix, where=rows[0].at())
    times: Counter[str] = Counter()
    for row in rows:
        id_ = named = _question_id(row)
        times[named] += 1
        if times[named] > 1:  # 14 ids of legal_scotus_expanded_pairs.json are of two pairs each
            id_ = f"{named}-{times[named]}"
        older, newer = (
            Record(
                f"{id_}#{side.type}",
                side.type,
                parse_moment(row.values.get(side.time), where=row.at(side.time)),
                {
                    key: id_ if field == "id" else text_value(row, field)
                    for key, field in side.scope.items()
                    if row.values.get(field)
                },
                _text(row, side.text),
            )
            for side in SHAPES[name]
        )
        if named in texts:
            text = texts[named]
        elif "query" in row.values and not texts:
            text = _text(row, "query")
        elif name in TEMPLATES and not texts:
            text = TEMPLATES[name].format(original_case=text_value(row, "original_case"))
        else:
            got = f"pair {named!r} has no question"
            expected = "a question for every pair: rows of id and query"
            fix = "Name their file (queries=FILE), such as ghsa_freeform_cache.jsonl."
            raise InputError(got, expected=expected, fix=fix, where=row.at("query"))
        chain, scope = (older.id, newer.id), {k: " ".join(older.values(k)) for k in older.scope}
        question = Question(id_, text, chain[1:], chain[:1], chain, scope=scope)
        yield (older, newer), question, [Edge(newer.id, older.id)]


def _texts(file: Path | None, field: str) -> dict[str, str]:
    rows = read_rows(file) if file is not None else ()
    return {_question_id(row): _text(row, field) for row in rows}


def _text(row: Row, field: str) -> str:
    text = text_value(row, pick_field(row, [field], what="text"))
    if not text.strip():
        fix = "Write it, or remove the row."
        raise InputError("no text", expected="a text", fix=fix, where=row.at(field))
    return text
