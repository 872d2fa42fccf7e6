"""What is searched: an index that is read again when it changes, or a retriever of any shape."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from argus.data.types import Document, Query
from argus.errors import ArgusError
from argus.indexes.answering import hits_of, own_texts
from argus.indexes.retriever import IndexRetriever
from argus.indexes.summary import Hit
from argus.indexes.views import ViewIndex
from argus.retrievers.answering_index import open_answering_index
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import OpenRetriever, opened
from argus.service.telemetry.log import Log

CHECK_S = 1.0
"""How often it is looked whether an index has changed, at most; it is looked as questions come."""
Text = tuple[str, str]
"""Title and text of a document."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a question brought back. version: of the index; None of what has none."""

    hits: list[Hit]
    ranked_by: str
    warning: str | None
    version: int | None


class Source(Protocol):
    """Something that is open and answers questions."""

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return an answer to each; raises ArgusError where any of them fails."""

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return the texts of documents, of those that have one here."""

    def refresh(self) -> None:
        """See now what others have written since."""

    def close(self) -> None:
        """Let go of files and connections."""


class IndexSource:
    """An index in memory with its encoder.

    Who asks never waits for who writes: another version is read beside the one that answers, and
    takes its place when it is whole. Where it cannot be read, the last one goes on answering.
    """

    def __init__(self, name: str, log: Log | None = None) -> None:
        self._name, self._log = name, log or Log()
        answering = open_answering_index(name)
        self.retriever = _warmed(answering.retriever)
        self._watched = ViewIndex.open(self.retriever.index.path)
        self._checked = time.monotonic()
        self._reading = threading.Lock()
        hits_of(self.retriever, ["a question"], 1)  # what is compiled at first use is compiled now

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return the best documents of each question, by the version in memory."""
        if time.monotonic() - self._checked > CHECK_S and not self._reading.locked():
            self._checked = time.monotonic()
            threading.Thread(target=self._look, name="argus-index", daemon=True).start()
        retriever = self.retriever
        return [
            Answered(hits, retriever.name, retriever.warning, retriever.index.version)
            for hits in hits_of(retriever, texts, k)
        ]

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return the documents' own texts."""
        return own_texts(self.retriever, ids)

    def refresh(self) -> None:
        """Read the index again if it has changed; who asks goes on being answered meanwhile."""
        with self._reading:
            self._watched.refresh()
            held = self.retriever.index
            if (self._watched.version, self._watched.header) != (held.version, held.header):
                self.retriever = self._read()

    def _look(self) -> None:
        try:
            self.refresh()
        except Exception as error:  # the version in memory goes on answering
            self._log.write("index not read again", error=str(error))

    def _read(self) -> IndexRetriever:
        old = self.retriever
        index = ViewIndex.open(old.index.path)
        if index.fingerprint != old.index.fingerprint:
            return _warmed(open_answering_index(self._name).retriever)
        return _warmed(old.over(index))

    def close(self) -> None:
        """Nothing is held that needs closing."""


def _warmed(retriever: IndexRetriever) -> IndexRetriever:
    """Return a retriever whose vectors, and words where these count, lie in memory."""
    if retriever.searches_exactly():
        retriever.index.snapshot(retriever.as_of)
    if retriever.hybrid is not None:
        retriever.lexical()
    return retriever


@dataclass
class ServedRetriever:
    """A retriever or a store. documents: those it retrieves from, where their texts are known."""

    name: str
    asking: AskingConfig
    encoder: str | None = None
    documents: Sequence[Document] = ()
    _open: OpenRetriever = field(init=False, repr=False)
    _stack: ExitStack = field(init=False, repr=False, default_factory=ExitStack)
    _texts: dict[str, Text] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._texts = {one.id: (one.title, one.text) for one in self.documents}
        self._open = self._stack.enter_context(
            opened(self.name, documents=self.documents, config=self.asking, encoder=self.encoder)
        )

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Ask it; ArgusError where a question failed."""
        queries = [Query(str(number), text) for number, text in enumerate(texts)]
        answers = self._open.ask(queries, k)
        if answers.failed:
            raise ArgusError(f"{self._open.name} failed: {next(iter(answers.failed.values()))}")
        return [
            Answered(self._hits(answers.run[query.id]), self._open.name, answers.warning, None)
            for query in queries
        ]

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return what the corpus says of documents."""
        return {id_: self._texts[id_] for id_ in ids if id_ in self._texts}

    def refresh(self) -> None:
        """Nothing is held of what it retrieves from."""

    def close(self) -> None:
        """Close its connections."""
        self._stack.close()

    def _hits(self, scores: dict[str, float]) -> list[Hit]:
        hits: list[Hit] = []
        for rank, (id_, score) in enumerate(scores.items(), 1):
            title, text = self._texts.get(id_, ("", ""))
            hits.append({
                "rank": rank, "id": id_, "score": score, "view": None, "kind": None,
                "text": text, "title": title, "scenario": None,
            })  # fmt: skip
        return hits
