"""Damaged files: every reader reads them or raises an ArgusError, soon and in little memory."""

import gzip
import io
import json
import resource
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import ArgusError

MAX_SECONDS = 10
MAX_BYTES = 3 << 30
ODD = (
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\r", b"\n\n",
    b"\xe2\x80\xa8", b"'", b'"', b"\\", b"{{{{", b"}", b"[" * 3000, b"<!--", b"&#xD800;", b"null",
    b"true", b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 400, b"7" * 5000, b"=1+1",
    b"../../etc/passwd", b"!!python/object:os.system", b"&a [*a]", b"- " * 60, b"a" * 70_000,
)  # fmt: skip


@st.composite
def damages(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Draw edits of a file: replace some bytes at some places, and perhaps cut the end off."""
    place = st.floats(0, 1, exclude_max=True)
    piece = st.sampled_from(ODD) | st.binary(min_size=1, max_size=4)
    edits = draw(st.lists(st.tuples(place, st.integers(0, 12), piece), min_size=1, max_size=4))
    end = draw(st.none() | place)

    def damage(data: bytes) -> bytes:
        for at, size, new in edits:
            start = int(at * len(data))
            data = data[:start] + new + data[start + size :]
        return data if end is None else data[: int(end * len(data))]

    return damage


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet() -> bytes:
    rows = [{"_id": f"d{i}", "text": f"text {i}"} for i in range(9)]
    pq.write_table(pa.Table.from_pylist(rows), sink := io.BytesIO())
    return sink.getvalue()


def written(name: str, write: Callable[[Path], object]) -> bytes:
    """Return a file that Argus writes; a database in small pages, which damage hits everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        write(path := Path(folder) / name)
        if path.suffix == ".sqlite":
            sql = sqlite3.connect(path, isolation_level=None)
            for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
                sql.execute(statement)
            sql.close()
        return path.read_bytes()


def header() -> bytes:
    from argus.indexes.header import IndexHeader, write_header

    whole = IndexHeader(fingerprint="m@1", dim=3)
    return written("index.json", lambda path: write_header(path.parent, whole))


def ledger() -> bytes:
    from argus.llm.ledger import Entry, Ledger, State

    def write(path: Path) -> None:
        with Ledger(path) as ledger:
            ledger.put(Entry("k1", "m", "What is it?", State.OK, "An answer.", tokens_in=3))

    return written("ledger.sqlite", write)


def read_ledger(path: Path) -> object:
    from argus.llm.ledger import ledger_to_read

    with ledger_to_read(path) as ledger:
        return ledger.counts(), [*ledger.find(["k1"])]


def answers() -> bytes:
    from argus.retrievers.session import AnswerCache

    def write(path: Path) -> None:
        with closing(AnswerCache(path, "engine@1")) as kept:
            kept.put("who?", 3, {"d1": 2.5, "d2": 1.0})

    return written("answers.sqlite", write)


def read_answers(path: Path) -> object:
    from argus.retrievers.session import AnswerCache

    with closing(AnswerCache(path, "engine@1")) as kept:
        return kept.read(("who?",), 3)


def gate(path: Path) -> object:
    from argus.evaluation.gate import GateBounds, gate

    return gate([path.parent], GateBounds(max_never_retrieved_share=0.5)).markdown()


def call(place: str) -> Callable[[Path], object]:
    """Return a function of the package, called with the path of the file."""
    module, _, name = place.rpartition(".")
    return lambda path: getattr(import_module(f"argus.{module}"), name)(path)


CORPUS = lines({"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two \u2028 é"})
EDGES = b'{"superseder": "b", "superseded": "a"}\n'
LOG = lines({"query": "who?", "timestamp": "2026-03-01T12:00:00Z", "results": ["d1", "d2"]})
COUNTS = {"documents": {"documents": 9, "never_retrieved": 1}, "never_retrieved_share": 0.1, "k": 5}
RULES = b"name: laws\nrules:\n  - {name: a, superseding: x, superseded: y, scope: [bill]}\n"
SUITE = b'[[retrievers]]\nname = "BM25"\nbm25 = true\n[[tasks]]\ntask = "task"\n'
DPR = json.dumps([{"question": "who?", "answers": ["a"], "ctxs": [{"passage_id": "d1"}]}]).encode()
# By the name of a file: a whole one, or what makes it, and the reader.
READERS: dict[str, tuple[bytes | Callable[[], bytes], Callable[[Path], object]]] = {
    "rows.jsonl": (CORPUS, call("data.rows.read_rows")),
    "rows.parquet": (parquet, call("data.rows.read_rows")),
    "rows.csv": (b'_id,text\nd1,"a ""b"", c"\n', call("data.rows.read_rows")),
    "rows.jsonl.gz": (gzip.compress(CORPUS), call("data.rows.read_rows")),
    "qrels.tsv": (b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", call("data.runs.read_qrels")),
    "run.trec": (b"q1 Q0 d1 1 2.5 x\n", call("data.runs.read_run")),
    "run.json": (b'{"q1": {"d1": 2.5}}', call("data.runs.read_run")),
    "topics.jsonl": (lines({"_id": "q1", "text": "who?"}), call("data.documents.read_topics")),
    "topics.json": (DPR, call("data.documents.read_topics")),
    "log.jsonl": (LOG, call("traffic.reading.read_traffic")),
    "edges.jsonl": (EDGES, call("authority.opening.read_edges")),
    "rules.yaml": (RULES, call("authority.domains.reading.load_domain")),
    "suite.toml": (SUITE, call("suite.reading.read_suite")),
    "index.json": (header, lambda path: call("indexes.header.read_header")(path.parent)),
    "summary.json": (json.dumps({"exposure": COUNTS}).encode(), gate),
    "ledger.sqlite": (ledger, read_ledger),
    "answers.sqlite": (answers, read_answers),
}  # fmt: skip


@contextmanager
def bounded() -> Iterator[None]:
    """Stop what takes too long, and refuse memory beyond a bound."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {MAX_SECONDS} s of processor time")

    before, limits = signal.signal(signal.SIGVTALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MAX_BYTES, limits[1]))
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("file", READERS)
def test_a_damaged_file_is_read_or_refused(file: str) -> None:
    source, reader = READERS[file]
    whole = source if isinstance(source, bytes) else source()

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, bounded():
            (path := Path(folder) / file).write_bytes(data)
            if isinstance(value := reader(path), Iterable):
                list(value)

    @given(damages())
    def read_damaged(damage: Callable[[bytes], bytes]) -> None:
        with suppress(ArgusError):
            read(damage(whole))

    read(whole)
    read_damaged()
