"""A retriever of Argus as a `BaseSearch` of BEIR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from beir.retrieval.search.base import BaseSearch

from argus.data.types import Run
from argus.errors import InputError
from argus.retrievers.outward.source import Backend, document_of, query_of, rows_in


class BeirSearch(BaseSearch):  # type: ignore[misc, unused-ignore]
    """What `EvaluateRetrieval` asks. Similarity is the retriever's own: no score function counts.

    An index has its vectors already, so there is nothing to encode into files and search there.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def search(
        self,
        corpus: Mapping[str, Mapping[str, str]],
        queries: Mapping[str, str],
        top_k: int,
        score_function: str | None = None,
        **_: Any,
    ) -> Run:
        """Return documents and scores per query.

        An index has to be of the corpus; a function makes a retriever of each corpus once.
        """
        rows = rows_in(corpus, "corpus", "{id: {'text': ..., 'title': ...}}")
        self._backend.take([document_of(id_, row) for id_, row in rows])
        texts = rows_in(queries, "queries", "{id: text}")
        return self._backend.run([query_of(id_, text) for id_, text in texts], top_k)

    def encode(self, *_: Any, **__: Any) -> NoReturn:
        """Raise InputError: an index has its vectors."""
        raise self._has_vectors()

    def search_from_files(self, *_: Any, **__: Any) -> NoReturn:
        """Raise InputError: an index has its vectors."""
        raise self._has_vectors()

    def _has_vectors(self) -> InputError:
        return InputError(
            "vectors in files",
            expected="EvaluateRetrieval.retrieve: an index has its vectors already",
            fix="Call retrieve in place of encode_and_retrieve.",
            where=self._backend.name,
        )
