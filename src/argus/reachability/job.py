"""`argus check`: search a vector store for each record by its own vector, and explain the misses.

The part of `argus check` for --store. Out: the share that comes back, and a cause for each miss in
unreached.parquet: a broken vector, equal vectors, the approximate index, or a metric that does not
fit the norms. The store is read twice. `survey` reads its records and searches for them.
`exact_ranks` compares those that did not come back, and a sample for recall, with every record in
float64. Documents are searched for by title and sentences in `argus.retrievability.exposure`.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NotRequired

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.documents import read_queries
from argus.data.fields import PayloadField, Value
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.tables import read_table
from argus.data.types import Document, FloatArray, IntArray, Query
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig, load_encoder
from argus.errors import InputError
from argus.jobs.result import TableResult
from argus.jobs.workspace import NO_ENCODER, Record, require_some
from argus.measures import wilson
from argus.measures.slices import Trials, rank_slices, slice_lines, slice_shares, slicing
from argus.progress import progress
from argus.reachability.config import ReachConfig
from argus.reports import write_report
from argus.reports.section import Section, slices_table, table
from argus.stores.protocol import Filter, Metric, Records, Store, StoreFacts, shown_rows, whole_rows
from argus.stores.spec import StoreConfig, check_dimension, open_store, refuse_nothing, typed

Doubles = npt.NDArray[np.float64]
EXPLAINED = 5_000  # records that do not come back of which vectors are kept, to seek the cause
MOST_DRAWN = 50_000  # records that are asked for at most until an interval is narrow
TOGETHER = 2_000  # records, and queries, that are compared at once
TOLERANCE = 1e-6  # relative: stores reckon in float32, and may rank either of two scores first
EXAMPLES = 50  # records that the summary names, of all in unreached.parquet
SLICES = "reach_slices"


class Cause(StrEnum):
    """Reason why a record is not found."""

    BROKEN = "broken vector"
    EQUAL = "equal vectors"  # as many records as a list holds are as near as the record itself
    INDEX = "lost by the approximate index"
    METRIC = "outscored: the metric does not fit the norms"
    CHANGED = "changed while it was read"
    UNEXAMINED = "not examined"


NEXT = {
    Cause.INDEX: "Write the lost records again (delete, then add), or search deeper; then run this "
    "command again: a rebuild is no proof.",
    Cause.BROKEN: "Write the vectors of the broken records again.",
    Cause.EQUAL: "A list holds only so many of equal vectors: remove copies, or search deeper.",
    Cause.METRIC: "Longer vectors win by dot product: store unit vectors, or rank by cosine.",
    Cause.CHANGED: "Run it again when nothing is written to the store.",
    Cause.UNEXAMINED: "unreached.csv names them.",
}  # the next step, of the first cause that there is


class StoreRecord(TypedDict):
    """The store as it described itself when the run began.

    name: name of the store.
    records: records that it says to hold.
    metric: metric that it ranks by.
    index: kind of its index.
    vector_field: field that holds the vector.
    is_exact: whether its search is exact.
    """

    name: str
    records: int
    dim: int
    metric: str
    index: str
    vector_field: str
    is_exact: bool


class Reached(TypedDict):
    """Records that were asked for by their own vectors. The 95% interval is Wilson's.

    asked: records that were asked for.
    reached: of these, records in the top k.
    share: these as a share.
    first: records that came first.
    """

    asked: int
    reached: int
    share: float
    low: float
    high: float
    first: int


class Recall(TypedDict):
    """Mean recall@k of the store's results against an exact search, with its 95% interval.

    queries: queries that were compared.
    recall: mean recall@k, from 0 to 1.
    """

    queries: int
    recall: float
    low: float
    high: float


class UnreachedRecord(TypedDict):
    """One row per record that does not come back for its own vector.

    cause: why it does not come back, as in `argus.reachability.job.Cause`.
    detail: evidence of the cause, empty where nothing more is known.
    """

    id: str
    cause: str
    detail: str


class ReachSummary(TypedDict):
    """Figures of the records that a store brings back for their own vectors.

    read: records that were read, while `store.records` is the store's own count.
    hidden: records that the filter does not match.
    matching: filter that records have to match.
    broken: records without a vector to be found by, by reason.
    causes: records that did not come back, by cause, `broken` ones among them.
    reachable: records that could be asked for: shown by the filter, with a whole vector.
    shortest: least norm of a vector, None where none is whole.
    longest: greatest norm of a vector, None where none is whole.
    recall: recall of records by their own vectors, None where none was compared.
    recall_of_queries: recall of the queries that were given, None without.
    examples: the first records that did not come back.
    slices: shares by slice, where fields were named.
    """

    k: int
    store: StoreRecord
    read: int
    hidden: int
    matching: dict[str, str | int | float | bool]
    reached: Reached
    broken: dict[str, int]
    causes: dict[str, int]
    reachable: int
    shortest: float | None
    longest: float | None
    recall: Recall | None
    recall_of_queries: Recall | None
    examples: list[UnreachedRecord]
    slices: NotRequired[dict[str, Any]]


@dataclass(frozen=True, repr=False)
class ReachResult(TableResult):
    """Result of `reach`. Everything in it is also in `folder`.

    table: one row per record that does not come back, and why.
    """

    summary: ReachSummary

    def headline(self) -> Iterator[str]:
        """Yield the figures that matter."""
        return headline(self.summary)


@one_writer
def reach(
    store: str | Store,
    *,
    out: Path | str,
    config: ReachConfig | None = None,
    opening: StoreConfig | None = None,
    matching: Filter | None = None,
    queries: Path | str | Sequence[Query] = (),
    encoder: Encoder | EncoderConfig | str | None = None,
    fresh: bool = False,
) -> ReachResult:
    """Ask for stored records by their own vectors, and find why some do not come back.

    store: `KIND:PLACE/COLLECTION` (see `argus.stores.spec`), or one that is opened. matching: field
    to value, as the team's own filter or tenant has it. A text stands for a number where the
    records hold numbers. queries, with the encoder that embeds them: recall against an exact search
    is told for them, too. Raises InputError for a name of no store and for queries without an
    encoder, ArgusError where the store fails.
    """
    config = config or ReachConfig()
    given = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    if given and encoder is None:
        raise InputError(
            f"{len(given):,} queries without an encoder",
            expected="the model that embeds queries for this store",
            fix="Name it with --encoder.",
            where="--encoder",
        )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    with open_store(store, opening) as opened:
        facts, k = opened.describe(), config.k
        record = Record("reach", {**asdict(config), "store": opened.name, "matching": matching}, {})
        record.encoder["fingerprint"] = NO_ENCODER
        require_some(facts.records, "record in the store", "Check the collection's name.")
        shown = typed(matching, opened, config.batch) if matching else {}
        vectors = np.zeros((0, facts.dim), np.float32)
        if encoder and (texts := [query.text for query in given if query.text.strip()]):
            loaded = load_encoder(encoder)
            record.encoder["fingerprint"] = loaded.fingerprint
            check_dimension(loaded.dim, facts, "the store")
            vectors = np.asarray(loaded.encode_queries(texts), np.float32)
        _require_fields(opened, config)
        record.open(folder)
        with record.timed("asking"):
            found = survey(opened, facts, config, shown)
        with record.timed("comparing"):
            asked = _ask(opened, [""] * len(vectors), vectors, config, shown)
            first, then = len(found.unreached), len(found.unreached) + len(found.for_recall)
            together = [*found.unreached, *found.for_recall, *asked]
            ranks = exact_ranks(opened, facts, together, k, shown)
    rows: list[UnreachedRecord] = [
        {"id": id_, "cause": str(Cause.BROKEN), "detail": why} for id_, why in found.broken.items()
    ]
    for row, one in enumerate(found.unreached):
        why, detail = _cause(int(ranks.higher[row]), int(ranks.tied[row]), k, facts.is_exact)
        rows.append({"id": one.id, "cause": str(why), "detail": detail})
    causes = Counter(row["cause"] for row in rows)
    causes[Cause.UNEXAMINED] += found.asked - found.reached - len(found.unreached)
    summary: ReachSummary = {
        "k": k,
        "store": {
            "name": opened.name,
            "records": facts.records,
            "dim": facts.dim,
            "metric": str(facts.metric),
            "index": facts.index,
            "vector_field": facts.vector_field,
            "is_exact": facts.is_exact,
        },
        "read": found.read,
        "hidden": found.hidden,
        "matching": dict(shown),
        "reached": found.share(),
        "broken": dict(Counter(found.broken.values()).most_common()),
        "causes": {str(why): n for why, n in causes.most_common() if n},
        "reachable": found.reachable,
        "shortest": float(found.shortest) if found.reachable else None,
        "longest": float(found.longest) if found.reachable else None,
        "recall": _recall(ranks.recall[first:then]),
        "recall_of_queries": _recall(ranks.recall[then:]),
        "examples": rows[:EXAMPLES],
    }
    if found.values and found.came:
        summary["slices"] = _write_slices(found, config, folder)
    schema = pa.schema([(key, pa.string()) for key in UnreachedRecord.__annotations__])
    unreached = pa.Table.from_pylist(rows, schema=schema)
    folder.write_table("unreached", unreached, csv=True)
    manifest = record.manifest({"read": found.read, **summary["reached"]})
    folder.write_results("reach", summary, manifest)
    return ReachResult(folder.path, write_report(folder.path), summary, unreached)


class Asked(NamedTuple):
    """A record, or a query (id ""), with the ids that its vector brought back."""

    id: str
    vector: FloatArray
    hits: list[str]


@dataclass
class Survey:
    """Counts of records, and vectors to examine, from the first reading."""

    for_recall: list[Asked] = field(default_factory=list)  # each that was asked as likely
    unreached: list[Asked] = field(default_factory=list)  # at most EXPLAINED
    broken: dict[str, str] = field(default_factory=dict)  # id to why no vector finds it
    read: int = 0
    hidden: int = 0  # the filter does not match them
    reachable: int = 0
    asked: int = 0
    reached: int = 0
    first: int = 0
    shortest: float = np.inf
    longest: float = 0.0
    values: list[dict[tuple[Value, ...], int]] = field(default_factory=list)  # by field, numbered
    numbers: list[array[int]] = field(default_factory=list)  # by field, of each that was asked
    came: array[int] = field(default_factory=lambda: array("b"))

    def share(self) -> Reached:
        """Return how many came back of those that were asked for."""
        share = self.reached / self.asked if self.asked else 0.0
        low, high = wilson(share, self.asked) if self.asked else (0.0, 1.0)
        return {
            "asked": self.asked, "reached": self.reached, "share": share, "low": float(low),
            "high": float(high), "first": self.first,
        }  # fmt: skip


def survey(  # noqa: C901
    store: Store, facts: StoreFacts, config: ReachConfig, matching: Filter | None = None
) -> Survey:
    """Read every record. Ask for all of them, or for those whose hashed ids are the lowest.

    Raises InputError for ids that repeat, and for a filter that shows nothing.
    """
    fields = [PayloadField.parse(name, "--by") for name in dict.fromkeys(config.by)]
    found = Survey(values=[{} for _ in fields], numbers=[array("i") for _ in fields])
    rng = np.random.default_rng(config.seed)
    hashes = array("q")  # of all ids: eight bytes a record are all that is kept

    def read() -> Iterator[Records]:
        with progress("reading and asking", facts.records) as advance:
            for records in store.iterate(config.batch):
                hashes.extend(_hash(id_, "") for id_ in records.ids)
                shown = shown_rows(records, matching)
                rows, broken = whole_rows(records, shown)
                found.read += len(records.ids)
                found.hidden += len(records.ids) - len(shown)
                found.reachable += len(rows)
                found.broken |= {records.ids[row]: why for row, why in broken.items()}
                if rows:
                    norms = np.linalg.norm(records.vectors[rows].astype(np.float64), axis=1)
                    found.shortest = min(found.shortest, float(norms.min()))
                    found.longest = max(found.longest, float(norms.max()))
                    payloads = [records.payloads[row] if fields else {} for row in rows]
                    yield Records(
                        [records.ids[row] for row in rows], records.vectors[rows], payloads
                    )
                advance(len(records.ids))

    def drawn() -> Iterator[Records]:
        keyed = (
            (_hash(id_, str(config.seed)), id_, vector.copy(), payload)
            for records in read()
            for id_, vector, payload in records.rows()
        )
        lowest = heapq.nsmallest(config.sample or MOST_DRAWN, keyed, key=lambda one: one[:2])
        for start in range(0, len(lowest), config.batch):
            _, ids, vectors, payloads = zip(*lowest[start : start + config.batch], strict=True)
            yield Records(list(ids), np.stack(vectors), list(payloads))

    def ask(records: Records) -> None:
        answers = _ask(store, records.ids, records.vectors, config, matching)
        for one, payload in zip(answers, records.payloads, strict=True):
            found.asked += 1
            found.reached += one.id in one.hits
            found.first += one.hits[:1] == [one.id]
            if one.id not in one.hits and len(found.unreached) < EXPLAINED:
                found.unreached.append(one)
            if len(found.for_recall) < config.recall_sample:  # Vitter, 1985, algorithm R
                found.for_recall.append(one)
            elif (place := int(rng.integers(found.asked))) < config.recall_sample:
                found.for_recall[place] = one
            for path, values, numbers in zip(fields, found.values, found.numbers, strict=True):
                value = tuple(path.values(Document(one.id, "", "", payload)))
                numbers.append(values.setdefault(value, len(values)))
            found.came.append(one.id in one.hits)

    for records in drawn() if config.sample or config.until_width else read():
        ask(records)
        share = found.share()
        if config.until_width and share["high"] - share["low"] <= config.until_width:
            break
    if repeated := len(hashes) - len(np.unique(np.frombuffer(hashes, np.int64))):
        raise InputError(
            f"{repeated:,} of {len(hashes):,} records have an id that another has",
            expected="one record per id: no list could tell which of them came back",
            fix="Name the column of the records' own ids with --store-id.",
            where=store.name,
        )
    if matching and found.hidden == found.read:
        raise refuse_nothing(matching, found.read)
    return found


def _ask(
    store: Store, ids: Sequence[str], vectors: FloatArray, config: ReachConfig,
    matching: Filter | None,
) -> list[Asked]:  # fmt: skip
    """Ask the store for vectors, a batch at a time."""
    asked: list[Asked] = []
    for start in range(0, len(ids), config.batch):
        part = np.array(vectors[start : start + config.batch], np.float32)
        answers = store.search(part, config.k, matching=matching or None)
        for id_, vector, hits in zip(ids[start:], part, answers, strict=False):
            asked.append(Asked(id_, vector, [hit for hit, _ in hits]))
    return asked


def _hash(id_: str, seed: str) -> int:
    return int.from_bytes(content_hash(seed, id_, size=8), "big") >> 1


@dataclass(frozen=True)
class ExactRanks:
    """Ranks of vectors among all records of a store. Arrays are (n_asked,)."""

    higher: IntArray  # records that score higher than the vector itself
    tied: IntArray  # those that float32 cannot tell from it, itself among them. 0: it is gone
    recall: Doubles  # of its list, the share that an exact search brings back, ties included


def exact_ranks(
    store: Store, facts: StoreFacts, asked: Sequence[Asked], k: int, matching: Filter | None = None
) -> ExactRanks:
    """Compare every record with every vector that was asked for, in constant memory."""
    n, read = len(asked), 0
    higher, tied = np.zeros(n, np.int64), np.zeros(n, np.int64)
    best = np.full((n, k), -np.inf)
    served = np.full((n, max((len(one.hits) for one in asked), default=0)), -np.inf)
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)  # of an id in the lists
    for query, one in enumerate(asked):
        for place, id_ in enumerate(one.hits):
            places[id_].append((query, place))
    vectors = np.stack([one.vector for one in asked]) if asked else np.zeros((0, facts.dim))
    blocks = [slice(start, start + TOGETHER) for start in range(0, n, TOGETHER)]
    with progress("comparing exactly", facts.records) as advance:
        for records in store.iterate(TOGETHER) if asked else ():
            rows, _ = whole_rows(records, shown_rows(records, matching))
            met = [
                (query, place, column)
                for column, row in enumerate(rows)
                for query, place in places.get(records.ids[row], ())
            ]
            for block in blocks if rows else ():
                own, scores, near = _scores(vectors[block], records.vectors[rows], facts.metric)
                gap = scores - own[:, None]
                higher[block] += (gap > near).sum(axis=1)
                tied[block] += (np.abs(gap) <= near).sum(axis=1)
                both = np.concatenate([best[block], scores], axis=1)
                best[block] = np.partition(both, both.shape[1] - k, axis=1)[:, -k:]
                for query, place, column in met:
                    if block.start <= query < block.stop:
                        at = query - block.start, column
                        served[query, place] = scores[at] + near[at]  # at most
            read += len(rows)
            advance(len(records.ids))
    m = min(k, read)
    worst = np.sort(best, axis=1)[:, k - m :][:, :1]
    recall = np.minimum((served >= worst).sum(axis=1) / m, 1) if m else np.zeros(n)
    return ExactRanks(higher, tied, recall)


def _scores(queries: npt.NDArray[Any], records: FloatArray, metric: Metric) -> tuple[Doubles, ...]:
    """Return each query's score of itself, (n_queries,), and of all records, higher is nearer.

    The third: by how much a score may differ from another and be one. L2: negative, squared.
    """
    left, right = (np.asarray(rows, np.float64) for rows in (queries, records))
    if metric is Metric.COSINE:
        tiny = np.finfo(np.float64).tiny
        left, right = (
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), tiny)
            for rows in (left, right)
        )
    a, b = (np.einsum("ij,ij->i", rows, rows) for rows in (left, right))
    products = left @ right.T
    if metric is Metric.L2:
        near = TOLERANCE * (np.sqrt(a)[:, None] + np.sqrt(b)[None, :]) ** 2
        return np.zeros(len(a)), 2 * products - a[:, None] - b[None, :], near
    return a, products, TOLERANCE * np.sqrt(a[:, None] * b[None, :])


def _cause(higher: int, tied: int, k: int, is_exact: bool) -> tuple[Cause, str]:
    """Return why a record that was asked for did not come back within k, and the evidence."""
    if tied and higher >= k:
        return Cause.METRIC, f"{higher:,} records score higher for its own vector"
    if tied and higher + tied > k:
        return Cause.EQUAL, f"{tied:,} records, itself among them, are as near as it is"
    if not tied or is_exact:
        return Cause.CHANGED, ""
    return Cause.INDEX, f"exact search finds it at {higher + 1:,}"


def _recall(values: Doubles) -> Recall | None:
    if not len(values):
        return None
    mean = float(values.mean())
    low, high = wilson(mean, len(values))
    return {"queries": len(values), "recall": mean, "low": float(low), "high": float(high)}


def _require_fields(store: Store, config: ReachConfig) -> None:
    """Raise InputError for a field of `by` that none of the store's first pages has."""
    fields = [PayloadField.parse(name, "--by") for name in config.by]
    seen: list[Document] = []
    for records in islice(store.iterate(config.batch), 20) if fields else ():
        seen += [Document(id_, "", "", payload) for id_, _, payload in records.rows()]
        fields = [one for one in fields if not any(map(one.is_in, seen[-len(records.ids) :]))]
        if not fields:
            return
    if fields:
        raise fields[0].absent(seen)


def _write_slices(found: Survey, config: ReachConfig, folder: ArtifactFolder) -> dict[str, Any]:
    """Write the shares that came back, by slice. Return the summary's part."""
    came = np.frombuffer(found.came, np.int8).astype(np.float64)
    fields, shares = [], []
    names = dict.fromkeys(config.by)
    for name, values, numbers in zip(names, found.values, found.numbers, strict=True):
        of = np.frombuffer(numbers, np.int32).astype(np.int64)
        cut = slicing(name, list(values), np.bincount(of).tolist())
        fields.append(cut.figures)
        shares += slice_shares([cut], [Trials("reached by their own vectors", of, came)])
    figures, table = rank_slices(fields, shares)
    folder.write_table(SLICES, table, csv=True)
    return figures


def headline(summary: ReachSummary) -> Iterator[str]:
    """Yield the lines that the command prints."""
    store, reached, k = summary["store"], summary["reached"], summary["k"]
    yield (
        f"{store['name']}: {summary['read']:,} records of {store['dim']:,} dimensions, "
        f"{store['metric']}, {store['index']}"
    )
    if summary["read"] != store["records"]:
        yield f"WARNING: it said {store['records']:,} before: it changes while it is read"
    if summary["hidden"]:
        yield f"hidden by the filter: {summary['hidden']:,}"
    if reached["asked"]:
        yield (
            f"asked for by their own vectors: {reached['reached']:,} of {reached['asked']:,} come "
            f"back in the top {k}: {reached['share']:.2%} ({reached['low']:.2%} to "
            f"{reached['high']:.2%}); {reached['first']:,} come first"
        )
    for name, recall in (("records", summary["recall"]), ("queries", summary["recall_of_queries"])):
        if recall is not None:
            yield (
                f"recall@{k} against an exact search, of {recall['queries']:,} {name}: "
                f"{recall['recall']:.4f} ({recall['low']:.4f} to {recall['high']:.4f})"
            )
    yield from (f"  {n:,} {cause}" for cause, n in summary["causes"].items())
    for record in summary["examples"][:5]:
        detail = f" ({record['detail']})" if record["detail"] else ""
        yield f"  {record['id']}: {record['cause']}{detail}"
    if reached["asked"] < summary["reachable"]:
        yield f"asked for {reached['asked']:,} of {summary['reachable']:,}, drawn at random"
    if "slices" in summary:
        yield from slice_lines(summary["slices"])
    whole = "Every record that was asked for comes back for its own vector."
    yield next((text for cause, text in NEXT.items() if cause in summary["causes"]), whole)


def section(folder: Path, summary: ReachSummary) -> Section:
    """Build the report's section, of unreached.parquet."""
    rows: list[UnreachedRecord] = read_table(folder / "unreached.parquet").to_pylist()
    columns = {"record": "text", "cause": "text", "detail": "text"}
    tables = {"unreached": table(columns, [list(row.values()) for row in rows])}
    if "slices" in summary:
        tables[SLICES] = slices_table(folder, SLICES)
    share = summary["reached"]["share"]
    brief = f"{share:.2%} of the records asked for come back for their own vector"
    return Section({}, tables, brief)
