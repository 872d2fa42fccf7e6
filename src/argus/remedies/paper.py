"""The preset `paper`: what ARGUS sets in §5 and §D, and what Argus does that the text does not say.

A repair under the preset notes both in its receipt, so that a figure that is told as the paper's
method says where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from typing_extensions import TypedDict

from argus.remedies.config import K_AUG, PAPER
from argus.remedies.diagnosis.config import TAU

NER_MODEL = "dslim/bert-base-NER"
"""What finds mentions in the paper (§D.1)."""
NER = "ner"
"""That model, as --mentions names it."""

_DIAGNOSIS = (
    "a mention unlike all that the probe was fitted on is not flagged: the probe abstains (§5.1 "
    "predicts everywhere)",
    "a mention beyond the encoder's window is scored in a window of its own, not lost",
    "title and text are searched apart where a mention would run from one into the other",
)
_LOOKUP = ("a passage of the knowledge base without text is never taken (§D.3 names no such case)",)
BEYOND: Mapping[Literal["expansion", "synthesis"], tuple[str, ...]] = {
    "expansion": (
        *_DIAGNOSIS,
        *_LOOKUP,
        "where two entities of a document have the same passage, one view is indexed, not two of "
        "equal text; the best view of a document counts, so that ranks are the same",
        "a text that another remedy has in the index already is not added again",
    ),
    "synthesis": (
        *_DIAGNOSIS,
        *_LOOKUP,
        "the prompt keeps the rules of Figure 8 in words of Argus, and marks where the material "
        "begins and ends",
        "descriptions stand between commas, as Figure 8 has them; §5.2 speaks of parentheses",
        "the guard: only the document with such insertions is indexed, whatever the model wrote",
        "documents of more than 24,000 characters are not sent, of the entities of one at most "
        "32, of a passage the first 1,000 characters",
    ),
}
"""What the preset does beyond the paper's text, by kind of view."""


class PaperNotes(TypedDict):
    """What a receipt says of the preset.

    unlike: settings that are not the paper's, in words.
    beyond: what Argus does that the text does not say.
    """

    unlike: list[str]
    beyond: list[str]


def is_paper(preset: str) -> bool:
    """Return whether a preset is that of the paper."""
    return preset == PAPER.preset


def paper_notes(
    kind: Literal["expansion", "synthesis"],
    *,
    mentions: str,
    tau: float,
    k_aug: int = K_AUG,
) -> PaperNotes:
    """Return how far a repair under the preset is the paper's; mentions: as --mentions says."""
    changes: dict[str, bool] = {
        f"mentions by {mentions}, not by {NER_MODEL}": mentions not in (NER, f"{NER}:{NER_MODEL}"),
        f"τ={tau:g}, not {TAU:g}": tau != TAU,
        f"{k_aug} passages per entity, not {K_AUG}": k_aug != K_AUG,
    }
    unlike = [words for words, differs in changes.items() if differs]
    return {"unlike": unlike, "beyond": list(BEYOND[kind])}


def paper_lines(notes: PaperNotes) -> Iterator[str]:
    """Yield the notes for a person: whether the settings are the paper's, and what goes beyond."""
    if notes["unlike"]:
        yield f"preset paper, but not as published: {'; '.join(notes['unlike'])}"
    else:
        yield f"preset paper as published: mentions by {NER_MODEL}, k_aug={K_AUG}, τ={TAU:g}"
    yield "beyond the paper's text: " + "; ".join(notes["beyond"])
