"""Ask a retriever for probes, or read its answers from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError
from argus.jobs.workspace import Record, require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings, Folded, Parents, fold
from argus.retrievability.exposure.probes import BEYOND, Probes, make_probes
from argus.retrievers.config import DEEPER
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_of


def probes_of_texts(
    documents: Sequence[Document], queries: Sequence[Query], config: ExposureConfig
) -> Probes:
    """Return titles, sentences that stay in their documents, and queries.

    documents: ordered by id. Raises NothingMeasured where there is nothing to ask for or with.
    """
    usable = [d for d in documents if d.content.strip()]
    require_some(len(usable), "document has text", "Check --text-field.")
    failures = {d.id: "no text" for d in documents if not d.content.strip()}
    return make_probes(usable, queries, config, failures)[0]


def ask_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    of_chunk: Mapping[str, str],
    source: Answerer,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[Findings, dict[str, Any]]:
    """Return the findings of the answers, and the summary's part about the retriever.

    of_chunk: as `read_parents` returns it. Raises ArgusError where no probe is answered, InputError
    where no result is a document.
    """
    probes, k = probes_of_texts(documents, queries, config), config.k
    parents = None
    if config.parent_field is not None:
        parents = Parents.of(config.parent_field, of_chunk, probes.documents)

    def ask(queries: Sequence[Query], k: int) -> tuple[str, Answers]:
        return answers_of(
            source, queries, k, documents=documents, folder=folder, record=record, what="probes"
        )

    with record.timed("asking"):
        name, answers = ask(probes.queries, k)
    known = dict.fromkeys([*(d.id for d in documents), *(parents.ids if parents else ())])
    require_known(answers.run, known, name)
    rows = {document.id: row for row, document in enumerate(probes.documents)}
    answered = np.array([query.id in answers.run for query in probes.queries], bool)
    queries_answered = [query for query, ok in zip(probes.queries, answered, strict=True) if ok]
    lists = [ranking(answers.run[query.id])[:k] for query in queries_answered]
    top = np.full((len(lists), k), -1, np.int64)
    for i, ids in enumerate(lists):
        top[i, : len(ids)] = [rows.get(id_, -1) for id_ in ids]
    target = probes.target[answered]
    hits = (top == target[:, None]) & (target[:, None] >= 0)
    places = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, BEYOND)
    ranked = replace(
        probes,
        kind=probes.kind[answered],
        target=target,
        queries=queries_answered,
        rank=np.where(target >= 0, places, 0),
        top=top,
        failed=[
            (str(probes.kind[i]), int(probes.target[i]), answers.failed[probes.queries[i].id])
            for i in np.flatnonzero(~answered).tolist()
        ],
    )
    note = note_of(name, answers)
    facts: dict[str, Any] = {
        "name": name,
        "held_out": False,
        "longest_list": max(map(len, lists), default=0),
        "strange": sum(id_ not in rows for ids in lists for id_ in ids),
        "kept": note["kept"],
        "reasons": note["reasons"],
    }
    folded = None
    if parents is not None:
        again = None if source.run is not None else lambda queries, k: ask(queries, k)[1].run
        folded, counts = fold_answers(documents, ranked, answers.run, parents, k, again)
        facts |= counts
        facts["strange"] -= counts["whole_documents"]
    if answers.warning:
        facts["warning"] = answers.warning
    return Findings(documents, ranked, k, folded), {"text_window": None, "retriever": facts}


def fold_answers(
    corpus: Sequence[Document],
    probes: Probes,
    run: Run,
    parents: Parents,
    k: int,
    ask: Callable[[Sequence[Query], int], Run] | None,
) -> tuple[Folded, dict[str, int]]:
    """Rank every probe's document among the documents of its list.

    ask: asks the same retriever again. None where nobody can. Also returned, for the summary:
    whole_documents, results within k that are a document and not a chunk, and undecided, probes
    whose list ends before it holds k documents, or their own.
    """
    of = parents.groups.of
    chunks = {document.id: int(of[row]) for row, document in enumerate(probes.documents)}
    places = {id_: place for place, id_ in enumerate(parents.ids)}

    def documents(ids: Sequence[str]) -> list[int | str]:
        """Return documents, each in its first place. Of anything else, the id."""
        return list(dict.fromkeys(chunks.get(id_, places.get(id_, id_)) for id_ in ids))

    target = probes.target
    own = np.where(target >= 0, of[target], -1).tolist()
    results = [ranking(run[query.id]) for query in probes.queries]
    lists = [documents(ids) for ids in results]
    unsure = [
        i
        for i, document in enumerate(own)
        if document >= 0 and document not in lists[i] and len(lists[i]) < k <= len(results[i])
    ]
    if unsure and ask is not None:
        try:
            deeper = ask([probes.queries[i] for i in unsure], DEEPER * k)
        except ArgusError:  # a retriever that gives no deeper lists
            deeper = {}
        for i in unsure:
            lists[i] = documents(ranking(deeper.get(probes.queries[i].id, {}))) or lists[i]
    rank, top = np.zeros(len(own), np.int64), np.full((len(own), k), -1, np.int64)
    for i, document in enumerate(own):
        if document >= 0:
            rank[i] = lists[i].index(document) + 1 if document in lists[i] else BEYOND
        # A run may be deeper, but figures are of k chunks.
        rows = [row for row in documents(results[i][:k]) if isinstance(row, int)]
        top[i, : len(rows)] = rows
    whole = sum(id_ in places for ids in results for id_ in ids[:k] if id_ not in chunks)
    undecided = sum(rank[i] == BEYOND and len(lists[i]) < k for i in unsure)
    folded = fold(corpus, parents, probes, k, rank=rank, top=top)
    return folded, {"whole_documents": whole, "undecided": int(undecided)}
