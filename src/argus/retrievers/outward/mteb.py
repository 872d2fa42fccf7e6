"""A retriever of Argus as a search model of mteb (2.x, SearchProtocol)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mteb.models.model_meta import ModelMeta

from argus.data.types import Query, Run
from argus.retrievers.outward.source import Backend, document_of, query_of

REVISION = "argus"
Table = Any  # of `datasets`: rows as dictionaries
_ODD = re.compile(r"[^\w.+@=-]+")


class MtebSearch:
    """What mteb asks: `index` once per corpus, then `search`."""

    def __init__(self, backend: Backend, name: str = "") -> None:
        self._backend, self._name, self._documents = backend, name, 0

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """Under which name and revision mteb keeps the results."""
        name = self._name or f"argus/{_ODD.sub('-', self._backend.name).strip('-')}"
        return ModelMeta.create_empty({"name": name, "revision": self._revision()})

    def index(self, corpus: Table, **_: Any) -> None:
        """Take a task's corpus: an index has to be of it, a function makes a retriever of it."""
        documents = [document_of(row["id"], row) for row in corpus]
        self._documents = len(documents)
        self._backend.take(documents)

    def search(
        self,
        queries: Table,
        *,
        top_k: int,
        top_ranked: Mapping[str, list[str]] | None = None,
        **_: Any,
    ) -> Run:
        """Return documents and scores per query; of a reranking task only its candidates."""
        questions = list(_queries(queries))
        if top_ranked is not None:
            candidates = {str(query): set(map(str, ids)) for query, ids in top_ranked.items()}
            return self._backend.rerank(questions, candidates, top_k, max(self._documents, top_k))
        return self._backend.run(questions, top_k)

    def _revision(self) -> str:
        """Name the state of an index, so that results of another are not taken for its own."""
        retriever = self._backend.index
        if retriever is None:
            return REVISION
        index = retriever.index
        return "-".join(filter(None, (retriever.as_of or "now", str(index.version), index.made)))


def _queries(table: Iterable[Mapping[str, Any]]) -> Iterable[Query]:
    """Yield queries, each with its own instruction after it where it has one, as mteb does."""
    for row in table:
        query, wording = query_of(row["id"], row["text"]), row.get("instruction") or ""
        yield replace(query, text=f"{query.text} {wording}".strip()) if wording else query
