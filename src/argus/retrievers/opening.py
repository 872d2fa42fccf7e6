"""Open the retriever that a person names or hands over, and ask it whatever a job wants to know."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    redirect_stdout,
)
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.field_paths import FieldPath
from argus.data.provenance import content_hash
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError, InputError
from argus.progress import announce
from argus.retrievers.blocking import Blocking
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import KeptAnswers
from argus.retrievers.names import check_python_file, http_file, is_index
from argus.retrievers.protocol import Answers
from argus.retrievers.python_file import refusing_what_raises
from argus.retrievers.python_retriever import (
    PythonRetriever,
    named_in_file,
    python_retriever,
)
from argus.retrievers.results import Known
from argus.retrievers.session import Answering, AskingLoop, QuerySession
from argus.retrievers.working_folder import STRANGERS
from argus.stores.spec import blended_store, is_store

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig
    from argus.retrievers.answering_index import AnsweringIndex


@dataclass(frozen=True)
class OpenRetriever:
    """A retriever of any shape that can be asked. It is an `argus.Retriever` itself."""

    source: Answering
    identity: str
    """What its answers are kept by; empty where nothing tells it from another: nothing is kept."""
    config: AskingConfig
    loop: AskingLoop = field(repr=False, compare=False)
    kept_in: Path | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.source.name

    @property
    def fingerprint(self) -> str | None:
        """Of the encoder of its queries; None where there is none, or it is not known."""
        encoder = getattr(self.source, "encoder", None)
        return encoder.fingerprint if encoder is not None else None

    @property
    def warning(self) -> str | None:
        """What is doubtful about its answers, as far as it is known."""
        return getattr(self.source, "warning", None)

    def ask(self, queries: Sequence[Query], k: int) -> Answers:
        """Ask every query: each is answered or failed. Raises ArgusError where it is given up."""
        with ExitStack() as stack:
            earlier = None
            if self.kept_in is not None and self.identity:
                earlier = stack.enter_context(KeptAnswers(self.kept_in, self.identity))
            if isinstance(self.source, PythonRetriever) and self.identity:  # out of a file
                stack.enter_context(redirect_stdout(sys.stderr))  # what it prints is no result
                stack.enter_context(STRANGERS.entered())
            answers = QuerySession(self.source, k, self.config, self.loop, earlier).ask(queries)
        return replace(answers, warning=self.warning)

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query. Raises ArgusError where any query failed."""
        answers = self.ask(queries, k)
        if answers.warning:
            announce(f"WARNING: {answers.warning}")
        if answers.failed:
            query, reason = next(iter(answers.failed.items()))
            raise ArgusError(
                f"{self.name} failed {len(answers.failed)} of {len(queries)} queries; query "
                f"{query!r}: {reason}"
            )
        return answers.run


@contextmanager
def opened(
    retriever: Any,
    *,
    documents: Sequence[Document] = (),
    config: AskingConfig | None = None,
    kept_in: Path | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
) -> Iterator[OpenRetriever]:
    """Open what is named (see `argus.retrievers.names`), or an object, class or function.

    documents: what it retrieves from, where they are at hand: their ids and texts tell which of a
    result's fields is its id, and a retriever that asks for the corpus is given them. kept_in: the
    file of answers. encoder: of a store's queries, and of an index that names none. Raises
    InputError for what cannot be opened.
    """
    inputs = _Inputs(documents, config or AskingConfig(), encoder)
    with (
        _opening(retriever, inputs) as (source, identity, asking),
        closing(AskingLoop()) as loop,
    ):
        yield OpenRetriever(source, identity, asking, loop, kept_in)


@dataclass(frozen=True)
class _Inputs:
    """What a retriever is opened with."""

    documents: Sequence[Document]
    config: AskingConfig
    encoder: Encoder | EncoderConfig | str | None


Opened = tuple[Answering, str, AskingConfig]
"""What is asked, what its answers are kept by, and how it is asked."""


def _opening(retriever: Any, inputs: _Inputs) -> AbstractContextManager[Opened]:
    if not isinstance(retriever, str | Path):
        return _object(retriever, inputs)
    name = str(retriever)
    if blend := blended_store(name):
        return _store(blend, inputs, is_blend=True)
    if is_index(name):
        return nullcontext(_index(name, inputs))
    if is_store(name):
        return _store(name, inputs)
    if endpoint := http_file(name):
        return nullcontext(_endpoint(endpoint, name, inputs))
    check_python_file(name)
    return _file(name, inputs)


def _object(thing: Any, inputs: _Inputs) -> AbstractContextManager[Opened]:
    from argus.indexes.retriever import IndexRetriever

    if isinstance(thing, IndexRetriever):
        from argus.retrievers.answering_index import AnsweringIndex

        return nullcontext(_answering(AnsweringIndex(thing, thing.name), inputs))
    if hasattr(thing, "can_search_exactly"):  # of `argus.Store`, and nothing else
        return _store(thing, inputs)
    return nullcontext(
        (python_retriever(thing, inputs.documents, "", inputs.config), "", inputs.config)
    )


def _index(name: str, inputs: _Inputs) -> Opened:
    from argus.retrievers.answering_index import open_answering_index

    return _answering(open_answering_index(name, inputs.encoder), inputs)


def _answering(index: AnsweringIndex, inputs: _Inputs) -> Opened:
    """Return an index with how it is asked: one query, or batch of them, after the other."""
    source = replace(index, blocking=Blocking(inputs.config.timeout_s is not None))
    return source, source.identity, replace(inputs.config, at_once=1)


@contextmanager
def _store(store: Any, inputs: _Inputs, *, is_blend: bool = False) -> Iterator[Opened]:
    from argus.retrievers.answering_store import open_answering_store

    known = Known.of(inputs.documents)
    with open_answering_store(
        store, known, inputs.config, inputs.encoder, is_blend=is_blend
    ) as source:
        identity = content_hash(source.identity, _digest(inputs.documents)).hex()
        yield source, identity, replace(inputs.config, at_once=1)


@contextmanager
def _file(name: str, inputs: _Inputs) -> Iterator[Opened]:
    with ExitStack() as stack:
        with redirect_stdout(sys.stderr), refusing_what_raises(name):
            thing, identity = stack.enter_context(named_in_file(name))
            with STRANGERS.entered():
                source = python_retriever(thing, inputs.documents, name, inputs.config)
        parts = (str(inputs.config.id_field), _digest(inputs.documents))
        yield source, content_hash(identity, *parts).hex(), inputs.config


def _digest(documents: Sequence[Document]) -> bytes:
    """Return a hash of ids and texts: answers over other documents are other answers."""
    return content_hash(*(part for d in documents for part in (d.id, d.title, d.text)))


def _endpoint(file: Path, name: str, inputs: _Inputs) -> Opened:
    """Return what asks an endpoint, as its description says where `config` does not."""
    from argus.encoders import EncoderConfig, load_encoder
    from argus.retrievers.correcting import CORRECTED, correction_of
    from argus.retrievers.http.load import load_endpoint
    from argus.retrievers.http.retriever import HttpRetriever

    spec, config, documents = load_endpoint(file), inputs.config, inputs.documents
    if config.id_field is not None:
        id_ = FieldPath.parse(config.id_field)
        spec = spec.model_copy(update={"answer": spec.answer.model_copy(update={"id": id_})})
    encoder = load_encoder(EncoderConfig(model=spec.encoder)).encoder if spec.encoder else None
    correction = correction_of(config, encoder) if encoder is not None else None
    if config.correction is not None and correction is None:
        raise InputError(
            f"{file} sends no vector of a query", expected="{vector} in the request",
            fix="Leave it out, or describe a request by vector.", where="--correction",
        )  # fmt: skip
    asking = replace(
        config,
        at_once=config.at_once or spec.at_once,
        per_minute=config.per_minute or spec.per_minute,
        timeout_s=config.timeout_s or spec.timeout_s,
    )
    parts = [encoder.fingerprint if encoder else ""]
    if correction is not None:
        parts.append(correction.identity)
        name += CORRECTED
    identity = content_hash(spec.identity(), *parts, _digest(documents)).hex()
    source = HttpRetriever(spec, name, Known.of(documents), encoder, correction)
    return source, identity, asking
