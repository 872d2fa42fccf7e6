"""Write the records of a remedy beside the documents of a vector store, and take them out exactly.

The records go into a collection of their own, `COLLECTION_argus`, or one that you name. `deliver`
writes those that are missing, searches for them by their own vectors and writes the receipt of
`argus remedy write` and `argus remedy blend --store`. `rollback_in_store` removes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from argus.commands import carry, command
from argus.corpora.stored import OfStore
from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.errors import ArgusError, InputError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.progress import progress
from argus.reach import ReachConfig, Reached, UnreachedRecord, reach
from argus.remedies.blend import BlendDocuments, describe_sentences
from argus.remedies.store_records import DOCUMENT, RemedyRecords
from argus.remedies.undo import ListedRemedy
from argus.reports import write_report
from argus.reports.section import Section
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Payload, Store, WritableStore, sibling_name, writable
from argus.stores.records import FIELDS, KIND, PARENT, REMEDY, is_of_remedy
from argus.stores.spec import BLENDED, StoreConfig

JOB = "written"
BEGUN = "writing.json"  # in the output folder while a command has not run to its end
SUFFIX = "_argus"
READ_SIZE = 2_000  # payloads that are read at once
WRITE_SIZE, WRITE_NUMBERS = 1_000, 400_000  # records and vector components of a request, at most
WRITE_BYTES = 8_000_000  # of payloads as JSON in a request
DELETE_SIZE = 1_000
REACH_SAMPLE = 2_000  # records that are searched for, drawn at random from more


class WrittenCounts(TypedDict):
    """Records of a remedy.

    documents: documents that have records.
    views: records that are not a document's own vector, by kind of view.
    records: records of the remedy.
    written: records that this command wrote.
    there_before: records that an earlier command had written.
    bytes: bytes of their vectors.
    """

    documents: int
    views: dict[str, int]
    records: int
    written: int
    there_before: int
    bytes: int


class WrittenReach(TypedDict):
    """Records that the store returns for their own vectors.

    causes: records that did not come back, by cause.
    examples: the first records that did not come back.
    """

    k: int
    reached: Reached
    causes: dict[str, int]
    examples: list[UnreachedRecord]


class WrittenSentences(TypedDict):
    """Sentences of a store's documents.

    max_views: most sentence views of a document.
    failed: sentences that could not be embedded.
    """

    max_views: int
    documents: BlendDocuments
    failed: int


class WrittenSource(TypedDict):
    """Origin of the records: a blend of the store's documents, or a state of an index.

    index: index whose state it is. None without one.
    remedies: remedies of the index that the records hold.
    settings: settings of the blend, if there is one.
    weight: weight λ of documents against scenarios. None without.
    left_out: documents without a whole vector, or that the store lacks.
    sentences: None if an index was written.
    """

    index: str | None
    remedies: list[str]
    settings: dict[str, float] | None
    weight: float | None
    left_out: int
    sentences: WrittenSentences | None


class WrittenSummary(WrittenSource, OfStore):
    """Records of a remedy in a store.

    store: store of the documents.
    collection: collection of the records.
    others: other remedies whose records are in the collection.
    """

    remedy: str
    store: str
    collection: str
    counts: WrittenCounts
    others: list[str]
    reach: WrittenReach
    seconds: float


class StoreRollback(TypedDict):
    """A rollback in a store.

    collection: collection of the records.
    records_removed: records that were removed.
    collection_removed: true if Argus made the collection and it was empty.
    """

    remedy: str
    collection: str
    records_removed: int
    collection_removed: bool
    at: str


@dataclass(frozen=True, repr=False)
class WrittenResult(Result):
    """Records of a remedy in a store. Everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    summary: WrittenSummary
    undo: str
    """The command that takes the records out again."""
    python: str
    """The Python expression that serves them."""

    def headline(self) -> Iterator[str]:
        """Yield the figures that matter."""
        return headline(self.summary)

    def last_lines(self) -> Iterator[str]:
        """Yield the records that did not come back, how to search with them, and how to undo."""
        reached = self.summary["reach"]["reached"]
        if missing := reached["asked"] - reached["reached"]:
            yield (
                f"WARNING: {missing:,} of {reached['asked']:,} records cannot be reached by their "
                f"own vectors: {self.folder / self.remedy / 'unreached.csv'} names them, and why"
            )
        collection = self.summary["collection"]
        words = shlex.join(["--retriever", f"{BLENDED}{collection}", *carry("explain")])
        yield f"To search with it: {words} in every command that has a retriever; in Python:"
        yield from describe_serving(self.python)
        yield f"To undo it: {self.undo}"


def blended_retriever(*arguments: str, **named: str | None) -> str:
    """Return the expression of a `BlendedRetriever`. Arguments that are None are left out."""
    given = [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return f"argus.BlendedRetriever({', '.join([*arguments, *given])})"


def describe_serving(expression: str) -> Iterator[str]:
    """Yield the two lines of Python that serve a blend in place of a retriever."""
    yield f"  retriever = {expression}"
    yield '  documents = retriever.invoke("your question")'


def open_home(store: WritableStore, into: str | None) -> WritableStore | None:
    """Open the collection of a store's remedies. None if there is none yet."""
    name = into or store.collection + SUFFIX
    return store if name == store.collection else store.sibling(name)


def make_home(store: WritableStore, into: str | None) -> WritableStore:
    """Open the collection of a store's remedies, or make it.

    Raises InputError for one of another dimension, ranked by distances, or without the fields of
    the records. Raises ArgusError if none can be made.
    """
    there = open_home(store, into)
    if there is None:
        name = into or store.collection + SUFFIX
        try:
            return store.make_sibling(name)
        except ArgusError as error:
            raise ArgusError(
                f"{error}\nThe collection {name} could not be made, so nothing was written. Ask "
                "for the right to make it, or name one that is there with --into."
            ) from error
    facts, own = there.describe(), store.describe()
    if facts.dim not in (0, own.dim):
        raise InputError(
            f"vectors of {facts.dim} dimensions",
            expected=f"{own.dim}, as {store.name} has",
            fix="Name another collection with --into, or leave it out.",
            where=there.name,
        )
    if facts.metric is Metric.L2:
        raise InputError(
            "ranks by distances (l2)", expected="cosine, or dot product: the records are scaled",
            fix="Leave --into out: Argus makes a collection of its own.", where=there.name,
        )  # fmt: skip
    columns = there.columns
    needed = dict.fromkeys([*FIELDS, *(store.columns or ())])
    if columns is not None and (missing := [name for name in needed if name not in columns]):
        raise InputError(
            f"no column {', '.join(missing)}",
            expected="the columns of the documents, and those of a remedy's records",
            fix="Roll back what is in it (argus remedy list, argus remedy rollback): it is made "
            "again with them; or add them to the table."
            if there.name == sibling_name(store.name, store.collection + SUFFIX)
            else "Add them (texts; argus_scale and argus_penalty are numbers), or leave --into "
            "out.",
            where=there.name,
        )
    return there


def ids_of(store: WritableStore, remedy: str) -> list[str]:
    """Return the ids of a remedy's records."""
    if store.columns is not None and REMEDY not in store.columns:
        return []
    pages = store.payloads(READ_SIZE, {REMEDY: remedy})
    return [id_ for ids, _ in pages for id_ in ids]


def remedies_in(store: WritableStore) -> dict[str, list[tuple[str, str]]]:
    """Return parent and kind of each record by remedy, in the order of the remedies' ids."""
    remedies: dict[str, list[tuple[str, str]]] = {}
    for _, payloads in store.payloads(READ_SIZE):
        for payload in payloads:
            if remedy := payload.get(REMEDY):
                entry = (str(payload.get(PARENT)), str(payload.get(KIND)))
                remedies.setdefault(str(remedy), []).append(entry)
    return dict(sorted(remedies.items()))


def parent_payloads(store: WritableStore) -> dict[str, Payload]:
    """Return the payloads of the user's own records, by id."""
    return {
        id_: payload
        for ids, payloads in store.payloads(READ_SIZE)
        for id_, payload in zip(ids, payloads, strict=True)
        if not is_of_remedy(payload)
    }


def write_records(
    store: WritableStore, records: RemedyRecords, payloads: Mapping[str, Payload], *, undo: str
) -> None:
    """Write the records that are not in the store yet. No other record is changed.

    payloads: of the parents, by id. undo: the command that takes the records out. Raises ArgusError
    if the store fails, with the number of records that are in it. The same call writes the rest.
    """
    before = frozenset(ids_of(store, records.remedy))
    size = max(1, min(WRITE_SIZE, WRITE_NUMBERS // max(1, records.vectors.shape[1])))
    done = len(before)
    batches = records.batches(store, payloads, size, max_bytes=WRITE_BYTES, without=before)
    with progress(f"writing into {store.name}", len(records), done=done) as advance:
        for batch in batches:
            try:
                store.upsert(batch)
            except ArgusError as error:
                raise ArgusError(
                    f"{error}\n{done:,} of {len(records):,} records of {records.remedy} are in "
                    "it, and no record of yours was changed. Run the same command again to write "
                    f"the rest, or `{undo}` to take them out."
                ) from error
            done += len(batch.ids)
            advance(len(batch.ids))


def deliver(
    store: WritableStore,
    target: WritableStore,
    into: str | None,
    records: RemedyRecords,
    payloads: Mapping[str, Payload],
    source: WrittenSource,
    *serving: str,
    folder: ArtifactFolder,
    record: Record,
    **named: str | None,
) -> WrittenResult:
    """Write the missing records, search for all of them, and write the receipt.

    target: the collection of the records. into: its name, if you named it. payloads: of the
    parents, by id. serving, named: arguments of `BlendedRetriever` beside the collection. The
    results of `reach` go into OUT/REMEDY. Raises ArgusError if the store fails, or does not hold
    all records that it accepted.
    """
    remedy, place = records.remedy, [] if into is None else ["--into", into]
    words = ["--store", store.name, *place, *carry("remedy rollback")]
    undo = command("remedy", "rollback", remedy, *words)
    with record.timed("writing"):
        before = _count_before(target, records, folder)
        write_records(target, records, payloads, undo=undo)
    with record.timed("asking for what was written"):
        reached = _search_for(target, records, folder / remedy)
    kinds = sorted({*records.kinds} - {DOCUMENT})
    summary: WrittenSummary = {
        "remedy": remedy,
        "store": store.name,
        "collection": target.name,
        "counts": {
            "documents": len({*records.parents}),
            "views": {kind: records.kinds.count(kind) for kind in kinds},
            "records": len(records),
            "written": len(records) - before,
            "there_before": before,
            "bytes": int(records.vectors.nbytes),
        },
        "others": [name for name in remedies_in(target) if name != remedy],
        "reach": reached,
        **source,
        "seconds": round(sum(record.timings_s.values()), 1),
        **record.of_store(),
    }
    folder.write_results(JOB, summary, record.manifest(summary["counts"]))
    report = write_report(folder.path)
    (folder / BEGUN).unlink(missing_ok=True)  # last: until then the same command goes on
    python = blended_retriever(repr(target.name), *serving, **named)
    return WrittenResult(remedy, folder.path, report, summary, undo, python)


def _count_before(target: WritableStore, records: RemedyRecords, folder: ArtifactFolder) -> int:
    """Return the number of records before this command, whose first run may have been killed.

    The first run notes it in the folder. If there are fewer by now, they were taken out since, and
    the note no longer counts.
    """
    before = len(ids_of(target, records.remedy))
    run = {"remedy": records.remedy, "collection": target.name}
    match folder.read_json(BEGUN):
        case {"there_before": int(first), **rest} if rest == run and first <= before:
            return first
    folder.write_json(BEGUN, {**run, "there_before": before})
    return before


def _search_for(target: WritableStore, records: RemedyRecords, out: Path) -> WrittenReach:
    """Search for the records by their own vectors, with a filter only beside other records.

    A client that searches in its own process may look at every payload for a filter.
    """
    there = len(ids_of(target, records.remedy))
    if there != len(records):
        raise ArgusError(
            f"{target.name}: took {len(records):,} records of {records.remedy}, and holds "
            f"{there:,}. Run the same command again."
        )
    config = ReachConfig(sample=REACH_SAMPLE if len(records) > REACH_SAMPLE else None)
    matching = None if target.describe().records == there else {REMEDY: records.remedy}
    found = reach(target, out=out, config=config, matching=matching).summary
    return {
        "k": found["k"],
        "reached": found["reached"],
        "causes": found["causes"],
        "examples": found["examples"],
    }


def rollback_in_store(
    store: str | Store, remedy: str, *, into: str | None = None, opening: StoreConfig | None = None
) -> StoreRollback:
    """Remove exactly a remedy's records, and their collection if Argus made it and it is empty.

    store: that of the documents. into: the collection of the records, if you named it. A rollback
    that was stopped goes on when it is called again. Raises InputError, naming the remedies that
    there are, for an unknown one. Raises ArgusError if the store fails.
    """
    with open_store(store, opening) as opened:
        base = writable(opened)
        name = into or base.collection + SUFFIX
        there = open_home(base, into)
        ids = ids_of(there, remedy) if there else []
        if there is not None:
            with progress(f"removing from {there.name}", len(ids)) as advance:
                for start in range(0, len(ids), DELETE_SIZE):
                    part = ids[start : start + DELETE_SIZE]
                    there.delete(part)
                    advance(len(part))
        dropped = there is not None and there is not base and base.drop_sibling(name)
        if there is None or not (ids or dropped):
            known = ", ".join(remedies_in(there)) if there else ""
            raise InputError(
                f"no record of remedy {remedy!r}",
                expected=f"one of {known}" if known else "a remedy; there is none in it",
                fix="Check the id (argus remedy list); records that went elsewhere need --into.",
                where=sibling_name(base.name, name),
            )
        return {
            "remedy": remedy,
            "collection": there.name,
            "records_removed": len(ids),
            "collection_removed": dropped,
            "at": utc_now(),
        }


def list_in_store(
    store: str | Store, *, into: str | None = None, opening: StoreConfig | None = None
) -> list[ListedRemedy]:
    """Return the remedies whose records are in a store, by id."""
    with open_store(store, opening) as opened:
        there = open_home(writable(opened), into)
        if there is None:
            return []
        dim = there.describe().dim
        return [
            {
                "id": remedy,
                "kind": remedy.partition("-")[0],
                "at": None,
                "views": sum(kind != DOCUMENT for _, kind in entries),
                "documents": len({parent for parent, _ in entries}),
                "bytes": 4 * dim * len(entries),
            }
            for remedy, entries in remedies_in(there).items()
        ]


def headline(summary: WrittenSummary) -> Iterator[str]:
    """Yield the counts of the records, then the documents left out, then unreachable records."""
    counts, settings, sentences = summary["counts"], summary["settings"], summary["sentences"]
    views = "".join(f", {n:,} {kind} views" for kind, n in counts["views"].items())
    mixed = f", λ = {settings['weight']:g}, hubs {settings['hubs']:g}" if settings else ""
    yield (
        f"{summary['remedy']}: {counts['records']:,} records in {summary['collection']} "
        f"({counts['documents']:,} documents{views}; {counts['bytes'] / 1e6:,.1f} MB){mixed}"
    )
    if summary["index"] is not None:
        remedies = ", ".join(summary["remedies"]) or "no remedy: the documents alone"
        yield f"what {summary['index']} holds: {remedies}"
    if counts["there_before"]:
        yield f"{counts['there_before']:,} were there, {counts['written']:,} were written now"
    if n := summary["left_out"]:
        why = "that are not in the store" if sentences is None else "without a whole vector"
        yield f"left out: {n:,} documents {why}"
    if sentences is not None:
        yield from describe_sentences(sentences["documents"], sentences["max_views"])
        if n := sentences["failed"]:
            yield f"{n:,} sentences could not be embedded and are left out"
    if summary["others"]:
        yield (
            f"WARNING: it holds records of {', '.join(summary['others'])} as well: ask for one "
            "remedy, by argus_remedy, or roll the others back"
        )
    found = summary["reach"]
    share = found["reached"]
    yield (
        f"asked for by their own vectors: {share['reached']:,} of {share['asked']:,} come back in "
        f"the top {found['k']}: {share['share']:.2%} ({share['low']:.2%} to {share['high']:.2%})"
    )
    for cause, n in found["causes"].items():
        yield f"WARNING: {n:,} records cannot be reached: {cause}"
    for unreached in found["examples"][:5]:
        yield f"  {unreached['id']}: {unreached['cause']}"


def section(folder: Path, summary: WrittenSummary) -> Section:
    """Build the report's section. The section of the store shows the records' reach."""
    counts = summary["counts"]
    return Section(brief=f"{counts['records']:,} records of {summary['remedy']} written")
