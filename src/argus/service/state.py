"""Hold the shared state of `argus serve`: the searcher, the records, the jobs, the metrics.

`Service` is made once per application. The API, the pages and MCP ask it to answer a question or to
explain a miss.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Annotated, cast

from anyio import CapacityLimiter
from fastapi import Depends, Request

from argus.evaluation.judged import ParentFold
from argus.explanation.config import ExplainConfig, RunConfig
from argus.explanation.evidence import Explanation, RunExplanation
from argus.explanation.job import explain
from argus.explanation.run import explain_retriever
from argus.service.answering import Question, SearchResults, ServedAuthority, answer
from argus.service.config import ServeConfig
from argus.service.jobs.planning import Commands
from argus.service.jobs.queue import Jobs
from argus.service.searcher import IndexSource, Searcher, ServedRetriever
from argus.service.security import Gate
from argus.service.telemetry import Log, Metrics
from argus.service.workplace import Workplace

Explained = Explanation | RunExplanation
# Explanations at a time: each takes a core for a while.
EXPLAINING = 2


class Service:
    """The searcher, records, jobs and figures of one workplace.

    commands: those of Argus, which requests may start as jobs. Without them there are no jobs.
    """

    def __init__(
        self, workplace: Workplace, config: ServeConfig, commands: Commands | None = None
    ) -> None:
        self.workplace, self.config = workplace, config
        self.gate = Gate(config)
        self.metrics, self.log = Metrics(), Log(config.log_texts)
        self.searcher = Searcher(workplace, self.metrics.batches.observe, self.log)
        source = workplace.authority
        self.authority = None if source is None else ServedAuthority(source)
        self.explaining = CapacityLimiter(EXPLAINING)
        self.jobs = None if commands is None else Jobs(workplace, commands, config.jobs_at_once)

    async def answer(self, question: Question) -> SearchResults:
        """Answer a question from the documents in force."""
        results = await answer(question, self.searcher, self.authority)
        ids = [hit["id"] for hit in results["results"]]
        self.log.write(
            "search", {"question": question.text, "documents": ids}, found=len(ids), k=question.k,
            version=results["version"], retired=len(results["retired"]),
        )  # fmt: skip
        return results

    def explain(self, query: str, id_: str, k: int) -> Explained:
        """Say why a document does not come back for a question."""
        authority = None if self.authority is None else self.authority.around(id_)
        source = self.searcher.source()
        if isinstance(source, IndexSource):
            config, retriever = ExplainConfig(k=k), source.retriever
            return explain(query, id_, retriever, config, authority=authority, fold=self.fold)
        run = RunConfig(k=k, **vars(self.workplace.chunks))
        return explain_retriever(
            query, id_, self.searcher, run, documents=source.documents, authority=authority
        )

    @cached_property
    def fold(self) -> ParentFold | None:
        """Fold of chunks to their documents, None if the field that names them is not known."""
        place = self.workplace
        if place.asks:
            source = self.searcher.source()
            if isinstance(source, ServedRetriever) and source.documents:
                return ParentFold.of(place.chunks.parent_field, source.documents)
        return ParentFold.of_corpus(place.chunks)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the searched source and run the jobs until the end."""
        self.searcher.state()
        if self.jobs is not None:
            self.jobs.start()
        try:
            yield
        finally:
            if self.jobs is not None:
                await self.jobs.close()
            self.searcher.close()


async def _service_of(request: Request) -> Service:  # a plain function would cost a thread
    return cast(Service, request.app.state.service)


ServiceOf = Annotated[Service, Depends(_service_of)]
"""A handler's parameter: the service."""
