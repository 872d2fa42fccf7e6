"""Read the inputs of `scenarios qa`, and lay out the context of every question, arm by arm.

Each document stands between marks that hold a hash of all that is shown, which no text can hold
itself, so that no document can end itself and begin another one, or a scenario of its own. Texts
go in as they are: code, LaTeX and tables survive.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from argus.data.documents import ID_FIELDS, check_limit, find_file, read_queries
from argus.data.provenance import content_hash
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.data.types import FloatArray, Qrels, Query, Run, State
from argus.encoders import EmbeddingStore, embed
from argus.encoders import queries as as_queries
from argus.errors import InputError
from argus.evaluation.systems import System, judge, missing_gold
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.retriever import IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.indexes.views import ViewScenario, matched_scenario, served
from argus.scenarios.qa.judge import Arm, Case, Question

MAX_CHARS = 48_000  # Characters of a whole block: about 12,000 tokens of English.
# Room of a document with its marks and scenarios. Documents beyond are left out, the last first.
LEAST_ROOM = 500
_NOTE_CHARS = 80  # room that the line on a cut may take

QUERY_ID_FIELDS = ("query_id", "query-id", "qid", *ID_FIELDS)
ANSWER_FIELDS = ("answer", "gold_answer", "reference_answer", "reference")
REASONED_FIELDS = ("text", "query", "reasoning", "reasoned", "reformulated", "question")
NO_TEXT = "the question has no text"
NO_ANSWER = "there is no reference answer"
NO_REASONED = "there is no reformulated query for it"
Q = TypeVar("Q")


@dataclass(frozen=True)
class Questions:
    """The questions, and the outcome of those that are not asked.

    sample: those that are asked, in the order of the file.
    reasons: query id to why it is not applicable.
    not_drawn: how many could be asked, and are not under a limit.
    """

    sample: list[Question]
    reasons: dict[str, str]
    not_drawn: int


def read_questions(
    queries: Path | str | Sequence[Query],
    answers: Path | str | Mapping[str, str] | None,
    reasoned: Mapping[str, str] | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    coerce_ids: bool = False,
) -> Questions:
    """Set questions beside their reference answers.

    answers: a file. None takes the field `answer` or `gold_answer` of the queries. reasoned: where
    it is given, a question without an entry in it is not applicable. limit: so many are drawn at
    random. A larger limit keeps those of a smaller one. Raises InputError when no question can be
    asked.
    """
    path = Path(queries) if isinstance(queries, (str, Path)) else None
    if isinstance(queries, (str, Path)):
        queries = read_queries(Path(queries), coerce_ids=coerce_ids)
    if answers is None:  # they stand beside the questions
        answers = path if path is None or path.is_file() else find_file(path, ["queries"])
    if answers is None:
        raise InputError(
            "no reference answers",
            expected="an answer per question, which the judge compares with",
            fix="Give --answers FILE with the columns query_id and answer.",
            where="--answers",
        )
    if isinstance(answers, (str, Path)):
        answers = read_texts(answers, ANSWER_FIELDS, "answer", coerce_ids=coerce_ids)
    reasons: dict[str, str] = {}
    questions = []
    for query in queries:
        reference = answers.get(query.id, "")
        if not query.text.strip():
            reasons[query.id] = NO_TEXT
        elif not reference.strip():
            reasons[query.id] = NO_ANSWER
        elif reasoned is not None and not reasoned.get(query.id, "").strip():
            reasons[query.id] = NO_REASONED
        else:
            questions.append(Question(query.id, query.text, reference))
    if not questions:
        why = "; ".join(sorted(set(reasons.values())))
        lacks = reasoned is not None and not reasoned.keys() & {query.id for query in queries}
        others = reasoned if reasoned is not None and lacks else answers
        some = [repr(min(ids, default="")) for ids in (reasons, others)]
        raise InputError(
            f"no question can be asked ({why}): the queries have ids such as {some[0]}, "
            f"{'reformulated queries' if lacks else 'answers'} such as {some[1]}",
            expected="questions with a text and a reference answer",
            fix="Check that the files belong together.",
            where="--reasoned" if lacks else "--answers",
        )
    sample = draw(questions, limit, seed)
    return Questions(sample, reasons, len(questions) - len(sample))


def draw(questions: Sequence[Q], limit: int | None, seed: int) -> list[Q]:
    """Return `limit` questions drawn at random, in their order. All where there are no more."""
    check_limit(limit)
    if limit is None or limit >= len(questions):
        return list(questions)
    order = np.random.default_rng(seed).permutation(len(questions))
    return [questions[i] for i in sorted(order[:limit].tolist())]


def read_texts(
    path: Path | str, fields: Sequence[str], what: str, *, coerce_ids: bool = False
) -> dict[str, str]:
    """Read query id -> text in the first of `fields` that a row has. Blank ones are left out."""
    texts: dict[str, str] = {}
    for row in read_rows(Path(path)):
        id_ = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="query id"), coerce=coerce_ids)
        if id_ in texts:
            raise InputError(
                f"query {id_!r} comes twice",
                expected=f"one {what} per query",
                fix="Remove one of the two lines.",
                where=row.at(),
            )
        texts[id_] = text_value(row, pick_field(row, fields, what=what))
    return {id_: text for id_, text in texts.items() if text.strip()}


@dataclass(frozen=True, slots=True)
class ContextHit:
    """A document as it is shown: its text with its title, and the scenarios that matched."""

    doc_id: str
    text: str
    scenarios: tuple[ViewScenario, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The text of a context, and the parts of hits that it lacks."""

    text: str
    cut: tuple[str, ...] = ()  # documents of whose text or scenarios only the beginning is shown
    # Documents for which there was no room at all, the last ones of the ranking.
    left_out: tuple[str, ...] = ()


def build_context(
    hits: Sequence[ContextHit], *, with_scenarios: bool = True, max_chars: int = MAX_CHARS
) -> ContextBlock:
    """Lay hits out in rank order, in at most `max_chars` characters. "" where there are none.

    All share the room alike, and room that short ones leave goes to the others. A cut is marked.
    The room for scenarios is set aside whether they are shown or not: with and without them, the
    same text of the same documents is there, and the scenarios are all the difference.
    """
    shown = hits[: max_chars // LEAST_ROOM]
    words = [_in_words(hit.scenarios) for hit in shown]
    ids, texts = [hit.doc_id for hit in shown], [hit.text for hit in shown]
    mark = content_hash(*ids, *texts, *words, size=8).hex()
    n = len(shown)
    frames = sum(len(_document(hit, "-", mark, 0, 0)) + 2 * _NOTE_CHARS for hit in shown)
    lengths = [len(text) for text in (*texts, *words)]
    shares = fair_shares(lengths, max_chars - frames)
    parts, cut = [], []
    for i, hit in enumerate(shown):
        scenario = words[i] if with_scenarios else ""
        parts.append(_document(hit, scenario, mark, shares[i], shares[n + i]))
        if shares[i] < len(hit.text) or shares[n + i] < len(words[i]):
            cut.append(hit.doc_id)
    return ContextBlock("\n\n".join(parts), tuple(cut), tuple(hit.doc_id for hit in hits[n:]))


def fair_shares(lengths: Sequence[int], budget: int) -> list[int]:
    """Return how much of each is shown: all of the short ones, of the others alike.

    Their sum is at most `budget`.
    """
    left = max(0, budget)
    for i, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - i)
        if length > share:
            return [min(length, share) for length in lengths]
        left -= length
    return list(lengths)


def _document(hit: ContextHit, scenario: str, mark: str, chars: int, scenario_chars: int) -> str:
    name = json.dumps(hit.doc_id, ensure_ascii=False)
    note = _note(chars, len(hit.text)) if chars < len(hit.text) else ""
    lines = [f"<document {mark} {name}{note}>", hit.text[:chars]]
    if scenario:
        note = _note(scenario_chars, len(scenario)) if scenario_chars < len(scenario) else ""
        shown = scenario[:scenario_chars]
        lines += [f"<scenarios {mark}{note}>", shown, f"</scenarios {mark}>"]
    return "\n".join([*lines, f"</document {mark}>"])


def _note(shown: int, of: int) -> str:
    return f": the first {shown:,} of {of:,} characters"


def _in_words(scenarios: Sequence[ViewScenario]) -> str:
    """Return scenarios in words. A main topic that several share stands once."""
    lines: dict[str, None] = {}
    for scenario in scenarios:
        parts = {
            "Main topic": scenario.main_topic,
            "Information need": scenario.information_need,
            "Explanation": scenario.explanation,
        }
        lines |= {f"{name}: {text}": None for name, text in parts.items() if text.strip()}
    return "\n".join(lines)


@dataclass(frozen=True)
class Gold:
    """Relevant documents of the questions that can have an oracle.

    documents: question id to its relevant documents in the index, best grade first.
    missing: gold that the index lacks (see `systems.missing_gold`).
    """

    documents: dict[str, list[str]]
    missing: dict[str, Any] | None


@dataclass(frozen=True)
class Retrieved:
    """Both rankings of each question, and the vectors that they were made with.

    vectors: question id to the vector of the searched text, shape (dim,).
    runs: runs of DOCUMENTS and FUSED, in rank order.
    failed: question id to why its text has no vector.
    """

    vectors: dict[str, FloatArray]
    runs: dict[Arm, Run]
    failed: dict[str, str]


def scenarios_in(snapshot: Snapshot, name: str) -> int:
    """Return how many scenarios there are. InputError where there is none."""
    if snapshot.scenario_rows is None:
        raise InputError(
            "holds no scenarios in this state",
            expected="an index with views of kind scenario",
            fix="Add them with argus tune apply scenarios, or name another state.",
            where=name,
        )
    return int(snapshot.scenario_rows.sum())


def gold_of(questions: Sequence[Question], qrels: Qrels, snapshot: Snapshot, name: str) -> Gold:
    """Return the relevant documents of questions.

    Raises InputError when no question is judged, and when the index holds no relevant document.
    """
    judged = judge([Query(q.id, q.text) for q in questions], qrels)
    missing = missing_gold(System(name, {}, documents=frozenset(snapshot.doc_ids)), judged)
    documents = {}
    for query, grades in judged.qrels.items():
        relevant = [d for d in judged.relevant(query) if d in snapshot]
        if relevant:
            documents[query] = sorted(relevant, key=lambda d, g=grades: (-g[d], d))  # type: ignore[misc]
    return Gold(documents, missing)


def retrieve(
    texts: Mapping[str, str],
    retriever: IndexRetriever,
    snapshot: Snapshot,
    store: Path,
    *,
    k: int,
) -> Retrieved:
    """Search with the text of each question, by documents alone and with scenarios, exactly.

    texts: question id to the searched text: itself, or its reformulation. store: folder for their
    vectors. Raises EncodingError when the encoder is in trouble,
    or rejects all.
    """
    ids, encoder = list(texts), retriever.encoder
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        embedded = embed(as_queries(list(texts.values())), encoder, opened, what="queries")
    rejected = {ids[i]: why for i, why in embedded.failures.items()}
    ids = [id_ for id_ in ids if id_ not in rejected]
    vectors = np.asarray(embedded.vectors, np.float32)
    weights = {Arm.DOCUMENTS: DOCUMENTS_ALONE, Arm.FUSED: retriever.weight}
    runs = {arm: snapshot.search(vectors, k, w).run(ids) for arm, w in weights.items()}
    return Retrieved(dict(zip(ids, vectors, strict=True)), runs, rejected)


def cases(
    questions: Sequence[Question],
    retrieved: Retrieved,
    gold: Gold | None,
    snapshot: Snapshot,
    *,
    k: int,
    max_chars: int,
) -> Iterator[Case]:
    """Yield every question in every arm, question by question. No oracles without `gold`."""
    for question in questions:
        failed = retrieved.failed.get(question.id)
        hits: dict[str, ContextHit] = {}  # arms share documents
        for arm in Arm:
            why, state, ids = failed, State.FAILED, list[str]()
            if arm.is_oracle and gold is None:
                continue
            if failed is None and arm.is_oracle and gold is not None:
                ids, state = gold.documents.get(question.id, []), State.NOT_APPLICABLE
                why = "no relevant document is known, or none is in the index"
            elif failed is None:
                ranked_by = Arm.DOCUMENTS if arm is Arm.DOCUMENTS else Arm.FUSED
                ids = list(retrieved.runs[ranked_by][question.id])[:k]
                why = "nothing was retrieved"
            for doc_id in ids:
                if doc_id not in hits:
                    hits[doc_id] = context_hit(snapshot, doc_id, retrieved.vectors[question.id])
            shown = [hits[doc_id] for doc_id in ids]
            block = build_context(shown, with_scenarios=arm.shows_scenarios, max_chars=max_chars)
            if block.text:
                documents = tuple(ids[: len(ids) - len(block.left_out)])
                cut = len(block.cut) + len(block.left_out)
                yield Case(question, arm, documents, context=block.text, cut=cut)
                continue
            if ids:
                state, why = State.FAILED, f"no document fits into {max_chars:,} characters"
            stage = "retrieval" if state is State.FAILED else ""
            yield Case(question, arm, state=state, stage=stage, reason=why or "")


def context_hit(snapshot: Snapshot, doc_id: str, vector: FloatArray) -> ContextHit:
    """Return a document as it is shown: its text, and its scenario that is nearest to a query.

    vector: (dim,), of the query. Of equal scenarios the smaller id. None where there is none.
    Raises InputError for an unknown document and for one without an original view.
    """
    rows = snapshot.rows_of(doc_id)
    views = {v.id: v for v in rows_to_views(snapshot.columns.slice(rows.start, len(rows)))}
    text, best = served(list(views.values())).text, snapshot.best_scenario(vector, doc_id)
    return ContextHit(doc_id, text, (matched_scenario(views[best]),) if best else ())
