"""Open and check the inputs before and after measuring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from argus.data.fields import FieldNames
from argus.data.topics import read_topics
from argus.data.types import Qrels, Query
from argus.errors import InputError
from argus.generative.failures.jobs.inputs import Output
from argus.generative.failures.jobs.measuring import Measurements, Setup
from argus.generative.failures.jobs.settings import FailureConfig
from argus.generative.failures.reading.problems import Problem
from argus.generative.failures.words import words
from argus.generative.index import NgramIndex


def make_setup(
    config: FailureConfig,
    home: Path | None,
    queries: Path | None,
    qrels: Qrels | None,
    fields: FieldNames,
) -> Setup:
    """Return the setup of the workers. Opens index and tokenizer once, to check them."""
    if home is not None:
        NgramIndex.open(home)
    if config.tokenizer is not None:
        from argus.generative.vocabulary import open_vocabulary

        open_vocabulary(config.tokenizer)
    topics = read_topics(queries, coerce_ids=fields.coerce_ids) if queries else []
    return Setup(
        k=config.k, correct=config.correct.value, tokenizer=config.tokenizer, strict=config.strict,
        index=home,
        qrels=qrels,
        answers={t.query.id: t.answers for t in topics if t.answers} or None,
        ids=ids_of_questions(t.query for t in topics) or None, judged=config.llm is not None,
    )  # fmt: skip


def ids_of_questions(queries: Iterable[Query]) -> dict[tuple[str, ...], str]:
    """Return the ids of questions by their words. Those that several have are left out."""
    questions = [(words(query.text), query.id) for query in queries]
    times = Counter(question for question, _ in questions)
    return {question: id_ for question, id_ in questions if times[question] == 1}


def check_measured(output: Output, measured: Measurements, setup: Setup) -> None:
    """Refuse an output without anything to measure.

    Raises InputError if it holds no question, no passage, none of the questions that are
    judged, or passages of another index.
    """
    _need_questions(output, measured)
    if setup.qrels is not None and all(row["query_id"] not in setup.qrels for row in measured.rows):
        raise InputError(
            f"--qrels judges {len(setup.qrels):,} questions ({next(iter(setup.qrels))!r}, ...), "
            f"none of the {len(measured.rows):,} of this output "
            f"({measured.rows[0]['query_id']!r}, ...)",
            expected="judgements of the questions that were asked",
            fix="Check that both belong together. A file whose questions have no ids needs "
            "--queries, too, which has ids and texts.",
            where=output.file,
        )
    listed = any(row["passages"] for row in measured.rows)
    matched = measured.known or any(measured.positives)
    if setup.index is not None and listed and not matched:
        raise InputError(
            "no passage and no positive of this output is in --corpus-index",
            expected="the index of the passages that were searched",
            fix="Check that both belong together; ids must be the same.",
            where=output.file,
        )


def _need_questions(output: Output, measured: Measurements) -> None:
    rows = measured.rows
    if any(row["passages"] for row in rows):
        return
    what = f"{len(rows):,} questions, no passage" if rows else "no question in it"
    unreadable = measured.problems.counts.get(Problem.RECORDS, 0)
    if unreadable:
        what += f"; {unreadable:,} records are no question"
    if output.broken:
        what += f": {output.broken}"
    raise InputError(
        what,
        expected="at least one question with the passages that were found for it (ctxs)",
        fix="Check that these are results, not questions alone.",
        where=output.file,
    )
