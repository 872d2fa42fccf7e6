"""The context that a language model is given: documents, and the needs they would serve.

Each document stands between marks that hold a hash of all that is shown, which no text can hold
itself, so that no document can end itself and begin another one, or a scenario of its own. Texts
go in as they are: code, LaTeX and tables survive.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.provenance import content_hash
from argus.indexes.views import ViewScenario
from argus.scenarios.qa.config import MAX_CHARS as MAX_CHARS

# Of a document's text, where it has so many. One that would have fewer is left out instead.
LEAST_CHARS = 200
_NOTE_CHARS = 80  # room that the line on documents that were left out may take
_MARK_CHARS = 16


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
    words = [_in_words(hit.scenarios) for hit in hits]
    n, used = 0, 0  # so many of the first documents fit with LEAST_CHARS of each text and scenario
    for i, (hit, scenario) in enumerate(zip(hits, words, strict=True), 1):
        least = min(len(hit.text), LEAST_CHARS) + min(len(scenario), LEAST_CHARS)
        used += _frame_chars(hit, scenario) + least
        if used + (_NOTE_CHARS if i < len(hits) else 0) > max_chars:
            break
        n = i
    if not n:
        return ContextBlock("", (), tuple(hit.doc_id for hit in hits))
    frames = sum(_frame_chars(hits[i], words[i]) for i in range(n))
    note = _NOTE_CHARS if n < len(hits) else 0
    lengths = [len(hit.text) for hit in hits[:n]] + [len(text) for text in words[:n]]
    shares = fair_shares(lengths, max_chars - frames - note)
    shown = [t for hit, text in zip(hits, words, strict=True) for t in (hit.doc_id, hit.text, text)]
    mark = content_hash(*shown, size=_MARK_CHARS // 2).hex()
    parts, cut = [], []
    for i, hit in enumerate(hits[:n]):
        scenario = words[i] if with_scenarios else ""
        parts.append(_document(hit, scenario, mark, shares[i], shares[n + i]))
        if shares[i] < len(hit.text) or shares[n + i] < len(scenario):
            cut.append(hit.doc_id)
    left_out = tuple(hit.doc_id for hit in hits[n:])
    if left_out:
        parts.append(f"<left out {mark}: {len(left_out):,} more documents>")
    return ContextBlock("\n\n".join(parts), tuple(cut), left_out)


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


def _frame_chars(hit: ContextHit, scenario: str) -> int:
    """Return how many characters are around a document at most: marks, id, notes, empty lines."""
    longest = _document(ContextHit(hit.doc_id, ""), "", "0" * _MARK_CHARS, 0, 0)
    note = 2 * len(_note(len(hit.text), len(hit.text)))
    around = len(_scenarios("", "0" * _MARK_CHARS, 0)) if scenario else 0
    return len(longest) + note + around + 2 * len(_note(len(scenario), len(scenario))) + 2


def _document(hit: ContextHit, scenario: str, mark: str, chars: int, scenario_chars: int) -> str:
    name = json.dumps(hit.doc_id, ensure_ascii=False)
    note = _note(chars, len(hit.text)) if chars < len(hit.text) else ""
    lines = [f"<document {mark} {name}{note}>", hit.text[:chars]]
    if scenario:
        lines.append(_scenarios(scenario, mark, scenario_chars))
    return "\n".join([*lines, f"</document {mark}>"])


def _scenarios(text: str, mark: str, chars: int) -> str:
    note = _note(chars, len(text)) if chars < len(text) else ""
    return f"<scenarios {mark}{note}>\n{text[:chars]}\n</scenarios {mark}>"


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
