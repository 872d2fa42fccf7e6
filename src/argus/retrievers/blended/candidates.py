"""What a retriever of the user's own brings back, item by item: the only candidates there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from argus.data.types import Document, Query
from argus.encoders import Encoder
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import check_python_file, http_file, is_index
from argus.retrievers.opening import OpenRetriever, opened
from argus.retrievers.python_file import refusing_what_raises
from argus.retrievers.python_retriever import made, named_in_file
from argus.retrievers.results import Known, items_of, listed
from argus.retrievers.session import AskingLoop
from argus.retrievers.shapes import Call, call_of
from argus.retrievers.working_folder import STRANGERS

Items = dict[str, list[Any]]
"""Documents in the order in which they came, each with its items: one, or those of its chunks."""


class Candidates(Protocol):
    """A retriever that is asked for its first results."""

    @property
    def name(self) -> str:
        """For messages."""

    def ask(self, text: str, depth: int) -> Items:
        """Return the first results, at most `depth`. Raises whatever the retriever does."""


@dataclass(frozen=True)
class ObjectCandidates:
    """Of an object or function: its own items are kept, and can be handed on as they are."""

    call: Call
    known: Known
    loop: AskingLoop
    id_field: str | None = None
    is_of_file: bool = False

    @property
    def name(self) -> str:
        """For messages."""
        return self.call.shape

    def ask(self, text: str, depth: int) -> Items:
        """Return the first results, at most `depth`. Raises whatever the retriever does."""
        with STRANGERS.entered() if self.is_of_file else nullcontext():
            answer = self.call.one(text, depth, ())
            if hasattr(answer, "__await__"):
                answer = self.loop.run(lambda: _awaited(answer))
            answers = listed(answer)
        items: Items = {}
        hits = items_of(answers, self.known, self.id_field)
        for place, (id_, _, item) in enumerate(hits):
            if place < depth:
                items.setdefault(id_, []).append(item)
        return items


@dataclass(frozen=True)
class NamedCandidates:
    """Of an endpoint, an index, or a batch search: ids are all that comes back."""

    retriever: OpenRetriever

    @property
    def name(self) -> str:
        """For messages."""
        return self.retriever.name

    def ask(self, text: str, depth: int) -> Items:
        """Return the first results, at most `depth`; ArgusError where the retriever fails."""
        run = self.retriever.search([Query("query", text)], depth)
        return {id_: [] for id_ in run["query"]}


@contextmanager
def open_candidates(
    source: Any, documents: Sequence[Document], id_field: str | None, encoder: Encoder
) -> Iterator[Candidates]:
    """Open a retriever: an object, class or function, or what `argus.retrievers.names` names.

    documents: of the index; their ids and texts tell which of a result's fields is its id. Raises
    InputError for what cannot be opened.
    """
    name = str(source) if isinstance(source, str | Path) else ""
    if not name or not (is_index(name) or http_file(name)):
        file: AbstractContextManager[tuple[Any, str]] = nullcontext((source, ""))
        if name:
            check_python_file(name)
            file = named_in_file(name)
        with file as (thing, _):
            with (
                refusing_what_raises(name or "retriever"),
                STRANGERS.entered() if name else nullcontext(),
            ):
                thing = made(thing, documents)
                call = call_of(thing)
            if not (call.batched or call.needs_corpus):
                loop = AskingLoop()
                try:
                    yield ObjectCandidates(call, Known.of(documents), loop, id_field, bool(name))
                finally:
                    loop.close()
                return
            with _named(thing, documents, id_field, encoder) as candidates:
                yield candidates
        return
    with _named(name, documents, id_field, encoder) as candidates:
        yield candidates


@contextmanager
def _named(
    source: Any, documents: Sequence[Document], id_field: str | None, encoder: Encoder
) -> Iterator[Candidates]:
    config = AskingConfig(id_field=id_field)
    with opened(source, documents=documents, config=config, encoder=encoder) as retriever:
        yield NamedCandidates(retriever)


async def _awaited(answer: Any) -> Any:
    return await answer
