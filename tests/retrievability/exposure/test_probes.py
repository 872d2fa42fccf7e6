import numpy as np

from argus.data import Document, Query
from argus.retrievability.exposure_findings import SENTENCE, TITLE, Findings, Probes

# Four documents, k = 2. Title of 0 finds it first; title of 1 finds 3 and 0 instead; two sentences
# of 0 rank it 2 and 7; a given query returns 3 and 1. Document 2 is asked for by nothing.
DOCUMENTS = [Document(str(i), "") for i in range(4)]
FOUND = Findings(
    DOCUMENTS,
    Probes(
        documents=DOCUMENTS,
        kind=np.array([TITLE, TITLE, SENTENCE, SENTENCE, "query"]),
        target=np.array([0, 1, 0, 0, -1]),
        queries=[Query(text, text) for text in ("zero", "one", "s1", "s2", "q")],
        rank=np.array([1, 4, 2, 7, 0]),
        top=np.array([[0, 3], [3, 0], [3, 0], [3, 1], [3, 1]]),
    ),
    k=2,
)


def test_own_probes_and_those_of_others_are_counted_apart():
    assert FOUND.own_probes.tolist() == [3, 1, 0, 0]
    assert FOUND.retrieved_by_own.tolist() == [2, 0, 0, 0]
    assert FOUND.retrieved_by_others.tolist() == [1, 2, 0, 5]
    assert FOUND.title_rank.tolist() == [1, 4, 0, 0]
    assert FOUND.never.tolist() == [False, False, True, False]


def test_the_sentence_rank_is_the_median_or_missing():
    assert FOUND.sentence_rank[0] == 4.5
    assert np.isnan(FOUND.sentence_rank[1:]).all()


def test_success_by_hand():
    titles = FOUND.figures()["title"]
    by_hand = {"probes": 2, "success_at_1": 0.5, "success_at_k": 0.5, "mrr": 0.625}
    assert titles | by_hand == titles
