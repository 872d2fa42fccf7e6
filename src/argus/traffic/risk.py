"""Order questions by the risk that no relevant document came back, without relevance judgements.

`rank_by_risk`: queries, their results and the corpus -> an order, for `argus traffic audit` and
`judge`. Two ranks are summed: of the top score, and of the overlap with the results of BM25. The
order is no probability. `calibrate_risk` makes one from judgements of this log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, Query, Run
from argus.indexes.lexical import LexicalIndex, query_words, words

DEPTH = 10
"""Documents of each list that are compared."""
MAX_UNKNOWN = 0.5
"""Share of a question's words that no document has, from which on it is flagged."""
MIN_JUDGED = 30
"""Judged questions from which on an order becomes a probability."""
NOTHING, FOREIGN = "nothing came back", "most of its words stand nowhere in the corpus"
PRIOR = ((0.0, 1.5), (1.0, 0.6))
"""Mean and deviation of intercept and slope between logs, before anything is judged."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RiskOrder:
    """The questions of a log by their risk.

    order: ids, the likeliest to fail first. flagged: questions to look at, with the reason. Those
    with an empty result are not in the order. Those that are foreign to the corpus are in both.
    """

    order: tuple[str, ...]
    flagged: Mapping[str, str]

    @property
    def places(self) -> dict[str, float]:
        """The place of each question between 0 and 1, 1 for the likeliest to fail."""
        n = len(self.order)
        return {id_: 1 - (i + 0.5) / n for i, id_ in enumerate(self.order)}


def rank_by_risk(
    queries: Sequence[Query], run: Run, documents: Sequence[Document], *, second: Run | None = None
) -> RiskOrder:
    """Order questions by the sum of two ranks: of the top score, and of two retrievers' overlap.

    run: results with scores. second: results of another retriever, by default BM25 over the
    documents. Questions with an empty result, and those with mostly foreign words, are flagged.
    """
    from scipy.stats import rankdata

    def is_foreign(query: Query) -> bool:
        own = query_words(query.text)
        return sum(word not in known for word in own) > MAX_UNKNOWN * len(own)

    known = {word for document in documents for word in words(document.content)}
    flagged = {q.id: NOTHING for q in queries if not run.get(q.id)}
    flagged |= {q.id: FOREIGN for q in queries if q.id not in flagged and is_foreign(q)}
    ranked = [q for q in queries if run.get(q.id)]
    if second is None:
        index = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
        second = index.search([q.text for q in ranked], DEPTH).run([q.id for q in ranked])
    top = [max(run[q.id].values()) for q in ranked]
    shared = []  # of the first documents of a list, by the share that the other has among its own
    for q in ranked:
        lists = run[q.id], second.get(q.id, {})
        first, other = (sorted(one, key=lambda id_: -one[id_])[:DEPTH] for one in lists)
        shared.append(len({*first} & {*other}) / len(first))
    risk = -rankdata(top) - rankdata(shared)
    order = sorted(range(len(ranked)), key=lambda i: (-risk[i], ranked[i].id))
    return RiskOrder(tuple(ranked[i].id for i in order), flagged)


def calibrate_risk(
    risk: Mapping[str, float], failures: Mapping[str, float]
) -> dict[str, float] | None:
    """Return the probability of failure of each question, None below MIN_JUDGED judgements.

    The greatest posterior of a logistic regression on the log-odds of `risk` with a normal prior
    (Platt's scaling, 1999). risk: from 0 to 1, places of an order or anybody's
    predictions. failures: of judged questions, from 0 to 1.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    judged = [id_ for id_ in failures if id_ in risk]
    if len(judged) < MIN_JUDGED:
        return None
    chances = np.clip([*risk.values()], 0.001, 0.999)
    odds = dict(zip(risk, np.log(chances / (1 - chances)).tolist(), strict=True))
    x = np.stack([np.ones(len(judged)), [odds[id_] for id_ in judged]], axis=1)
    y = np.array([failures[id_] for id_ in judged])
    prior, precision = np.array([m for m, _ in PRIOR]), np.array([d**-2 for _, d in PRIOR])

    def loss(point: Floats) -> float:
        line = x @ point
        likelihood = (np.logaddexp(0, line) - y * line).sum()
        return float(likelihood + precision @ (point - prior) ** 2 / 2)

    def gradient(point: Floats) -> Floats:
        return np.asarray(x.T @ (expit(x @ point) - y) + precision * (point - prior))

    best = minimize(loss, prior, jac=gradient, method="BFGS", options={"gtol": 1e-9}).x
    values = expit(best[0] + best[1] * np.array([*odds.values()]))
    return dict(zip(odds, values.tolist(), strict=True))
