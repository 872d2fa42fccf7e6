"""Read and write a benchmark of superseded documents as a folder (CAR Def. 6).

A `Benchmark` is records, questions with their right documents, and supersessions. The files:
`corpus.jsonl` (`_id`, `type`, `timestamp`, `published`, `entities`, `title`, `text`, `metadata`),
`queries.jsonl` (`_id`, `text`, `gold`, `anchor`, `chain`, `gold_equivalent`, `hop` or `hop_type`,
`answer`, `scope`), `supersedes.jsonl` (`superseder`, `superseded`), `qrels/test.tsv`, and
optionally `rules.yaml` and `hyde.jsonl` (`_id`, `hypothetical`). You must give ids, texts and gold,
and types where there are rules. The corpus alone is a BEIR corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argus.authority.domains import Domain, load_domain, write_rules
from argus.authority.opening import read_edges
from argus.authority.relation import Authority
from argus.authority.rules import SUPERSEDES, Edge, Record, Rule, located
from argus.data.reading import parse_json, reading
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
