"""Read and write a benchmark of superseded documents (CAR Def. 6), or read one that was released.

A `Benchmark` is records, questions with their right documents, and supersessions.
`write_benchmark` and `read_benchmark` have it as a folder. The files:
`corpus.jsonl` (`_id`, `type`, `timestamp`, `published`, `entities`, `title`, `text`, `metadata`),
`queries.jsonl` (`_id`, `text`, `gold`, `anchor`, `chain`, `gold_equivalent`, `hop` or `hop_type`,
`answer`, `scope`), `supersedes.jsonl` (`superseder`, `superseded`), `qrels/test.tsv`, and
optionally `rules.yaml` and `hyde.jsonl` (`_id`, `hypothetical`). You must give ids, texts and gold,
and types where there are rules. The corpus alone is a BEIR corpus.

`read_released`: a file of the CAR paper, of questions with their events (FinSuperQA), or of pairs
of a superseded and a superseding document (GHSA, FDA, SCOTUS). Its supersessions are those that the
files themselves state.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from argus.authority.domains import Domain, load_domain, write_rules
from argus.authority.domains.reading import read_sources
from argus.authority.opening import read_edges
from argus.authority.relation import Authority
from argus.authority.rules import SUPERSEDES, Edge, Record, Rule, located
from argus.authority.times import parse_moment
from argus.data.reading import check_file, parse_json, reading
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold chain.

    gold: the controlling documents, front(cl(anchor)). anchor: the documents that the question is
    about. chain: all gold documents, oldest first (ProvRec). Anchor and gold where nothing else is
    known. equivalent: documents that say the same as a gold one, to the letter, gold included.
    scope: the entities that it asks about. answer: a*, "" where the benchmark has none. hop: T0 to
    T3, or "".
    """

    id: str
    text: str
    gold: tuple[str, ...]
    anchor: tuple[str, ...]
    chain: tuple[str, ...]
    equivalent: tuple[str, ...] = ()
    scope: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    hop: str = ""


@dataclass(frozen=True)
class Benchmark:
    """Records, questions, and the relation between the records.

    edges: the gold supersessions, by which a served set is judged. rules: the part of the relation
    that a pipeline may know. Empty if there are only edges. file: that it was read from, if one.
    hypotheticals: question id to a stored hypothetical document (HyDE).
    """

    name: str
    records: Sequence[Record]
    questions: Sequence[Question]
    edges: Sequence[Edge]
    rules: Sequence[Rule] = ()
    hypotheticals: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = field(default=None, compare=False)


CORPUS, QUERIES, EDGES = "corpus.jsonl", "queries.jsonl", "supersedes.jsonl"
QRELS, HYDE, RULES, ABOUT = "qrels/test.tsv", "hyde.jsonl", "rules.yaml", "benchmark.json"


def write_benchmark(
    folder: Path, benchmark: Benchmark, *, seed: int, settings: Mapping[str, bool] | None = None
) -> None:
    """Write a benchmark folder. Each file is whole or absent. The same input gives the same bytes.

    seed, settings: of its making, kept in benchmark.json. An earlier benchmark of ours is written
    over. Files of it that this one lacks (rules, hypotheticals) are removed. Raises InputError
    where the path is a file, or a folder of something else.
    """
    if folder.is_file() or (any(folder.glob("*")) and not (folder / ABOUT).is_file()):
        expected, fix = "a new or empty folder, or one that was generated", "Name another folder."
        raise InputError("no benchmark that Argus wrote", expected=expected, fix=fix, where=folder)
    # benchmark.json comes first: the rest of a stopped write can be written over
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "name": benchmark.name, "seed": seed, "settings": dict(settings or {}),
        "records": len(benchmark.records), "questions": len(benchmark.questions),
        "edges": len(benchmark.edges),
    }  # fmt: skip
    write_whole(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    records: Iterator[dict[str, object]] = (
        {
            "_id": r.id,
            "type": r.type,
            "timestamp": r.time.text if r.time else None,
            **({"published": r.published.text} if r.published else {}),
            "entities": {k: v if isinstance(v, str) else list(v) for k, v in r.scope.items()},
            "title": r.title,
            "text": r.text,
            "metadata": dict(r.metadata),
        }
        for r in benchmark.records
    )
    questions: Iterator[dict[str, object]] = (
        {
            "_id": q.id, "text": q.text, "gold": list(q.gold), "anchor": list(q.anchor),
            "chain": list(q.chain), "gold_equivalent": list(q.equivalent), "hop": q.hop,
            "answer": q.answer, "scope": dict(q.scope),
        }
        for q in benchmark.questions
    )  # fmt: skip
    edges: Iterator[dict[str, object]] = (
        {
            "superseder": edge.superseder,
            "superseded": edge.superseded,
            "rule": edge.rule,
            **({"confidence": edge.confidence} if edge.confidence != 1 else {}),
            **({"relation": edge.relation} if edge.relation != SUPERSEDES else {}),
        }
        for edge in benchmark.edges
    )
    write_jsonl(folder / CORPUS, records)
    write_jsonl(folder / QUERIES, questions)
    write_jsonl(folder / EDGES, edges)
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q.id}\t{gold}\t1" for q in benchmark.questions for gold in q.gold]
    (folder / QRELS).parent.mkdir(exist_ok=True)
    write_whole(folder / QRELS, "\n".join(lines) + "\n")
    for optional in (RULES, HYDE):
        (folder / optional).unlink(missing_ok=True)
    if benchmark.rules:
        write_rules(folder / RULES, benchmark.rules, name=benchmark.name)
    if benchmark.hypotheticals:
        rows = ({"_id": q, "hypothetical": t} for q, t in benchmark.hypotheticals.items())
        write_jsonl(folder / HYDE, rows)


CHECK_NAMES = "Check the names of the fields."
RECORDS = Domain("records", ())  # Of a folder without rules: records in the usual columns


def read_benchmark(folder: Path, queries: str = QUERIES) -> Benchmark:
    """Read a benchmark folder, its records by the zone and shapes of its rules, if they say some.

    queries: name of the questions' file in it. A question without an anchor is about its gold.
    Without a chain it takes anchor and gold. Raises InputError with file, line and field for broken
    input: ids twice or not in the corpus, a question without gold, unreadable times, edges in a
    circle.
    """
    domain = load_domain(folder / RULES) if (folder / RULES).is_file() else RECORDS
    records = domain.read(folder / CORPUS)
    if not any(record.text.strip() or record.title.strip() for record in records):
        got, fix = f"none of {len(records):,} documents has a text or a title", CHECK_NAMES
        raise InputError(got, expected="documents with `text`", fix=fix, where=folder / CORPUS)
    known = {record.id for record in records}
    edges: list[Edge] = []
    if (folder / EDGES).is_file() or not domain.rules:
        edges = read_edges(folder / EDGES)
        with located(folder / EDGES):
            Authority([Record(id_, "") for id_ in known], (), edges)
    questions = [_question(row, known) for row in _unique(folder / queries, "question")]
    name = folder.resolve().name
    if (folder / ABOUT).is_file():
        expected = '{"name": ..., "seed": ...}, as Argus wrote it'
        fix = "Remove the file: the folder's name then counts."
        with reading(folder / ABOUT, "no name in it", expected=expected, fix=fix):
            name = str(parse_json((folder / ABOUT).read_text(encoding="utf-8"))["name"])
    texts: dict[str, str] = {}
    for row in _unique(folder / HYDE, "question") if (folder / HYDE).is_file() else ():
        pick_field(row, ["hypothetical"], what="hypothetical document")
        texts[id_value(row, "_id")] = text_value(row, "hypothetical")
    hypotheticals = {q.id: texts[q.id] for q in questions if q.id in texts}
    return Benchmark(name, records, questions, edges, domain.rules, hypotheticals)


def _unique(file: Path, what: str) -> Iterator[Row]:
    """Yield the rows of a file. Raise InputError for an id twice, and for a file without rows."""
    lines: dict[str, int] = {}
    for row in read_rows(file):
        pick_field(row, ["_id"], what=f"{what} id")
        id_ = id_value(row, "_id")
        if id_ in lines:
            got = f"{what} {id_!r} is on line {lines[id_]} already"
            fix = "Remove or rename one of the two."
            raise InputError(got, expected=f"each {what} once", fix=fix, where=row.at("_id"))
        lines[id_] = row.line
        yield row
    if not lines:
        expected, fix = f"one {what} per line", "Check that this is the right file."
        raise InputError("no row in it", expected=expected, fix=fix, where=file)


def _question(row: Row, known: set[str]) -> Question:
    id_, gold = id_value(row, "_id"), _ids(row, "gold", known)
    if not gold:
        got, expected = f"question {id_!r} has no gold", "at least one controlling document"
        fix = "Name it in `gold`, or remove the question."
        raise InputError(got, expected=expected, fix=fix, where=row.at("gold"))
    anchor = _ids(row, "anchor", known) or gold
    text = text_value(row, "text")
    if not text.strip():
        got, fix = f"question {id_!r} has no text", "Write it, or remove the question."
        raise InputError(got, expected="a question", fix=fix, where=row.at("text"))
    scope = row.values.get("scope") or {}
    if not isinstance(scope, dict):
        got = f"{scope!r} is of type {type(scope).__name__}"
        fix = "Write it as an object, or leave it out."
        raise InputError(got, expected="an object: {key: value}", fix=fix, where=row.at("scope"))
    return Question(
        id_,
        text,
        gold,
        anchor,
        chain=_ids(row, "chain", known) or _distinct((*anchor, *gold)),
        equivalent=_distinct((*gold, *_ids(row, "gold_equivalent", known))),
        scope={key: str(one) for key, one in scope.items()},
        answer=text_value(row, "answer"),
        hop=text_value(row, "hop") or text_value(row, "hop_type"),
    )


def _ids(row: Row, field: str, known: set[str]) -> tuple[str, ...]:
    """Return the document ids of a field: a list, one string, or nothing."""
    value = row.values.get(field)
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    bad = next((v for v in values if not isinstance(v, str) or not v), None)
    if len(values) and (bad is not None or None in values):
        expected, fix = "a list of document ids, as text", "Write each id in quotes."
        raise InputError(f"{value!r}", expected=expected, fix=fix, where=row.at(field))
    ids = _distinct(values)
    unknown = next((id_ for id_ in ids if id_ not in known), None)
    if unknown is not None:
        got, fix = f"{unknown!r} is no document of the corpus", "Mend the id, or add the document."
        raise InputError(got, expected=f"ids of {CORPUS}", fix=fix, where=row.at(field))
    return ids


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


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
EVENTS, PROVENANCE, LINKS = "kb", "provenance", "supersession_edges"
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
        pairs = pairs or [(one, "trigger_id", "target_id") for one in _objects(row, LINKS)]
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
