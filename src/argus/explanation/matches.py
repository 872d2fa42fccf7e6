"""Check the parts that match: identifiers of an n-gram search, terms or tokens of an encoder."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from argus.data.reading import no_file
from argus.data.topics import read_dpr
from argus.data.types import Document
from argus.encoders.rows import Rows, SparseRows, TokenRows
from argus.errors import InputError
from argus.evaluation.config import unknown_query
from argus.explanation.evidence import Cause, Evidence, Finding, quoted
from argus.generative.answer import Hit, HitKey
from argus.generative.jobs.answers import FILE, find_answer
from argus.generative.jobs.outputs import DPR
from argus.generative.vocabulary import QUERY_START, TITLE_END

MAX_NAMED = 3
"""Matches named in the summary."""
MAX_LISTED = 20
"""Matches listed in the evidence, the strongest first."""
_SPECIAL = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
"""Notation of special tokens in tokenizers, the border among them."""
_TRAIN = (
    "Search with more beams (`argus research generative search --beams`), index pseudo-queries "
    "(`argus "
    "research generative build --pseudo-queries`), or train the model on questions like this one."
)


@dataclass(frozen=True)
class AnswerKeys:
    """Identifiers by which an n-gram search answered one question.

    text: of the question. hits: best first, each with its keys, heaviest first. border: the text of
    the border in front of passages, None where it is unknown.
    """

    file: Path
    text: str
    hits: list[Hit]
    border: str | None = None


def read_keys(
    run: Path, keys: Path | None, query_id: str, ranked: Sequence[str] | None, text: str | None
) -> AnswerKeys | str:
    """Return the identifiers of one question of a run, or the reason why there are none.

    keys: `answers.jsonl` or DPR JSON. None looks for these beside the run. ranked: the run's
    documents, best first, None where it lacks the query. text: of the question. None accepts any
    with this id. Raises InputError for damaged files, and for named `keys` that are missing,
    without keys, or of another search.
    """
    if keys is not None and not keys.is_file():
        expected = (
            f"{FILE}, or DPR JSON with keys, as `argus research generative search` writes them"
        )
        fix = "Check the path, or leave --keys out."
        raise InputError(no_file(keys), expected=expected, fix=fix, where=keys)
    beside = (run.parent / name for name in (FILE, DPR))
    file = keys or next((path for path in beside if path.is_file()), None)
    if file is None:
        return f"no keys beside the run ({FILE} or {DPR})"
    found, why, known = _read_question(file, query_id, text)
    expected = "the question of the run, with the keys of its passages"
    fix = "Check that run, queries and keys are of one search."
    if found is not None and ranked is not None and not _is_same_search(found.hits, ranked):
        found, why = None, "ranks other passages than the run, or in another order"
        expected = "the keys of the search that made the run"
        fix = "Check that run and keys are of one search."
        if keys is None:
            return f"{file} is not of this run: it ranks other passages, or in another order"
    if found is not None:
        heaviest = (sorted(hit.keys, key=lambda key: -key.weight) for hit in found.hits)
        hits = [replace(hit, keys=k) for hit, k in zip(found.hits, heaviest, strict=True)]
        return replace(found, hits=hits)
    if keys is None:
        return f"{file} {why}"
    if known and query_id not in known:
        raise unknown_query(query_id, known, file)
    raise InputError(why, expected=expected, fix=fix, where=file)


def _read_question(
    file: Path, query_id: str, text: str | None
) -> tuple[AnswerKeys | None, str, list[str]]:
    """Return the keys of one question, else the reason, and the ids that the file knows."""
    if file.suffix.lower() == ".jsonl":
        answer = find_answer(file, query_id, text)
        if answer is None:
            return None, "does not hold this question", []
        hits = answer.answer.hits
        return AnswerKeys(file, answer.query.text, hits, answer.border), "", []
    results = list(read_dpr(file, coerce_ids=True))
    known = [result.topic.query.id for result in results]
    named = (r for r in results if r.topic.query.id == query_id)
    result = next((r for r in named if text in (None, r.topic.query.text)), None)
    if result is None:
        return None, "does not hold this question", known
    hits = []
    for p in result.passages:
        if p.keys is not None:
            keys = [HitKey(*key, "") for key in p.keys]
            hits.append(Hit(p.passage_id, p.score, p.title, p.text, keys))
    if result.passages and not hits:
        return None, "was written without keys", known
    return AnswerKeys(file, result.topic.query.text, hits), "", known


def _is_same_search(hits: Sequence[Hit], ranked: Sequence[str]) -> bool:
    """Return whether one ranking is within the other, and both agree on the order.

    A run may have been cut, or its scores replaced by ranks. Equal scores may be in any order.
    """
    scores = {hit.doc_id: hit.score for hit in hits}
    shared = [scores[doc] for doc in ranked if doc in scores]
    within = len(shared) in (len(scores), len(ranked)) and bool(scores) == bool(ranked)
    return within and all(a >= b for a, b in pairwise(shared))


def check_identifiers(
    doc_id: str, k: int, ranked: Sequence[str], keys: AnswerKeys | str, document: Document | None
) -> Finding:
    """Compare the identifiers of a document with those of the passage whose place it would take.

    That is the k-th passage, or the first for a document within k. ranked: the run's documents,
    best first. document: None without a corpus. Evidence: `file`, `passages` (count), `rank`,
    `weight` and `identifiers` (`text`, `count` in the index, `weight`, `view`), the same of the
    `rival`, and `lacking`, the rival's others. Without an identifier: `others`, those of the first
    passages, with `passages` found by each and `in_the_document` (None: unknown), and `held`.
    """
    cause = Cause.IDENTIFIERS
    if isinstance(keys, str):
        advice = "Of an n-gram search whose keys are elsewhere, give --keys FILE."
        return cause.unchecked(keys, advice=advice)
    hits = {hit.doc_id: hit for hit in keys.hits}
    evidence: Evidence = {"file": str(keys.file), "passages": len(hits)}
    own = hits.get(doc_id)
    if not hits:
        text = "the search found no passage for this question"
        return cause.found(text, evidence, _TRAIN)
    if own is None and doc_id in ranked:
        text = f"{keys.file} holds keys of {len(hits)} passages, and not of this one"
        return cause.unchecked(text, evidence)
    if own is None:
        first = [hits[doc] for doc in ranked[:k] if doc in hits] or keys.hits[:k]
        rows = _count_identifiers(first, keys, document)
        held = [row["text"].strip() for row in rows if row["in_the_document"]]
        evidence |= {"rank": None, "identifiers": []}
        evidence |= {"others": rows[:MAX_LISTED], "held": held[:MAX_LISTED]}
        examples = [f"{row['text'].strip()!r} ({row['passages']})" for row in rows]
        text = f"no identifier found it among {len(hits)} passages; those that found the first "
        text += f"{len(first)}, and how many of them: {_first(examples)}"
        if document is not None:
            text += (
                f"; its text has {quoted(held)} as well" if held else "; its text has none of them"
            )
        return cause.found(text, evidence, _TRAIN)

    within = doc_id in ranked[:k]
    rival = hits.get(ranked[0] if within else ranked[min(k, len(ranked)) - 1]) if ranked else None
    evidence |= {"rank": 1 + list(hits).index(doc_id), **_list_identifiers(own), "rival": None}
    text = f"found by {_tell_identifiers(own)}"
    if rival is not None and rival is not own:
        own_keys = {key.text for key in own.keys}
        lacking = [key.text for key in rival.keys if key.text not in own_keys]
        at = ranked.index(rival.doc_id) + 1
        evidence["rival"] = {"rank": at, "id": rival.doc_id, **_list_identifiers(rival)}
        evidence["lacking"] = lacking
        text += f"; {rival.doc_id}, at rank {at}, by {_tell_identifiers(rival)}"
        if lacking:
            every = len(lacking) == len(rival.keys)
            text += f", {'none of which found' if every else f'{len(lacking)} of which missed'} it"
    if within:
        return cause.ruled_out(text, evidence)
    return cause.found(text, evidence, _TRAIN)


def _count_identifiers(
    first: Sequence[Hit], answer: AnswerKeys, document: Document | None
) -> list[Evidence]:
    """Return the identifiers of the first passages, the heaviest in sum first."""
    by_text: dict[str, list[HitKey]] = defaultdict(list)
    for hit in first:
        for key in hit.keys:
            by_text[key.text].append(key)
    among = Counter(text for hit in first for text in {key.text for key in hit.keys})
    holding = Counter(text for hit in answer.hits for text in {key.text for key in hit.keys})
    rows: list[Evidence] = [
        {
            "text": text,
            "view": keys[0].view or None,
            "count": keys[0].count,
            "passages": among[text],
            "weight": round(sum(key.weight for key in keys), 4),
            # An identifier that occurs only in the passages that it found is in no other.
            "in_the_document": keys[0].count > holding[text]
            and holds_identifier(document, text, answer.border),
        }
        for text, keys in by_text.items()
    ]
    return sorted(rows, key=lambda row: (-row["weight"], row["text"]))


def holds_identifier(document: Document | None, identifier: str, border: str | None) -> bool | None:
    """Return whether an identifier stands in title and text, compared as characters.

    None: unknown, as for pseudo-queries, which are not in the corpus. border: the beginning of
    identifiers that begin a passage. Where it is unknown, any special token may be one.
    """
    if document is None or identifier.startswith(QUERY_START):
        return None
    title, text = (part.strip() for part in (document.title, document.text))
    whole = f" {title}{TITLE_END} {text}"
    if border is not None:
        begins = identifier.startswith(border)
        behind = identifier.removeprefix(border)
    else:
        opening = _SPECIAL.match(identifier)
        begins = opening is not None and identifier not in whole
        behind = identifier[opening.end() :] if opening else identifier
    return whole.lstrip().startswith(behind.lstrip()) if begins else identifier in whole


def _list_identifiers(hit: Hit) -> Evidence:
    return {
        "weight": round(sum(k.weight for k in hit.keys), 4),
        "identifiers": [
            {"text": key.text, "count": key.count, "weight": key.weight, "view": key.view or None}
            for key in hit.keys
        ],
    }


def _tell_identifiers(hit: Hit) -> str:
    n, weight = len(hit.keys), sum(key.weight for key in hit.keys)
    heaviest = _first([f"{key.text.strip()!r} {key.weight:.2f}" for key in hit.keys])
    return f"{n} identifier{'s' * (n != 1)} of weight {weight:.2f} ({heaviest})"


def _first(parts: Sequence[str]) -> str:
    return ", ".join(parts[:MAX_NAMED]) + (", ..." if len(parts) > MAX_NAMED else "")


@dataclass(frozen=True)
class Matched:
    """One document under the query. row: of one text. score: by the encoder's own comparison."""

    rank: int
    id: str
    score: float
    text: str
    row: Rows


def match_terms(
    encoder: object, query: str, query_row: Rows, document: Matched
) -> list[Evidence] | None:
    """Return the contribution of each term or token of the query, in the query's order.

    An encoder may name the terms of columns (`terms(columns)`), or the tokens of a text's vectors
    (`query_tokens(text)`, `document_tokens(text)`). None for vectors, of which no part is a word. A
    row has `query`, `document` (the same term, None
    where the document lacks it, or the nearest token), `query_weight`, `document_weight` (sparse
    encoders only), and `score`, its share of the document's score.
    """
    row = document.row
    if isinstance(query_row, SparseRows) and isinstance(row, SparseRows):
        columns, weights = query_row.terms(0)
        own = dict(zip(*(part.tolist() for part in row.terms(0)), strict=True))
        names = [f"#{column}" for column in columns.tolist()]
        if hasattr(encoder, "terms"):
            names = encoder.terms(columns)
        return [
            {
                "query": name,
                "document": name if column in own else None,
                "query_weight": round(float(weight), 4),
                "document_weight": round(own.get(column, 0.0), 4),
                "score": round(float(weight) * own.get(column, 0.0), 4),
            }
            for name, column, weight in zip(names, columns.tolist(), weights, strict=True)
        ]
    if isinstance(query_row, TokenRows) and isinstance(row, TokenRows):
        similarity = query_row.tokens(0) @ row.tokens(0).T  # (query tokens, document tokens)
        asking, held = ([f"#{i}" for i in range(n)] for n in similarity.shape)
        if hasattr(encoder, "query_tokens") and hasattr(encoder, "document_tokens"):
            asking, held = encoder.query_tokens(query), encoder.document_tokens(document.text)
        return [
            {
                "query": asking[i],
                "document": held[at],
                "query_weight": None,
                "document_weight": None,
                "score": round(float(similarity[i, at]), 4),
            }
            for i, at in enumerate(similarity.argmax(axis=1).tolist())
        ]
    return None


def check_matches(
    own: Sequence[Evidence],
    score: float,
    rival: Matched | None,
    rivals: Sequence[Evidence],
    *,
    came_back: bool,
) -> Finding:
    """Compare the matches of a document with those of the k-th, or of the first within k.

    own, rivals: rows of `match_terms` for the same query. Evidence: `score`, `query_terms` (count),
    `matches`, the strongest first, `rival` (`rank`, `id`, `score`, `matches`), and
    `stronger_there`, query terms by which the rival leads, the widest lead first.
    """

    def strongest(terms: Sequence[Evidence]) -> list[Evidence]:
        return sorted((t for t in terms if t["score"] > 0), key=lambda term: -term["score"])

    def tell(terms: Sequence[Evidence]) -> str:
        parts = [
            repr(t["query"])
            + (f" by {t['document']!r}" if t["document"] != t["query"] else "")
            + f" {t['score']:.2f}"
            for t in strongest(terms)
        ]
        return f"{len(parts)} of {len(terms)} query terms ({_first(parts)})" if parts else "no term"

    evidence: Evidence = {
        "score": round(score, 4),
        "query_terms": len(own),
        "matches": strongest(own)[:MAX_LISTED],
        "rival": None,
    }
    text = f"it is matched by {tell(own)}"
    if rival is not None:
        gaps = [b["score"] - a["score"] for a, b in zip(own, rivals, strict=True)]
        order = np.argsort(-np.array(gaps), kind="stable").tolist()
        lacking = [own[i]["query"] for i in order if gaps[i] > 0][:MAX_LISTED]
        evidence["rival"] = {
            "rank": rival.rank,
            "id": rival.id,
            "score": round(rival.score, 4),
            "matches": strongest(rivals)[:MAX_LISTED],
        }
        evidence["stronger_there"] = lacking
        text += f"; {rival.id}, at rank {rival.rank}, by {tell(rivals)}"
        if lacking:
            text += f", most beyond it by {quoted(lacking[:MAX_NAMED])}"
    if came_back:
        return Cause.MATCHES.ruled_out(text, evidence)
    advice = "Say in the document what the question asks for in these terms, or fuse with BM25."
    return Cause.MATCHES.found(text, evidence, advice)
