"""Check the identifiers by which an n-gram search found a document."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from argus.data.reading import no_file
from argus.data.topics import read_dpr
from argus.data.types import Document
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
