"""λ: what a document's own score counts against its scenarios'."""

from __future__ import annotations

from typing import Annotated

from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Option

RELEVANCE_WEIGHT = 0.7
"""λ, the weight of the document's own score (SPIKE §4.1)."""
DOCUMENTS_ALONE = 1.0
"""λ at which scenarios count for nothing."""
DENSE = "dense"
"""In the place of a fusion: vectors alone, whatever the index says."""
Weight = Annotated[
    float | None,
    Ge(0),
    Le(1),
    Doc(
        "What a document's own score counts against its scenarios'; default: as the index says, "
        f"else {RELEVANCE_WEIGHT}."
    ),
    Option(("--lambda",)),
]
"""λ as every config declares it."""


def check_weight(weight: float) -> float:
    """Return λ; InputError unless it is from 0 to 1."""
    if not 0 <= weight <= 1:
        raise InputError(
            f"λ = {weight}",
            expected="a number from 0 (scenarios alone) to 1 (documents alone)",
            fix=f"Leave it out for {RELEVANCE_WEIGHT}.",
            where="--lambda",
        )
    return weight
