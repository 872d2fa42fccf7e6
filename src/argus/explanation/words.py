"""What the words of a query find: shared terms, BM25 rank, what a hybrid search would do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from argus.explanation.evidence import WordEvidence
from argus.explanation.types import Case, Cause, Finding, Standing, Verdict
from argus.indexes.lexical import LexicalIndex

LOW_COVERAGE = 0.5
"""Share of the query's weight (idf) below which a document that lacks the rest counts as implicit:
it then holds less than half of what tells the query's documents from the others."""


def check_words(case: Case, place: Standing) -> Finding[WordEvidence]:
    """Compare the query's terms (no stop words) with the document's, as BM25 takes them apart."""
    if not case.present:
        text = "the document is not in this state of the index"
        return Finding(Cause.LEXICAL, Verdict.UNCHECKED, text, {})
    texts = [view.text for view in case.views]
    evidence: WordEvidence = {
        **term_evidence(case.query, texts, case.retriever.lexical()),
        "bm25_rank": place.bm25.rank,
        "dense_rank": place.dense.rank,
        "fused_rank": place.fused.rank,
        "fusion": place.fusion,
    }
    return _between(case.k, place, evidence) or in_common(evidence)


def in_common(evidence: WordEvidence) -> Finding[WordEvidence]:
    """Conclude from `term_evidence`, and `bm25_rank`, how much question and document share."""
    shared, missing = evidence["shared_terms"], evidence["missing_terms"]
    share = evidence["coverage"]
    if not shared and not missing:
        text = "the question has no word that BM25 searches for"
        return Finding(Cause.LEXICAL, Verdict.UNCHECKED, text, evidence)
    if not shared:
        return Finding(
            Cause.LEXICAL, Verdict.FOUND,
            "an implicit question: it shares no term with the document",
            evidence,
            "Nothing lexical can help. Add views that say what the document implies (`argus remedy "
            "expand`), or put the question in the document's words.",
        )  # fmt: skip
    if share < LOW_COVERAGE:
        return Finding(
            Cause.LEXICAL, Verdict.FOUND,
            f"a partly implicit question: the document lacks {quoted(missing)} ({1 - share:.0%} of "
            "the query's weight)",
            evidence,
            "Add views that say what the document implies (`argus remedy expand`), or ask with its "
            "own words.",
        )  # fmt: skip
    lacks = f", not {quoted(missing)}" if missing else ""
    return Finding(
        Cause.LEXICAL, Verdict.RULED_OUT,
        f"it holds {len(shared)} of {len(shared) + len(missing)} query terms ({share:.0%} of their "
        f"weight){lacks}; BM25 {_ranks(evidence['bm25_rank'])}",
        evidence,
    )  # fmt: skip


def _between(k: int, place: Standing, evidence: WordEvidence) -> Finding[WordEvidence] | None:
    """Return what dense and BM25 make of it together, where one has it in the top k alone."""
    dense, bm25, fused = place.dense.rank, place.bm25.rank, place.fused.rank
    if place.ranked_by == "fused" and not place.came_back and dense is not None and dense <= k:
        return Finding(
            Cause.LEXICAL, Verdict.FOUND,
            f"dense search alone ranks it {dense}, BM25 {_ranks(bm25)}: the {place.fusion} "
            "fusion loses it",
            evidence,
            "Search dense, or weigh BM25 less in the fusion.",
            decisive=True,
        )  # fmt: skip
    if dense is None or dense <= k or bm25 is None or bm25 > k:
        return None
    helps = fused is not None and fused <= k
    missing = evidence["missing_terms"]
    lacks = f"; it lacks {quoted(missing)}" if missing else ""
    return Finding(
        Cause.LEXICAL, Verdict.FOUND,
        f"BM25 ranks it {bm25} by {quoted(evidence['shared_terms'])}, dense search {dense}: the "
        f"vectors miss these words{lacks}; {'the' if helps else 'yet the'} {place.fusion} fusion "
        f"ranks it {fused or 'nowhere'}",
        evidence,
        f"Search hybrid (--hybrid {place.fusion})." if helps
        else "Weigh BM25 more in the fusion; add views that say what the document implies (`argus "
        "remedy expand`).",
        decisive=helps,
    )  # fmt: skip


def term_evidence(query: str, texts: Iterable[str], lexical: LexicalIndex) -> WordEvidence:
    """Return shared, missing and unknown query terms, and the share of idf that is covered.

    Terms are those that `lexical` searches for, shown by the query's words; of words that it leaves
    out nothing is said. texts: of the document. idf is BM25's,
    ln(1 + (N - n + 0.5) / (n + 0.5)), over the documents of `lexical`.
    """
    analyzer = lexical.analyzer
    forms = analyzer.query_forms(query)
    terms = list(forms.values())
    counts = {word: int((lexical.scores(word) > 0).sum()) for word in terms}
    here = {term for text in texts for term in analyzer.documents(text)}
    own = {word for term, word in forms.items() if term in here}
    n = len(lexical)
    weight = {t: math.log(1 + (n - c + 0.5) / (c + 0.5)) for t, c in counts.items()}
    total = sum(weight.values())
    shared = sorted((t for t in terms if t in own), key=lambda t: -weight[t])
    return {
        "shared_terms": shared,
        "missing_terms": sorted((t for t in terms if t not in own), key=lambda t: -weight[t]),
        "terms_nowhere_in_the_corpus": [t for t in terms if not counts[t]],
        "documents_with_term": counts,
        "coverage": round(sum(weight[t] for t in shared) / total, 4) if total else 0.0,
    }


def _ranks(rank: int | None) -> str:
    return "does not find it" if rank is None else f"ranks it {rank}"


def quoted(terms: Sequence[str]) -> str:
    """Return the first terms in quotation marks."""
    return ", ".join(map(repr, terms[:4])) + (" ..." if len(terms) > 4 else "")
