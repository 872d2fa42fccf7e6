"""What the handlers of one service share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, cast

from anyio import CapacityLimiter
from fastapi import Depends, Request

from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.parents import ParentFold
from argus.service.config import ServeConfig
from argus.service.jobs.declared import Commands
from argus.service.jobs.queue import Jobs
from argus.service.searching.answering import Answering, Question
from argus.service.searching.authority import ServedAuthority
from argus.service.searching.indexing import Indexing
from argus.service.searching.journals import journal_of, warnings_of
from argus.service.searching.searcher import Searcher
from argus.service.searching.sources import ServedRetriever
from argus.service.searching.summary import SearchResults
from argus.service.security.access import Gate
from argus.service.security.sessions import Sessions, token_of
from argus.service.telemetry.log import Log
from argus.service.telemetry.metrics import Metrics
from argus.service.telemetry.spans import Tracing
from argus.service.workplace import Workplace

EXPLAINING = 2
"""Explanations at a time."""


@dataclass
class Service:
    """The service: its workplace, its settings, and what it keeps warm."""

    workplace: Workplace
    config: ServeConfig
    gate: Gate = field(init=False)
    """The token, if one is wanted, and the sessions of browsers."""
    metrics: Metrics = field(init=False, default_factory=Metrics)
    log: Log = field(init=False)
    tracing: Tracing = field(init=False)
    searcher: Searcher = field(init=False)
    """What is searched, warm; an `argus.Retriever` itself."""
    beside: dict[str, Searcher] = field(init=False)
    """What pages compare with it, by its name on the command line; each opened when it is asked."""
    authority: ServedAuthority | None = field(init=False)
    """The records that say what controls; None where none are named."""
    warnings: tuple[str, ...] = field(init=False)
    """What a person should know before the service is used: the log has it, too."""
    explaining: CapacityLimiter = field(init=False)
    """Explanations take a core each for a while: few are made at a time."""
    jobs: Jobs | None = field(init=False, default=None)
    """Commands that were started; None where none can be."""

    indexing: Indexing | None = field(init=False, default=None)
    """Brings the index to what a stream of records says; None where none are named."""

    def __post_init__(self) -> None:
        config, place = self.config, self.workplace
        token = token_of(config.needs_token, config.no_token)
        self.gate = Gate(token, Sessions())
        self.log = Log(config.log_texts)
        self.tracing = Tracing(config.spans, config.log_texts)
        self.searcher = Searcher(place, self.metrics.batches.observe, self.log)
        self.beside = {
            name: Searcher(replace(place, retriever=name, store=None), log=self.log)
            for name in place.beside
        }
        journal = journal_of(place)
        self.authority = (
            None
            if place.authority is None
            else ServedAuthority(place.authority, journal, self._warn)
        )
        self.warnings = tuple(warnings_of(place, journal))
        for warning in self.warnings:
            self._warn(warning)
        self.explaining = CapacityLimiter(EXPLAINING)

    def _warn(self, warning: str) -> None:
        self.log.write("warning", warning=warning)

    async def answer(self, question: Question) -> SearchResults:
        """Answer a question from what is in force; see `Answering`."""
        with self.tracing.retrieval(question.text) as span:
            answer = await Answering(self.searcher, self.authority).answer(question)
            span.note(answer)
        ids = [hit["id"] for hit in answer["results"]]
        self.log.write(
            "search", {"question": question.text, "documents": ids}, results=len(ids), k=question.k,
            version=answer["version"], retired=len(answer["retired"]),
        )  # fmt: skip
        return answer

    @cached_property
    def fold(self) -> ParentFold | None:
        """Of chunks to the documents that count; None where their field is not named."""
        place = self.workplace
        if place.retriever or place.store:
            source = self.searcher.source()
            if isinstance(source, ServedRetriever) and source.documents:
                return ParentFold.of(place.parent_field, source.documents)
        return ParentFold.of_corpus(
            ChunkedCorpus(corpus=place.corpus, fields=place.fields, parent_field=place.parent_field)
        )

    def take_commands(self, commands: Commands | None) -> None:
        """Let requests start commands as jobs; None lets them start none."""
        place = self.workplace
        writing: Callable[[Path], AbstractAsyncContextManager[None]] = _unheld
        if commands is not None:
            self.jobs = Jobs(place, commands, self.config.jobs_at_once)
            writing = self.jobs.writing
        if self.authority is not None:
            self.indexing = Indexing(place, self.authority, self.searcher, self.log, writing)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what is searched, and run what goes on beside the requests, until the end."""
        self.searcher.state()
        if self.jobs is not None:
            self.jobs.start()
        if self.indexing is not None:
            self.indexing.start()
        try:
            yield
        finally:
            if self.indexing is not None:
                await self.indexing.close()
            if self.jobs is not None:
                await self.jobs.close()
            self.close()

    def close(self) -> None:
        """End what runs beside the requests."""
        for searcher in (self.searcher, *self.beside.values()):
            searcher.close()
        self.tracing.close()


def _unheld(_: Path) -> AbstractAsyncContextManager[None]:
    """Hold nothing: without jobs nobody else of this service writes."""
    return nullcontext()


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)


async def _service_of(request: Request) -> Service:
    """Return the service in the loop itself: what is not async costs a thread for every request."""
    return service_of(request)


ServiceOf = Annotated[Service, Depends(_service_of)]
"""A handler's parameter: the service."""
