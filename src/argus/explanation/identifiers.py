"""By which identifiers an n-gram search found a document, and by which those above it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from argus.data.dpr import DprPassage, read_dpr
from argus.data.text_files import no_file
from argus.data.types import Document, Query
from argus.errors import InputError
from argus.evaluation.queries import unknown_query
from argus.explanation.evidence import (
    HitIdentifiers,
    Identifier,
    IdentifierEvidence,
    SharedIdentifier,
)
from argus.explanation.types import Cause, Finding, Verdict
from argus.explanation.words import quoted
from argus.generative.answer import Hit, HitKey
from argus.generative.jobs.answers import FILE, find_answer
from argus.generative.jobs.outputs import DPR
from argus.generative.vocabulary import QUERY_START, TITLE_END

BESIDE = (FILE, DPR)
"""What a generative search leaves beside its run; the first also tells the view of a key."""
NAMED = 3
SHOWN = 20
"""Identifiers of others that are listed for a document that none found."""
_SPECIAL = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
"""How tokenizers write special tokens, the border among them."""


@dataclass(frozen=True)
class AnswerKeys:
    """By which identifiers a search answered one question."""

    file: Path
    query: Query
    hits: list[Hit]
    """Best first, each with its keys, heaviest first."""
    border: str | None = None
    """How the border in front of passages is written; None where that is not known."""


def run_identifiers(
    run: Path, keys: Path | None, query_id: str, ranked: Sequence[str] | None, text: str | None
) -> AnswerKeys | str:
    """Return the identifiers of one question of a run, or why there are none.

    keys: `answers.jsonl` or DPR JSON; None looks for these beside the run. ranked: the run's
    documents, best first; None where it does not know the query. text: of the question; None takes
    any that was asked under this id. Raises InputError for broken files, and for `keys` that are
    missing, without keys, or of another search.
    """
    if keys is not None and not keys.is_file():
        raise InputError(
            no_file(keys),
            expected=f"{FILE}, or DPR JSON with keys, as `argus generative search` writes them",
            fix="Check the path, or leave --keys out.",
            where=keys,
        )
    beside = (run.parent / name for name in BESIDE)
    file = keys or next((path for path in beside if path.is_file()), None)
    if file is None:
        return f"no keys beside the run ({' or '.join(BESIDE)})"
    answer = _read(file, query_id, text, named=keys is not None)
    if isinstance(answer, str) or ranked is None or _same_search(answer.hits, ranked):
        return answer
    if keys is None:
        return f"{file} is not of this run: it ranks other passages, or in another order"
    raise InputError(
        "ranks other passages than the run, or in another order",
        expected="the keys of the search that made the run",
        fix="Check that run and keys are of one search.",
        where=file,
    )


def _read(file: Path, query_id: str, text: str | None, *, named: bool) -> AnswerKeys | str:
    if file.suffix.lower() == ".jsonl":
        answer = find_answer(file, query_id, text)
        if answer is not None:
            hits = [_sorted(hit) for hit in answer.answer.hits]
            return AnswerKeys(file, answer.query, hits, answer.border)
        known: list[str] = []
    else:
        results = list(read_dpr(file, coerce_ids=True))
        known = [result.topic.query.id for result in results]
        for result in results:
            if result.topic.query.id == query_id and text in (None, result.topic.query.text):
                hits = [_hit(p) for p in result.passages if p.keys is not None]
                if hits or not result.passages:
                    return AnswerKeys(file, result.topic.query, hits)
                return _without(file, f"{file} was written without keys", named)
    if named and known and query_id not in known:
        raise unknown_query(query_id, known, file)
    return _without(file, f"{file} does not hold this question", named)


def _without(file: Path, why: str, named: bool) -> str:
    if not named:
        return why
    raise InputError(
        why.removeprefix(f"{file} "),
        expected="the question of the run, with the keys of its passages",
        fix="Check that run, queries and keys are of one search.",
        where=file,
    )


def _hit(passage: DprPassage) -> Hit:
    keys = [HitKey(key.text, key.count, key.weight, "") for key in passage.keys or ()]
    return _sorted(Hit(passage.passage_id, passage.score, passage.title, passage.text, keys))


def _sorted(hit: Hit) -> Hit:
    keys = sorted(hit.keys, key=lambda key: -key.weight)
    return Hit(hit.doc_id, hit.score, hit.title, hit.text, keys)


def _same_search(hits: Sequence[Hit], ranked: Sequence[str]) -> bool:
    """Return whether one ranking is within the other, and both order alike what both hold.

    A run may have been cut, or its scores replaced by ranks; equal scores may stand in any order.
    """
    scores = {hit.doc_id: hit.score for hit in hits}
    shared = [scores[doc] for doc in ranked if doc in scores]
    within = len(shared) in (len(scores), len(ranked)) and bool(scores) == bool(ranked)
    return within and all(a >= b for a, b in pairwise(shared))


def check_identifiers(
    doc_id: str, k: int, ranked: Sequence[str], keys: AnswerKeys | str, document: Document | None
) -> Finding[IdentifierEvidence]:
    """Set the identifiers of a document against those of the passage whose place it would take.

    ranked: the run's documents, best first. document: as the corpus has it, where that is known.
    """
    cause = Cause.IDENTIFIERS
    if isinstance(keys, str):
        advice = "Of an n-gram search whose keys are elsewhere, give --keys FILE."
        return Finding(cause, Verdict.UNCHECKED, keys, {}, advice)
    hits = {hit.doc_id: hit for hit in keys.hits}
    evidence: IdentifierEvidence = {"file": str(keys.file), "passages": len(hits)}
    own = hits.get(doc_id)
    if not hits:
        text = "the search found no passage for this question"
        return Finding(cause, Verdict.FOUND, text, evidence, _TRAIN)
    if own is None and doc_id in ranked:
        text = f"{keys.file} holds keys of {len(hits)} passages, and not of this one"
        return Finding(cause, Verdict.UNCHECKED, text, evidence)
    if own is None:
        return _among_others(k, ranked, keys, evidence, document)
    evidence["rank"] = 1 + list(hits).index(doc_id)
    return _against_rival(own, k, ranked, hits, evidence)


def _against_rival(
    own: Hit, k: int, ranked: Sequence[str], hits: dict[str, Hit], evidence: IdentifierEvidence
) -> Finding[IdentifierEvidence]:
    """Set what found a document against what found the k-th passage, or the first, within k."""
    cause = Cause.IDENTIFIERS
    within = own.doc_id in ranked[:k]
    rival = hits.get(ranked[0] if within else ranked[min(k, len(ranked)) - 1]) if ranked else None
    if rival is own:
        rival = None
    evidence = {**evidence, **_identifiers(own), "rival": None}
    text = f"found by {_in_words(own)}"
    if rival is not None:
        own_keys = {key.text for key in own.keys}
        lacking = [key.text for key in rival.keys if key.text not in own_keys]
        at = ranked.index(rival.doc_id) + 1
        evidence["rival"] = {"rank": at, "id": rival.doc_id, **_identifiers(rival)}
        evidence["lacking"] = lacking
        text += f"; {rival.doc_id}, at rank {at}, by {_in_words(rival)}"
        if lacking:
            every = len(lacking) == len(rival.keys)
            text += f", {'none of which found' if every else f'{len(lacking)} of which missed'} it"
    if within:
        return Finding(cause, Verdict.RULED_OUT, text, evidence)
    return Finding(cause, Verdict.FOUND, text, evidence, _TRAIN)


_TRAIN = (
    "Search with more beams (`argus generative search --beams`), index pseudo-queries (`argus "
    "generative build --pseudo-queries`), or train the model on questions like this one."
)


def _among_others(
    k: int,
    ranked: Sequence[str],
    keys: AnswerKeys,
    evidence: IdentifierEvidence,
    document: Document | None,
) -> Finding[IdentifierEvidence]:
    """Name what found the first k passages instead, and what of it the document holds itself."""
    hits = {hit.doc_id: hit for hit in keys.hits}
    first = [hits[doc] for doc in ranked[:k] if doc in hits] or list(hits.values())[:k]
    rows = _shared(first, keys, document)
    own = [row["text"].strip() for row in rows if row["in_the_document"]]
    evidence |= {"rank": None, "identifiers": [], "others": rows[:SHOWN], "held": own[:SHOWN]}
    examples = ", ".join(f"{r['text'].strip()!r} ({r['passages']})" for r in rows[:NAMED])
    more = ", ..." if len(rows) > NAMED else ""
    text = f"no identifier found it among {len(hits)} passages; those that found the first "
    text += f"{len(first)}, and how many of them: {examples}{more}"
    if document is not None:
        text += f"; its text has {quoted(own)} as well" if own else "; its text has none of them"
    return Finding(Cause.IDENTIFIERS, Verdict.FOUND, text, evidence, _TRAIN)


def _shared(
    first: Sequence[Hit], answer: AnswerKeys, document: Document | None
) -> list[SharedIdentifier]:
    """Return the identifiers of some passages, heaviest first, and whether a document has them."""
    by_text: dict[str, list[HitKey]] = defaultdict(list)
    for hit in first:
        for key in hit.keys:
            by_text[key.text].append(key)
    among = Counter(text for hit in first for text in {key.text for key in hit.keys})
    holding = Counter(text for hit in answer.hits for text in {key.text for key in hit.keys})
    rows: list[SharedIdentifier] = [
        {
            "text": text, "view": keys[0].view or None, "count": keys[0].count,
            "passages": among[text], "weight": round(sum(key.weight for key in keys), 4),
            "in_the_document":
                keys[0].count > holding[text] and _holds(document, text, answer.border),
        }
        for text, keys in by_text.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["weight"], row["text"]))


def _holds(document: Document | None, identifier: str, border: str | None) -> bool | None:
    """Return whether an identifier stands in title and text; None for what cannot be known.

    Pseudo-queries are not in the corpus. Compared as characters, not as tokens; an identifier that
    occurs no more often than in the passages that it found is known to be in no other. border:
    begins the identifiers that begin a passage; where it is not known, any special token does.
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


def _identifiers(hit: Hit) -> HitIdentifiers:
    identifiers: list[Identifier] = [
        {"text": key.text, "count": key.count, "weight": key.weight, "view": key.view or None}
        for key in hit.keys
    ]
    return {"weight": round(sum(k.weight for k in hit.keys), 4), "identifiers": identifiers}


def _in_words(hit: Hit) -> str:
    n, weight = len(hit.keys), sum(key.weight for key in hit.keys)
    heaviest = ", ".join(f"{key.text.strip()!r} {key.weight:.2f}" for key in hit.keys[:NAMED])
    more = ", ..." if n > NAMED else ""
    return f"{n} identifier{'s' * (n != 1)} of weight {weight:.2f} ({heaviest}{more})"
