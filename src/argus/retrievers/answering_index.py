"""An Argus index as a retriever: `index:PATH[@STATE]`, or the folder's path alone.

How it is searched stands behind commas, since several retrievers of one command may be indexes:
`index:PATH@original,hybrid=min-max,lambda=0.5,exact=yes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from argus.data.provenance import content_hash
from argus.data.types import Query, Run
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, as_config
from argus.errors import EncodingError, EndpointRefusal, InputError
from argus.indexes.retriever import IndexRetriever, encoder_of
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.indexes.views import ViewIndex
from argus.indexes.words import STEMMED
from argus.retrievers.blocking import Blocking
from argus.retrievers.names import INDEX
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.session import Answer

EXACT = {"yes": True, "no": False}
WAYS = "hybrid=min-max, lambda=0.5 and exact=yes (or no)"


@dataclass(frozen=True)
class NamedIndex:
    """An index, and how it is searched; see `IndexRetriever`."""

    spec: IndexSpec
    hybrid: str | None = None
    weight: float | None = None
    exact: bool | None = None


@dataclass(frozen=True)
class AnsweringIndex:
    """Asks an index. A query that its encoder rejects has failed."""

    retriever: IndexRetriever
    name: str
    blocking: Blocking = field(default_factory=Blocking, repr=False)

    @property
    def takes_all(self) -> bool:
        """Batches will do."""
        return False

    @property
    def encoder(self) -> Encoder:
        """What embeds the queries."""
        return self.retriever.encoder

    @property
    def warning(self) -> str | None:
        """What is doubtful about its answers."""
        return self.retriever.warning

    @property
    def identity(self) -> str:
        """What its answers are kept by: the index as it is now, and how it is searched."""
        retriever = self.retriever
        index = retriever.index
        ways = (
            retriever.as_of, retriever.hybrid, retriever.bm25, retriever.weight,
            retriever.searches_exactly(), STEMMED.name, index.header.recipes,
        )  # fmt: skip
        parts = [str(index.path.resolve()), retriever.encoder.fingerprint, str(index.version)]
        parts += [index.made] if index.made else []
        return content_hash("index", *parts, repr(ways)).hex()

    def session(self) -> AbstractAsyncContextManager[None]:
        """Hold nothing: the index is open."""
        return nullcontext()

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores; raises RetrievalError."""
        return (await self.answer_many([Query("query", text)], k))["query"]

    async def answer_many(self, queries: Sequence[Query], k: int) -> Run:
        """Return an answer to every query; raises RetrievalError where any is rejected."""
        numbered = [Query(str(i), query.text) for i, query in enumerate(queries)]
        try:
            run = await self.blocking.call(lambda: self.retriever.search(numbered, k))
        except EndpointRefusal:
            raise
        except EncodingError as error:
            raise RetrievalError(str(error)) from error
        return {query.id: run[str(i)] for i, query in enumerate(queries)}


def parse_index(name: str) -> NamedIndex:
    """Return what `[index:]PATH[@STATE][,WAY=VALUE ...]` names; InputError for another way."""
    path, *ways = name.removeprefix(INDEX).split(",")
    while ways and "=" not in ways[0]:  # a comma of the path's own
        path += "," + ways.pop(0)
    named = NamedIndex(parse_index_spec(path))
    for way in ways:
        named = replace(named, **_way(way, name))
    return named


def _way(text: str, name: str) -> dict[str, Any]:
    key, _, value = text.partition("=")
    try:
        if key == "hybrid":
            return {"hybrid": value}
        if key == "lambda":
            return {"weight": float(value)}
        if key == "exact":
            return {"exact": EXACT[value]}
    except (ValueError, KeyError):
        pass
    raise InputError(f"{text!r}", expected=WAYS, fix="Correct it, or leave it out.", where=name)


def open_answering_index(
    name: str, encoder: Encoder | EncoderConfig | str | None = None
) -> AnsweringIndex:
    """Open a named index, with the encoder that it names; `encoder` is for one that names none.

    Raises InputError for what is no index, and for one whose encoder nobody names;
    FingerprintMismatch for an encoder that did not make it.
    """
    named = parse_index(name)
    index = ViewIndex.open(named.spec.path)
    index.condition(named.spec.as_of)  # before the encoder is loaded
    retriever = IndexRetriever(
        index, _encoder(index, encoder), named.spec.as_of, named.hybrid, named.exact, named.weight
    )
    return AnsweringIndex(retriever, name)


def _encoder(index: ViewIndex, encoder: Encoder | EncoderConfig | str | None) -> Encoder:
    """Return the encoder that somebody chose, or the index's own in place of an option's default.

    The device that the option names holds for both.
    """
    config = None if encoder is None else as_config(encoder)
    is_default = isinstance(config, EncoderConfig) and config.model == DEFAULT_MODEL
    if isinstance(config, EncoderConfig) and is_default and index.header.encoder.get("model"):
        return encoder_of(index, None, config.device)
    return encoder_of(index, config)
