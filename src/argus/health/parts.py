"""Each part of a set-up is tried as a job would use it, on little."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from argus.corpora.names import StoreCorpus, named
from argus.corpora.opening import open_corpus
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.payload import parent_ids
from argus.data.qrels import read_judgements
from argus.data.types import Document, Query
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.errors import ArgusError
from argus.health.config import ProjectParts
from argus.health.findings import HealthCheck, HealthState
from argus.retrievers.config import AskingConfig

if TYPE_CHECKING:
    from argus.encoders import Encoder
    from argus.llm.config import ChatConfig
    from argus.llm.local_config import LocalConfig

T = TypeVar("T")
READ = 10_000
"""Documents of a file that are read at most."""
READ_OF_STORE = 200
"""Records of a store."""
ASKED_FOR = 10
PROBES = 3
"""Documents by whose texts a retriever is asked."""
ASKED_CHARACTERS = 80
EXPECTED = (ArgusError, ImportError, OSError)


@dataclass
class Trial:
    """Tries the parts in turn; a later one uses what an earlier one has opened."""

    parts: ProjectParts
    columns: FieldNames = field(default_factory=FieldNames)
    asking: AskingConfig = field(default_factory=AskingConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    documents: list[Document] = field(default_factory=list)
    _loaded: Encoder | None = None

    def checks(self) -> Iterator[HealthCheck]:
        """Yield a check for each part that there is."""
        yield self._tried("model", self._model, self._without_model)
        if self.parts.corpus is not None:
            yield self._tried("documents", self._documents)
        if self.parts.retriever is not None:
            yield self._tried("retriever", self._retriever)
        if self.parts.queries is not None or self.parts.qrels is not None:
            yield self._tried("questions", self._questions)

    def _tried(
        self,
        part: str,
        trial: Callable[[], HealthCheck],
        state: Callable[[], HealthState] | None = None,
    ) -> HealthCheck:
        try:
            return trial()
        except EXPECTED as error:
            return HealthCheck.of_error(part, error, HealthState.BAD if state is None else state())

    def _without_model(self) -> HealthState:
        """Return how bad it is that the encoder cannot be loaded: the default may not be meant."""
        is_named = self.encoder.model != DEFAULT_MODEL
        alone = self.parts.corpus is not None and self.parts.retriever is None
        return HealthState.BAD if is_named or alone else HealthState.NOTE

    def _model(self) -> HealthCheck:
        from argus.encoders import load_any_encoder
        from argus.encoders.rows import family_of

        start = time.perf_counter()
        encoder = load_any_encoder(self.encoder).encoder
        encoder.encode_queries(["which documents does it not reach?"])
        took = time.perf_counter() - start
        if family_of(encoder) == "dense":
            self._loaded = encoder  # type: ignore[assignment]
            what = f"{encoder.dim} dimensions"
        else:
            what = f"{family_of(encoder)} vectors"
        text = f"{self.encoder.model} embeds: {what}, {took:.1f} s to load and embed one text"
        return HealthCheck("model", HealthState.GOOD, text)

    def _documents(self) -> HealthCheck:
        assert self.parts.corpus is not None
        corpus = named(self.parts.corpus)
        if isinstance(corpus, StoreCorpus):
            return self._records(corpus)
        self.documents = open_corpus(corpus, limit=READ).documents(self.columns)
        least = "at least " if len(self.documents) == READ else ""
        titles = sum(bool(document.title) for document in self.documents)
        text = f"{corpus}: {least}{len(self.documents):,} documents, {titles:,} with a title"
        return HealthCheck(
            "documents", HealthState.GOOD, f"{text}; the first is {self.documents[0].id!r}"
        )

    def _records(self, corpus: StoreCorpus) -> HealthCheck:
        """Open a store, read some records, and compare their vectors with the encoder's."""
        from argus.stores.opening import open_store

        with open_store(corpus.store, corpus.opening) as store:
            facts = store.describe()
        loaded = self._loaded
        source = open_corpus(
            corpus, limit=READ_OF_STORE, asking=None if loaded is None else lambda: loaded
        )
        self.documents = source.documents(self.columns)
        text = (
            f"{corpus}: {facts.records:,} records of {facts.dim} dimensions, {facts.metric}, "
            f"{facts.index}"
        )
        if source.stored is not None and source.stored.vectors is not None:
            median = source.stored.vectors.agreement.median
            text += f"; {self.encoder.model} made their vectors (cosine {median:.3f})"
        return HealthCheck("documents", HealthState.GOOD, text)

    def _retriever(self) -> HealthCheck:
        """Ask for the first documents by how their texts begin, or for nothing in particular."""
        from argus.retrievers.opening import opened

        texts = [(d.text or d.title)[:ASKED_CHARACTERS] for d in self.documents[:PROBES]]
        texts = texts or ["what is this?"]
        queries = [Query(f"probe-{i}", text) for i, text in enumerate(texts)]
        encoder = self._loaded or self.encoder
        with opened(
            self.parts.retriever, documents=self.documents, config=self.asking, encoder=encoder
        ) as retriever:
            start = time.perf_counter()
            answers = retriever.ask(queries, ASKED_FOR)
            took = time.perf_counter() - start
            name = retriever.name
        if answers.failed:
            query, reason = next(iter(answers.failed.items()))
            text = f"{name} failed {len(answers.failed)} of {len(queries)} queries; {query}: "
            mend = "Ask it the same without Argus; --result-id names the field of ids."
            return HealthCheck("retriever", HealthState.BAD, text + reason, mend)
        back = {doc for ranking in answers.run.values() for doc in ranking}
        text = (
            f"{name} brought {len(back):,} documents for {len(queries)} queries, "
            f"{1e3 * took / len(queries):.0f} ms each"
        )
        if not back:
            mend = "See what it searches: it may be another collection, or an empty one."
            return HealthCheck("retriever", HealthState.BAD, text, mend)
        return self._known(text, back)

    def _known(self, text: str, back: set[str]) -> HealthCheck:
        """Say whether what came back are documents of the corpus, as far as all were read."""
        ids = {document.id for document in self.documents}
        partly = len(ids) >= READ or isinstance(self.parts.corpus, StoreCorpus)
        strangers = sorted(back - ids)
        if not ids or partly or not strangers:
            return HealthCheck("retriever", HealthState.GOOD, text)
        text += f"; {len(strangers)} of them are no documents, such as {strangers[0]!r}"
        state = HealthState.BAD if len(strangers) == len(back) else HealthState.NOTE
        mend = "Name the field of a result that holds the document's id: --result-id NAME."
        return HealthCheck("retriever", state, text, mend)

    def _questions(self) -> HealthCheck:
        if self.parts.queries is None:
            mend = "Name the questions with --queries, or leave --qrels out."
            return HealthCheck(
                "questions", HealthState.BAD, "judgements without their questions", mend
            )
        queries = {query.id for query in read_queries(Path(self.parts.queries))}
        text = f"{len(queries):,} questions"
        if self.parts.qrels is None:
            return HealthCheck("questions", HealthState.GOOD, f"{text}, not judged")
        qrels = read_judgements(self.parts.qrels)
        judged = queries & set(qrels)
        relevant = {doc for query in judged for doc, grade in qrels[query].items() if grade > 0}
        text += f", {len(judged):,} judged"
        if not judged:
            mend = "Ids of questions and judgements have to be the same."
            return HealthCheck("questions", HealthState.BAD, text, mend)
        return self._judged(text, relevant)

    def _judged(self, text: str, relevant: set[str]) -> HealthCheck:
        parent = self.parts.parent_field
        documents = [document.id for document in self.documents]
        ids = set(documents if parent is None else parent_ids(self.documents, parent))
        lacking = sorted(relevant - ids)
        if len(lacking) == len(relevant) and (name := self._field_of(relevant)) is not None:
            text += f"; they judge what the field {name!r} names, not the {len(documents):,} chunks"
            mend = f"Say so: --parent-field {name}."
            return HealthCheck("questions", HealthState.BAD, text, mend)
        if not ids or len(documents) in (READ, READ_OF_STORE) or not lacking:
            return HealthCheck("questions", HealthState.GOOD, text)
        text += f"; {len(lacking):,} of {len(relevant):,} relevant documents are not in the corpus"
        state = HealthState.BAD if len(lacking) == len(relevant) else HealthState.NOTE
        return HealthCheck(
            "questions", state, text, f"The first is {lacking[0]!r}: see --id-field."
        )

    def _field_of(self, relevant: set[str]) -> str | None:
        """Return the field of the documents that holds what is judged; None where none does."""
        fields = ((n, v) for d in self.documents for n, v in d.metadata.items())
        return next((name for name, value in fields if str(value) in relevant), None)


def check_language_model(config: ChatConfig | LocalConfig) -> HealthCheck:
    """Ask a language model one short prompt; its answer is not kept."""
    from argus.llm.ledger import Ledger
    from argus.llm.open import open_model
    from argus.llm.protocol import Prompt, State

    try:
        with TemporaryDirectory() as folder, closing(Ledger(Path(folder) / "ledger")) as ledger:
            model = open_model(config, ledger)
            (outcome,) = model.complete([Prompt("Answer with one word: yes.", max_tokens=64)])
    except EXPECTED as error:
        return HealthCheck.of_error("language model", error)
    if outcome.state is not State.OK:
        text = f"{config.label} did not answer: {outcome.reason}"
        mend = "See --llm-base-url, --api-key-env, and whether the endpoint serves that name."
        return HealthCheck("language model", HealthState.BAD, text, mend)
    answer = first_words(str(outcome.value).split())
    return HealthCheck("language model", HealthState.GOOD, f"{config.label} answers: {answer}")


def first_words(words: Sequence[str], most: int = 8) -> str:
    """Return how a text begins."""
    return " ".join(words[:most]) + (" ..." if len(words) > most else "")
