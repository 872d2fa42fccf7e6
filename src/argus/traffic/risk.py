"""Order questions by the risk that no relevant document came back, without relevance judgements.

`rank_by_risk`: queries, their results and the corpus -> an order, for `argus traffic audit` and
`judge`. Two ranks are summed: of the top score, and of the overlap with the results of BM25. The
order is no probability: how often questions fail, `argus traffic judge` estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.algorithms import average_ranks
from argus.data.types import Document, Query, Run
from argus.indexes.lexical import LexicalIndex, query_words, words

# Documents of each list that are compared.
DEPTH = 10
# Share of a question's words that no document has, from which on it is flagged.
MAX_UNKNOWN = 0.5
NOTHING, FOREIGN = "nothing came back", "most of its words stand nowhere in the corpus"


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
    risk = -average_ranks(top) - average_ranks(shared)
    order = sorted(range(len(ranked)), key=lambda i: (-risk[i], ranked[i].id))
    return RiskOrder(tuple(ranked[i].id for i in order), flagged)
