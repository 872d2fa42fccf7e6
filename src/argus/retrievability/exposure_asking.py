"""Search with the titles and held-out sentences of documents, by vectors, a retriever, or a run.

The searching step of `argus.retrievability.exposure` (`argus check`). A probe is a title or
sentence used as a query. `search_probes` compares its vector with all documents. `ask_probes` asks
a retriever, or reads the answers from a run made elsewhere. Both return the `Findings` of
`argus.retrievability.exposure_findings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import ranking
from argus.data.texts import holders
from argus.data.types import Document, IntArray, Query, Run
from argus.encoders import Encoder, Store, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.protocol import Rows, arrays_of, concatenate
from argus.engine import Engine, Work
from argus.errors import ArgusError
from argus.indexes import known_item_search, search
from argus.indexes.exact import Groups, RowLists, queries_per_block, scoring_of
from argus.jobs.workspace import Parts, Record, require_some
from argus.progress import progress
from argus.retrievability.config import ExposureConfig
from argus.retrievability.exposure_findings import (
    BEYOND,
    SENTENCE,
    Findings,
    Folded,
    Parents,
    Probes,
    fold,
    fold_lists,
    make_probes,
)
from argus.retrievers.config import DEEPER
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_of


class Block(NamedTuple):
    """Queries that are searched together, all with a target or all without (-1).

    stand_ins: rows that stand in for the targets' own. hidden: as in `known_item_search`.
    """

    vectors: Rows
    targets: IntArray
    stand_ins: Rows
    hidden: RowLists | None = None

    def part(self, rows: IntArray) -> Block:
        """Return some of the queries."""
        hidden = None if self.hidden is None else self.hidden.part(rows)
        return Block(self.vectors[rows], self.targets[rows], self.stand_ins[rows], hidden)


def embed_documents(
    documents: Sequence[Document], model: Encoder[Rows], store: Store[Rows]
) -> tuple[list[Document], Rows, dict[str, str]]:
    """Return documents that have a vector, the vectors, and of the others by id why they have none.

    documents: ordered by id.
    """
    usable = [d for d in documents if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    failures |= {d.id: "no text" for d in documents if not d.content.strip()}
    indexed = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    return indexed, embedded.vectors, failures


def embed_probes(
    indexed: tuple[list[Document], Rows, dict[str, str]],
    queries: Sequence[Query],
    config: ExposureConfig,
    model: Encoder[Rows],
    store: Store[Rows],
) -> tuple[Probes, Block]:
    """Embed titles and sentences, and each document less a sentence of it.

    indexed: as `embed_documents` returns it. queries: of no document. Returns the probes that have
    a vector, and their queries. Raises NothingMeasured where none can be embedded.
    """
    documents, vectors, failures = indexed
    probes, rests = make_probes(documents, queries, config, failures)
    texts = as_queries([query.text for query in probes.queries])
    embedded = embed(texts, model, store, what="titles and sentences")
    left = embed(as_documents(rests), model, store, what="documents less a sentence")
    is_sentence = probes.kind == SENTENCE
    of_sentence = np.flatnonzero(is_sentence).tolist()
    reasons = {of_sentence[i]: why for i, why in left.failures.items()} | embedded.failures
    usable = embedded.ok.copy()
    usable[is_sentence] &= left.ok
    first = reasons[min(reasons)] if reasons else ""
    require_some(int(usable.sum()), "probe has a vector", first)
    # A sentence sees the rest of its document, every other probe the document.
    rows = (np.cumsum(left.ok) - 1)[usable[is_sentence]]
    whole = vectors[np.maximum(probes.target[usable], 0)]
    kinds, targets = probes.kind.tolist(), probes.target.tolist()
    answered = replace(
        probes,
        kind=probes.kind[usable],
        target=probes.target[usable],
        queries=[query for query, ok in zip(probes.queries, usable, strict=True) if ok],
        failed=[(kinds[i], targets[i], why) for i, why in sorted(reasons.items())],
    )
    both: Any = concatenate([whole, left.vectors[rows]])
    order = np.arange(len(whole))
    order[is_sentence[usable]] = len(whole) + np.arange(len(rows))
    own = embedded.vectors[(np.cumsum(embedded.ok) - 1)[usable]]
    return answered, Block(own, answered.target, both[order])


def search_probes(
    documents: Rows,
    probes: Probes,
    queries: Block,
    parents: Parents | None,
    k: int,
    corpus: Sequence[Document],
    folder: ArtifactFolder,
    engine: Engine | None,
) -> tuple[Findings, Parts]:
    """Search with every probe. Return the findings, and the parts to be removed."""
    groups = None
    if parents is not None:
        groups = parents.groups
        queries = queries._replace(hidden=_siblings_with_sentence(probes, groups))
    found, parts = search_in_parts(documents, queries, k, folder, engine, groups)
    probes = replace(probes, rank=found["rank"], top=found["top"])
    if parents is None or queries.hidden is None:
        return Findings(corpus, probes, k), parts
    folded = fold(
        corpus, parents, probes, k,
        rank=found["group_rank"], top=fold_lists(found["top"], parents.groups.of),
        in_siblings=int((queries.hidden.of > 0).sum()),
    )  # fmt: skip
    return Findings(corpus, probes, k, folded), parts


def _siblings_with_sentence(probes: Probes, groups: Groups) -> RowLists:
    """Return, for each probe, the chunks of its document that hold the sentence that asks for it.

    Chunks may overlap: a sentence taken out of one would still stand in the next. List 0, of probes
    that no other chunk answers by itself, is empty. The others may hold the target.
    """
    by_group: dict[int, dict[str, list[int]]] = {}
    for i in np.flatnonzero(probes.kind == SENTENCE).tolist():
        of_group = by_group.setdefault(int(groups.of[probes.target[i]]), {})
        of_group.setdefault(probes.queries[i].text, []).append(i)
    of, lists = np.zeros(len(probes.queries), np.int64), [list[int]()]
    for group, asking in by_group.items():
        rows = groups.rows(group).tolist()
        holding = holders(list(asking), [probes.documents[row].text for row in rows])
        for own, places in zip(asking.values(), holding, strict=True):
            holds = [rows[place] for place in places]
            answered = [i for i in own if any(row != probes.target[i] for row in holds)]
            if answered:
                of[answered] = len(lists)
                lists.append(holds)
    return RowLists.of_queries(of, lists)


def search_in_parts(
    documents: Rows,
    queries: Block,
    k: int,
    folder: ArtifactFolder,
    engine: Engine | None = None,
    groups: Groups | None = None,
) -> tuple[dict[str, IntArray], Parts]:
    """Search with every query, but for those of parts that are on disk from before.

    Returns rank, (n,), 0 where there is no target, top, (n, k), and with groups, which are chunks
    by document, group_rank, (n,). And the parts, to be removed when the results are written. Their
    keys are all that determines them. Blocks are those of `known_item_search`, so that its results
    do not depend on where they are made.
    """
    arrays = [*arrays_of(documents), *arrays_of(queries.vectors), queries.targets]
    arrays += arrays_of(queries.stand_ins)
    arrays += [] if groups is None else [groups.of]
    hidden = queries.hidden
    arrays += [] if hidden is None else [hidden.of, hidden.starts, hidden.rows]
    key = content_hash(*(np.ascontiguousarray(a).data for a in arrays), str(k), size=8).hex()
    parts, n, size = Parts(folder, f"search-{key}"), len(queries.targets), len(documents)
    own, step = queries.targets >= 0, queries_per_block(size)
    blocks = [  # of the queries with a target, then of those without
        rows[start : start + step]
        for rows in (np.flatnonzero(own), np.flatnonzero(~own))
        for start in range(0, len(rows), step)
    ]
    missing = [number for number in range(len(blocks)) if number not in parts]
    pending = (queries.part(blocks[number]) for number in missing)
    shared = documents, k, groups
    with progress("searching", n, done=n - sum(len(blocks[i]) for i in missing)) as advance:
        if missing and engine is not None:
            work = Work(setup=begin_search, shared=shared, what="searching")
            results = engine.run(work, pending)
        else:
            results = enumerate(map(begin_search(shared), pending) if missing else ())
        for i, arrays_of_part in results:
            parts.write(missing[i], arrays_of_part)
            advance(len(arrays_of_part["rank"]))
    whole = {"rank": np.zeros(n, np.int64), "top": np.zeros((n, min(k, size)), np.int64)}
    if groups is not None:
        whole["group_rank"] = np.zeros(n, np.int64)
    for number, rows in enumerate(blocks):
        for name, values in parts.read(number).items():
            whole[name][rows] = values
    return whole, parts


def begin_search(shared: tuple[Any, int, Groups | None]) -> Callable[[Block], dict[str, IntArray]]:
    """Return, in a worker, the search with a block of queries."""
    rows, k, groups = shared
    documents = scoring_of(np.asarray(rows) if isinstance(rows, np.ndarray) else rows)

    def answer(block: Block) -> dict[str, IntArray]:
        if block.targets[0] < 0:
            top = search(block.vectors, documents, k).rows
            none = np.zeros(len(top), np.int64)
            found = {"rank": none, "top": top, "group_rank": none}
        else:
            known = known_item_search(
                block.vectors, documents, block.targets, k,
                target_vectors=block.stand_ins, groups=groups, hidden=block.hidden,
            )  # fmt: skip
            found = {"rank": known.rank, "top": known.top.rows}
            if known.group_rank is not None:
                found["group_rank"] = known.group_rank
        if groups is None:
            found.pop("group_rank", None)
        return found

    return answer


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
        "name": name, "held_out": False, "longest_list": max(map(len, lists), default=0),
        "strange": sum(id_ not in rows for ids in lists for id_ in ids),
        "kept": note["kept"], "reasons": note["reasons"],
    }  # fmt: skip
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
