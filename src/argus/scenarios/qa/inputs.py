"""Read the inputs of `scenarios qa`: questions, answers, reformulations, index, judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from argus.data.documents import ID_FIELDS, check_limit, find_file, read_queries
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.data.runs import read_judgements
from argus.data.types import Qrels, Query
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import Snapshot
from argus.scenarios.qa.cases import Gold, gold_of, scenarios_in
from argus.scenarios.qa.compare import Question
from argus.scenarios.qa.config import QAConfig

QUERY_ID_FIELDS = ("query_id", "query-id", "qid", *ID_FIELDS)
ANSWER_FIELDS = ("answer", "gold_answer", "reference_answer", "reference")
REASONED_FIELDS = ("text", "query", "reasoning", "reasoned", "reformulated", "question")

Q = TypeVar("Q")
NO_TEXT = "the question has no text"
NO_ANSWER = "there is no reference answer"
NO_REASONED = "there is no reformulated query for it"


@dataclass(frozen=True)
class Questions:
    """The questions, and the outcome of those that are not asked.

    sample: those that are asked, in the order of the file.
    reasons: query id to why it is not applicable.
    not_drawn: how many could be asked, and are not under a limit.
    unknown_answers: reference answers for ids that are no query's.
    """

    sample: list[Question]
    reasons: dict[str, str]
    not_drawn: int
    unknown_answers: int


def read_questions(
    queries: Path | str | Sequence[Query],
    answers: Path | str | Mapping[str, str] | None,
    reasoned: Mapping[str, str] | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    coerce_ids: bool = False,
) -> Questions:
    """Set questions beside their reference answers.

    answers: a file. None takes the field `answer` or `gold_answer` of the queries. reasoned: where
    it is given, a question without an entry in it is not applicable. limit: so many are drawn at
    random. A larger limit keeps those of a smaller one. Raises InputError when no question can be
    asked.
    """
    path = Path(queries) if isinstance(queries, (str, Path)) else None
    if isinstance(queries, (str, Path)):
        queries = read_queries(Path(queries), coerce_ids=coerce_ids)
    references = _answers(path, answers, coerce_ids)
    reasons: dict[str, str] = {}
    questions = []
    for query in queries:
        reference = references.get(query.id, "")
        if not query.text.strip():
            reasons[query.id] = NO_TEXT
        elif not reference.strip():
            reasons[query.id] = NO_ANSWER
        elif reasoned is not None and not reasoned.get(query.id, "").strip():
            reasons[query.id] = NO_REASONED
        else:
            questions.append(Question(query.id, query.text, reference))
    ids = {q.id for q in queries}
    if not questions:
        got, where = f"no question can be asked ({'; '.join(sorted(set(reasons.values())))})", ""
        texts = {"answers": references, "reformulated queries": reasoned or references}
        for name, values in texts.items():
            if not where and not ids & values.keys():
                where = "--answers" if name == "answers" else "--reasoned"
                got = (
                    f"the {name} name none of the {len(ids):,} queries (they name "
                    f"{_some(values)}; the queries are {_some(ids)})"
                )
        raise InputError(
            got,
            expected="questions with a text and a reference answer",
            fix="Check that the files belong together.",
            where=where or "--answers",
        )
    sample = draw(questions, limit, seed)
    not_drawn, unknown = len(questions) - len(sample), len(references.keys() - ids)
    return Questions(sample, reasons, not_drawn, unknown)


def read_reasoned(path: Path | str, *, coerce_ids: bool = False) -> dict[str, str]:
    """Read query id -> reformulated query, as BRIGHT gives them. Blank ones are left out."""
    return _read_texts(Path(path), REASONED_FIELDS, "reformulated query", coerce_ids)


def draw(questions: Sequence[Q], limit: int | None, seed: int) -> list[Q]:
    """Return `limit` questions drawn at random, in their order. All where there are no more."""
    check_limit(limit)
    if limit is None or limit >= len(questions):
        return list(questions)
    order = np.random.default_rng(seed).permutation(len(questions))
    return [questions[i] for i in sorted(order[:limit].tolist())]


def _answers(
    queries: Path | None, answers: Path | str | Mapping[str, str] | None, coerce_ids: bool
) -> dict[str, str]:
    if isinstance(answers, Mapping):
        return dict(answers)
    if answers is not None:
        return _read_texts(Path(answers), ANSWER_FIELDS, "answer", coerce_ids)
    file = queries if queries is None or queries.is_file() else find_file(queries, ["queries"])
    beside = {}
    for row in read_rows(file) if file else ():
        metadata = row.values.get("metadata")  # BEIR's
        rows = [row, *([Row(metadata, row.file, row.line)] if isinstance(metadata, dict) else [])]
        place = next(((r, f) for r in rows for f in ANSWER_FIELDS if f in r.values), None)
        if place is not None:
            id_field = pick_field(row, (*ID_FIELDS, *QUERY_ID_FIELDS), what="id")
            beside[id_value(row, id_field, coerce=coerce_ids)] = text_value(*place)
    if not beside:
        raise InputError(
            f"no reference answers: the queries have none of the fields {', '.join(ANSWER_FIELDS)}",
            expected="an answer per question, which the judge compares with",
            fix="Give --answers FILE with the columns query_id and answer.",
            where=file or "--answers",
        )
    return beside


def _read_texts(path: Path, fields: Sequence[str], what: str, coerce_ids: bool) -> dict[str, str]:
    texts: dict[str, str] = {}
    for row in read_rows(path):
        id_ = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="query id"), coerce=coerce_ids)
        if id_ in texts:
            raise InputError(
                f"query {id_!r} comes twice",
                expected=f"one {what} per query",
                fix="Remove one of the two lines.",
                where=row.at(),
            )
        texts[id_] = text_value(row, pick_field(row, fields, what=what))
    return {id_: text for id_, text in texts.items() if text.strip()}


def _some(ids: Iterable[str]) -> str:
    order = sorted(ids)
    return ", ".join(map(repr, order[:3])) + (", ..." if len(order) > 3 else "") or "nothing"


@dataclass(frozen=True)
class Inputs:
    """Inputs of a comparison, read and checked, before anybody is asked.

    name: name of the index, with its state.
    """

    name: str
    retriever: IndexRetriever
    snapshot: Snapshot
    scenarios: int
    questions: Questions
    reasoned: Mapping[str, str] | None
    gold: Gold | None


def read_inputs(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    answers: Path | str | Mapping[str, str] | None,
    qrels: Path | str | Qrels | None,
    reasoned: Path | str | Mapping[str, str] | None,
    encoder: Encoder | EncoderConfig | str | None,
    device: str | None,
    coerce_ids: bool,
) -> Inputs:
    """Read and check everything that is given. InputError names the misfit."""
    if config.reason and reasoned is not None:
        raise InputError(
            "reformulated queries, and a model that is to write them",
            expected="one of --reasoned and --reason",
            fix="Leave one out.",
            where="--reason",
        )
    if isinstance(reasoned, (str, Path)):
        reasoned = read_reasoned(reasoned, coerce_ids=coerce_ids)
    questions = read_questions(
        queries, answers, reasoned, limit=config.limit, seed=config.seed, coerce_ids=coerce_ids
    )
    judged = None if qrels is None else read_judgements(qrels)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, device=device, weight=config.weight)
    snapshot = retriever.index.snapshot(retriever.as_of)
    scenarios = scenarios_in(snapshot, str(spec))
    gold = gold_of(questions.sample, judged, snapshot, str(spec)) if judged is not None else None
    return Inputs(str(spec), retriever, snapshot, scenarios, questions, reasoned, gold)
