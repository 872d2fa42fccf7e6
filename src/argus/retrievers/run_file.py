"""What a retriever answered elsewhere, as a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from argus.data.runs import finite_scores, read_run
from argus.data.types import Query, Run
from argus.errors import InputError
from argus.retrievers.protocol import Answers

ABSENT = "not in the run"


def run_answers(run: Path | Run, queries: Sequence[Query], name: str = "run") -> Answers:
    """Return the answers to `queries`; one that the run does not have is failed.

    A TREC file cannot tell a query without results from one that was never asked; JSON can: whoever
    reads judged runs takes both for empty, as trec_eval does. name: of a run that is no file.
    Raises InputError where the run answers none of them.
    """
    answers = read_run(run) if isinstance(run, Path) else finite_scores(run, name)
    ours = {query.id: answers[query.id] for query in queries if query.id in answers}
    if not ours:
        raise InputError(
            f"answers none of the {len(queries):,} queries (it has {_some(answers)})",
            expected=f"results for the queries that are asked ({_some(q.id for q in queries)})",
            fix="Check that run and queries belong together; probes are exported again with the "
            "same corpus and settings.",
            where=run if isinstance(run, Path) else name,
        )
    return Answers(ours, {q.id: ABSENT for q in queries if q.id not in ours})


def _some(ids: Iterable[str]) -> str:
    unique = sorted(set(ids))
    return ", ".join(map(repr, unique[:3])) + (", ..." if len(unique) > 3 else "")
