"""A retriever of Argus as a transformer of PyTerrier: pure Python, no Java is started."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyterrier as pt

from argus.data.types import Query, Run
from argus.errors import InputError
from argus.indexes.snapshot import check_k
from argus.retrievers.outward.source import Backend, ids_in, query_of

MEASURED = ("score", "rank")
Frame = Any  # of pandas, which has no types here


class TerrierSearch(pt.Transformer):  # type: ignore[misc, unused-ignore]
    """Queries (qid, query) to results (docno, score, rank); with docno, these are ranked anew."""

    def __init__(self, backend: Backend, k: int) -> None:
        super().__init__()
        check_k(k)
        self._backend, self.k = backend, k
        self.name = backend.name

    def __repr__(self) -> str:
        return f"argus({self.name})"

    def transform(self, inp: Frame) -> Frame:
        """Return the results of all queries, best first; columns of the queries stay with them.

        A frame with `docno` holds candidates: what the retriever does not find among all documents
        is left out. Raises InputError for rows that are there twice, and two texts of one query.
        """
        with pt.validate.any(inp, context=self) as form:
            form.result_frame(extra_columns=["query"], mode="rerank")
            form.query_frame(extra_columns=["query"], mode="retrieve")
        frame = inp.drop(columns=[name for name in MEASURED if name in inp.columns])
        frame = frame.astype({name: str for name in ("qid", "docno") if name in frame.columns})
        _check_rows(frame, ["qid", "docno"] if form.mode == "rerank" else ["qid"])
        unique = frame.drop_duplicates(["qid", "query"])
        queries = [query_of(*row) for row in zip(unique["qid"], unique["query"], strict=True)]
        if form.mode != "rerank":
            return frame.merge(_results(self._backend.run(queries, self.k)), on="qid")
        results = _results(self._reranked(queries, frame))
        return results.merge(frame, on=["qid", "docno"])[[*frame.columns, *MEASURED]]

    def _reranked(self, queries: list[Query], frame: Frame) -> Run:
        candidates = {query: set(group["docno"]) for query, group in frame.groupby("qid")}
        most = max(map(len, candidates.values()), default=1)
        index = self._backend.index
        deep = self.k if index is None else len(ids_in(index))
        return self._backend.rerank(queries, candidates, most, max(deep, most))


def _check_rows(frame: Frame, names: list[str]) -> None:
    """Raise InputError for a second row of a query, or of one of its candidates."""
    twice = frame[frame.duplicated(names)]
    if len(twice):
        row = ", ".join(f"{name} {twice.iloc[0][name]!r}" for name in names)
        raise InputError(
            f"{len(twice):,} rows are there twice, such as {row}",
            expected=f"one row per {' and '.join(names)}",
            fix=f"drop_duplicates({names}), or give queries ids of their own.",
        )


def _results(run: Run) -> Frame:
    columns = ["qid", "docno", *MEASURED]
    rows = [
        (qid, document, score, rank)
        for qid, scores in run.items()
        for rank, (document, score) in enumerate(scores.items(), start=pt.model.FIRST_RANK)
    ]
    types = {"qid": str, "docno": str, "score": float, "rank": int}
    return pd.DataFrame(rows, columns=columns).astype(types)
