"""Open the retriever that a person names or hands over, and ask it whatever a job wants to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argus.data.field_paths import FieldPath
from argus.data.provenance import content_hash
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import KeptAnswers
from argus.retrievers.protocol import Answers
from argus.retrievers.python_retriever import named_in_file, python_retriever
from argus.retrievers.results import Known
from argus.retrievers.session import Answering, QuerySession

HTTP = "http:"
"""Before the file that describes an endpoint."""


@dataclass(frozen=True)
class OpenRetriever:
    """A retriever of any shape that can be asked. It is an `argus.Retriever` itself."""

    source: Answering
    identity: str
    """What its answers are kept by; empty where nothing tells it from another: nothing is kept."""
    config: AskingConfig
    kept_in: Path | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.source.name

    def ask(self, queries: Sequence[Query], k: int) -> Answers:
        """Ask every query: each is answered or failed. Raises ArgusError where it is given up."""
        with ExitStack() as stack:
            earlier = None
            if self.kept_in is not None and self.identity:
                earlier = stack.enter_context(KeptAnswers(self.kept_in, self.identity))
            return QuerySession(self.source, k, self.config, earlier).ask(queries)

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query. Raises ArgusError where any query failed."""
        answers = self.ask(queries, k)
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
) -> Iterator[OpenRetriever]:
    """Open `FILE.py:NAME`, `http:FILE.yaml`, or an object, class or function that retrieves.

    documents: what it retrieves from, where they are at hand: their ids and texts tell which of a
    result's fields is its id, and a retriever that asks for the corpus is given them. kept_in: the
    file of answers. Raises InputError for what cannot be opened.
    """
    config = config or AskingConfig()
    if not isinstance(retriever, str | Path):
        source = python_retriever(retriever, documents, "", config)
        yield OpenRetriever(source, "", config, kept_in)
        return
    name = str(retriever)
    if endpoint := http_file(name):
        yield _endpoint(endpoint, name, documents, config, kept_in)
        return
    with named_in_file(name) as (thing, identity):
        source = python_retriever(thing, documents, name, config)
        identity = content_hash(identity, str(config.id_field), _digest(documents)).hex()
        yield OpenRetriever(source, identity, config, kept_in)


def http_file(spec: str) -> Path | None:
    """Return the file of `http:FILE.yaml`; None for another spec."""
    if not spec.startswith(HTTP) or spec.startswith(f"{HTTP}//"):
        return None
    return Path(spec.removeprefix(HTTP))


def _digest(documents: Sequence[Document]) -> bytes:
    """Return a hash of ids and texts: answers over other documents are other answers."""
    return content_hash(*(part for d in documents for part in (d.id, d.title, d.text)))


def _endpoint(
    file: Path, name: str, documents: Sequence[Document], config: AskingConfig, kept_in: Path | None
) -> OpenRetriever:
    """Return what asks an endpoint, as its description says where `config` does not."""
    from argus.encoders import EncoderConfig, load_encoder
    from argus.retrievers.http.load import load_endpoint
    from argus.retrievers.http.retriever import HttpRetriever

    spec = load_endpoint(file)
    if config.id_field is not None:
        id_ = FieldPath.parse(config.id_field)
        spec = spec.model_copy(update={"answer": spec.answer.model_copy(update={"id": id_})})
    encoder = load_encoder(EncoderConfig(model=spec.encoder)).encoder if spec.encoder else None
    asking = replace(
        config,
        at_once=config.at_once or spec.at_once,
        per_minute=config.per_minute or spec.per_minute,
        timeout_s=config.timeout_s or spec.timeout_s,
    )
    fingerprint = encoder.fingerprint if encoder else ""
    identity = content_hash(spec.identity(), fingerprint, _digest(documents)).hex()
    source = HttpRetriever(spec, name, Known.of(documents), encoder)
    return OpenRetriever(source, identity, asking, kept_in)
