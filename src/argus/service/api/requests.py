"""What a request may say. Anything else in it is refused: no path, no model, no address."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from argus.authority.serving import ANCHORS
from argus.service.searching.answering import Question
from argus.service.searching.authority import LONGEST_ID
from argus.settings import TOP_K

MOST_K = 200
MOST_QUESTIONS = 256
MOST_IDS = 1000

Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ID)]
Date = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=500)]
K = Annotated[int, Field(ge=1, le=MOST_K)]


class Body(BaseModel):
    """A body with nothing in it that is not known."""

    model_config = ConfigDict(extra="forbid")


class Times(Body):
    """The time as of which a question is answered; see `argus authority search`."""

    as_of: Annotated[Date | None, Field(description="What had taken effect by this date.")] = None
    known_by: Annotated[Date | None, Field(description="What had been published by this date.")] = (
        None
    )


class Asking(Times):
    """How questions are answered."""

    k: Annotated[K, Field(description="Documents to return.")] = TOP_K
    anchors: Annotated[K, Field(description="Retrieved documents that are looked at.")] = ANCHORS

    def question(self, text: str, watch: str | None = None) -> Question:
        """Return a question that is answered so."""
        return Question(text, self.k, self.as_of, self.known_by, self.anchors, watch)


class Search(Asking):
    """One question."""

    query: Text
    watch: Annotated[
        Key | None,
        Field(description="Key of a cached answer: POST /records names it when it goes stale."),
    ] = None


class Batch(Asking):
    """Several questions."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MOST_QUESTIONS)]


class Explain(Body):
    """A question, and the document that should come back for it."""

    query: Text
    id: Id
    k: K = TOP_K


class Resolve(Times):
    """Documents, of which is asked what controls them."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS)]
