"""Write search results: DPR JSON, KILT JSONL, and a run that the other commands take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking, write_run
from argus.data.topics import INDENT, DprPassage, DprResult, write_dpr, write_kilt
from argus.data.types import Document, Run, Topic
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
            yield DprResult(topic, tuple(self._passages(answer)))

    def run(self) -> Run:
        """Return documents and scores of all questions."""
        return {t.query.id: {hit.doc_id: hit.score for hit in a.hits} for t, a in self}

    def _passages(self, answer: Answer) -> Iterator[DprPassage]:
        for hit in answer.hits:
            keys = tuple((key.text, key.count, key.weight) for key in hit.keys)
            yield DprPassage(hit.doc_id, *shown(hit, self.originals), hit.score, keys)


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
            path = _write_run(results.run(), folder)
        files[str(name)] = str(path)
    return files


def _write_run(run: Run, folder: ArtifactFolder) -> Path:
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
    rows = []
    for topic, answer in results:
        first = answer.hits[0] if answer.hits else None
        rows.append(
            {
                "query_id": topic.query.id,
                "question": topic.query.text,
                "hits": len(answer.hits),
                "first": first.doc_id if first else None,
                "title": shown(first, results.originals)[0] if first else None,
                "score": first.score if first else None,
                "keys": " · ".join(key.text.strip() for key in first.keys[:SHOWN_KEYS])
                if first
                else None,
                "n_keys": len(first.keys) if first else 0,
            }
        )
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
    sums: dict[str, float] = {}
    for _, answer in results:
        for hit in answer.hits[:SHARED_HITS]:
            for key in hit.keys:
                sums[key.view] = sums.get(key.view, 0.0) + key.weight
    total = sum(sums.values())
    if not total:
        return {}
    return {view: round(weight / total, 4) for view, weight in sorted(sums.items())}
