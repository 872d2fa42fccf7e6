"""State how a repair under the preset `paper` differs from ARGUS §5 and §D.

Its receipt lists the settings that are not the paper's, and the rules that the text does not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from typing_extensions import TypedDict

from argus.remedies.config import K_AUG, NER, NER_MODEL, TAU

_COMMON = (
    "a mention unlike all that the probe was fitted on is not flagged: the probe abstains (§5.1 "
    "predicts everywhere)",
    "a mention beyond the encoder's window is scored in a window of its own, not lost",
    "title and text are searched apart where a mention would run from one into the other",
    "a passage of the knowledge base without text is never taken (§D.3 names no such case)",
)
BEYOND: Mapping[Literal["expansion", "synthesis"], tuple[str, ...]] = {
    "expansion": (
        *_COMMON,
        "where two entities of a document have the same passage, one view is indexed, not two of "
        "equal text; the best view of a document counts, so that ranks are the same",
        "a text that another remedy has in the index already is not added again",
    ),
    "synthesis": (
        *_COMMON,
        "the prompt keeps the rules of Figure 8 in words of Argus, and marks where the material "
        "begins and ends",
        "descriptions stand between commas, as Figure 8 has them; §5.2 speaks of parentheses",
        "the guard: only the document with such insertions is indexed, whatever the model wrote",
        "documents of more than 24,000 characters are not sent, of the entities of one at most "
        "32, of a passage the first 1,000 characters",
    ),
}  # rules of Argus that the paper's text does not have, by kind of view


class PaperNotes(TypedDict):
    """Differences from the paper.

    unlike: settings that are not the paper's, in words.
    beyond: rules of Argus that the text does not have.
    """

    unlike: list[str]
    beyond: list[str]


def list_differences(
    kind: Literal["expansion", "synthesis"], *, mentions: str, tau: float, k_aug: int = K_AUG
) -> PaperNotes:
    """Return the differences of a repair from the paper. mentions: as in --mentions."""
    changes: dict[str, bool] = {
        f"mentions by {mentions}, not by {NER_MODEL}": mentions not in (NER, f"{NER}:{NER_MODEL}"),
        f"τ={tau:g}, not {TAU:g}": tau != TAU,
        f"{k_aug} passages per entity, not {K_AUG}": k_aug != K_AUG,
    }
    unlike = [words for words, differs in changes.items() if differs]
    return {"unlike": unlike, "beyond": list(BEYOND[kind])}


def describe_differences(notes: PaperNotes) -> Iterator[str]:
    """Yield the differences as lines of the terminal."""
    if notes["unlike"]:
        yield f"preset paper, but not as published: {'; '.join(notes['unlike'])}"
    else:
        yield f"preset paper as published: mentions by {NER_MODEL}, k_aug={K_AUG}, τ={TAU:g}"
    yield "beyond the paper's text: " + "; ".join(notes["beyond"])
