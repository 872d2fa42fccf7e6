"""What a retriever answered elsewhere, as a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.data.runs import read_run
from argus.data.types import Query, Run
from argus.errors import InputError
from argus.retrievers.protocol import Answers

ABSENT = "not in the run"


def run_answers(run: Path | Run, queries: Sequence[Query]) -> Answers:
    """Return the answers to `queries`; one that the run does not have is failed.

    A TREC file cannot tell a query without results from one that was never asked; JSON can.
    Raises InputError where the run answers none of them.
    """
    answers = read_run(run) if isinstance(run, Path) else run
    ours = {query.id: answers[query.id] for query in queries if query.id in answers}
    if not ours:
        raise InputError(
            f"answers none of the {len(queries):,} queries",
            expected=f"results for them ({queries[0].id}, ...)",
            fix="Export the probes again, with the same corpus and settings, and run those.",
            where=run if isinstance(run, Path) else "run",
        )
    return Answers(ours, {q.id: ABSENT for q in queries if q.id not in ours})
