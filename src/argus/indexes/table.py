"""Keep the views of an index in a LanceDB table: write, read, search approximately, clean up.

Approximate search (IVF_HNSW_SQ) folds views to distinct documents. Where a document's best view
decides its score, the k documents are certain, given the views that the index returned, once these
are of k distinct documents and the last of them scores below the k-th document: no view further
down could change the result. Until then twice as many views are requested, and where the index has
no more to give, the rest is scanned. The order in which the index returns views stays approximate
(benchmarks/view_search.py measures it). With scenarios or a blend, each document that a view led to
is scored by all its views (`argus.indexes.fold`). A document that no view led to has none above the
last one, so it scores at most that, less the least penalty of the blend: the same condition holds.

LanceDB keeps the files of every version, deleted rows among them, until `compact` removes the
version. No state of an index is a version (`as_of` and `rollback` read the columns `added` and
`remedy`), so versions serve readers alone: a handle that was opened before a change reads the files
of its version until `refresh`, and fails when they are gone. The age of a version is that of its
commit and does not tell when it was last current. The cutoff is therefore the version that was
current `kept` ago. A file of which less than a tenth of the rows were deleted, and which there is
no other to merge with, is not rewritten: those few rows stay on the disk, out of reach of a query.
Nothing is compacted after every change: it rewrites appended parts, with all there twice for a
while, and extends an approximate index, behind which later views are to stay exact.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from argus.data.provenance import content_hash
from argus.data.reading import is_of_reader
from argus.data.types import FloatArray, View
from argus.data.writing import check_plain, check_plain_folder, remove_leftovers, take_lock
from argus.encoders.rows import usable
from argus.errors import ArgusError, InputError
from argus.extras import naming_extras
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import SCENARIO, TopDocuments, exact
from argus.indexes.snapshot import NAMES, list_some

if TYPE_CHECKING:
    from argus.indexes.header import IndexHeader
    from argus.indexes.recipe import ActiveRecipe

NAME = "views"
READ_ROWS = 8192
PARTITIONS = 1
EDGES, BUILD_EF = 20, 150
SEARCH_EF = 250
REFINE = 2
VIEWS_PER_RESULT = 3
"""Views requested at first, per document wanted."""
ATTEMPTS, PAUSE_S = 5, 0.01
KEPT = timedelta(hours=1)
"""Time after a change for which those who have the state before it open can read it."""
MARGIN = timedelta(minutes=10)
"""Added to the cutoff. LanceDB applies it after compaction, which may take minutes."""
_IMPORTING = Lock()
_RUST_LINE = re.compile(r", \S+\.rs:\d+:\d+")
"""Line of LanceDB's own source in its errors."""
Row = tuple[str, str, float]  # view, document, score
Hit = tuple[str, float, str, str]  # document, score, best view, best scenario or ""


def schema(dim: int) -> Any:
    """Return the Arrow schema of the table."""
    import pyarrow as pa

    fields = [pa.field(name, pa.string(), nullable=False) for name in (*NAMES, "remedy")]
    fields.append(pa.field("added", pa.int64(), nullable=False))
    return pa.schema([*fields, pa.field("vector", pa.list_(pa.float32(), dim), nullable=False)])


def record_batch(
    views: Sequence[View], vectors: FloatArray, header: IndexHeader, remedy: str, added: int
) -> Any:
    """Return one Arrow batch of views.

    Raises InputError unless vectors are (n_views, dim), finite, and of length 1 where the encoder
    ranks by cosine, and for texts that cannot be written as UTF-8.
    """
    import pyarrow as pa

    vectors, shape, unit = np.asarray(vectors, np.float32), (len(views), header.dim), header.unit
    if vectors.shape != shape:
        got = f"vectors of shape {vectors.shape} for {len(views)} views"
        expected = f"{shape}: a row per view, of the dimension of the index"
        fix = "Embed the views with the encoder that the index names."
        raise InputError(got, expected=expected, fix=fix)
    wrong = np.flatnonzero(~usable(vectors, unit=unit))
    if len(wrong):
        norm = np.linalg.norm(vectors[int(wrong[0])])
        bad = f"of length {norm:.4g}" if np.isfinite(norm) else "not finite"
        raise InputError(
            f"{len(wrong)} of {len(views)} vectors are no {'unit' if unit else 'usable'} vectors: "
            f"row {wrong[0]} is {bad}",
            expected="finite vectors of length 1" if unit else "finite vectors that are not zero",
            fix=f"{'Divide each vector by its length; leave' if unit else 'Leave'} out what could "
            "not be embedded.",
        )
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1), pa.float32())
    try:
        columns = [pa.array([getattr(v, name) for v in views], pa.string()) for name in NAMES]
    except UnicodeEncodeError as error:
        got = f"a view holds characters that are no Unicode text ({error})"
        fix = "Remove lone surrogates from the text."
        raise InputError(got, expected="text that can be written as UTF-8", fix=fix) from error
    columns.append(pa.array([remedy] * len(views), pa.string()))
    columns.append(pa.array([added] * len(views), pa.int64()))
    columns.append(pa.FixedSizeListArray.from_arrays(flat, header.dim))
    return pa.record_batch(columns, schema=schema(header.dim))


def create_views(path: Path, dim: int) -> Any:
    """Make an empty table in a folder, in place of one that is there."""
    mode = "overwrite" if (path / f"{NAME}.lance").exists() else "create"
    return import_lancedb().connect(path).create_table(NAME, schema=schema(dim), mode=mode)


def open_views(path: Path) -> Any:
    """Open the table of an index at its latest version. No other handle's changes are seen."""
    return import_lancedb().connect(path).open_table(NAME)


@naming_extras()
def import_lancedb() -> Any:
    """Return the module `lancedb`, imported in a third of the time.

    Its REST client of catalogues, which no table here uses, is imported when something asks for it.
    Validators of pydantic records are built on first use. `overrides`, on Python 3.11, does not
    compare the signatures of all its methods.
    """
    from pydantic import BaseModel, ConfigDict

    with _IMPORTING, ExitStack() as swaps:
        _postpone("lance_namespace_urllib3_client")
        config = ConfigDict(**{**BaseModel.model_config, "defer_build": True})
        swaps.enter_context(_swapped(BaseModel, model_config=config))
        if find_spec("overrides"):
            unchecked = type("EnforceOverrides", (), {})
            library = import_module("overrides")
            swaps.enter_context(_swapped(library, override=override, EnforceOverrides=unchecked))
        import lancedb
    return lancedb


@contextmanager
def _swapped(holder: Any, **values: Any) -> Iterator[None]:
    """Give an object other attributes within the context."""
    before = {name: getattr(holder, name) for name in values}
    try:
        for name, value in values.items():
            setattr(holder, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(holder, name, value)


def _postpone(package: str) -> None:
    """Run a package when a name of its own is first used. You can import its submodules before.

    Nothing happens where it runs already, or is not installed.
    """
    spec = find_spec(package) if package not in sys.modules else None
    if spec is None or spec.loader is None:
        return
    module, loader = module_from_spec(spec), spec.loader

    def run(name: str) -> Any:
        if vars(module).pop("__getattr__", None) is not None:
            loader.exec_module(module)
        try:
            return vars(module)[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    vars(module)["__getattr__"] = run
    sys.modules[package] = module


def version_mark(path: Path, version: int) -> str:
    """Return a hash of a version of the table, "" where there is none.

    It differs from that of another version with the same number, as of a copy put back: LanceDB
    names the file of a version by its number, later ones backwards, and writes unique content.
    """
    versions = path / f"{NAME}.lance" / "_versions"
    for number in (2**64 - 1 - version, version):
        with suppress(OSError):
            return content_hash((versions / f"{number}.manifest").read_bytes()).hex()
    return ""


def select(table: Any, condition: str | None, columns: Sequence[str]) -> Any:
    """Return a query for some columns of the rows of a condition, in no order."""
    query = table.search().select(list(columns))
    return query.where(condition) if condition else query


def read_vectors(path: Path, query: Any, rows: Any, *, dim: int, unit: bool) -> FloatArray:
    """Return the vectors of rows, (n_rows, dim), from a query of their `id` and `vector`.

    Raises ArgusError where the rows have changed since they were read, and for damaged vectors.
    """
    import pyarrow.compute as pc

    changed = ArgusError(
        f"{path}: the index changed while it was read. It is whole; run the same command again."
    )
    vectors, filled = np.empty((rows.num_rows, dim), np.float32), 0
    for batch in query.to_batches(READ_ROWS):
        places = pc.index_in(batch["id"], value_set=rows["id"])
        if places.null_count:
            raise changed
        if batch.num_rows:
            flat = pc.list_flatten(batch["vector"]).to_numpy()
            vectors[places.to_numpy()] = flat.reshape(-1, dim)
            filled += batch.num_rows
    if filled != rows.num_rows:
        raise changed
    wrong = np.flatnonzero(~usable(vectors, unit=unit))
    if len(wrong):
        documents = sorted(set(rows["doc_id"].take(wrong).to_pylist()))
        raise ArgusError(
            f"{path}: {len(wrong):,} of {len(vectors):,} vectors are damaged (zeros, no numbers, "
            f"or not of the length that was written), of {list_some(documents)}. Put a copy of the "
            "index back, or delete these documents and add them again (argus index delete, argus "
            "index add)."
        )
    return vectors


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold the index's lock. Raises ArgusError while another process, or thread, writes to it.

    The holder writes alone, so half-written files of killed writers and remedies are removed.
    """
    busy = (
        f"{path} is being written to by another run; wait for it and run this again. "
        "Nothing was changed."
    )
    try:
        lock = take_lock(path / "lock", busy=busy)
    except OSError as error:
        got = f"cannot be written ({error.strerror})"
        expected = "a folder that can be written"
        fix = "Check its owner and mode, or copy the index."
        raise InputError(got, expected=expected, fix=fix, where=path) from error
    with lock:
        check_plain(path / "index.json")
        for home in (path / f"{NAME}.lance", path / REMEDIES):
            check_plain_folder(home)
        for leftover in (path / f"{NAME}.lance").rglob(".tmp*"):
            with suppress(OSError):
                leftover.unlink()
        for home in (path / REMEDIES).glob("*"):
            remove_leftovers(home)
        yield


def remove_half_written(path: Path) -> None:
    """Remove files that a killed writer left, unless another run writes."""
    with suppress(ArgusError), writing(path):
        pass


@contextmanager
def storage(path: Path, doing: str) -> Iterator[None]:
    """Turn errors of LanceDB, a panic of its Rust too, into an ArgusError with the path.

    Raises InputError for an id that cannot be written as UTF-8: no index holds one.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        got = f"{doing} failed: an id holds characters that are no Unicode text ({error})"
        expected = "ids that can be written as UTF-8"
        fix = "Remove lone surrogates from the id."
        raise InputError(got, expected=expected, fix=fix, where=path) from error
    except BaseException as error:
        if not is_of_reader(error):
            raise
        lines = _RUST_LINE.sub("", str(error)).strip().splitlines() or [type(error).__name__]
        raise ArgusError(
            f"{path}: {doing} failed ({lines[0][:300]}). The index is as it was before; mend that "
            "(space on the disk, rights, a damaged file) and run the same command again."
        ) from error


def quoted(values: Iterable[str]) -> str:
    """Return values as a SQL list: `'a', 'O''Hara'`."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def conjoined(condition: str | None, other: str) -> str:
    """Return a SQL condition that both hold. None is everything."""
    return f"({condition}) AND {other}" if condition else other


def build_ann(table: Any) -> None:
    """Build the approximate index anew, over all vectors. The table should be compact."""
    from lancedb.index import HnswSq

    config = HnswSq(
        distance_type="dot", num_partitions=PARTITIONS, m=EDGES, ef_construction=BUILD_EF
    )
    table.create_index("vector", config=config, replace=True)


def has_ann(table: Any) -> bool:
    """Return whether the table has an index on its vectors."""
    return any("vector" in index.columns for index in table.list_indices())


def approximate_search(
    table: Any,
    queries: FloatArray,
    k: int,
    condition: str | None,
    weight: float,
    recipe: ActiveRecipe,
) -> TopDocuments:
    """Return the k documents of each query, or fewer if the state holds fewer.

    Smoothed vectors are not used: the table holds the documents' own.
    """
    total = int(table.count_rows(condition))
    scenarios = bool(table.count_rows(conjoined(condition, f"kind = '{SCENARIO}'")))
    weighed = scenarios or recipe.blend is not None
    penalty = 0.0
    if recipe.blend is not None and recipe.numbers is not None and len(recipe.numbers.hubness):
        penalty = recipe.blend.hubs * float(recipe.numbers.hubness.min())
    result = TopDocuments([], [], [])
    for query in queries:
        hits: list[Hit] = []
        limit, scan = min(VIEWS_PER_RESULT * k + 1, total), False
        while limit:  # until there are as many views as make k documents certain
            scan = scan or limit == total
            rows = _nearest_views(table, query, condition, limit, scan)
            if weighed:
                hits = _weigh(table, query, condition, weight, recipe, rows)
            else:  # each document by its best view, the smaller id of equal ones
                best: dict[str, Hit] = {}
                for view, doc, score in sorted(rows, key=lambda row: (-row[2], row[0])):
                    best.setdefault(doc, (doc, score, view, ""))
                hits = [*best.values()]
            hits = sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
            is_certain = len(hits) == k and rows[-1][2] - penalty < hits[-1][1]
            has_more = len(rows) == limit
            if is_certain or len(rows) >= total or (scan and not has_more):
                break
            scan = scan or not has_more  # the table holds more than the index gives
            limit = min(2 * limit, total) if has_more else limit
        result.doc_ids.append([document for document, *_ in hits])
        result.scores.append([value for _, value, *_ in hits])
        result.view_ids.append([view for _, _, view, _ in hits])
        if scenarios:
            result.scenario_ids.append([scenario for *_, scenario in hits])
    return result


def _nearest_views(
    table: Any, query: FloatArray, condition: str | None, limit: int, scan: bool
) -> list[Row]:
    """Return the nearest views, best first."""
    search = table.search(query).distance_type("dot").select(["id", "doc_id", "_distance"])
    search = search.limit(limit)
    if scan:
        search = search.bypass_vector_index()
    else:
        search = search.nprobes(PARTITIONS).ef(max(SEARCH_EF, 2 * REFINE * limit))
        search = search.refine_factor(REFINE)
    if condition:
        search = search.where(condition, prefilter=True)
    rows = search.to_arrow()
    scores = [1.0 - distance for distance in rows["_distance"].to_pylist()]
    return list(zip(rows["id"].to_pylist(), rows["doc_id"].to_pylist(), scores, strict=True))


def _weigh(
    table: Any,
    query: FloatArray,
    condition: str | None,
    weight: float,
    recipe: ActiveRecipe,
    rows: list[Row],
) -> list[Hit]:
    """Score the documents of these views by all their views."""
    documents = quoted(sorted({doc for _, doc, _ in rows}))
    columns = ["id", "doc_id", "kind", "added", "vector"]
    views = select(table, conjoined(condition, f"doc_id IN ({documents})"), columns).to_arrow()
    views = views.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
    vectors = views["vector"].combine_chunks().flatten().to_numpy().reshape(-1, len(query))
    snapshot = recipe.over(views, vectors)
    each = np.arange(len(snapshot))
    layout = snapshot.layout(weight)
    own, matched, scores = exact(query[None], vectors, layout, np.zeros_like(each), each)
    ids = views["id"].to_pylist()
    return [
        (document, float(scores[i]), ids[own[i]], ids[at] if at >= 0 else "")
        for i, (document, at) in enumerate(zip(snapshot.doc_ids, matched.tolist(), strict=True))
    ]


def compact(table: Any, kept: timedelta = KEPT) -> None:
    """Merge small files. Remove versions that nobody who opened the table within `kept` reads.

    kept: 0 removes every version but the latest. Compaction itself may commit a version younger
    than the shortest age that LanceDB accepts, so it runs again where one is left.
    """
    for _ in range(ATTEMPTS):
        now, age = datetime.now(UTC), timedelta(milliseconds=1)
        if kept:  # the age beyond which no version was current within it
            ages = [now - version["timestamp"].astimezone(UTC) for version in table.list_versions()]
            age = min((age for age in ages if age >= kept), default=kept) + MARGIN
        table.optimize(cleanup_older_than=age)
        if kept or len(table.list_versions()) == 1:
            return
        time.sleep(PAUSE_S)
