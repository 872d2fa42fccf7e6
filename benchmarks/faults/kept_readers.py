"""What Argus keeps for itself: SQLite files, notes of repairs, runs of a history, settings."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.faults.fuzz import Reader
from benchmarks.faults.reading import in_folder, whole

NOW = "2026-03-01T12:00:00+00:00"


def _database(make: Callable[[Path], object], file: str) -> list[bytes]:
    """Return a database in small pages, so that damage falls on what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        make(path)
        sql = sqlite3.connect(path, isolation_level=None)
        for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
            sql.execute(statement)
        sql.close()
        return [path.read_bytes()]


def _ledger(path: Path) -> None:
    from argus.llm.ledger import Entry, Ledger
    from argus.llm.protocol import State

    with Ledger(path) as ledger:
        ledger.put(Entry("k1", "m", "What is it?", State.OK, "An answer.", tokens_in=3))
        ledger.put(Entry("k2", "m", "And that?", State.FAILED, reason="no answer in 3 attempts"))


def _read_ledger(folder: Path) -> object:
    from argus.llm.ledger import ledger_to_read

    with ledger_to_read(folder / "ledger.sqlite") as ledger:
        return ledger.counts(), [*ledger.find(["k1", "k2"])]


IDENTITY, ASKED = "engine@1", ("who?", "when?")


def _answers(path: Path) -> None:
    from argus.retrievers.kept import KeptAnswers

    with KeptAnswers(path, IDENTITY) as kept:
        for text in ASKED:
            kept.put(text, 3, {"d1": 2.5, "d2": 1.0})


def _read_answers(folder: Path) -> object:
    from argus.retrievers.kept import FILE, KeptAnswers

    with KeptAnswers(folder / FILE, IDENTITY) as kept:
        return kept.read(ASKED, 3)


def _read_row(path: Path) -> object:
    """Read answers of which one row says what the file holds."""
    text = path.read_bytes().decode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "answers.sqlite"
        place.write_bytes(_whole_answers())
        sql = sqlite3.connect(place)
        sql.execute("UPDATE answers SET answer = ?", (text,))
        sql.commit()
        sql.close()
        return _read_answers(Path(folder))


@cache
def _whole_answers() -> bytes:
    return _database(_answers, "answers.sqlite")[0]


def _jobs(path: Path) -> None:
    from argus.service.jobs.planning import Planned
    from argus.service.jobs.summary import JobState
    from argus.service.jobs.table import JobTable

    table = JobTable(path.parent)
    for words in (("index", "build"), ("repair",), ("evaluate",)):
        table.add(Planned(words, ("--out", "o"), (Path("/o"),)))
    table.begin(1)
    table.step(1, {"step": "embedding", "done": 3, "total": 9, "eta_s": 1.5})
    table.begin(2)
    table.end(2, JobState.FAILED, 2, "printed", "wrong")
    table.close()


def _read_jobs(folder: Path) -> object:
    """Read the table as the service does when it starts, and its pages."""
    from argus.service.jobs.table import JobTable

    table = JobTable(folder)
    try:
        read = table.queued(), table.running(), table.latest(9), table.job(1)
        return read, table.events(1, 0, 99)
    finally:
        table.close()


def _vectors() -> list[bytes]:
    import numpy as np

    files = []
    for kind in (np.float32, np.float16):
        sink = io.BytesIO()
        np.save(sink, np.eye(3, 4, dtype=kind))
        files.append(sink.getvalue())
    return files


class _Unlike:
    """An encoder whose vectors are others than those of a file."""

    fingerprint, similarity, dim = "m@1", "cosine", 4

    def encode_documents(self, texts: list[str]) -> Any:
        import numpy as np

        return np.eye(len(texts), 4, dtype=np.float32)

    encode_queries = encode_documents


def _own_vectors(path: Path) -> object:
    from argus.data.types import Document
    from argus.indexes.own_vectors import own_vectors

    return own_vectors(path, [Document(f"d{i}", f"text {i}") for i in range(3)], _Unlike())


def _run() -> list[bytes]:
    record = {
        "key": "k", "number": 1, "job": "exposure", "started": NOW, "finished": NOW, "argus": "1",
        "corpus": "0a", "encoder": "m@1", "settings": {"k": 5, "queries": None},
        "means": {"retrieved": 0.5},
    }  # fmt: skip
    return [json.dumps(record).encode()]


def _items() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    ids = [f"d{i}" for i in range(30)]
    values = [None if i == 7 else float(i % 2) for i in range(30)]
    pq.write_table(pa.table({"id": ids, "retrieved": values}), sink)
    return [sink.getvalue()]


def _put(file: str, files: Callable[[], list[bytes]]) -> Callable[[Path], object]:
    return lambda folder: (folder / file).write_bytes(files()[0])


def gated(baseline: Path) -> object:
    """Check a whole run against a damaged one."""
    from argus.evaluation.gate.against import against

    with tempfile.TemporaryDirectory() as folder:
        _put("run.json", _run)(Path(folder))
        _put("items.parquet", _items)(Path(folder))
        return against([Path(folder)], baseline, 0.0)


def _summary() -> list[bytes]:
    counts = {"documents": 9, "never_retrieved": 1}
    exposure = {"documents": counts, "never_retrieved_share": 0.1, "k": 5}
    audit = {"entities": {"measured": 9}, "share_below_0.33": 0.1, "mean_rps": 0.7}
    return [json.dumps({"exposure": exposure, "audit": audit}).encode()]


def checked(folder: Path) -> object:
    """Check the bounds that a damaged summary has figures for."""
    from argus.evaluation.gate.config import GateBounds
    from argus.evaluation.gate.job import gate

    bounds = GateBounds(max_low_rps_share=0.1, max_never_retrieved_share=0.5)
    return gate([folder], bounds).markdown()


def _tried() -> list[bytes]:
    from argus.repair.summary import RepairSummary

    summary = whole(RepairSummary)
    return [json.dumps({"repair": summary | {"kept": "x", "index": "i"}}).encode()]


def _manifest() -> list[bytes]:
    from argus.data.manifest import ManifestSection

    return [json.dumps({"repair": whole(ManifestSection)}).encode()]


def _questions() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from argus.repair.trial_table import SCHEMA

    row = {"candidate": "x", "query_id": "q1", "question": "who?", "ndcg10_before": 0.5,
           "ndcg10_after": 1.0, "place_before": 2, "place_after": 1}  # fmt: skip
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row, row | {"query_id": "q2"}], SCHEMA), sink)
    return [sink.getvalue()]


TRIAL = {
    "repair/summary.json": _tried, "repair/manifest.json": _manifest,
    "repair/repair_questions.parquet": _questions,
}  # fmt: skip


def _whole_trial(index: Path) -> None:
    (index / "repair").mkdir()
    for file, files in TRIAL.items():
        _put(file, files)(index)


def _trial(index: Path) -> object:
    from argus.service.page.repairs.reading import read_trial

    return read_trial(index, "x", [])


def _trial_reader(file: str) -> Reader:
    """Return the reader of a trial of repairs of which one file is damaged."""
    name = f"trial {Path(file).stem.rpartition('_')[2]}"
    return Reader(name, Path(file).suffix, TRIAL[file], in_folder(file, _trial, _whole_trial))


def made(folder: Path) -> object:
    """Read how a remedy came about."""
    from argus.data.artifacts import ArtifactFolder
    from argus.remedies.repair.remedy import read_origin

    return read_origin(ArtifactFolder(folder))


PROJECT = b"""\
corpus = "corpus.jsonl"
model = "m"
[exposure]
k = 5
sample = 0.5
[remedy.scenarios]
model = "small"
[probe]
families = ["ridge"]
"""


@cache
def _context() -> Any:
    """Return the context of a command, as the command line has it when it reads its settings."""
    import typer

    from argus.cli.main import app

    root = typer.main.get_command(app)
    above = root.make_context("argus", ["exposure", "--help-not"], resilient_parsing=True)
    command = root.commands["exposure"]  # type: ignore[attr-defined]
    return command.context_class(command, info_name="exposure", parent=above)


def _settings(path: Path) -> object:
    """Read a project's settings as a command does, and as the verdict does."""
    from argus.cli.config import read_config
    from argus.verdict.project import Project

    project = Project.of(path)
    project.value("model", "remedy.scenarios"), project.of_job("k", "exposure")
    project.is_of("corpus.jsonl")
    return read_config(_context(), path)


FRONT_MATTER = (
    b"---\ntitle: A page\naliases: [a, /b/]\nbase: &a {x: 1}\npage: {<<: *a}\ndate: 2024-03-01\n"
    b"redirect_from:\n  - /old\nn: 0x1f\n---\ntext\n",
    b"+++\ntitle = 'A'\naliases = ['b']\ndate = 2020-01-02\n[a.b]\nc = [1, {d = 2.5}]\n+++\ntext\n",
)


def _front_matter(path: Path) -> object:
    from argus.knowledge.sources.pages.front_matter import split_front_matter
    from argus.knowledge.sources.pages.page import ParsedPage, with_front_matter

    values, rest, _ = split_front_matter(path.read_bytes().decode("utf-8", "replace"))
    return with_front_matter(ParsedPage(), values), rest


def _made() -> list[bytes]:
    from argus.remedies.repair.remedy import Origin

    return [json.dumps(whole(Origin)).encode()]


READERS: tuple[Reader, ...] = (
    Reader("ledger of answers", ".sqlite", lambda: _database(_ledger, "l.sqlite"),
           in_folder("ledger.sqlite", _read_ledger)),
    Reader("kept answers", ".sqlite", lambda: [_whole_answers()],
           in_folder("answers.sqlite", _read_answers)),
    Reader("kept answer", ".json", lambda: [b'{"d1": 2.5, "d2": 1.0}'], _read_row),
    Reader("jobs.sqlite", ".sqlite", lambda: _database(_jobs, "jobs.sqlite"),
           in_folder("jobs.sqlite", _read_jobs)),
    Reader("vectors npy", ".npy", _vectors, _own_vectors),
    Reader("baseline run.json", ".json", _run,
           in_folder("run.json", gated, _put("items.parquet", _items))),
    Reader("baseline items", ".parquet", _items,
           in_folder("items.parquet", gated, _put("run.json", _run))),
    Reader("gate summary", ".json", _summary, in_folder("summary.json", checked)),
    Reader("made.json", ".json", _made, in_folder("made.json", made)),
    *map(_trial_reader, TRIAL),
    Reader("argus.toml", ".toml", lambda: [PROJECT], _settings),
    Reader("front matter", ".md", lambda: [*FRONT_MATTER], _front_matter),
)  # fmt: skip
