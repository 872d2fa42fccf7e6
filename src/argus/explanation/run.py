"""Why a document does not come back in a ranking: its place, its words, and what is above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar, cast

from argus.authority.edges import read_authority
from argus.authority.relation import Authority
from argus.corpora import NamedCorpus, named
from argus.corpora.opening import read_corpus
from argus.data.runs import ranking, read_run
from argus.data.topics import read_topics, topics_file
from argus.data.types import Document
from argus.errors import InputError
from argus.evaluation.parents import ParentFold
from argus.evaluation.queries import unknown_query
from argus.explanation.config import RunConfig
from argus.explanation.evidence import (
    CorpusEvidence,
    Evidence,
    SupersededEvidence,
    WordEvidence,
)
from argus.explanation.identifiers import AnswerKeys, check_identifiers, run_identifiers
from argus.explanation.presence import near_ids
from argus.explanation.records import RunExplanationRecord
from argus.explanation.rivals import superseded
from argus.explanation.standing import QUERY, bm25_place, place_in
from argus.explanation.types import Cause, Finding, Place, Verdict
from argus.explanation.words import in_common, quoted, term_evidence
from argus.indexes.hybrid import FUSION, fuse_with_bm25
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH
from argus.indexes.snapshot import check_k
from argus.indexes.words import words
from argus.progress import announce
from argus.retrievers.results import are_places

R = TypeVar("R", bound="RunExplanation")


@dataclass(frozen=True)
class Above:
    """A document that the run ranks above the one that is explained."""

    rank: int
    id: str
    score: float | None
    title: str
    says: list[str]
    """Words of the question that it holds and the explained one lacks."""


@dataclass(frozen=True)
class RunStanding:
    """Where the document stands in the run, by BM25 over the corpus, and with both fused."""

    rank: int | None
    came_back: bool
    run: Place
    bm25: Place | None
    """None without a corpus or the question's text, as is `fused`."""
    fused: Place | None
    fusion: str
    kth_score: float | None
    """Of the last of the top k; None where the run holds nothing for the query."""
    gap: float | None
    """Score that is missing to it; 0 where the document came back, None where it has no score."""
    above: list[Above]
    """The first k at most."""


@dataclass(frozen=True)
class RunExplanation:
    """Why a document came back in a run, or did not; fields as in `Explanation`."""

    source: ClassVar[str] = "run"
    """What `run` names, in a word."""
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
    findings: list[Finding[Evidence]]

    def as_dict(self) -> RunExplanationRecord:
        """Return everything as plain JSON values."""
        return cast(RunExplanationRecord, asdict(self))


@dataclass(frozen=True)
class RunCase:
    """One query and one document of a run. scores: of the run, best first."""

    text: str | None
    doc_id: str
    k: int
    scores: dict[str, float]
    documents: Mapping[str, Document] | None
    source: str = "run"
    """What ranked them, in a word."""

    @property
    def document(self) -> Document | None:
        """The document as the corpus has it."""
        return (self.documents or {}).get(self.doc_id)

    @cached_property
    def ranked(self) -> list[str]:
        """The documents of the run, best first."""
        return list(self.scores)

    def rank(self, doc_id: str) -> int | None:
        """Return where the run ranks a document."""
        return self.ranked.index(doc_id) + 1 if doc_id in self.scores else None

    @cached_property
    def lexical(self) -> LexicalIndex:
        """BM25 over the corpus."""
        announce("explain: reading the corpus by words")
        documents = self.documents or {}
        return LexicalIndex.build(list(documents), [d.content for d in documents.values()])


def explain_run(
    query_id: str, doc_id: str, run: str | Path, config: RunConfig | None = None
) -> RunExplanation:
    """Say where a run ranks `doc_id` for a query, and what keeps it there.

    A document that the run or the corpus lacks is explained, not refused. Raises InputError for an
    empty id, k below 1, a query that the run or the queries do not know, a corpus that holds
    nothing of what was found, keys of another search, and broken files.
    """
    config, run = config or RunConfig(), Path(run)
    check_ids(query_id, doc_id, config.k)
    text = _text(query_id, config.queries)
    results = read_run(run)
    scores = results.get(query_id, {})
    ids = ranking(scores) if query_id in results else None
    keys = run_identifiers(run, config.keys, query_id, ids, text)
    if ids is None and (isinstance(keys, str) or keys.hits):
        raise _not_in_run(query_id, list(results), run, config.queries)
    documents = documents_of(config)
    check_corpus(documents, ids or [], config.corpus, "run")
    fold = fold_of(config, documents)
    if text is None and isinstance(keys, AnswerKeys):
        text = keys.query.text
    ranked = {id_: scores[id_] for id_ in ids or []}
    case = folded(RunCase(text, doc_id, config.k, ranked, documents), fold)
    identifiers = check_identifiers(doc_id, case.k, case.ranked, keys, case.document)
    return explained(RunExplanation, case, query_id, str(run), config, [identifiers])


def explained(
    kind: type[R],
    case: RunCase,
    query_id: str,
    name: str,
    config: RunConfig,
    more: Sequence[Finding[Evidence]] = (),
    authority: Authority | None = None,
) -> R:
    """Check every cause that a ranking lets be checked, and conclude.

    more: checked elsewhere. authority: in place of the file that the config names.
    """
    if authority is None and config.supersedes is not None:
        authority = read_authority(config.supersedes)
    place = _standing(case)
    superseders = superseded(case.doc_id, case.k, place.rank, authority, case.rank, case.source)
    findings: list[Finding[Evidence]] = [
        _check_corpus(case, config.corpus), _check_words(case, place), superseders, *more
    ]  # fmt: skip
    findings = [f.harmless() if place.came_back else f for f in findings]
    cause, verdict = conclude(case, place, findings, superseders.evidence)
    corpus = shown(config.corpus) if config.corpus is not None else None
    return kind(
        case.text, query_id, case.doc_id, name, corpus, case.k, verdict, cause, place.came_back,
        place, findings,
    )  # fmt: skip


def check_ids(query: str, doc_id: str, k: int) -> None:
    """Raise InputError for what nobody can ask for."""
    check_k(k)
    for what, id_ in (("query", query), ("document", doc_id)):
        if not id_.strip():
            raise InputError(f"an empty {what} id", expected=f"the id of a {what}", fix="Name one.")


def _text(query_id: str, queries: Path | None) -> str | None:
    """Return the question; None where there are no queries, or this one has no word in them."""
    if queries is None:
        return None
    topics = {t.query.id: t.query.text for t in read_topics(queries, coerce_ids=True)}
    if query_id not in topics:
        raise unknown_query(query_id, topics, topics_file(queries))
    return topics[query_id] if topics[query_id].strip() else None


def _not_in_run(query_id: str, known: list[str], run: Path, queries: Path | None) -> InputError:
    if queries is None:
        return unknown_query(query_id, known, run)
    return InputError(
        f"no result for query {query_id!r}, which {queries} has",
        expected=f"results for it, as for {len(known):,} other queries",
        fix="Search it as well; a search that finds nothing leaves no line in a TREC run.",
        where=run,
    )


def documents_of(config: RunConfig) -> dict[str, Document] | None:
    """Return the corpus by id, where there is one."""
    if config.corpus is None:
        return None
    return {d.id: d for d in read_corpus(config.corpus, config.fields)}


def fold_of(config: RunConfig, documents: Mapping[str, Document] | None) -> ParentFold | None:
    """Return the fold of the corpus's chunks, where the config names their document."""
    return ParentFold.of(
        config.parent_field, None if documents is None else list(documents.values())
    )


def folded(case: RunCase, fold: ParentFold | None) -> RunCase:
    """Return the case of documents, where one of their chunks, or one itself, is asked for."""
    if fold is None or case.documents is None:
        return case
    documents = fold.documents(list(case.documents.values()))
    return replace(
        case, doc_id=fold.of_chunk.get(case.doc_id, case.doc_id), scores=fold.best(case.scores),
        documents={document.id: document for document in documents},
    )  # fmt: skip


def check_corpus(
    documents: Mapping[str, Document] | None,
    ids: Sequence[str],
    corpus: NamedCorpus | None,
    source: str,
) -> None:
    """Raise InputError where a corpus has none of the documents that a ranking holds."""
    if documents is not None and ids and not any(id_ in documents for id_ in ids):
        raise InputError(
            f"no document that was found is in it; the first is {ids[0]!r}",
            expected=f"ids such as {next(iter(documents))!r} in the {source}",
            fix=f"Check that {source} and corpus belong together.",
            where=shown(corpus),
        )


def shown(corpus: NamedCorpus | None) -> str:
    """Return how a person may see a corpus named: a store without user and password."""
    return "" if corpus is None else str(named(corpus))


def _standing(case: RunCase) -> RunStanding:
    own, kth = place_in(case.scores, case.doc_id, case.k)
    came_back = own.rank is not None and own.rank <= case.k
    bm25 = fused = None
    method = "rrf" if are_places(case.scores) else FUSION
    if case.documents is not None and case.text is not None:
        bm25 = bm25_place(case.lexical.ids, case.lexical.scores(case.text), case.doc_id)
        depth = max(case.k, FUSED_DEPTH)
        first = {QUERY: {doc: case.scores[doc] for doc in case.ranked[:depth]}}
        second = case.lexical.search([case.text], depth).run([QUERY])
        both = fuse_with_bm25(first, second, 2 * depth, method)[QUERY]
        fused, _ = place_in(both, case.doc_id, case.k)
    if are_places(case.scores):
        own, kth = replace(own, score=None), None
    gap = None if kth is None or own.score is None else max(0.0, kth - own.score)
    above = _above(case, case.k if own.rank is None else min(case.k, own.rank - 1))
    return RunStanding(own.rank, came_back, own, bm25, fused, method, kth, gap, above)


def _above(case: RunCase, most: int) -> list[Above]:
    """Return the first documents of the run, with what they say and this one does not."""
    terms: list[str] = []
    scores = {} if are_places(case.scores) else case.scores
    if case.documents is not None and case.text is not None:
        own = [case.document.content] if case.document is not None else []
        terms = term_evidence(case.text, own, case.lexical)["missing_terms"]
    rows = []
    for rank, id_ in enumerate(case.ranked[:most], start=1):
        document = (case.documents or {}).get(id_)
        content = set(words(document.content)) if document is not None else set()
        title = document.title if document is not None else ""
        says = [term for term in terms if term in content]
        rows.append(Above(rank, id_, scores.get(id_), title, says))
    return rows


def _check_corpus(case: RunCase, corpus: NamedCorpus | None) -> Finding[CorpusEvidence]:
    cause = Cause.CORPUS
    if case.documents is None:
        why, advice = "not checked: no corpus", "Give --corpus FILE."
        return Finding(cause, Verdict.UNCHECKED, why, {}, advice)
    evidence: CorpusEvidence = {"corpus": shown(corpus), "documents": len(case.documents)}
    if case.document is None:
        evidence["near_ids"] = near_ids(case.doc_id, list(case.documents))
        if case.doc_id in case.scores:
            text = "it is not in the corpus, though it is in the run"
            advice = "Give the corpus that was searched."
        else:
            text, near = "it is not in the corpus", evidence["near_ids"]
            advice = f"Did you mean {near[0]!r}?" if near else "Check the id."
        return Finding(cause, Verdict.FOUND, text, evidence, advice)
    if not case.document.content.strip():
        text = "the corpus has it, but without text"
        return Finding(cause, Verdict.FOUND, text, evidence, "Give it a text, and search again.")
    return Finding(cause, Verdict.RULED_OUT, "it is in the corpus, with text", evidence)


def _check_words(case: RunCase, place: RunStanding) -> Finding[WordEvidence]:
    """Compare the words of the question with the document's, and with those of what is above."""
    cause = Cause.LEXICAL
    if case.document is None or case.text is None or place.bm25 is None or place.fused is None:
        why, advice = (
            ("not checked: no corpus", "Give --corpus FILE.")
            if case.documents is None
            else ("the document is not in the corpus", "")
            if case.document is None
            else ("not checked: no text of the question", "Give --queries FILE.")
        )
        return Finding(cause, Verdict.UNCHECKED, why, {}, advice)
    terms = term_evidence(case.text, [case.document.content], case.lexical)
    missing = terms["missing_terms"]
    evidence: WordEvidence = {
        **terms,
        "bm25_rank": place.bm25.rank, "run_rank": place.rank,
        "fused_rank": place.fused.rank, "fusion": place.fusion,
        "missing_terms_above": {t: sum(t in row.says for row in place.above) for t in missing},
    }  # fmt: skip
    finding = in_common(evidence)
    bm25, fused = place.bm25.rank, place.fused.rank
    if not place.came_back and bm25 is not None and bm25 <= case.k:
        helps = fused is not None and fused <= case.k
        lacks = f"; it lacks {quoted(missing)}" if missing else ""
        return Finding(
            cause, Verdict.FOUND,
            f"BM25 ranks it {bm25} by {quoted(evidence['shared_terms'])}, the {case.source} "
            f"{place.rank or 'nowhere'}: the search misses these words{lacks}; {place.fusion} of "
            f"{case.source} and BM25 ranks it {fused or 'nowhere'}",
            evidence,
            "Fuse the search with BM25." if helps else "Weigh the question's words more.",
            decisive=helps,
        )  # fmt: skip
    most = max(missing, key=lambda term: evidence["missing_terms_above"][term], default=None)
    if most is None or not evidence["missing_terms_above"][most]:
        return finding
    n, of = evidence["missing_terms_above"][most], len(place.above)
    return replace(finding, summary=f"{finding.summary}; {n} of the first {of} say {most!r}")


def conclude(
    case: RunCase,
    place: RunStanding,
    findings: Sequence[Finding[Evidence]],
    superseders: SupersededEvidence,
) -> tuple[Cause | None, str]:
    """Return the most probable cause and the verdict in one line.

    What cannot come back at all first, then what is replaced by a document that does, then how the
    n-gram search itself ranked, then what makes absence likely.
    """
    faults = {f.cause: f.summary for f in findings if f.state is Verdict.FOUND}
    if place.came_back:
        score = f"came back: rank {place.rank} of {place.run.of:,}"
        if place.run.score is not None:
            score += f", score {place.run.score:.4f}"
        notes = [faults[c] for c in (Cause.CORPUS, Cause.SUPERSEDED) if c in faults]
        return None, "; yet ".join([score, *notes])
    order = [Cause.ABSENT, Cause.IDENTIFIERS, Cause.WINDOW, Cause.LEXICAL, Cause.MATCHES]
    order.append(Cause.SUPERSEDED)
    rows = superseders.get("superseded_by", [])
    if any(row["rank"] is not None and row["rank"] <= case.k for row in rows):
        order.insert(0, Cause.SUPERSEDED)
    order.insert(0 if place.rank is None else len(order), Cause.CORPUS)
    cause = next((c for c in order if c in faults), None)
    text = f"did not come back ({_where(case, place)}): "
    if cause is not None:
        return cause, text + faults[cause]
    return None, text + "no check explains it; the search prefers the documents above it"


def _where(case: RunCase, place: RunStanding) -> str:
    if place.rank is None:
        return f"not among the {place.run.of:,} of the {case.source}"
    missing = "" if place.gap is None else f", {place.gap:.4f} short of the top {case.k}"
    return f"rank {place.rank} of {place.run.of:,}{missing}"
