"""Define the result of `argus explain` (causes with evidence), and the checks that jobs share.

A `Finding` says of one `Cause` whether it holds. `Explanation` (of an index) and `RunExplanation`
(of a ranking) print all findings. The shared checks: words in common with the question
(`compare_terms`), places in rankings, and documents that supersede this one (`check_superseded`).
`job` and `run` build the results.
"""

from __future__ import annotations

import difflib
import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from argus.authority.relation import Authority, chain_to
from argus.data.documents import read_queries
from argus.data.types import FloatArray, Query
from argus.errors import InputError
from argus.evaluation.config import unknown_query
from argus.indexes.lexical import LexicalIndex

# Measurements of one check as plain JSON values. The check's docstring explains the keys. A check
# that ended early has only the keys that it came to. Ranks count from 1. None is a rank beyond
# those that were looked at.
Evidence: TypeAlias = dict[str, Any]
QUERY = "query"
# Share of the query's idf weight below which a document holds only part of the question.
LOW_COVERAGE = 0.5
# Similar ids that are listed.
NEAR = 5
# Ids that difflib compares at most. Of more, only those with the same beginning or end.
NEAR_POOL = 20_000


class Cause(StrEnum):
    """Reason why a document may not come back."""

    ABSENT = "not in index"
    VECTOR = "vector of another text"
    WINDOW = "beyond the window"
    SUPERSEDED = "superseded"
    HUBS = "displaced by hubs"
    BLEND = "blend"
    LEXICAL = "lexical gap"
    CORPUS = "not in the corpus"

    def found(
        self,
        text: str,
        evidence: Evidence | None = None,
        advice: str = "",
        *,
        decisive: bool | None = None,
    ) -> Finding:
        """Conclude that this is a cause."""
        return Finding(self, Verdict.FOUND, text, evidence or {}, advice, decisive)

    def ruled_out(
        self, text: str, evidence: Evidence | None = None, *, decisive: bool | None = None
    ) -> Finding:
        """Conclude that this is no cause."""
        return Finding(self, Verdict.RULED_OUT, text, evidence or {}, decisive=decisive)

    def unchecked(
        self, text: str, evidence: Evidence | None = None, *, advice: str = ""
    ) -> Finding:
        """Say why this could not be checked."""
        return Finding(self, Verdict.UNCHECKED, text, evidence or {}, advice)


class Verdict(StrEnum):
    """Conclusion about a cause."""

    FOUND = "found"
    RULED_OUT = "ruled out"
    UNCHECKED = "could not check"


# Failing questions that are explained, and the cause where no check finds one.
MOST_FAILED, NEARER = 200, "nearer ones"
SHOWN_ORDER = (Verdict.FOUND, Verdict.UNCHECKED, Verdict.RULED_OUT)
# Characters of a line of text, and of the label before it.
WIDTH, LABEL = 98, 28
# Views, documents above and words that a line of text names.
SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """Conclusion about one cause, its evidence, and advice.

    decisive: whether the advice alone brings the document into the top k, as computed. None where
    that was not computed.
    """

    cause: Cause
    state: Verdict
    summary: str
    evidence: Evidence = field(default_factory=dict)
    advice: str = ""
    decisive: bool | None = None

    def harmless(self) -> Finding:
        """Rule out a cause that only makes absence likely, for a document within k."""
        likely = self.cause is Cause.LEXICAL and self.state is Verdict.FOUND
        if not likely or self.decisive:
            return self
        summary = f"no harm here, though {self.summary}"
        return replace(self, state=Verdict.RULED_OUT, summary=summary, advice="")


@dataclass(frozen=True, slots=True)
class Place:
    """Place of the document in a ranking of `of` documents. rank: None beyond these."""

    rank: int | None
    score: float | None
    of: int

    def __str__(self) -> str:
        if self.rank is None:
            return f"not among {self.of:,}"
        score = "" if self.score is None else f", score {self.score:.4f}"
        return f"rank {self.rank} of {self.of:,}{score}"


@dataclass(frozen=True, slots=True)
class ScoredView:
    """One view of the document under the query."""

    id: str
    kind: str
    score: float
    source: str


@dataclass(frozen=True)
class Standing:
    """Places of the document in every ranking of an index.

    ranked_by: "dense" or "fused", the ranking that a search returns. rank, kth_score
    (score of the last of the top k) and gap (missing score, 0 within k) are of that one.
    views: best first.
    """

    ranked_by: str
    rank: int | None
    came_back: bool
    dense: Place
    bm25: Place
    fused: Place
    fusion: str
    views: list[ScoredView]
    kth_score: float | None
    gap: float | None


@dataclass(frozen=True)
class Explanation:
    """Why a document came back from an index for a query, or did not.

    chunk: where chunks are searched, the best chunk of the document. cause: the most probable one.
    None where the document came back or no check explains it.
    """

    query: str
    query_id: str | None
    doc_id: str
    chunk: str | None
    index: str
    encoder: str
    k: int
    verdict: str
    cause: Cause | None
    came_back: bool
    standing: Standing
    findings: list[Finding]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return asdict(self)

    def headline(self) -> Iterator[str]:
        """Yield the verdict, the places in every ranking, and every cause with its evidence."""
        place = self.standing
        yield from (*textwrap.wrap(f"{self.doc_id} {self.verdict}", WIDTH), "")
        yield from row("query", self.query)
        yield from row("index", f"{self.index}, {place.dense.of:,} documents")
        fused = f"fused ({place.fusion})"
        for name, at in (("dense", place.dense), ("BM25", place.bm25), (fused, place.fused)):
            note = "  <- what a search returns" if name.startswith(place.ranked_by) else ""
            yield from row(name, f"{at}{note}")
        yield from missing_row(place, self.k)
        if place.views:
            shown = [f"{view.kind} {view.score:.4f}" for view in place.views[:SHOWN]]
            rest = len(place.views) - SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            yield from row("views, best first", ", ".join(shown) + more)
        yield from finding_rows(self.findings, self.cause)


@dataclass(frozen=True)
class Above:
    """A document above the explained one. says: words of the question that only this one has."""

    rank: int
    id: str
    score: float | None
    title: str
    says: list[str]


@dataclass(frozen=True)
class RunStanding:
    """Places of the document in a run, by BM25 over the corpus, and with both fused.

    bm25, fused: None without a corpus or the question's text. kth_score: None for an empty run.
    gap: 0 within k, None without a score. above: at most the first k.
    """

    rank: int | None
    came_back: bool
    run: Place
    bm25: Place | None
    fused: Place | None
    fusion: str
    kth_score: float | None
    gap: float | None
    above: list[Above]


@dataclass(frozen=True)
class RunExplanation:
    """Why a document came back in a ranking, or did not. Fields as in `Explanation`.

    run: the file, the retriever's name, or the encoder's fingerprint. source: which of these: run,
    retriever or encoder.
    """

    query: str | None
    query_id: str
    doc_id: str
    run: str
    corpus: str | None
    k: int
    verdict: str
    cause: Cause | None
    came_back: bool
    standing: RunStanding
    findings: list[Finding]
    source: str = "run"

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the source as plain JSON values."""
        return {name: value for name, value in asdict(self).items() if name != "source"}

    def headline(self) -> Iterator[str]:
        """Yield the verdict, the places, who stands above, and every cause with its evidence."""
        place, source = self.standing, self.source
        yield from (*textwrap.wrap(f"{self.doc_id} {self.verdict}", WIDTH), "")
        yield from row("query", f"{self.query_id}: {self.query or '(its text is not known)'}")
        yield from row(source, f"{self.run}, {place.run}")
        both = f"{source} and BM25 ({place.fusion})"
        for name, at in (("BM25", place.bm25), (both, place.fused)):
            yield from () if at is None else row(name, str(at))
        yield from missing_row(place, self.k)
        label = "above it" if place.rank is not None else f"in the {source}"
        for above in [*place.above[:SHOWN], *place.above[SHOWN:][-1:]]:
            says = f"  says {', '.join(map(repr, above.says[:SHOWN]))}" if above.says else ""
            score = "" if above.score is None else f"{above.score:.4f}  "
            yield from row(label, f"{above.rank:>3}  {score}{above.id}  {above.title}{says}")
            label = ""
        yield from finding_rows(self.findings, self.cause)


@dataclass(frozen=True)
class FailedExplanations:
    """Why judged questions fail: one explanation per question that no relevant document answers.

    asked: questions with a judged relevant document that came to an answer. failed: of these, how
    many bring none of theirs into the top k. explained: at most MOST_FAILED of them, each for the
    relevant document of the highest grade. then: the command that measures remedies.
    """

    asked: int
    failed: int
    k: int
    explained: Sequence[Explanation | RunExplanation]
    then: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, and every explanation, as plain JSON values.

        causes: questions by their most probable cause. remedies: of each advice, the questions
        whose document it brings into the top k, as computed.
        """
        causes = Counter(str(one.cause or NEARER) for one in self.explained)
        findings = (finding for one in self.explained for finding in one.findings)
        remedies = Counter(f.advice for f in findings if f.decisive and f.state is Verdict.FOUND)
        return {
            "asked": self.asked, "failed": self.failed, "k": self.k,
            "causes": dict(causes.most_common()), "remedies": dict(remedies.most_common()),
            "explained": [one.as_dict() for one in self.explained],
        }  # fmt: skip

    def headline(self) -> Iterator[str]:
        """Yield how many fail, each cause with an example, and the remedy that reaches most."""
        yield (
            f"{self.failed:,} of {self.asked:,} questions fail: nothing judged relevant is in "
            f"their top {self.k}"
        )
        counts = self.as_dict()
        for cause, n in counts["causes"].items():
            first = next(one for one in self.explained if (one.cause or NEARER) == cause)
            yield from row(f"{n:>4}  {cause}", f"such as {first.query!r} -> {first.doc_id}")
            yield from row("", first.verdict)
        for advice, n in [*counts["remedies"].items()][:1]:
            yield f"what reaches most, {n:,} of {len(self.explained):,}: {advice}"
        if self.then:
            yield f"Next: {self.then}"


def row(label: str, text: str) -> Iterator[str]:
    """Yield a text behind its label, wrapped. One that begins with spaces keeps them."""
    lines = textwrap.wrap(text.rstrip(), WIDTH - LABEL) or [""]
    for name, line in zip([label, *[""] * (len(lines) - 1)], lines, strict=True):
        yield f"{name:<{LABEL}}{line}"


def missing_row(place: Standing | RunStanding, k: int) -> Iterator[str]:
    """Yield how much score the document lacks to the top k, if it does."""
    if place.gap:
        needs = f"{place.gap:.4f} (needs {place.kth_score:.4f})"
        yield from row(f"missing to the top {k}", needs)


def finding_rows(findings: Sequence[Finding], cause: Cause | None) -> Iterator[str]:
    """Yield every cause: those found first, the most probable before all."""
    before = None
    ordered = sorted(findings, key=lambda f: (f.cause != cause, SHOWN_ORDER.index(f.state)))
    for finding in ordered:
        if before is None or finding.state is Verdict.FOUND or before is not finding.state:
            yield ""
        before = finding.state
        yield from row(finding.cause, f"{finding.state.upper()}: {finding.summary}")
        if finding.state is Verdict.FOUND:
            for rival in finding.evidence.get("outranked_by", [])[:SHOWN]:
                hub = "  hub" if rival["hub"] else ""
                score = f"{rival['score']:.4f}"
                yield from row("", f"{rival['rank']:>3}  {score}  {rival['id']}{hub}")
        if near := finding.evidence.get("near_ids"):
            yield from row("", f"near ids: {', '.join(near)}")
        if finding.advice:
            yield from row("", f"-> {finding.advice}")


def find_query(text: str, file: Path | None) -> Query:
    """Return the question with a text, or with a file of queries the one with this id.

    Raises InputError for an unknown id, and for a question of the file that has no text.
    """
    if file is None:
        return Query(QUERY, text)
    queries = {query.id: query for query in read_queries(file)}
    if text not in queries:
        otherwise = "Check the id, or leave out --queries to give the query's text."
        raise unknown_query(text, queries, file, otherwise)
    if not queries[text].text.strip():
        got = f"query {text!r} has no text"
        raise InputError(got, expected="words", fix="Mend the file.", where=file)
    return queries[text]


def place_in(scores: Mapping[str, float], doc_id: str, k: int) -> tuple[Place, float | None]:
    """Return a document's place in a ranking, best first, and the score of the k-th or last.

    The score is None for an empty ranking.
    """
    ranked = list(scores)
    rank = ranked.index(doc_id) + 1 if doc_id in scores else None
    kth = scores[ranked[min(k, len(ranked)) - 1]] if ranked else None
    return Place(rank, scores.get(doc_id), len(ranked)), kth


def bm25_place(ids: Sequence[str], scores: FloatArray, doc_id: str) -> Place:
    """Return a document's place by BM25.

    ids: ascending, so that ties break by id. scores: of each, shape (n_documents,).
    """
    matched = int((scores > 0).sum())
    if doc_id not in ids:
        return Place(None, None, matched)
    at = ids.index(doc_id)
    if not scores[at] > 0:
        return Place(None, 0.0, matched)
    above = (scores > scores[at]).sum() + (scores[:at] == scores[at]).sum()
    return Place(1 + int(above), float(scores[at]), matched)


def near_ids(doc_id: str, ids: Sequence[str]) -> list[str]:
    """Return the ids that are most like `doc_id`, best first."""

    def plain(id_: str) -> str:
        return re.sub(r"[\W_]+", "", id_).casefold()

    same = [id_ for id_ in ids if plain(id_) == plain(doc_id) and plain(id_)][:NEAR]
    pool = ids
    if len(ids) > NEAR_POOL:
        pool = [i for i in ids if i[:2] == doc_id[:2] or i[-3:] == doc_id[-3:]][:NEAR_POOL]
    return list(dict.fromkeys([*same, *difflib.get_close_matches(doc_id, pool, NEAR)]))[:NEAR]


def quoted(terms: Sequence[str]) -> str:
    """Return the first terms in quotation marks."""
    return ", ".join(map(repr, terms[:4])) + (" ..." if len(terms) > 4 else "")


def count_terms(query: str, texts: Iterable[str], lexical: LexicalIndex) -> Evidence:
    """Compare the query's terms with those of a document's texts.

    Returns `shared_terms` and `missing_terms` (rarest first), `terms_nowhere_in_the_corpus`,
    `documents_with_term` (how many), and `coverage`, the shared share of the query's idf weight.
    Terms are those that `lexical` searches for, shown as the query writes them. idf is BM25's,
    ln(1 + (N - n + 0.5) / (n + 0.5)), over the documents of `lexical`.
    """
    forms = lexical.analyzer.query_forms(query)
    terms = list(forms.values())
    counts = {word: int((lexical.scores(word) > 0).sum()) for word in terms}
    here = {term for text in texts for term in lexical.analyzer.documents(text)}
    own = {word for term, word in forms.items() if term in here}
    n = len(lexical)
    weight = {t: math.log(1 + (n - c + 0.5) / (c + 0.5)) for t, c in counts.items()}
    total = sum(weight.values())
    rarest = sorted(terms, key=lambda t: -weight[t])
    shared = [t for t in rarest if t in own]
    return {
        "shared_terms": shared,
        "missing_terms": [t for t in rarest if t not in own],
        "terms_nowhere_in_the_corpus": [t for t in terms if not counts[t]],
        "documents_with_term": counts,
        "coverage": round(sum(weight[t] for t in shared) / total, 4) if total else 0.0,
    }


def compare_terms(evidence: Evidence) -> Finding:
    """Conclude from `count_terms` and `bm25_rank` how much question and document share."""
    shared, missing = evidence["shared_terms"], evidence["missing_terms"]
    share, bm25 = evidence["coverage"], evidence["bm25_rank"]
    if not shared and not missing:
        text = "the question has no word that BM25 searches for"
        return Cause.LEXICAL.unchecked(text, evidence)
    expand = "Add views that say what the document implies (`argus tune apply expand`), or"
    if not shared:
        text = "an implicit question: it shares no term with the document"
        advice = f"Nothing lexical can help. {expand} put the question in the document's words."
        return Cause.LEXICAL.found(text, evidence, advice)
    if share < LOW_COVERAGE:
        lacks = f"the document lacks {quoted(missing)} ({1 - share:.0%} of the query's weight)"
        advice = f"{expand} ask with its own words."
        return Cause.LEXICAL.found(f"a partly implicit question: {lacks}", evidence, advice)
    text = f"it holds {len(shared)} of {len(shared) + len(missing)} query terms ({share:.0%} of "
    text += f"their weight){f', not {quoted(missing)}' if missing else ''}; BM25 "
    text += "does not find it" if bm25 is None else f"ranks it {bm25}"
    return Cause.LEXICAL.ruled_out(text, evidence)


def check_superseded(
    doc_id: str,
    k: int,
    own_rank: int | None,
    authority: Authority | None,
    rank_of: Callable[[str], int | None],
    where: str,
) -> Finding:
    """Name the documents that supersede one, and their ranks.

    rank_of: None for a document without a rank. where: "index", "run", "retriever" or "encoder".
    Evidence: `superseded_by` (`id`, `rank`, `direct`: not through others) and `own_rank`.
    """
    cause = Cause.SUPERSEDED
    if authority is None:
        text = "not checked: no file of superseded documents"
        advice = "Give --supersedes FILE (superseder, superseded)."
        return cause.unchecked(text, advice=advice)
    superseders = authority.reach([doc_id]) if doc_id in authority else {}
    rows: list[Evidence] = [
        {"id": doc, "direct": len(chain_to(doc, superseders)) == 1, "rank": rank_of(doc)}
        for doc in superseders
        if doc != doc_id
    ]
    if not rows:
        return cause.ruled_out("no document supersedes it")
    best = min((row["rank"] for row in rows if row["rank"] is not None), default=None)
    shown = "; ".join(
        f"{row['id']} " + ("is not in the " + where if (r := row["rank"]) is None else f"ranks {r}")
        for row in rows[:3]
    )
    text = f"superseded by {len(rows)} document{'s' * (len(rows) > 1)}: {shown}"
    advice = "The document that supersedes it does not come back either: explain that one."
    if best is not None and best <= k:
        advice = "The one that supersedes it comes back, as it should; ask for that one."
    elif best is None and where == "index":
        advice = "Add the document that supersedes it to the index."
    return cause.found(text, {"superseded_by": rows, "own_rank": own_rank}, advice)


def is_superseded_within(finding: Finding, k: int) -> bool:
    """Return whether a document that supersedes the explained one is in the top k."""
    rows = finding.evidence.get("superseded_by", [])
    return any(row["rank"] is not None and row["rank"] <= k for row in rows)
