"""Look in the positives for the answer, the question's terms, and neighbouring terms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from argus.generative.failures.case import Case
from argus.generative.failures.measures.answers import answer_words, hold_answer
from argus.generative.failures.measures.columns import Texts
from argus.generative.failures.words import content, words
from argus.indexes.words import STOP_WORDS


def texts(case: Case) -> Texts:
    """Return the columns of `Texts`, over the positives whose text is known.

    Answers are looked for in texts, terms in titles, too.
    """
    gold = [(words(p.title), words(p.text)) for p in case.positives or () if p.text is not None]
    answers = answer_words(case)
    terms = frozenset(content(words(case.question)))
    most = max((len(terms.intersection((*title, *text))) for title, text in gold), default=0)
    side_by_side = any(_adjacent(part, terms) for parts in gold for part in parts)
    holds = hold_answer((text for _, text in gold), answers)
    return {
        "gold_holds_answer": int(holds) if gold and answers else None,
        "gold_terms": most if gold and terms else None,
        "gold_adjacent": int(side_by_side) if most > 1 else None,
    }


def _adjacent(text: Sequence[str], terms: frozenset[str]) -> bool:
    """Return whether two different terms are neighbours without stop words."""
    rest = [word for word in text if word not in STOP_WORDS]
    return any(a != b and a in terms and b in terms for a, b in pairwise(rest))
