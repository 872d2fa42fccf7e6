"""Training examples: the student's prompt for a document, and the answer it should give (§3.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.llm.weights import answer_tokens, prompt_tokens
from argus.scenarios.distill.settings import MAX_LENGTH, VALIDATION_SHARE
from argus.scenarios.files import profile_fields
from argus.scenarios.generate import scenario_prompt
from argus.scenarios.profile import Profiled, ProfileState, ScenarioProfile
from argus.scenarios.profiles.config import ProfileSettings, Role

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

STUDENT = ProfileSettings(role=Role.STUDENT)
# Why a document makes no example, as it is counted.
LEFT_OUT = ("failed", "too_long", "documents_without_profile", "documents_without_text")


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
) -> TrainingSet:
    """Return an example per document with a profile, noise included. Failed ones teach nothing.

    stops: tokens that end an answer (see `chat_format.stop_tokens`). Examples of more than
    `max_length` tokens are left out: a cut answer would teach to stop in its middle.
    """
    left_out, teachers = Counter[str](), Counter[str]()
    examples: list[Example] = []
    noise = 0
    for document in documents:
        profiled = profiles.get(document.id)
        if profiled is None:
            left_out["documents_without_profile"] += 1
        elif profiled.state is ProfileState.FAILED:
            left_out["failed"] += 1
        elif not document.content.strip():
            left_out["documents_without_text"] += 1
        else:
            example = make_example(document, profiled, tokenizer, stops)
            if len(example.tokens) > max_length:
                left_out["too_long"] += 1
                continue
            noise += profiled.state is ProfileState.NOISE
            teachers[_teacher(profiled)] += 1
            examples.append(example)
    ids = {document.id for document in documents}
    train, validation = split(examples, validation_share)
    counts = {
        "profiles": len(profiles), "train": len(train), "validation": len(validation),
        "noise": noise, "without_document": sum(doc_id not in ids for doc_id in profiles),
        **{why: left_out[why] for why in LEFT_OUT},
    }  # fmt: skip
    return TrainingSet(train, validation, counts, dict(teachers))


def make_example(
    document: Document,
    profiled: Profiled,
    tokenizer: PreTrainedTokenizerBase,
    stops: frozenset[int],
) -> Example:
    """Return the example of a document whose profile is ok or noise."""
    prompt = scenario_prompt(document.content, STUDENT)
    question = prompt_tokens(tokenizer, prompt.system, prompt.text)
    answer = answer_tokens(tokenizer, completion_of(profiled), stops)
    return Example(document.id, (*question, *answer), len(answer))


def completion_of(profiled: Profiled) -> str:
    """Return the answer that a student should give: JSON, fields in the order of the schema."""
    profile = profiled.profile
    fields = profile_fields(profile or ScenarioProfile("", (), ()))
    return json.dumps({"noise": profile is None, **fields}, ensure_ascii=False)


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


def _teacher(profiled: Profiled) -> str:
    try:
        values = json.loads(profiled.source)
        return str(values["model"])
    except (ValueError, KeyError, TypeError):
        return "unknown"
