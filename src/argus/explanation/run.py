"""Explain why one document is not in a ranking: of a run file, a retriever, or an encoder's search.

`explain_run`, `explain_retriever`, `explain_corpus`: a query and a document id -> `RunExplanation`.
It checks those causes that need no index: absent from the corpus, no words in common, text cut off,
superseded. `argus explain` calls it, and `job` explains an index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from argus.authority.relation import Authority
from argus.corpora import NamedCorpus, named
from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries, read_topics
from argus.data.runs import ranking, read_judgements, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.encoders import (
    Encoder,
    EncoderConfig,
    Rows,
    TokenCounter,
    as_config,
    embed,
    load_any_encoder,
    open_store,
)
from argus.encoders import documents as as_documents
from argus.encoders.embed import encode_batch, queries
from argus.encoders.protocol import family_of
from argus.errors import ArgusError, InputError
from argus.evaluation.config import unknown_query
from argus.evaluation.judged import ParentFold, deeper
from argus.evaluation.systems import Judged, judge
from argus.explanation.config import ExplainConfig, RunConfig
from argus.explanation.evidence import (
    MOST_FAILED,
    QUERY,
    Above,
    Cause,
    Evidence,
    Explanation,
    FailedExplanations,
    Finding,
    RunExplanation,
    RunStanding,
    Verdict,
    bm25_place,
    check_superseded,
    compare_terms,
    count_terms,
    find_query,
    is_superseded_within,
    near_ids,
    place_in,
    quoted,
)
from argus.explanation.stored import judge_window
from argus.indexes.blend import FUSION
from argus.indexes.exact import Scoring, scoring_of
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex, check_query, words
from argus.indexes.retriever import FUSED_DEPTH
from argus.indexes.snapshot import check_k
from argus.jobs.workspace import Record, corpus_for, require_some, take_stored
from argus.progress import announce, progress
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import all_opened
from argus.retrievers.results import are_places


def explain_run(
    query_id: str, doc_id: str, run: str | Path, config: RunConfig | None = None
) -> RunExplanation:
    """Return the place of `doc_id` in a run for a query, and the causes.

    A document that the run or the corpus lacks is explained, not refused. Raises InputError for an
    empty id, k below 1, a query that the run or the queries do not have, a corpus without any
    document of the run, and damaged files.
    """
    config, run = config or RunConfig(), Path(run)
    _check_ids(query_id, doc_id, config.k)
    text = None
    if config.queries is not None:
        topics = {t.query.id: t.query.text for t in read_topics(config.queries, coerce_ids=True)}
        if query_id not in topics:
            raise unknown_query(query_id, topics, config.queries)
        text = topics[query_id] if topics[query_id].strip() else None
    results = read_run(run)
    scores = results.get(query_id, {})
    ids = ranking(scores) if query_id in results else None
    if ids is None:
        if config.queries is None:
            raise unknown_query(query_id, results, run)
        got = f"no result for query {query_id!r}, which {config.queries} has"
        expected = f"results for it, as for {len(results):,} other queries"
        fix = "Search it as well; a search that finds nothing leaves no line in a TREC run."
        raise InputError(got, expected=expected, fix=fix, where=run)
    documents = _read_documents(config)
    _check_corpus_fits(documents, ids or [], config.corpus, "run")
    ranked = {id_: scores[id_] for id_ in ids or []}
    case = _RankedCase(text, doc_id, config.k, ranked, documents).fold(_fold_of(config, documents))
    return _explain(case, query_id, str(run), config)


def explain_retriever(
    query: str,
    doc_id: str,
    retriever: Any,
    config: RunConfig | None = None,
    *,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    documents: Sequence[Document] | None = None,
    authority: Authority | None = None,
) -> RunExplanation:
    """Ask a retriever, and return the place of `doc_id` and the causes.

    query: the question, or with `config.queries` the id of one. The retriever is asked for k
    results, as people ask it, and for 100 if the document is not among these. retriever, asking,
    encoder: as for `argus.evaluate`. documents: those of the config's corpus,
    in memory: a retriever may hold the store that they lie in. authority: supersessions, in place
    of the config's file. Raises InputError for an unknown query or name and for a corpus without
    any document of the results. Raises ArgusError where the retriever fails.
    """
    config = config or RunConfig()
    _check_ids(query, doc_id, config.k)
    question = find_query(query, config.queries)
    held = None if documents is None else _Texts((d.id, d) for d in documents)
    known = _read_documents(config) if held is None else held or None
    fold = _fold_of(config, known)
    ids = frozenset([doc_id] if fold is None else fold.chunks_of(doc_id))
    corpus = list((known or {}).values())
    with all_opened([retriever], corpus, asking or AskingConfig(), None, encoder) as (source,):

        def ask(k: int) -> dict[str, float]:
            answers = source.ask([Query(QUERY, question.text)], k)
            if answers.warning:
                announce(f"WARNING: {answers.warning}")
            if answers.failed:
                raise ArgusError(f"{source.name} failed the query: {answers.failed[QUERY]}")
            return answers.run[QUERY]

        k = deeper(config.k, fold)
        scores = ask(k)
        if not ids & scores.keys() and k < FUSED_DEPTH:
            more = ask(FUSED_DEPTH)
            both = [*scores, *(id_ for id_ in more if id_ not in scores)]
            if all(more.get(id_) == score for id_, score in scores.items()):
                scores = {id_: more[id_] for id_ in both}
            else:  # scores of two searches do not compare
                scores = {id_: 1 / place for place, id_ in enumerate(both, start=1)}
    _check_corpus_fits(known, scores, config.corpus, "retriever")
    case = _RankedCase(question.text, doc_id, config.k, scores, known, "retriever").fold(fold)
    return _explain(case, question.id, source.name, config, authority=authority)


def explain_corpus(
    query: str,
    doc_id: str,
    encoder: Encoder[Rows] | EncoderConfig | str,
    config: RunConfig,
    *,
    store: Path | None = None,
) -> RunExplanation:
    """Search `config.corpus` exactly by an encoder, and return the place of `doc_id` and causes.

    query: the text, or with `config.queries` its id. store: folder of vectors to reuse, as an
    exposure run leaves them in `OUT/embeddings`. None keeps nothing. A corpus that is a vector
    store is searched by its own vectors. Raises InputError for an empty query or id, k below 1, an
    unknown query id, a query without a usable row, a corpus without text, vectors of another
    encoder, and damaged files.
    """
    _check_ids(query, doc_id, config.k)
    question = find_query(query, config.queries)
    check_query(question.text)
    if config.corpus is None:
        expected, where = "what the encoder is to search", "--corpus"
        raise InputError("no corpus", expected=expected, fix="Give --corpus.", where=where)
    corpus = corpus_for(config.corpus, encoder, None)
    documents = _Texts((d.id, d) for d in corpus.documents(config.fields))
    usable = [documents[id_] for id_ in sorted(documents) if documents[id_].content.strip()]
    require_some(len(usable), "document has text", "Check it.")
    with ExitStack() as stack:
        path = store or Path(stack.enter_context(TemporaryDirectory(prefix="argus-explain-")))
        model = as_config(encoder)
        if isinstance(model, EncoderConfig):
            model = load_any_encoder(model)
        opened = stack.enter_context(
            open_store(family_of(model), path, fingerprint=model.fingerprint, dim=model.dim)
        )
        take_stored(Record("explain", {}, {"corpus": corpus.origin}), opened)
        announce("explain: embedding documents")
        texts = as_documents([d.content for d in usable])
        embedded = embed(texts, model, opened, what="documents")
        scoring: Scoring[Any] = scoring_of(embedded.vectors)
    encoded = encode_batch(model, queries([question.text]))
    for why in encoded.failures.values():
        got = f"no search with {question.text!r}: {why}"
        expected = f"a query that {model.fingerprint} can embed"
        fix = "Word it otherwise, or name another encoder."
        raise InputError(got, expected=expected, fix=fix, where="QUERY")
    indexed = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    scores = scoring.against(encoded.vectors, np.arange(len(indexed)))
    order = np.argsort(-scores, kind="stable").tolist()
    ranked = {indexed[i].id: float(scores[i]) for i in order}
    fold = _fold_of(config, documents)
    case = _RankedCase(question.text, doc_id, config.k, ranked, documents, "encoder").fold(fold)

    def rows_of(doc_id: str) -> list[int]:  # a document's own, or those of its chunks
        ids = [doc_id] if fold is None else fold.chunks_of(doc_id)
        return [row for row, document in enumerate(indexed) if document.id in ids]

    more: list[Finding] = []
    rank = case.rank(case.doc_id)
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    if rank is not None:
        at = max(rows_of(case.doc_id), key=lambda row: (scores[row], -row))
        others = np.delete(scores, rows_of(case.doc_id))
        if isinstance(model, TokenCounter) and model.max_tokens is not None:

            def rank_unread(pieces: list[str]) -> tuple[float, int]:
                pairs: Scoring[Any] = scoring_of(model.encode_documents(pieces))
                best = float(pairs.against(encoded.vectors, np.arange(len(pieces))).max())
                return best, 1 + int((others > best).sum())

            window = judge_window(
                model, indexed[at].content, question.text, case.k, float(scores[at]), rank_unread
            )
            more.append(window)
    elif case.doc_id in failures:
        text = f"nothing finds it: {failures[case.doc_id]}"
        more.append(Cause.ABSENT.found(text, advice="Mend it, and embed it again."))
    return _explain(case, question.id, model.fingerprint, config, more)


def explain_failed(
    queries: Path | Sequence[Query],
    qrels: Path | Qrels,
    *,
    index: Any = None,
    retriever: Any = None,
    run: Path | None = None,
    config: ExplainConfig | None = None,
    of_run: RunConfig | None = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
) -> FailedExplanations:
    """Explain every judged question of which nothing relevant comes back.

    index: `PATH[@as_of]` or a retriever of one; else `retriever` or `run`, as for
    `explain_retriever` and `explain_run`. config: of an index; of_run: of the others. Raises
    InputError as those do, and for judgements of other questions.
    """
    config, of_run = config or ExplainConfig(), of_run or RunConfig()
    asked = read_queries(queries) if isinstance(queries, Path) else queries
    judged = judge(asked, read_judgements(qrels))
    questions = [*judged.queries.values()]
    if index is not None:
        from argus.explanation.job import explain, fold_of, open_explained

        opened = open_explained(index, config, encoder)
        fold = fold_of(config)
        answers = opened.search(questions, deeper(config.k, fold))
        answers = answers if fold is None else fold.run(answers)
        plain = replace(config, queries=None, hybrid=None)
        return _explained(
            judged, answers, config.k, lambda q, doc: explain(q.text, doc, opened, plain, fold=fold)
        )
    known = _read_documents(of_run)
    fold, corpus = _fold_of(of_run, known), [*(known or {}).values()]
    if run is not None:
        name, source, answers = str(run), "run", read_run(run)
        answers = {id_: {d: s[d] for d in ranking(s)} for id_, s in answers.items()}
    else:
        source = "retriever"
        with all_opened([retriever], corpus, asking or AskingConfig(), None, encoder) as (one,):
            name, answers = one.name, one.ask(questions, FUSED_DEPTH).run

    def of_ranking(query: Query, doc: str) -> RunExplanation:
        case = _RankedCase(query.text, doc, of_run.k, answers[query.id], known, source)
        return _explain(case.fold(fold), query.id, name, of_run)

    whole = answers if fold is None else fold.run(answers)
    return _explained(judged, whole, of_run.k, of_ranking)


def _explained(
    judged: Judged, run: Run, k: int, explain: Callable[[Query, str], Explanation | RunExplanation]
) -> FailedExplanations:
    """Explain the questions without a relevant document in their top k, each by its best one."""
    asked = [id_ for id_ in judged.queries if id_ in run]
    require_some(len(asked), "judged question was answered", "Check that they belong together.")
    lost = [q for q in asked if not set(ranking(run[q])[:k]) & set(judged.relevant(q))]
    found = []
    with progress("explaining", min(len(lost), MOST_FAILED)) as advance:
        for id_ in lost[:MOST_FAILED]:
            grades = judged.qrels[id_]
            best = min(grades, key=lambda doc: (-grades[doc], doc))
            found.append(explain(judged.queries[id_], best))
            advance(1)
    return FailedExplanations(len(asked), len(lost), k, found)


class _Texts(dict[str, Document]):
    """The documents of a corpus by id, whose words are read once."""

    @cached_property
    def lexical(self) -> LexicalIndex:
        """BM25 over the corpus."""
        announce("explain: reading the corpus by words")
        return LexicalIndex.build(list(self), [d.content for d in self.values()])


@dataclass(frozen=True)
class _RankedCase:
    """One query and one document of a ranking.

    text: None where it is unknown. scores: best first. documents: None without a corpus. source:
    "run", "retriever" or "encoder".
    """

    text: str | None
    doc_id: str
    k: int
    scores: dict[str, float]
    documents: _Texts | None
    source: str = "run"

    @property
    def document(self) -> Document | None:
        """The document as the corpus has it."""
        return (self.documents or _Texts()).get(self.doc_id)

    def rank(self, doc_id: str) -> int | None:
        """Return the rank of a document."""
        return list(self.scores).index(doc_id) + 1 if doc_id in self.scores else None

    @property
    def lexical(self) -> LexicalIndex:
        """BM25 over the corpus, which is there."""
        assert self.documents is not None
        return self.documents.lexical

    def fold(self, fold: ParentFold | None) -> _RankedCase:
        """Return the case of documents, for a document or one of its chunks."""
        if fold is None or self.documents is None:
            return self
        documents = fold.documents(list(self.documents.values()))
        return replace(
            self,
            doc_id=fold.of_chunk.get(self.doc_id, self.doc_id),
            scores=fold.best(self.scores),
            documents=_Texts((document.id, document) for document in documents),
        )


def _check_ids(query: str, doc_id: str, k: int) -> None:
    check_k(k)
    for what, id_ in (("query", query), ("document", doc_id)):
        if not id_.strip():
            raise InputError(f"an empty {what} id", expected=f"the id of a {what}", fix="Name one.")


def _read_documents(config: RunConfig) -> _Texts | None:
    if config.corpus is None:
        return None
    return _Texts((d.id, d) for d in read_corpus(config.corpus, config.fields))


def _fold_of(config: RunConfig, documents: _Texts | None) -> ParentFold | None:
    chunks = None if documents is None else list(documents.values())
    return ParentFold.of(config.parent_field, chunks)


def _check_corpus_fits(
    documents: Mapping[str, Document] | None,
    ids: Collection[str],
    corpus: NamedCorpus | None,
    source: str,
) -> None:
    """Raise InputError for a corpus without any document of the ranking."""
    if documents is not None and ids and not any(id_ in documents for id_ in ids):
        got = f"no document that was found is in it; the first is {next(iter(ids))!r}"
        expected = f"ids such as {next(iter(documents))!r} in the {source}"
        fix = f"Check that {source} and corpus belong together."
        raise InputError(got, expected=expected, fix=fix, where=show_corpus(corpus))


def show_corpus(corpus: NamedCorpus | None) -> str:
    """Return the name of a corpus for people: a store without user and password."""
    return "" if corpus is None else str(named(corpus))


def _explain(
    case: _RankedCase,
    query_id: str,
    name: str,
    config: RunConfig,
    more: Sequence[Finding] = (),
    authority: Authority | None = None,
) -> RunExplanation:
    """Check every cause that a ranking allows to check, and conclude. more: further findings."""
    if authority is None and config.supersedes is not None:
        from argus.authority.opening import read_authority

        authority = read_authority(config.supersedes)
    place = _rank(case)
    findings = [
        _check_corpus(case, config.corpus),
        _check_words(case, place),
        check_superseded(case.doc_id, case.k, place.rank, authority, case.rank, case.source),
        *more,
    ]
    findings = [f.harmless() if place.came_back else f for f in findings]
    cause, verdict = _conclude(case, place, findings)
    return RunExplanation(
        query=case.text,
        query_id=query_id,
        doc_id=case.doc_id,
        run=name,
        corpus=None if config.corpus is None else show_corpus(config.corpus),
        k=case.k,
        verdict=verdict,
        cause=cause,
        came_back=place.came_back,
        standing=place,
        findings=findings,
        source=case.source,
    )


def _rank(case: _RankedCase) -> RunStanding:
    own, kth = place_in(case.scores, case.doc_id, case.k)
    came_back = own.rank is not None and own.rank <= case.k
    has_scores = not are_places(case.scores)
    bm25 = fused = None
    method = FUSION if has_scores else "rrf"
    if case.documents is not None and case.text is not None:
        bm25 = bm25_place(case.lexical.ids, case.lexical.scores(case.text), case.doc_id)
        depth = max(case.k, FUSED_DEPTH)
        first = {QUERY: dict(list(case.scores.items())[:depth])}
        second = case.lexical.search([case.text], depth).run([QUERY])
        both = fuse_with_bm25(first, second, 2 * depth, method)[QUERY]
        fused, _ = place_in(both, case.doc_id, case.k)
    if not has_scores:
        own, kth = replace(own, score=None), None
    gap = None if kth is None or own.score is None else max(0.0, kth - own.score)
    terms: list[str] = []  # of the query, that the document lacks
    if case.documents is not None and case.text is not None:
        texts = [case.document.content] if case.document is not None else []
        terms = count_terms(case.text, texts, case.lexical)["missing_terms"]
    shown, above = case.k if own.rank is None else min(case.k, own.rank - 1), []
    for rank, (id_, score) in enumerate(list(case.scores.items())[:shown], start=1):
        document = (case.documents or _Texts()).get(id_, Document(id_, ""))
        says = [term for term in terms if term in set(words(document.content))]
        above.append(Above(rank, id_, score if has_scores else None, document.title, says))
    return RunStanding(own.rank, came_back, own, bm25, fused, method, kth, gap, above)


def _check_corpus(case: _RankedCase, corpus: NamedCorpus | None) -> Finding:
    """Say whether the corpus holds the document, with text.

    Evidence: `corpus`, `documents` (count), `near_ids`.
    """
    cause = Cause.CORPUS
    if case.documents is None:
        return cause.unchecked("not checked: no corpus", advice="Give --corpus FILE.")
    evidence: Evidence = {"corpus": show_corpus(corpus), "documents": len(case.documents)}
    if case.document is None:
        near = evidence["near_ids"] = near_ids(case.doc_id, list(case.documents))
        text, advice = "it is not in the corpus", "Check the id."
        if case.doc_id in case.scores:
            text += ", though it is in the run"
            advice = "Give the corpus that was searched."
        elif near:
            advice = f"Did you mean {near[0]!r}?"
        return cause.found(text, evidence, advice)
    if not case.document.content.strip():
        text = "the corpus has it, but without text"
        return cause.found(text, evidence, "Give it a text, and search again.")
    return cause.ruled_out("it is in the corpus, with text", evidence)


def _check_words(case: _RankedCase, place: RunStanding) -> Finding:
    """Compare the words of the question with the document's, and with those above it.

    Evidence: see `count_terms`, and `bm25_rank`, `run_rank`, `fused_rank`, `fusion`, and
    `missing_terms_above`, the number of documents above with each missing term.
    """
    cause = Cause.LEXICAL
    if case.documents is None:
        return cause.unchecked("not checked: no corpus", advice="Give --corpus FILE.")
    if case.document is None:
        return cause.unchecked("the document is not in the corpus")
    if case.text is None or place.bm25 is None or place.fused is None:
        why, advice = "not checked: no text of the question", "Give --queries FILE."
        return cause.unchecked(why, advice=advice)
    bm25, fused = place.bm25.rank, place.fused.rank
    terms = count_terms(case.text, [case.document.content], case.lexical)
    missing = terms["missing_terms"]
    above = {term: sum(term in row.says for row in place.above) for term in missing}
    evidence: Evidence = {
        **terms,
        "bm25_rank": bm25,
        "run_rank": place.rank,
        "fused_rank": fused,
        "fusion": place.fusion,
        "missing_terms_above": above,
    }
    if not place.came_back and bm25 is not None and bm25 <= case.k:
        helps = fused is not None and fused <= case.k
        lacks = f"; it lacks {quoted(missing)}" if missing else ""
        text = (
            f"BM25 ranks it {bm25} by {quoted(evidence['shared_terms'])}, the {case.source} "
            f"{place.rank or 'nowhere'}: the search misses these words{lacks}; {place.fusion} of "
            f"{case.source} and BM25 ranks it {fused or 'nowhere'}"
        )
        advice = "Fuse the search with BM25." if helps else "Weigh the question's words more."
        return cause.found(text, evidence, advice, decisive=helps)
    finding = compare_terms(evidence)
    commonest = max(missing, key=lambda term: above[term], default=None)
    if commonest is None or not above[commonest]:
        return finding
    text = f"{above[commonest]} of the first {len(place.above)} say {commonest!r}"
    return replace(finding, summary=f"{finding.summary}; {text}")


def _conclude(
    case: _RankedCase, place: RunStanding, findings: Sequence[Finding]
) -> tuple[Cause | None, str]:
    """Return the most probable cause and the verdict in one line.

    A document that cannot come back comes first, then one that is superseded by a document in the
    top k, then causes that make absence likely.
    """
    faults = {f.cause: f.summary for f in findings if f.state is Verdict.FOUND}
    if place.came_back:
        score = f"came back: rank {place.rank} of {place.run.of:,}"
        if place.run.score is not None:
            score += f", score {place.run.score:.4f}"
        notes = [faults[c] for c in (Cause.CORPUS, Cause.SUPERSEDED) if c in faults]
        return None, "; yet ".join([score, *notes])
    order = [Cause.ABSENT, Cause.WINDOW, Cause.LEXICAL]
    order.append(Cause.SUPERSEDED)
    if any(f.cause is Cause.SUPERSEDED and is_superseded_within(f, case.k) for f in findings):
        order.insert(0, Cause.SUPERSEDED)
    order.insert(0 if place.rank is None else len(order), Cause.CORPUS)
    where = f"not among the {place.run.of:,} of the {case.source}"
    if place.rank is not None:
        where = f"rank {place.rank} of {place.run.of:,}"
        where += "" if place.gap is None else f", {place.gap:.4f} short of the top {case.k}"
    cause = next((c for c in order if c in faults), None)
    text = "no check explains it; the search prefers the documents above it"
    return cause, f"did not come back ({where}): {text if cause is None else faults[cause]}"
