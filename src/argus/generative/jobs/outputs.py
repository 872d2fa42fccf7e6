"""Write search results: DPR JSON, KILT JSONL, and a run that the other commands take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.documents import INDENT, DprPassage, DprResult, write_dpr, write_kilt
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking, write_run
from argus.data.types import Document, Topic
from argus.generative.answer import Answer, Hit
from argus.generative.settings import Format

TABLE = "generative_search"
RUN, RUN_JSON, DPR, KILT = "run.trec", "run.json", "dpr.json", "kilt.jsonl"
SHOWN_KEYS = 5
"""N-grams shown of the first hit, in the table of questions."""
SHARED_HITS = 10
"""Hits of each question that the views' shares of the score are taken over."""


@dataclass(frozen=True)
class Results:
    """Answers in the order of their questions, read anew in each loop.

    originals: documents by id, whose own texts are shown. Empty where there are only tokens.
    """

    topics: Sequence[Topic]
    answer: Callable[[Topic], Answer]
    originals: Mapping[str, Document]

    def __iter__(self) -> Iterator[tuple[Topic, Answer]]:
        """Yield every question with its answer."""
        for topic in self.topics:
            yield topic, self.answer(topic)

    def dpr(self) -> Iterator[DprResult]:
        """Yield every question with its passages."""
        for topic, answer in self:
            passages = tuple(
                DprPassage(
                    hit.doc_id, *shown(hit, self.originals), hit.score,
                    tuple((key.text, key.count, key.weight) for key in hit.keys),
                )
                for hit in answer.hits
            )  # fmt: skip
            yield DprResult(topic, passages)


def shown(hit: Hit, originals: Mapping[str, Document]) -> tuple[str, str]:
    """Return title and text of a passage: of its document if that is given, else by tokens."""
    original = originals.get(hit.doc_id)
    return (hit.title, hit.text) if original is None else (original.title, original.text)


def write_results(
    results: Results, folder: ArtifactFolder, formats: Iterable[Format], *, compact: bool
) -> dict[str, str]:
    """Write the results in every format. Return the files by format.

    A run whose ids hold white space, which no TREC file can, is written as JSON.
    """
    files = {}
    for name in dict.fromkeys(formats):
        if name is Format.DPR:
            path = write_dpr(folder.own(DPR), results.dpr(), indent=None if compact else INDENT)
        elif name is Format.KILT:
            path = write_kilt(folder.own(KILT), results.dpr())
        else:
            path = _write_run(results, folder)
        files[str(name)] = str(path)
    return files


def _write_run(results: Results, folder: ArtifactFolder) -> Path:
    run = {t.query.id: answer.scores() for t, answer in results}
    ids = (*run, *(doc for scores in run.values() for doc in scores))
    if all(id_.split() == [id_] for id_ in ids):
        write_run(folder.own(RUN), run)
        (folder / RUN_JSON).unlink(missing_ok=True)
        return folder / RUN
    ranked = {query: {d: scores[d] for d in ranking(scores)} for query, scores in run.items()}
    (folder / RUN).unlink(missing_ok=True)
    return folder.write_json(RUN_JSON, ranked)


def questions_table(results: Results) -> pa.Table:
    """Return one row per question of a generative model.

    hits: passages that came back.
    first: id of the first one. Null without any.
    title: its title.
    score: its score.
    keys: its five heaviest n-grams, parted by " · ".
    n_keys: n-grams that it was found by.
    """
    rows: list[dict[str, Any]] = []
    for topic, answer in results:
        row: dict[str, Any] = {"query_id": topic.query.id, "question": topic.query.text}
        row |= {"hits": len(answer.hits), "n_keys": 0}
        for hit in answer.hits[:1]:
            row |= {"first": hit.doc_id, "title": shown(hit, results.originals)[0]}
            heaviest = " · ".join(key.text.strip() for key in hit.keys[:SHOWN_KEYS])
            row |= {"score": hit.score, "keys": heaviest, "n_keys": len(hit.keys)}
        rows.append(row)
    schema = pa.schema(
        {
            "query_id": pa.string(), "question": pa.string(), "hits": pa.int64(),
            "first": pa.string(), "title": pa.string(), "score": pa.float64(),
            "keys": pa.string(), "n_keys": pa.int64(),
        }
    )  # fmt: skip
    return pa.Table.from_pylist(rows, schema)


def view_shares(results: Results) -> dict[str, float]:
    """Return each view's share of the weights that make the scores of the first hits."""
    sums: defaultdict[str, float] = defaultdict(float)
    for _, answer in results:
        for hit in answer.hits[:SHARED_HITS]:
            for key in hit.keys:
                sums[key.view] += key.weight
    total = sum(sums.values())
    return {view: round(w / total, 4) for view, w in sorted(sums.items())} if total else {}
