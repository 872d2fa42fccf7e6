"""Define the types that all modules pass on: `Document`, `View`, `Query`, `Topic`, `Run`, `Qrels`.

A view is one text under which a document is indexed. A run is {query: {document: score}}, qrels are
{query: {document: grade}}. Ids are strings, always. `State` says of each item whether it was
measured, failed, or does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float32]
    IntArray = npt.NDArray[np.int64]
else:  # documents need no numpy
    FloatArray = IntArray = Any


# `query_id -> doc_id -> score`; higher is better, ties break by doc_id.
Run = dict[str, dict[str, float]]

# `query_id -> doc_id -> relevance grade`; 0 is judged non-relevant.
Qrels = dict[str, dict[str, int]]


class State(StrEnum):
    """State of a measurement. The three are counted apart. A failure is never a zero."""

    MEASURED = "measured"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


StateCounts = dict[str, Any]  # as `count_states` returns them


def count_states(states: Mapping[str, int], reasons: Mapping[str, int]) -> StateCounts:
    """Return how many items are in each state, for a summary.

    total: items that were to be measured. measured, failed, not applicable: of these.
    reasons: why items have no value, with how many each.
    """
    counts = {state.value: states.get(state, 0) for state in State}
    return {"total": sum(states.values()), **counts, "reasons": dict(reasons)}


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range `[start, end)` in a text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"Span({self.start}, {self.end}): needs 0 <= start < end.")

    def shift(self, offset: int) -> Span:
        """Return the same span in a text whose origin lies `offset` characters earlier."""
        return Span(self.start + offset, self.end + offset)


@dataclass(frozen=True, slots=True)
class Document:
    """One retrievable unit of a corpus.

    template: how title and text are joined, where that is known. See `filled`. id_field,
    text_field: fields of its record that were read as id and text. None for a document of a
    program, and an id that stands in no field.
    """

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the corpus's own: any JSON
    template: str | None = None
    id_field: str | None = field(default=None, compare=False, repr=False)
    text_field: str | None = field(default=None, compare=False, repr=False)

    @property
    def content(self) -> str:
        """Text that a retriever indexes: title and text, as BEIR does (`title + " " + text`).

        A text that already begins with its title is not given it twice. With a template it is what
        that makes of them.
        """
        if self.template is not None:
            return filled(self.template, self.title, self.text)
        rest = self.text.removeprefix(self.title)
        begins_with_title = rest != self.text and not rest[:1].isalnum()
        if not self.title or begins_with_title:
            return self.text
        return f"{self.title} {self.text}" if self.text else self.title


_FIELD = re.compile(r"\{(title|text)\}")
_BOTH = re.compile(r"\{(?:title|text)\}.*\{(?:title|text)\}", re.DOTALL)


def filled(template: str, title: str, text: str) -> str:
    """Return a template such as "{title}: {text}" with title and text in their places.

    Where one of the two is empty, it is left out with the text between them.
    """
    values = {"title": title, "text": text}
    if not (title and text):
        one = "{title}" if title else "{text}"
        template = _BOTH.sub(lambda _: one, template)
    return _FIELD.sub(lambda match: values[match[1]], template)


@dataclass(frozen=True, slots=True)
class View:
    """One way in which a document is indexed.

    `kind` is one of original, title, expansion, synthesis, sentence, scenario, pseudo-query.
    `source` is the provenance (entity, passage, model, prompt hash); of an original, whose text is
    title and text in one, the document's title.
    """

    id: str
    doc_id: str
    kind: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A question put to a retriever."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A question with the answers that are known.

    given: all other fields of its record, such as positive_ctxs. Results are written with them.
    """

    query: Query
    answers: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)  # of a foreign file: any JSON
