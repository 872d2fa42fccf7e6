"""`argus serve` for hours: requests of every kind, jobs and a stream, and what it holds meanwhile.

Requests come at a steady pace, five or six a second in all, so that what is measured is time and
not load. A small job is started every minute, of eight kinds in turn. Once a minute the process is
looked at: memory, open files, threads, processes, temporary files. At the end it idles, is looked
at once more, and is told to stop.
"""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.curves import Curve, drawn
from benchmarks.faults.asking import KINDS, Asker
from benchmarks.faults.serving import ARGUS, AT_AN_END, Load, Place, marker, wait_for
from benchmarks.faults.strikes import RAW
from benchmarks.faults.values import leftovers
from benchmarks.faults.watching import files_in, locks_held, sampled, started_with
from tests.support.served import free_port

NAME = "argus serve"
PLOT = Path(__file__).parents[2] / "docs" / "results" / "soak.svg"
EVERY_S = 60.0
"""Between two samples, and between two jobs."""
IDLE_S = 60.0
"""Without a request, before the last sample."""
LONGEST_S = 600.0
"""That a job, or the stream's documents, may need."""
DOCUMENTS, ADDED, SMALL, PARTS = 300, 20, 40, 8
MOST_NOTES = 40
TICK_S, HOLD_S = 1.0, 5.0
"""A tick that takes so much longer tells that all of it was held: others may stop processes."""
AFTER_S = 30.0
"""Within which a connection may be missed after a hold: the service closes idle ones after 10."""
PRECISION = "bfloat16"
"""In which a processor compiles code for each shape of a batch; in float32 it does not."""


@dataclass(frozen=True)
class Soaked(Place):
    """A place with a larger index, a folder of results with pages, and what jobs read."""

    def prepare(self) -> None:
        """Make the files; `temporary` is where the service has its temporary files."""
        super().prepare()
        folder = self.home / "before"
        docs = (folder / "docs.jsonl").read_text("utf-8").splitlines()
        more = (folder / "more.jsonl").read_text("utf-8").splitlines()
        (folder / "few.jsonl").write_text("\n".join(docs[:SMALL]) + "\n", encoding="utf-8")
        for n in range(PARTS):
            part = more[n * ADDED : (n + 1) * ADDED]
            (folder / f"more-{n}.jsonl").write_text("\n".join(part) + "\n", encoding="utf-8")
            ids = "".join(json.loads(line)["id"] + "\n" for line in part)
            (folder / f"more-{n}.ids").write_text(ids, encoding="utf-8")
        _write_judged(folder, [json.loads(line) for line in docs[:SMALL]])
        for words in (
            ("index", "add", "--index", folder / "index", "--corpus", folder / "docs.jsonl"),
            ("exposure", "--corpus", folder / "docs.jsonl", "--out", folder / "report",
             "--precision", self.precision),
        ):  # fmt: skip
            subprocess.run([*ARGUS, *map(str, words)], check=True, capture_output=True)
        self.temporary.mkdir()

    @property
    def temporary(self) -> Path:
        """The folder for temporary files of the service and its jobs."""
        return self.home / "tmp"

    def texts(self) -> list[tuple[str, str]]:
        """Return ids and texts of documents that stay in the index."""
        rows = map(json.loads, (self.run / "docs.jsonl").read_text("utf-8").splitlines())
        return [(row["id"], row["paragraph"]) for row in rows]

    def soaking_jobs(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield, without end, a command, its options and the state it must come to."""
        run = self.run
        small = {"corpus": str(run / "few.jsonl"), "precision": self.precision, "fresh": True}
        judged = {"queries": str(run / "queries.jsonl"), "index": [str(run / "index")]}
        for n in itertools.count():
            part = str(run / f"more-{n % PARTS}")
            index = {"index": str(run / "index")}
            yield "index add", index | {"corpus": f"{part}.jsonl"}, "done"
            yield "exposure", small | {"out": str(run / f"exposure-{n % 2}")}, "done"
            yield "index delete", index | {"ids_file": f"{part}.ids"}, "done"
            yield "evaluate", judged | {
                "qrels": str(run / "qrels.tsv"), "out": str(run / "judged"), "fresh": True,
            }, "done"  # fmt: skip
            yield "exposure", small | {
                "corpus": str(run / "docs.jsonl"), "out": str(run / "cancelled"),
            }, "cancelled"  # fmt: skip
            yield "index compact", index, "done"
            yield "report", {"folder": str(run / "report")}, "done"
            yield "evaluate", judged | {
                "qrels": str(run / "docs.jsonl"), "out": str(run / "failed"), "fresh": True,
            }, "failed"  # fmt: skip


def _write_judged(folder: Path, rows: list[dict[str, str]]) -> None:
    queries = [{"_id": f"q{n}", "text": row["label"]} for n, row in enumerate(rows)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    qrels = "".join(f"q{n}\t{row['id']}\t1\n" for n, row in enumerate(rows))
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{qrels}")


@dataclass
class Soak:
    """What came of it. times: of each kind of request, seconds since the start and of the answer.

    lost: jobs that ended otherwise than they must, documents that came and are not found. escaped:
    answers that no client should have had. holds: when all of it was held, and could not answer;
    connections that were missed then are no escapes.
    """

    place: Soaked
    pid: int
    url: str
    seed: int
    since: float = field(default_factory=time.monotonic)
    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    escaped: int = 0
    left: int = 0
    missed: int = 0
    notes: list[str] = field(default_factory=list)
    holds: list[tuple[float, float]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def note(self, what: str) -> None:
        """Keep what was unexpected, with its minute."""
        note = f"{(time.monotonic() - self.since) / 60:.1f} min: {what}"[:300]
        print(note, flush=True)
        if len(self.notes) < MOST_NOTES:
            self.notes.append(note)

    def sample(self) -> dict[str, Any]:
        """Look at the process."""
        minute = (time.monotonic() - self.since) / 60
        asked = sum(map(len, self.times.values()))
        place = self.place
        one = sampled(self.pid, place.run, place.temporary, minute, asked).record()
        print(json.dumps(one), flush=True)
        return one

    def ask(self, name: str, pace: float, request: Callable[[Asker, int], str], seed: int) -> None:
        """Send requests of one kind until it is over."""
        asker = Asker(self.url, self.place.run, self.place.texts(), seed)
        times = self.times.setdefault(name, [])
        for n in itertools.count():
            begun = time.monotonic()
            try:
                wrong = request(asker, n)
            except (httpx.HTTPError, OSError, ValueError, KeyError) as error:
                wrong = "" if self._is_of_a_hold(error) else repr(error)
            times.append((begun - self.since, time.monotonic() - begun))
            if wrong:
                self.escaped += 1
                self.note(f"{name} {n}: {wrong}")
            if self.over.wait(max(0.0, 1 / pace - (time.monotonic() - begun))):
                return asker.close()

    def notice_holds(self) -> None:
        """Note when nothing of this ran, by a clock that is late."""
        before = time.monotonic()
        while not self.over.wait(TICK_S):
            now = time.monotonic()
            if now - before > TICK_S + HOLD_S:
                self.holds.append((before - self.since, now - self.since))
                self.note(f"held for {now - before:.0f} s")
            before = now

    def _is_of_a_hold(self, error: Exception) -> bool:
        """Return whether a connection was missed because all of it was held; count it then."""
        time.sleep(2 * TICK_S)  # by then a hold is noticed
        now = time.monotonic() - self.since
        held = isinstance(error, (httpx.TransportError, OSError)) and any(
            now - ended < AFTER_S for _, ended in self.holds
        )
        self.missed += held
        return held

    def start_jobs(self) -> None:
        """Have a job run every minute, each looked at until its end."""
        with httpx.Client(base_url=self.url, timeout=120) as http:
            for command, options, state in self.place.soaking_jobs():
                begun = time.monotonic()
                try:
                    wrong = self._job(http, command, options, state)
                except (httpx.HTTPError, ValueError, KeyError) as error:
                    wrong = "" if self._is_of_a_hold(error) else repr(error)
                self.jobs[command] = self.jobs.get(command, 0) + 1
                if wrong:
                    self.lost += 1
                    self.note(f"job {command}: {wrong}")
                if self.over.wait(max(0.0, EVERY_S - (time.monotonic() - begun))):
                    return

    def _job(self, http: httpx.Client, command: str, options: dict[str, Any], state: str) -> str:
        answer = http.post("/jobs", json={"command": command, "options": options})
        job = answer.json()
        if answer.status_code != 202:
            return answer.text[:200]
        until = time.monotonic() + LONGEST_S
        if state == "cancelled":
            time.sleep(5)
            http.post(f"/jobs/{job['id']}/cancel")
        while job["state"] not in AT_AN_END:
            if time.monotonic() > until:
                return f"not at its end after {LONGEST_S:.0f} s"
            time.sleep(0.5)
            job = http.get(f"/jobs/{job['id']}").json()
        events = http.get(f"/jobs/{job['id']}/events").text
        if job["state"] != state or RAW.search(job["errors"]) or f'"{state}"' not in events:
            return f"{job['state']}: {job['errors'][-200:]}"
        return ""

    def look_for_the_last(self) -> None:
        """See that the last document of the stream is found by its own text."""
        last = marker(len(self.times["records"]) - 1)
        until = time.monotonic() + LONGEST_S
        with httpx.Client(base_url=self.url, timeout=120) as http:
            while http.get("/records/waiting").json()["waiting"]:
                if time.monotonic() > until:
                    self.lost += 1
                    return self.note("documents of the stream still wait")
                time.sleep(0.5)
            time.sleep(2)
            number = last.rpartition("-")[2]
            query = {"query": f"Release 5.{number} Gate {number} of the update server", "k": 50}
            for _ in range(2):  # the first has the index looked at
                hits = http.get("/search", params=query).json()["results"]
                time.sleep(2)
        ids = {one[key] for one in hits for key in ("id", "anchor")}  # or another in its place
        if last not in ids:
            self.lost += 1
            self.note(f"{last} is not found")

    def record(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        names = ("lost", "escaped", "left", "missed", "jobs", "notes", "samples")
        return {
            "tries": sum(map(len, self.times.values())),
            "held_minutes": round(sum(end - begin for begin, end in self.holds) / 60, 1),
            **{name: getattr(self, name) for name in names},
            "requests": {name: _percentiles(times) for name, times in self.times.items()},
        }


def _percentiles(times: list[tuple[float, float]]) -> dict[str, float]:
    """Return the milliseconds of the first and of the last tenth of requests."""
    tenth = max(1, len(times) // 10)
    told: dict[str, float] = {"n": len(times)}
    for name, part in (("first", times[:tenth]), ("last", times[-tenth:])):
        p50, p95 = np.percentile([s for _, s in part], [50, 95]) * 1e3
        told |= {f"{name}_p50_ms": round(float(p50), 1), f"{name}_p95_ms": round(float(p95), 1)}
    return told


def soak(home: Path, minutes: float, seed: int) -> dict[str, Any]:
    """Run the service for so many minutes; return what came of it."""
    place = Soaked(home, Load(documents=DOCUMENTS), PRECISION)
    place.prepare()
    place.restore()
    port = free_port()
    process = place.start(port, TMPDIR=str(place.temporary))
    try:
        told = Soak(place, process.pid, f"http://127.0.0.1:{port}", seed)
        first = _warm(told, process)
        _run(told, minutes)
        told.look_for_the_last()
        time.sleep(IDLE_S)
        last = told.sample()
        print(json.dumps(told.record()), flush=True)
        return told.record() | _ended(told, process, first, last) | {"minutes": minutes}
    finally:
        process.kill()
        process.wait(10)
        shutil.rmtree(place.temporary, ignore_errors=True)


def _warm(told: Soak, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Ask one request of each kind, then idle; return what is held then."""
    with httpx.Client(base_url=told.url, timeout=120) as http:
        wait_for(process, http, "/readyz", LONGEST_S)
    for name, _, request in KINDS:
        asker = Asker(told.url, told.place.run, told.place.texts(), told.seed - 1)
        if name != "records" and (wrong := request(asker, 0)):
            told.escaped += 1
            told.note(f"the first {name}: {wrong}")
        asker.close()
    time.sleep(IDLE_S / 4)
    told.since = time.monotonic()
    return told.sample()


def _run(told: Soak, minutes: float) -> None:
    """Let all clients ask, and look once a minute."""
    clients = [threading.Thread(target=one) for one in (told.start_jobs, told.notice_holds)]
    for n, (name, pace, request) in enumerate(KINDS):
        given = (name, pace, request, told.seed * 100 + n)
        clients.append(threading.Thread(target=told.ask, args=given))
    for client in clients:
        client.start()
    until = told.since + 60 * minutes
    try:
        while (rest := until - time.monotonic()) > 0:
            time.sleep(min(EVERY_S, rest))
            told.samples.append(told.sample())
    finally:
        told.over.set()
        for client in clients:
            client.join(LONGEST_S)


def _ended(
    told: Soak, process: subprocess.Popen[bytes], first: dict[str, Any], last: dict[str, Any]
) -> dict[str, Any]:
    """Stop the service by SIGTERM; count and return what is left."""
    place = told.place
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code = process.wait(60)
    log = (place.home / "server.log").read_text("utf-8", "replace")
    if raw := RAW.search(log):
        told.escaped += 1
        told.note(f"raw: {log[raw.start() :][:250]}")
    left = {
        "processes": len(started_with("TMPDIR", str(place.temporary))),
        "temporary": files_in(place.temporary),
        "partial": leftovers(place.run),
        "locks": locks_held(place.run / ".argus-serve"),
    }
    more = {name: last[name] - first[name] for name in ("files", "sockets", "processes")}
    counts = [n if isinstance(n, int) else len(n) for n in left.values()]
    told.left = sum(counts) + sum(max(0, n) for n in more.values()) + (code not in (0, -15))
    return {
        "left": told.left, "warm": first, "idle": last, "more than when warm": more,
        "after SIGTERM": left | {"exit": code, "seconds": round(time.monotonic() - begun, 1)},
        "escaped": told.escaped, "notes": told.notes,
    }  # fmt: skip


def plot(record: dict[str, Any]) -> str:
    """Return memory by the minute as SVG."""
    samples = [record["warm"], *record["samples"], record["idle"]]
    minutes = [one["minute"] for one in samples]
    curves = [
        Curve("resident", minutes, [one["resident_mb"] for one in samples]),
        Curve("of it anonymous", minutes, [one["anonymous_mb"] for one in samples]),
    ]
    return drawn(curves, minutes[-1], "minutes; megabytes of the service")
