"""Training examples: the student's prompt for a document, and the answer it should give (§3.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.llm.weights import answer_tokens, prompt_tokens
from argus.scenarios.distill.settings import MAX_LENGTH, VALIDATION_SHARE
from argus.scenarios.files import profile_fields
from argus.scenarios.generate import MAX_DOCUMENT_CHARS, Role, scenario_prompt
from argus.scenarios.profile import Profiled, ProfileState

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_NOISE: dict[str, Any] = {"main_topic": "", "key_aspects": [], "scenarios": []}


# Why a document makes no example, as it is counted.
LeftOut = Literal["documents_without_profile", "failed", "documents_without_text", "too_long"]


@dataclass(frozen=True, slots=True)
class Example:
    """One document: the tokens of prompt and answer, of which the last `completion` are learnt."""

    doc_id: str
    tokens: tuple[int, ...]
    completion: int


@dataclass(frozen=True)
class TrainingSet:
    """Examples by use. counts: profiles by outcome. teachers: who wrote how many."""

    train: list[Example]
    validation: list[Example]
    counts: dict[str, Any]
    teachers: dict[str, int]


def build_examples(
    documents: Sequence[Document],
    profiles: Mapping[str, Profiled],
    tokenizer: PreTrainedTokenizerBase,
    stops: frozenset[int],
    *,
    max_length: int = MAX_LENGTH,
    validation_share: float = VALIDATION_SHARE,
    max_chars: int = MAX_DOCUMENT_CHARS,
) -> TrainingSet:
    """Return an example per document with a profile, noise included. Failed ones teach nothing.

    stops: tokens that end an answer (see `chat_format.stop_tokens`). Examples of more than
    `max_length` tokens are left out: a cut answer would teach to stop in its middle.
    """
    left_out: Counter[LeftOut] = Counter()
    teachers: Counter[str] = Counter()
    examples: list[Example] = []
    noise = 0
    for document in documents:
        profiled = profiles.get(document.id)
        reason = _why_left_out(document, profiled)
        if reason is not None:
            left_out[reason] += 1
            continue
        assert profiled is not None
        example = make_example(document, profiled, tokenizer, stops, max_chars=max_chars)
        if len(example.tokens) > max_length:
            left_out["too_long"] += 1
            continue
        noise += profiled.state is ProfileState.NOISE
        teachers[_teacher(profiled)] += 1
        examples.append(example)
    ids = {document.id for document in documents}
    train, validation = split(examples, validation_share)
    counts: dict[str, Any] = {
        "profiles": len(profiles), "train": len(train), "validation": len(validation),
        "noise": noise, "failed": left_out["failed"], "too_long": left_out["too_long"],
        "without_document": sum(doc_id not in ids for doc_id in profiles),
        "documents_without_profile": left_out["documents_without_profile"],
        "documents_without_text": left_out["documents_without_text"],
    }  # fmt: skip
    return TrainingSet(train, validation, counts, dict(teachers))


def make_example(
    document: Document,
    profiled: Profiled,
    tokenizer: PreTrainedTokenizerBase,
    stops: frozenset[int],
    *,
    max_chars: int = MAX_DOCUMENT_CHARS,
) -> Example:
    """Return the example of a document whose profile is ok or noise."""
    prompt = scenario_prompt(document.content, Role.STUDENT, max_chars=max_chars)
    question = prompt_tokens(tokenizer, prompt.system, prompt.text)
    answer = answer_tokens(tokenizer, completion_of(profiled), stops)
    return Example(document.id, (*question, *answer), len(answer))


def completion_of(profiled: Profiled) -> str:
    """Return the answer that a student should give: JSON, fields in the order of the schema."""
    if profiled.profile is None:
        answer = {"noise": True, **_NOISE}
    else:
        answer = {"noise": False, **profile_fields(profiled.profile)}
    return json.dumps(answer, ensure_ascii=False)


def split(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Return examples to train on and to validate with, in their order.

    The ids' hashes decide, so that the order of a corpus does not. At least one is on either side
    where there are two.
    """
    ranked = sorted(examples, key=lambda e: content_hash("distill-validation", e.doc_id))
    n = min(max(1, round(share * len(ranked))), max(len(ranked) - 1, 0))
    held_out = {e.doc_id for e in ranked[:n]}
    train = [e for e in examples if e.doc_id not in held_out]
    return train, [e for e in examples if e.doc_id in held_out]


def _why_left_out(document: Document, profiled: Profiled | None) -> LeftOut | None:
    """Return why a document makes no example. None where it does."""
    if profiled is None:
        return "documents_without_profile"
    if profiled.state is ProfileState.FAILED:
        return "failed"
    return None if document.content.strip() else "documents_without_text"


def _teacher(profiled: Profiled) -> str:
    try:
        values = json.loads(profiled.source)
        return str(values["model"])
    except (ValueError, KeyError, TypeError):
        return "unknown"
