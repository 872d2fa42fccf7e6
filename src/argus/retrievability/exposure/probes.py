"""Make the probes that ask for documents: by title, by sentence, and by given queries."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from argus.data.fields import read_parents
from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray, Query
from argus.jobs.workspace import require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.sentences import hold_out

TITLE, SENTENCE, QUERY = "title", "sentence", "query"
BEYOND = np.iinfo(np.int64).max  # rank of a document that is not in a list that ends


@dataclass(frozen=True, kw_only=True)
class Probes:
    """Probes for documents, and the lists that they bring back. Arrays have shape (n_probes, ...).

    documents: those that can be retrieved, ordered by id. Rows refer to them.
    drawn: rows of those that are asked for. None: all.
    without_sentence: row to why no sentence of the document asks for it.
    failures: id of every other document of the corpus to why it cannot be retrieved.
    kind: "title", "sentence", or "query" for a given query that belongs to no document.
    target: row of the document that a probe should bring back. -1 for given queries.
    queries: text and id of each. The id is the kind with a hash of document and text: an answer to
    another probe is never taken for its own.
    rank: 1-based rank of the target. 0 where there is none, BEYOND where a retriever's list ends.
    top: rows returned, best first, (n_probes, k). -1 after the end, and for strange ids.
    failed: probes without an answer, and so not among these: kind, target and reason.
    """

    documents: Sequence[Document]
    kind: npt.NDArray[np.str_]
    target: IntArray
    queries: Sequence[Query]
    drawn: IntArray | None = None
    without_sentence: Mapping[int, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    rank: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    top: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    failed: Sequence[tuple[str, int, str]] = ()


def make_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    failures: Mapping[str, str],
) -> tuple[Probes, list[str]]:
    """Return titles, then sentences, then the given queries, and the texts less each sentence.

    With `config.sample` titles and sentences are of the documents that are drawn. Raises
    NothingMeasured where there is nothing to ask with.
    """
    drawn = _draw(documents, config)
    rows = range(len(documents)) if drawn is None else drawn.tolist()
    titled = [row for row in rows if documents[row].title.strip()]
    sentences, reasons = hold_out(
        [documents[row] for row in rows], per_document=config.sentences, seed=config.seed
    )
    asking = [rows[one.position] for one in sentences]
    probes = [(TITLE, documents[row].id, documents[row].title) for row in titled]
    probes += [(SENTENCE, documents[rows[s.position]].id, s.sentence) for s in sentences]
    probes += [(QUERY, query.id, query.text) for query in queries]
    require_some(
        len(probes),
        "document has a title, or a sentence to be held out",
        "Name the field of titles with --title-field; a sentence needs another beside it.",
    )
    times: Counter[str] = Counter()  # a pair that comes again is numbered
    named = []
    for kind, id_, text in probes:
        name = f"{kind}-{content_hash(id_, text, size=8).hex()}"
        times[name] += 1
        named.append(Query(f"{name}-{times[name]}" if times[name] > 1 else name, text))
    made = Probes(
        documents=documents,
        kind=np.array([kind for kind, _, _ in probes]),
        target=np.array([*titled, *asking, *[-1] * len(queries)], np.int64),
        queries=named,
        drawn=drawn,
        without_sentence={rows[place]: why for place, why in reasons.items()},
        failures=failures,
    )
    return made, [sentence.rest for sentence in sentences]


def _draw(documents: Sequence[Document], config: ExposureConfig) -> IntArray | None:
    """Return the rows of `config.sample` documents in rising order. None where all are asked for.

    Drawn by a hash of ids and seed, so that the same are drawn whatever else the corpus holds or
    in which order. Of chunks, documents are drawn, each with all of its chunks.
    """
    if config.sample is None:
        return None
    of_chunk = read_parents(documents, config.parent_field)
    units = [of_chunk.get(document.id, document.id) for document in documents]
    if config.sample >= len(distinct := set(units)):
        return None
    seed = str(config.seed)
    drawn = set(
        heapq.nsmallest(
            config.sample, distinct, key=lambda id_: (content_hash(seed, id_, size=8), id_)
        )
    )
    return np.array([row for row, unit in enumerate(units) if unit in drawn], np.int64)
