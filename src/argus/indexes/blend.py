"""Define the weights of an index's search: vectors of documents, sentences and scenarios, and BM25.

`argus tune apply blend` and other remedies write them into index.json as a `Recipe`. A document has
a view (an indexed text with its vector) of its own text, and perhaps one per sentence and scenario.
For a query q, a `Blend` scores document d

    v(q, d) = λ·s(q, d) + (1 - λ)·max(s(q, d), best sentence).

s is the best cosine of its other views. Scenarios are weighed against v (SPIKE eq. 3).
`argus.indexes.fold` computes the scores, and `argus.indexes.fusion` mixes BM25 in. A fixed fusion
of the vectors alone and BM25 (min-max 0.3, RRF, DBSF) is a `Blend` as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Option, check_settings

# Kinds of the views that a blend mixes in. Without a blend they are not searched. Further texts of
# a document (summaries) count in BM25, too; its own sentences are there already.
SENTENCE, TEXT = "sentence", "text"
BLEND = "blend"
# Ways to fuse the ranking of the vectors with that of BM25 (`argus.indexes.fusion`).
Fusion = Literal["min-max", "rrf", "rrf-2", "dbsf"]
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
FUSION: Fusion = "min-max"
# λ, the weight of the document's own score (SPIKE §4.1).
RELEVANCE_WEIGHT = 0.7
# λ at which scenarios count for nothing.
DOCUMENTS_ALONE = 1.0
# Value instead of a fusion: search by vectors only, even if the index names one.
DENSE = "dense"
# Folder of an index that holds, by remedy, its record and the numbers of its recipe.
REMEDIES = "remedies"
# λ as every config declares it.
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


def check_weight(weight: float) -> float:
    """Return λ. Raises InputError unless it is from 0 to 1."""
    if not 0 <= weight <= 1:
        expected = "a number from 0 (scenarios alone) to 1 (documents alone)"
        fix = f"Leave it out for {RELEVANCE_WEIGHT}."
        raise InputError(f"λ = {weight}", expected=expected, fix=fix, where="--lambda")
    return weight


@dataclass(frozen=True, kw_only=True)
class Blend:
    """Weights of the parts of a blend. A part that is off adds and costs nothing.

    Attributes:
        weight: What a document's own vector counts against its best sentence; 1: no sentences.
        bm25: What BM25 counts against the vectors, both scaled to 0..1: half of it to twice it, by
            how much of the question the best document covers; 0: nothing.
        fusion: How the two rankings are joined; only min-max weighs BM25.
        by_question: Whether the weight of BM25 follows the question.
    """

    weight: Annotated[float, Ge(0), Le(1), Option(("--lambda",))] = 0.7
    bm25: Annotated[float, Ge(0), Le(1)] = 0.2
    fusion: Fusion = FUSION
    by_question: bool = True

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def sentences(self) -> bool:
        """True if sentences count."""
        return self.weight < 1


@dataclass(frozen=True)
class Recipe:
    """Search settings that one remedy adds to an index, as they stand in index.json.

    added: number of the state from which on they count. corrects: whether queries are corrected, by
    numbers in `remedies/ID/` (`argus.indexes.recipe`). weight: λ of documents against their
    scenarios, None to leave it. relied_on: remedies that hold sentences of the blend.
    """

    remedy: str
    added: int
    blend: Blend | None = None
    corrects: bool = False
    weight: Annotated[float, Ge(0), Le(1)] | None = None
    relied_on: tuple[str, ...] = ()
