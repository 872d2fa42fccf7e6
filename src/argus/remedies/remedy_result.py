"""Define the result of a remedy of an index, and evaluate the index before and after it.

The base of the results of `tune apply expand`, `synthesize`, `blend`, `scenarios` and `adapt`.
`check_judged` reads the judged questions that a remedy was given, before any work.
`evaluate_remedy` asks them of both states of the index (`argus.evaluation`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.commands import command
from argus.corpora import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Qrels, Query
from argus.encoders import Encoder
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.summary import change
from argus.indexes.views import BEFORE, ViewIndex
from argus.jobs.result import Result
from argus.measures.measures import coverage_words


@dataclass(frozen=True, repr=False)
class RemedyResult(Result):
    """Result of a remedy of an index. Everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    index: ViewIndex
    summary: dict[str, Any]
    evaluation: dict[str, Any] | None = None
    """Evaluation by the judged questions, if there are any (see `argus.evaluate`)."""

    def headline(self) -> Iterator[str]:
        """Yield the receipt's lines, then the change of the judged questions."""
        yield from self._receipt()
        if self.evaluation:
            covered = coverage_words(self.summary.get("coverage"))
            yield change(self.evaluation) + (f"; a gain where {covered}" if covered else "")

    def last_lines(self) -> Iterator[str]:
        """Yield the command that undoes it. A correction that was not prescribed has none."""
        if self.summary.get("prescribed", True):
            undo = command("tune", "undo", self.remedy, "--index", self.summary["index"])
            yield f"To undo it: {undo}"

    @abstractmethod
    def _receipt(self) -> Iterator[str]:
        """Yield the lines of the summary."""


def check_judged(
    queries: Path | str | Sequence[Query] | None,
    qrels: Path | str | Qrels | None,
    corpus: NamedCorpus | None = None,
    fields: FieldNames | None = None,
    parent_field: str | None = None,
) -> JudgedQueries | None:
    """Read the judged queries of a receipt. None without any.

    fields, parent_field: of the corpus. With a parent field, judgements are of the documents of the
    chunks. Raises InputError, before an index is changed, for queries that cannot be evaluated.
    """
    if (queries is None) != (qrels is None):
        one, other = ("--queries", "--qrels") if qrels is None else ("--qrels", "--queries")
        got, expected = f"{one} without {other}", "both, or neither"
        fix = f"Give {other}, or leave out {one} for a receipt without judged queries."
        raise InputError(got, expected=expected, fix=fix, where=other)
    if corpus is not None:
        open_corpus(corpus)
    if queries is None or qrels is None:
        return None
    return read_judged(queries, qrels, corpus, fields=fields).folded(parent_field)


def evaluate_remedy(
    index: ViewIndex,
    remedy: str,
    questions: JudgedQueries | None,
    *,
    encoder: Encoder,
    out: Path,
    diagnosis: Path | None = None,
) -> dict[str, Any] | None:
    """Evaluate an index before a remedy and with it. None without judged questions."""
    if questions is None:
        return None
    fold = questions.fold
    config = EvaluateConfig(parent_field=None if fold is None else fold.field)
    states = (f"{index.path}@{BEFORE}{remedy}", f"{index.path}@{remedy}")
    judged: dict[str, Any] = evaluate(
        questions, questions.qrels, out=out, encoder=encoder, indexes=states, config=config,
        diagnosis=diagnosis,
    ).summary  # fmt: skip
    return judged
