"""Which judged questions judge a repair."""

import pytest

from argus.data.types import Query
from argus.errors import InputError
from argus.evaluation.judged import read_judged
from argus.repair.trials import of_judged

QUERIES = [Query("good", "one"), Query("bad", "two"), Query("blank", " "), Query("none", "three")]


def test_questions_without_a_relevant_document_judge_nothing():
    qrels = {"good": {"d": 2, "e": 0}, "bad": {"d": 0}, "blank": {"d": 1}}
    questions = of_judged(read_judged(QUERIES, qrels), ["d", "e"])
    assert [query.id for query in questions.queries] == ["good"]
    assert questions.qrels == {"good": {"d": 2, "e": 0}}


def test_judgements_of_another_corpus_are_refused():
    judged = read_judged(QUERIES, {"good": {"elsewhere": 1, "d": 0}})
    with pytest.raises(InputError, match="none of the 1 relevant") as error:
        of_judged(judged, ["d", "e"])
    assert error.value.where == "the index"
