"""Turn an output into a run, to be measured like any retriever's answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.data.fields import FieldNames
from argus.data.topics import TOPIC_ID_FIELDS
from argus.data.types import Query, Run
from argus.generative.failures.jobs.checks import ids_of_questions
from argus.generative.failures.jobs.inputs import open_outputs
from argus.generative.failures.reading import Problems
from argus.generative.failures.reading.passages import listed_passages
from argus.generative.failures.reading.problems import Notes
from argus.generative.failures.reading.record import QUESTION_FIELDS
from argus.generative.failures.reading.values import id_of, parsed, text_of
from argus.generative.failures.words import words


def ranked(output: Path, queries: Sequence[Query]) -> Run:
    """Return the passages of each question, by ids. Scores fall with the place.

    output: as `analyse_failures` takes it, but no run. A question without an id has that of the
    query of its words. A passage without one keeps its place in the file. Raises InputError for a
    run, and for files without answers.
    """
    (opened,) = open_outputs([output], corpus=None, queries=None, fields=FieldNames())
    ids, problems = ids_of_questions(queries), Problems()
    run: Run = {}
    for item in opened.items():
        note = Notes(problems, item.number)
        try:
            record = parsed(item.content, note)
        except ValueError:
            continue  # the analysis counts it
        if not isinstance(record, dict):
            continue
        question = next(filter(None, (text_of(record, name) for name in QUESTION_FIELDS)), "")
        id_ = id_of(record, TOPIC_ID_FIELDS) or ids.get(words(question))
        if id_ is None:
            continue
        passages = listed_passages(record, note)
        run[id_] = {
            p.place if p.id is None else p.id: float(len(passages) - place)
            for place, p in enumerate(passages)
        }
    return run
