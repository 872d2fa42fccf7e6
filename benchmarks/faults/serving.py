"""A service with jobs that run and records that stream in, killed at any moment and gone on with.

`struck` kills one server again and again. Its client knows what any client knows: which requests
were answered. It starts the server again, resumes what was interrupted and repeats the stream from
there, until jobs and stream are at an end. What they came to is compared value by value with what
they come to where nothing is killed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.faults.strikes import RAW, Tally
from benchmarks.faults.values import Values, differences, leftovers, values_of
from benchmarks.shared import collection
from tests.support.served import free_port
from tests.support.superseding import write_story

NAME = "argus serve"
LONGEST_S = 300
"""Seconds that a server may need to all that is left of jobs and stream."""
POLL_S = 0.05
REACH = 1.3
"""Moments are drawn from so many times the seconds of a run without a kill: some of them must be
late enough for jobs that go on from little to come to their end."""
MOST_LOST = 10
"""Losses after which no more servers are killed."""
ARGUS = (sys.executable, "-m", "argus")
OF_THE_LAST = ("index/manifest.json", "index/summary.json", "index/embeddings/")
AT_AN_END = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class Load:
    """What the server has to do. documents: of each job; batches: requests of the stream."""

    documents: int = 200
    batches: int = 300
    pause_s: float = 0.02


def batch(n: int) -> list[dict[str, Any]]:
    """Return the n-th request of the stream: a record comes, others go or are corrected."""
    rows: list[dict[str, Any]] = [{
        "_id": marker(n), "type": ("disclosure", "patch")[n % 2], "entities": {"cve": f"n{n // 4}"},
        "timestamp": f"2025-{1 + n // 28 % 12:02}-{1 + n % 28:02}", "title": f"Release 5.{n}",
        "text": f"Gate {n} of the update server is checked before {n * n} members are read.",
    }]  # fmt: skip
    if n % 3 == 1:
        rows.append({"op": "correct", "_id": marker(n - 1), "timestamp": "2025-06-30"})
    if n % 3 == 2 and n >= 5:
        rows.append({"op": "delete", "_id": marker(n - 5)})
    return rows


def marker(n: int) -> str:
    """Return the id of the record that only the n-th request brings."""
    return f"new-{n}"


@dataclass
class Serving:
    """A tally of kills while jobs ran and records streamed in.

    starting: kills before, while a server started or its client looked back. rounds: how often jobs
    and stream came to their end. resumed: jobs that were resumed. unanswered: requests that counted
    though nobody was told.
    """

    tally: Tally = field(default_factory=lambda: Tally(NAME, "kill"))
    starting: int = 0
    rounds: int = 0
    resumed: int = 0
    unanswered: int = 0

    def record(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        own = ("starting", "rounds", "resumed", "unanswered")
        return self.tally.record() | {name: getattr(self, name) for name in own}

    def lose(self, what: str) -> None:
        """Note that something is not there that should be."""
        self.tally.lost += 1
        self.tally.note(self.tally.tries, what)


@dataclass(frozen=True)
class Place:
    """Where servers run, from the same files each time. home: holds them and the folder `run`."""

    home: Path
    load: Load
    precision: str = "float32"

    @property
    def run(self) -> Path:
        """The one folder that is served."""
        return self.home / "run"

    def prepare(self) -> None:
        """Make the files from which each round starts."""
        folder = write_story(self.home / "before")
        rows = (collection("fb15k237") / "entities.jsonl").read_text("utf-8").splitlines()
        docs, more = rows[: self.load.documents], rows[self.load.documents :]
        (folder / "docs.jsonl").write_text("\n".join(docs) + "\n", encoding="utf-8")
        (folder / "more.jsonl").write_text(
            "\n".join(more[: self.load.documents]) + "\n", encoding="utf-8"
        )
        words = ("index", "build", "--corpus", folder / "records.jsonl", "--out", folder / "index",
                 "--precision", self.precision)  # fmt: skip
        subprocess.run([*ARGUS, *map(str, words)], check=True, capture_output=True, timeout=600)

    def restore(self) -> None:
        """Have the folder as it is before jobs and stream."""
        shutil.rmtree(self.run, ignore_errors=True)
        shutil.copytree(self.home / "before", self.run)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """Return what is started: one job beside the index that is searched, one that writes it."""
        more, docs = str(self.run / "more.jsonl"), str(self.run / "docs.jsonl")
        return {
            "index add": {"index": str(self.run / "index"), "corpus": more},
            "exposure": {
                "corpus": docs,
                "out": str(self.run / "report"),
                "precision": self.precision,
            },
        }

    def start(self, port: int, **variables: str) -> subprocess.Popen[bytes]:
        """Start a server; what it says of itself is added to server.log.

        variables: of its environment, beside ours.
        """
        words = (
            "serve", self.run, "--index", self.run / "index", "--port", port,
            "--records", self.run / "records.jsonl", "--rules", self.run / "rules.yaml",
        )  # fmt: skip
        with (self.home / "server.log").open("ab") as log:
            return subprocess.Popen(
                [*ARGUS, *map(str, words)], stdout=log, stderr=log, start_new_session=True,
                env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"} | variables,
            )  # fmt: skip

    def values(self, relation: Values) -> Values:
        """Return what jobs and stream came to: files, views and vectors, and who supersedes whom.

        Of the index is left out what depends on the order of job and stream: which of them added
        last, and vectors kept of texts that went again.
        """
        (journal,) = (self.run / ".argus-serve").glob("records-*.jsonl")
        came = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
        folders = {name: values_of(self.run / name) for name in ("report", "index")}
        flat = {f"{name}/{file}": v for name, of in folders.items() for file, v in of.items()}
        kept = {name: value for name, value in flat.items() if not name.startswith(OF_THE_LAST)}
        return kept | {"journal": came} | relation


@dataclass
class Client:
    """Who has jobs run and streams records, over as many servers as it takes."""

    place: Place
    told: Serving
    acknowledged: int = 0
    known_jobs: set[str] = field(default_factory=set)
    is_at_work: bool = False
    """Whether jobs run and records stream to the server of now."""

    def go_on(self, process: subprocess.Popen[bytes], url: str) -> Values:
        """Do what is left; TransportError where the server is killed meanwhile."""
        self.is_at_work = False
        with httpx.Client(base_url=url, timeout=60) as http:
            wait_for(process, http, "/healthz")
            jobs = self._resume(http)
            self._look_back(http)
            self.is_at_work = True
            until = time.monotonic() + LONGEST_S
            while not self._is_done(http, jobs):
                if time.monotonic() > until:
                    raise RuntimeError(f"jobs and stream are not done in {LONGEST_S} s")
                time.sleep(self.place.load.pause_s)
            ids = [marker(n) for n in range(self.place.load.batches)]
            relation = _sent(http.post("/resolve", json={"ids": [*ids, "flaw-1", "flaw-2"]}))
            return {"relation": relation, "held": _sent(http.get("/records/waiting"))}

    def _resume(self, http: httpx.Client) -> list[int]:
        """Start the jobs, or resume what was interrupted; return their ids."""
        there = {
            name: job
            for job in _sent(http.get("/jobs"))["jobs"]
            for name in self.place.jobs()
            if job["command"].startswith(f"argus {name} ")
        }
        for name in self.known_jobs - set(there):
            self.told.lose(f"the job {name}")
        for name, options in self.place.jobs().items():
            if name not in there:
                request = {"command": name, "options": options}
                there[name] = _sent(http.post("/jobs", json=request))
            elif there[name]["state"] == "interrupted":
                _sent(http.post(f"/jobs/{there[name]['id']}/resume"))
                self.told.resumed += 1
            self.known_jobs.add(name)
        return [job["id"] for job in there.values()]

    def _look_back(self, http: httpx.Client) -> None:
        """See whether what was answered is there, and whether the request that was not counts."""
        n = self.acknowledged
        ids = [marker(n - 1) if n else "flaw-1", marker(n)]
        before, this = _sent(http.post("/resolve", json={"ids": ids}))["documents"]
        if not before["known"]:
            self.told.lose(f"request {n - 1} of the stream, which was answered")
        if this["known"]:
            self.acknowledged += 1
            self.told.unanswered += 1

    def _is_done(self, http: httpx.Client, jobs: list[int]) -> bool:
        """Send the next request of the stream; return whether there is nothing more to wait for."""
        if self.acknowledged < self.place.load.batches:
            body = "\n".join(map(json.dumps, batch(self.acknowledged)))
            _sent(http.post("/records", content=body))
            self.acknowledged += 1
            return False
        ended = [_sent(http.get(f"/jobs/{id_}")) for id_ in jobs]
        for job in ended:
            if job["state"] in AT_AN_END and job["state"] != "done":
                raise RuntimeError(f"{job['command']}: {job['state']}: {job['errors'][-500:]}")
        is_embedded = not _sent(http.get("/records/waiting"))["waiting"]
        return is_embedded and all(job["state"] == "done" for job in ended)


def wait_for(
    process: subprocess.Popen[bytes], http: httpx.Client, path: str, longest_s: float = LONGEST_S
) -> None:
    """Return when a server answers; TransportError where it ends before, or takes too long."""
    until = time.monotonic() + longest_s
    while True:
        try:
            http.get(path)
            return
        except httpx.TransportError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(POLL_S)


def _sent(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise RuntimeError(f"{answer.url.path}: {answer.status_code}: {answer.text[:500]}")
    return answer.json()


def whole(place: Place) -> tuple[Values, float]:
    """Return what jobs and stream come to where nothing is killed, and in how many seconds."""
    since = time.monotonic()
    values = _to_the_end(place, Serving(), lambda: None)
    return values, time.monotonic() - since


def struck(place: Place, kills: int, seed: int, undisturbed: Values, longest_s: float) -> Serving:
    """Kill servers at so many moments, each drawn from the seconds since its start."""
    told, draw = Serving(), random.Random(seed)

    def moment() -> float | None:
        return draw.uniform(0, longest_s) if told.tally.tries < kills else None

    while told.tally.tries < kills and told.tally.lost < MOST_LOST:
        try:
            values = _to_the_end(place, told, moment)
        except RuntimeError as error:
            told.lose(str(error))
            continue
        told.rounds += 1
        _compare(place, told, values, undisturbed)
    return told


def _to_the_end(place: Place, told: Serving, moment: Callable[[], float | None]) -> Values:
    """Have jobs and stream come to their end, over as many servers as it takes."""
    place.restore()
    client, port = Client(place, told), free_port()
    for _ in itertools.count():
        process, after = place.start(port), moment()
        killer = threading.Timer(after or 0, process.kill)
        if after is not None:
            killer.start()
        try:
            relation = client.go_on(process, f"http://127.0.0.1:{port}")
            killer.cancel()
            process.terminate()
            process.wait(60)
            return place.values(relation)
        except httpx.TransportError:
            if process.wait(10) != -signal.SIGKILL or after is None:
                raise RuntimeError(f"the server ended by itself: {process.returncode}") from None
            told.tally.tries += client.is_at_work
            told.starting += not client.is_at_work
        finally:
            killer.cancel()
            process.kill()
            process.wait(10)
    raise AssertionError("unreachable")


def _compare(place: Place, told: Serving, values: Values, undisturbed: Values) -> None:
    """Count what differs, what was said raw, and what was left behind."""
    tally = told.tally
    if differing := differences(values, undisturbed):
        tally.wrong += 1
        tally.note(tally.tries, f"differ: {', '.join(differing[:4])}")
    locks = [path.name for path in (place.run / ".argus-serve").glob("job-*.lock")]
    if there := [*leftovers(place.run), *locks]:
        tally.left += 1
        tally.note(tally.tries, f"left: {', '.join(there[:3])}")
    log = place.home / "server.log"
    if raw := RAW.search(log.read_text("utf-8", "replace")):
        tally.escaped += 1
        tally.note(tally.tries, f"raw: {log.read_text('utf-8', 'replace')[raw.start() :][:250]}")
        log.unlink()


def kill_servers(home: Path, kills: int, seed: int, load: Load | None = None) -> Serving:
    """Return the tally of so many kills; a moment may come after the end of jobs and stream."""
    place = Place(home, load or Load())
    place.prepare()
    undisturbed, seconds = whole(place)
    return struck(place, kills, seed, undisturbed, REACH * seconds)
