"""Explanations that do not open alike.

Generators write "The document describes ..." again and again. What explanations of many documents
share tells none of them apart, and moves all of them closer together (docs/results.md). The form
`plain` asks a generator for other beginnings, and leaves out of what is indexed the beginnings that
explanations share all the same. People and models are shown explanations as they were written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from argus.scenarios.profile import Profiled
from argus.settings import Doc

SHARE = 0.1  # Share of the documents with scenarios that must begin alike before it is left out.
LEAST_DOCUMENTS = 5  # That share a beginning, however few documents there are.
MOST_WORDS = 12  # Words of a beginning.
LEAST_WORDS = 3  # That stay of an explanation.

Opening = tuple[str, ...]  # The first words of a text, in lower case.
# Instruction to a generator on the plain form.
GUIDELINE = """\
Begin each explanation with what it is about, in the subject's own words: never with "The \
document", "The text", "It" or a word for what the document does with its subject. No two \
explanations begin alike."""


class Form(StrEnum):
    """How explanations begin."""

    WRITTEN = "written"  # As the generator writes them, and indexed whole (SPIKE).
    # Each in its own words, and indexed without the beginnings that many documents share.
    PLAIN = "plain"


FormSetting = Annotated[
    Form,
    Doc("plain: explanations that do not open alike, indexed without what many open with."),
]


def in_form(profiles: Mapping[str, Profiled], form: Form) -> dict[str, Profiled]:
    """Return profiles that are indexed in a given form. Explanations stay as they are.

    Shared beginnings are counted over these profiles: at least SHARE of those with scenarios, and
    LEAST_DOCUMENTS. So profiles that are added later count among themselves.
    """
    if form is Form.WRITTEN:
        return dict(profiles)
    shared, plain = shared_openings(profiles.values()), dict(profiles)
    for doc_id, profiled in profiles.items():
        if (profile := profiled.profile) is not None:
            scenarios = tuple(
                replace(s, indexed=without_opening(s.explanation, shared))
                for s in profile.scenarios
            )
            plain[doc_id] = replace(profiled, profile=replace(profile, scenarios=scenarios))
    return plain


def shared_openings(profiles: Iterable[Profiled]) -> frozenset[Opening]:
    """Return the beginnings that explanations of many documents have. A document counts once."""
    documents, times = 0, Counter[Opening]()
    for profiled in profiles:
        if profiled.profile is None:
            continue
        documents += 1
        times.update({o for s in profiled.profile.scenarios for o in _openings(s.explanation)})
    least = max(LEAST_DOCUMENTS, SHARE * documents)
    return frozenset(opening for opening, n in times.items() if n >= least)


def without_opening(text: str, shared: frozenset[Opening]) -> str:
    """Return a text less the longest of its beginnings that is shared. LEAST_WORDS stay."""
    words = text.split()
    most = min(len(words) - LEAST_WORDS, MOST_WORDS)
    opening = tuple(word.casefold() for word in words[: max(0, most)])
    n = 0
    while n < len(opening) and opening[: n + 1] in shared:
        n += 1
    return " ".join(words[n:]) if n else text


def _openings(text: str) -> list[Opening]:
    words = tuple(word.casefold() for word in text.split(maxsplit=MOST_WORDS)[:MOST_WORDS])
    return [words[:n] for n in range(1, len(words) + 1)]
