"""A blend: how a search mixes what a document's own vector, its sentences and its words say.

Each document has views of its title and one sentence each. With s the best score of its other
views, a document scores

    v(q, d) = λ·s(q, d) + (1 - λ)·max(s(q, d), best sentence) - β·r(d),

where r(d), its hubness, is the mean of the ten highest cosines between d and sentences of other
documents: what comes up whatever is asked for is taken down. BM25 is mixed in by weighted min-max
(`argus.indexes.hybrid`). Scenarios are weighed against v less its last term, as SPIKE's eq. 3
weighs them against s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Ge, Le, Lt, Option, check_settings

SENTENCE = "sentence"
"""Kind of the views that a blend mixes in; without a blend they count for nothing."""
BLEND = "blend"


@dataclass(frozen=True, kw_only=True)
class Blend:
    """How much each part counts. A part that is off adds and costs nothing."""

    weight: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("What a document's own vector counts against its best sentence; 1: no sentences."),
        Option(("--lambda",)),
    ] = 0.7
    hubs: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("How much of a document's hubness is taken off its score; 0: nothing."),
    ] = 0.1
    bm25: Annotated[
        float,
        Ge(0),
        Lt(1),
        Doc(
            "What BM25 counts against the vectors, both scaled to 0..1: half of it to twice it, "
            "by how much of the question the best document covers; 0: nothing."
        ),
    ] = 0.2
    smoothing: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("How much of its 5 nearest documents' mean is added to a document; 0: nothing."),
    ] = 0.0

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def sentences(self) -> bool:
        """Whether sentences count."""
        return self.weight < 1

    @property
    def per_document(self) -> bool:
        """Whether documents have numbers of their own."""
        return self.hubs > 0 or self.smoothing > 0
