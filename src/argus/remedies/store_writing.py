"""Write an index's repaired vectors into a vector database beside its documents, and remove them.

`argus tune apply write` (`write_index`), `tune list` and `tune undo` for --store. The records go
into a collection of their own, `COLLECTION_argus`, or one that you name. `state_records` makes them
of an index, `argus.remedies.store_blend` of the store's own documents. `deliver` writes those that
are missing, searches for them by their own vectors and writes the receipt. `rollback_in_store`
removes exactly these.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.commands import carry, command
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.types import FloatArray, IntArray
from argus.data.writing import one_writer
from argus.errors import ArgusError, InputError
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import parse_index_spec
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewIndex
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.progress import progress
from argus.reachability.config import ReachConfig
from argus.reachability.job import reach
from argus.reports import write_report
from argus.reports.section import Section
from argus.settings import OUTPUT, Option, Writes
from argus.stores.protocol import (
    FIELDS,
    KIND,
    PARENT,
    REMEDY,
    Metric,
    Payload,
    Records,
    Store,
    WritableStore,
    is_of_remedy,
    sibling_name,
    values_of,
    writable,
)
from argus.stores.spec import BLENDED, PANEL, StoreConfig, open_store

JOB = "written"
SUFFIX = "_argus"
READ_SIZE = 2_000  # payloads that are read at once
WRITE_SIZE, WRITE_BYTES = 1_000, 8_000_000  # records and JSON of a request, at most
DELETE_SIZE = 1_000
REACH_SAMPLE = 2_000  # records that are searched for, drawn at random from more

DOCUMENT = "document"  # kind of the record of a document's own vector
MIN_LENGTH = 1e-6  # a shorter mixture has no direction
NONE = -1  # row of a kind of view that a choice leaves out
Choice = tuple[int, int, int]  # rows of an own view, a sentence and a scenario


@dataclass(frozen=True, repr=False)
class WrittenResult(Result):
    """Records of a remedy in a store. Everything in it is also in `folder`.

    Keys of its summary:

    store: store of the documents.
    collection: collection of the records.
    counts: documents that have records, views (records that are not a document's own vector, by
        kind), records of the remedy, and bytes of their vectors.
    others: other remedies whose records are in the collection.
    reach: records that the store returns for their own vectors: reached in the top k, causes of
        those that did not come back, and the first of them (examples).
    index: index whose state it is. None without one.
    remedies: remedies of the index that the records hold.
    settings: settings of the blend, if there is one.
    weight: weight λ of documents against scenarios. None without.
    left_out: documents without a whole vector, or that the store lacks.
    sentences: max_views (most sentence views of a document), documents as in a blend's summary, and
        sentences that failed to be embedded. None if an index was written.
    stored_vectors: the vectors that came with the store's documents.
    """

    remedy: str
    folder: Path
    report: Path
    summary: dict[str, Any]
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


@one_writer
def write_index(
    index: o.IndexState,
    store: Annotated[str | Store, Option(("--store",), panel=PANEL, is_name=True)],
    *,
    into: Annotated[
        str | None, Option(panel=PANEL), Writes(lambda options: options["store"])
    ] = None,
    opening: StoreConfig | None = None,
    id_field: Annotated[str | None, Option(panel="Input")] = None,
    out: Annotated[Path | str, OUTPUT] = o.OUT,
    fresh: bool = False,
) -> WrittenResult:
    """Write what remedies added to an index beside the documents of a store.

    Documents, sentences, scenarios and expansions become records of a collection of their own. A
    record scores cosine · argus_scale, and the best of a document's is what the index gives it.
    BM25 and a correction of queries are no part of records; argus.BlendedRetriever
    takes them of the index. The documents stay as they are, and `argus tune undo ID --store` takes
    the records out again. A run that was stopped goes on when it is called again.

    index: its path, or `PATH@STATE`. store: its name, or an opened one. Raises InputError for bad
    input, and if the store has none of the documents. Raises ArgusError if it cannot be written.

    Args:
        store: KIND:PLACE/COLLECTION of the same documents; its records stay as they are.
        into: Collection of the store for a remedy's records; default: COLLECTION_argus.
        id_field: Field of the store's records that holds the ids of the index; default: their own.
        out: Folder for the receipt.
    """
    spec, folder = parse_index_spec(index), ArtifactFolder(Path(out), fresh=fresh)
    opened = ViewIndex.open(spec.path)
    if not opened.header.unit:
        got = f"vectors that are compared by {opened.header.similarity}"
        expected = "cosine: the records are scaled"
        fix = "Embed the documents with such an encoder, or serve the index itself."
        raise InputError(got, expected=expected, fix=fix, where=opened.path)
    state, weight = opened.snapshot(spec.as_of), opened.weight(spec.as_of)
    with open_store(store, opening) as there:
        base = writable(there)
        config: dict[str, object] = {"index": str(spec), "store": base.name, "into": into}
        record = Record(
            JOB, config | {"id_field": id_field}, {"index": spec.path},
            {"fingerprint": opened.fingerprint},
        )  # fmt: skip
        if (dim := base.describe().dim) not in (0, opened.dim):  # 0: the store is empty
            got, expected = f"vectors of {dim} dimensions", f"{opened.dim}, as {opened.path} has"
            fix = "Name the store of the same documents and encoder, or serve the index itself."
            raise InputError(got, expected=expected, fix=fix, where=base.name)
        payloads = parent_payloads(base)
        parents: dict[str, str] = {}  # the store's record of each document of the index
        for record_id, payload in payloads.items():
            values = [record_id] if id_field is None else values_of(payload, id_field)
            for document in map(str, values):
                if document in state and parents.setdefault(document, record_id) != record_id:
                    first = parents[document]
                    got = f"{document!r} is the {id_field} of {first!r} and {record_id!r}"
                    expected = "one record for each document of the index"
                    fix = "Name the field that tells records apart, or index the store itself."
                    raise InputError(got, expected=expected, fix=fix, where="--id-field")
        if not parents:
            example = f", such as {state.doc_ids[0]!r}" if len(state) else ""
            got = f"no record of the {len(state):,} documents of the index{example}"
            fix = "Check the store; --id-field names the field with the ids of the index."
            expected = "the store of the same documents"
            raise InputError(got, expected=expected, fix=fix, where=base.name)
        target = make_home(base, into)
        folder.open()
        blend, ids = state.blend, state.columns["id"].to_pylist()
        made_of = (  # equal records share an id
            opened.fingerprint,
            json.dumps([None if blend is None else blend.weight, weight, ids]),
            state.vectors.tobytes(),
            json.dumps(payloads, sort_keys=True, default=str),
        )
        name = f"index-{content_hash(*made_of, size=4).hex()}"
        records = state_records(name, state, weight, opened.fingerprint, parents)
        recipe = opened.recipe(spec.as_of)
        # A blend may have no views. A correction is of queries, and no part of records.
        blends = recipe.remedies[:1] if recipe.blend is not None else ()
        source = {
            "index": str(spec),
            "remedies": sorted({*state.columns["remedy"].to_pylist(), *blends} - {""}),
            "settings": None if blend is None else asdict(blend),
            "weight": weight if state.scenario_rows is not None else None,
            "left_out": len(state) - len({*records.parents}),
            "sentences": None,
        }
        return deliver(
            base, target, into, records, payloads, source, repr(str(spec)),
            folder=folder, record=record, id_field=id_field,
        )  # fmt: skip


@dataclass(frozen=True)
class RemedyRecords:
    """The records of a remedy: one row per record in every field but `remedy` and `encoder`."""

    remedy: str
    names: Sequence[str]  # a store makes ids of them
    parents: Sequence[str]  # ids of the user's records
    kinds: Sequence[str]
    vectors: FloatArray  # (n, dim), unit rows
    scales: FloatArray
    encoder: str  # fingerprint of the encoder of the vectors

    def __len__(self) -> int:
        return len(self.names)


def state_records(
    remedy: str,
    snapshot: Snapshot,
    weight: float,
    encoder: str,
    parents: Mapping[str, str] | None = None,
) -> RemedyRecords:
    """Return the records of a state of an index. Mixtures of length 0 are left out.

    weight: λ of its scenarios. encoder: fingerprint of the encoder of its vectors. parents: the id
    of each document's record in a store. Documents without one are left out. None has all, by their
    own ids. A record's name joins the ids of its views, without a document's own view beside
    others, and the remedy.
    """
    parents = {id_: id_ for id_ in snapshot.doc_ids} if parents is None else parents
    layout = snapshot.layout(weight)
    choices: list[Choice] = []
    documents: list[int] = []
    for document in range(len(snapshot)):
        own = list(_choices(snapshot, document, layout.sentence_weight, weight))
        choices += own
        documents += [document] * len(own)
    vectors = _mix(snapshot, choices, layout.sentence_weight, weight)
    lengths = np.linalg.norm(vectors, axis=1)
    of_parents = np.array([snapshot.doc_ids[document] in parents for document in documents], bool)
    rows = np.flatnonzero((lengths > MIN_LENGTH) & of_parents)
    view_ids: list[str] = snapshot.columns["id"].to_pylist()
    view_kinds: list[str] = snapshot.columns["kind"].to_pylist()
    names, kinds = [], []
    for choice in (choices[row] for row in rows):
        views = [row for row in choice if row != NONE]
        kind = view_kinds[views[-1]]
        kinds.append(DOCUMENT if kind == ORIGINAL else kind)
        sides = [row for row in views if view_kinds[row] != ORIGINAL] or views
        name = "+".join(view_ids[row] for row in sides)
        names.append(name if f"#{remedy}" in name else f"{name}#{remedy}")
    scales = lengths[rows]
    is_document = np.array([kind == DOCUMENT for kind in kinds], bool)
    is_unit = is_document & (np.abs(scales - 1) < 1e-4)  # by rounding alone
    owners = [parents[snapshot.doc_ids[documents[row]]] for row in rows]
    unit = np.asarray(vectors[rows] / scales[:, None], np.float32)
    factors = np.asarray(np.where(is_unit, 1.0, scales), np.float32)
    return RemedyRecords(remedy, names, owners, kinds, unit, factors, encoder)


def _choices(
    snapshot: Snapshot, document: int, of_sentences: float, of_scenarios: float
) -> Iterator[Choice]:
    """Yield the choices that can be a document's best, without those of weight 0."""
    rows = range(int(snapshot.starts[document]), int(snapshot.starts[document + 1]))
    sentences, scenarios = (
        [] if mask is None else [row for row in rows if mask[row]]
        for mask in (snapshot.sentence_rows, snapshot.scenario_rows)
    )
    own = [row for row in rows if row not in {*sentences, *scenarios}]
    bases = [(row, NONE) for row in own]
    if of_sentences < 1 or not bases:
        mixed_with = (own if of_sentences > 0 else own[:1]) or [NONE]
        bases += [(row, sentence) for row in mixed_with for sentence in sentences]
    if not scenarios or (of_scenarios == 1 and bases):
        yield from ((*base, NONE) for base in bases)
        return
    for base in (bases if of_scenarios > 0 else bases[:1]) or [(NONE, NONE)]:
        yield from ((*base, scenario) for scenario in scenarios)


def _mix(
    snapshot: Snapshot, choices: Sequence[Choice], of_sentences: float, of_scenarios: float
) -> FloatArray:
    """Return the mixed vectors of choices, (n_choices, dim), not of unit length.

    A kind that is left out leaves its share to the other.
    """

    def share(first: IntArray, second: IntArray, weight: float) -> np.ndarray:
        return np.where(first == NONE, 0.0, np.where(second == NONE, 1.0, weight))

    own, sentence, scenario = np.array(choices, np.int64).reshape(-1, 3).T
    of_own = share(own, sentence, of_sentences)
    base = share(np.maximum(own, sentence), scenario, of_scenarios)
    out: FloatArray = np.zeros((len(choices), snapshot.dim), np.float32)
    shares = ((own, base * of_own), (sentence, base * (1 - of_own)), (scenario, 1 - base))
    for rows, factor in shares:
        there = rows != NONE
        out[there] += factor[there, None].astype(np.float32) * snapshot.vectors[rows[there]]
    return out


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

    Raises InputError for one of another dimension, or ranked by distances. Raises ArgusError if
    none can be made.
    """
    there = open_home(store, into)
    if there is None:
        return store.make_sibling(into or store.collection + SUFFIX)
    facts, own = there.describe(), store.describe()
    if facts.dim not in (0, own.dim):
        got, expected = f"vectors of {facts.dim} dimensions", f"{own.dim}, as {store.name} has"
        fix = "Name another collection with --into, or leave it out."
        raise InputError(got, expected=expected, fix=fix, where=there.name)
    if facts.metric is Metric.L2:
        raise InputError(
            "ranks by distances (l2)", expected="cosine, or dot product: the records are scaled",
            fix="Leave --into out: Argus makes a collection of its own.", where=there.name,
        )  # fmt: skip
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
    records = (row for page in store.payloads(READ_SIZE) for row in zip(*page, strict=True))
    return {id_: payload for id_, payload in records if not is_of_remedy(payload)}


def write_records(
    store: WritableStore, records: RemedyRecords, payloads: Mapping[str, Payload], *, undo: str
) -> None:
    """Write the records that are not in the store yet. No other record is changed.

    payloads: of the parents, by id. A record's payload is its parent's, so that the same filters
    work, and its own fields. A request has at most WRITE_SIZE records and about WRITE_BYTES of
    JSON, as if each were as heavy as the heaviest. undo: the command that
    takes the records out. Raises ArgusError if the store fails, with the number of records that are
    in it. The same call writes the rest.
    """
    before = frozenset(ids_of(store, records.remedy))
    ids = [store.record_id(name) for name in records.names]
    left = [row for row, id_ in enumerate(ids) if id_ not in before]
    heaviest = max(len(json.dumps(payloads[id_], default=str)) for id_ in {*records.parents})
    size = max(1, min(WRITE_SIZE, WRITE_BYTES // (heaviest + 20 * records.vectors.shape[1])))
    done = len(before)
    with progress(f"writing into {store.name}", len(records), done=done) as advance:
        for start in range(0, len(left), size):
            rows = left[start : start + size]
            own: list[Payload] = []
            for row in rows:
                texts = (records.remedy, records.parents[row], records.kinds[row], records.encoder)
                fields = zip(FIELDS, (*texts, float(records.scales[row])), strict=True)
                own.append({**payloads[records.parents[row]], **dict(fields)})
            try:
                store.upsert(Records([ids[row] for row in rows], records.vectors[rows], own))
            except ArgusError as error:
                raise ArgusError(
                    f"{error}\n{done:,} of {len(records):,} records of {records.remedy} are in "
                    "it, and no record of yours was changed. Run the same command again to write "
                    f"the rest, or `{undo}` to take them out."
                ) from error
            done += len(rows)
            advance(len(rows))


def deliver(
    store: WritableStore,
    target: WritableStore,
    into: str | None,
    records: RemedyRecords,
    payloads: Mapping[str, Payload],
    source: Mapping[str, Any],
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
    words = ["--store", store.name, *place, *carry("tune undo")]
    undo = command("tune", "undo", remedy, *words)
    with record.timed("writing"):
        write_records(target, records, payloads, undo=undo)
    with record.timed("asking for what was written"):
        if (there := len(ids_of(target, remedy))) != len(records):
            raise ArgusError(
                f"{target.name}: took {len(records):,} records of {remedy}, and holds {there:,}. "
                "Run the same command again."
            )
        config = ReachConfig(sample=REACH_SAMPLE if len(records) > REACH_SAMPLE else None)
        # A client that searches in its own process may look at every payload for a filter.
        matching = None if target.describe().records == there else {REMEDY: remedy}
        found = reach(target, out=folder / remedy, config=config, matching=matching).summary
    kinds = sorted({*records.kinds} - {DOCUMENT})
    summary: dict[str, Any] = {
        "remedy": remedy,
        "store": store.name,
        "collection": target.name,
        "counts": {
            "documents": len({*records.parents}),
            "views": {kind: records.kinds.count(kind) for kind in kinds},
            "records": len(records),
            "bytes": int(records.vectors.nbytes),
        },
        "others": [name for name in remedies_in(target) if name != remedy],
        "reach": {name: found[name] for name in ("k", "reached", "causes", "examples")},
        **source,
        "seconds": round(sum(record.timings_s.values()), 1),
        **record.of_store(),
    }
    folder.write_results(JOB, summary, record.manifest(summary["counts"]))
    report = write_report(folder.path)
    python = blended_retriever(repr(target.name), *serving, **named)
    return WrittenResult(remedy, folder.path, report, summary, undo, python)


def rollback_in_store(
    store: str | Store, remedy: str, *, into: str | None = None, opening: StoreConfig | None = None
) -> dict[str, Any]:
    """Remove exactly a remedy's records, and their collection if Argus made it and it is empty.

    Returns remedy, collection, records_removed, collection_removed and the time (at).

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
            got = f"no record of remedy {remedy!r}"
            expected = f"one of {known}" if known else "a remedy; there is none in it"
            fix = "Check the id (argus tune list); records that went elsewhere need --into."
            raise InputError(got, expected=expected, fix=fix, where=sibling_name(base.name, name))
        return {
            "remedy": remedy,
            "collection": there.name,
            "records_removed": len(ids),
            "collection_removed": dropped,
            "at": utc_now(),
        }


def list_in_store(
    store: str | Store, *, into: str | None = None, opening: StoreConfig | None = None
) -> list[dict[str, Any]]:
    """Return the remedies whose records are in a store, by id, as `list_remedies` does."""
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


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of the records, then the documents left out, then unreachable records."""
    counts, settings, sentences = summary["counts"], summary["settings"], summary["sentences"]
    views = "".join(f", {n:,} {kind} views" for kind, n in counts["views"].items())
    mixed = f", λ = {settings['weight']:g}" if settings else ""
    yield (
        f"{summary['remedy']}: {counts['records']:,} records in {summary['collection']} "
        f"({counts['documents']:,} documents{views}; {counts['bytes'] / 1e6:,.1f} MB){mixed}"
    )
    if n := summary["left_out"]:
        why = "that are not in the store" if sentences is None else "without a whole vector"
        yield f"left out: {n:,} documents {why}"
    if sentences is not None and (n := sentences["failed"]):
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


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section. The section of the store shows the records' reach."""
    counts = summary["counts"]
    return Section(brief=f"{counts['records']:,} records of {summary['remedy']} written")
