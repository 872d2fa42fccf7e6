"""Trials on a copy of an index: each candidate is added, asked and taken out again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.encoders import Encoder
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.measures import evaluate
from argus.progress import announce
from argus.remedies.repair.remedy import rollback
from argus.repair.candidates import Candidate, attempt
from argus.repair.choice import PerQuery
from argus.repair.config import GUARD, MEASURE
from argus.repair.questions import Questions

DEPTH = 10
VECTORS = "embeddings"


def values_of(index: Path, encoder: Encoder, questions: Questions) -> PerQuery:
    """Return nDCG@10 and R@10 of every question, as the index is searched now."""
    retriever = IndexRetriever(ViewIndex.open(index), encoder)
    run = retriever.search(questions.queries, DEPTH)
    return evaluate(run, questions.qrels, [MEASURE, GUARD]).per_query


def try_all(
    index: Path, candidates: Sequence[Candidate], encoder: Encoder, questions: Questions
) -> tuple[PerQuery, dict[str, PerQuery], dict[str, str]]:
    """Return the values as the index is, those of each candidate, and why others could not be.

    The index itself is not touched, but for vectors of new texts, which are kept.
    """
    before = values_of(index, encoder, questions)
    after: dict[str, PerQuery] = {}
    failed: dict[str, str] = {}
    with _copy(index) as trial:
        for candidate in candidates:
            announce(f"repair: trying {candidate.name}")
            why = attempt(candidate, trial)
            if why is None:
                after[candidate.name] = values_of(trial, encoder, questions)
            else:
                failed[candidate.name] = why
            _take_out(trial, ViewIndex.open(index))
    return before, after, failed


def _take_out(trial: Path, original: ViewIndex) -> None:
    """Roll back what the original has not."""
    own = {remedy.id for remedy in original.remedies()}
    for remedy in reversed(ViewIndex.open(trial).remedies()):
        if remedy.id not in own:
            rollback(trial, remedy.id)


@contextmanager
def _copy(index: Path) -> Iterator[Path]:
    """Copy an index for as long as it is tried on; vectors of texts are those of the index."""
    vectors = index / VECTORS
    vectors.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="argus-repair-") as folder:
        trial = Path(folder) / index.name
        shutil.copytree(index, trial, ignore=lambda at, _: [VECTORS] if Path(at) == index else [])
        (trial / VECTORS).symlink_to(vectors.resolve(), target_is_directory=True)
        yield trial
