"""Fuzzing that follows coverage (atheris), for the parsers that are written in this project.

`python -m benchmarks.faults coverage` runs each in a process of its own, whose inputs grow from
those that reached code no input had reached before. atheris is optional.
"""

from __future__ import annotations

import bz2
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.faults.fuzz import Fuzzed, Reader, bounds, consume, outcome
from benchmarks.faults.mutate import mutation
from benchmarks.faults.readers import READERS

PARSERS = (
    "wikitext", "pages of a dump", "dump bz2", "wikidata items", "json list", "dpr", "topics dpr",
    "failures", "triples tsv", "n-triples", "rules yaml", "endpoint yaml", "model answers",
    "chat completions", "html", "markdown",
)  # fmt: skip
"""Readers whose parser stands in this project, or whose answers it takes apart itself."""
BEGIN_WITH = 30
"""Blind mutations that a corpus begins with, beside the seeds."""
LONGEST = 1 << 14
"""Bytes of an input."""
KEEP_EVERY_S = 1.0
START_S = 120
"""What a process may take beyond its time, for its imports and its first inputs."""
OWN = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}
"""Kernels run as the Python that they are written in: compiled, they tell no coverage."""
HOW = "pip install atheris (wheels for CPython 3.11 to 3.13 on Linux)"


def missing() -> str:
    """Say how atheris is installed where it is not; "" where it is."""
    there = importlib.util.find_spec("atheris") is not None
    return "" if there else f"coverage-guided fuzzing needs atheris: {HOW}"


def covered(
    seconds: int, seed: int, chosen: Callable[[str], bool]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each parser's name and its figures."""
    for name in filter(chosen, PARSERS):
        with tempfile.TemporaryDirectory() as folder:
            yield name, _in_process(name, seconds, seed, Path(folder))


def _in_process(name: str, seconds: int, seed: int, folder: Path) -> dict[str, Any]:
    reader = next(reader for reader in READERS if reader.name == name)
    corpus, told = folder / "corpus", folder / "told.json"
    corpus.mkdir()
    for n, data in enumerate(first_inputs(reader)):
        (corpus / str(n)).write_bytes(data)
    flags = [
        f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}", "-timeout=0",
        f"-artifact_prefix={folder}/", "-rss_limit_mb=0", "-verbosity=1",
    ]  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults.coverage", name, str(told), str(corpus), *flags],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False,
        timeout=seconds + START_S, cwd=folder, env=os.environ | OWN | {"PYTHONPATH": _path()},
    )  # fmt: skip
    text = ended.stderr.decode("utf-8", "replace")
    if not told.is_file():
        raise RuntimeError(f"{name}: {text[-1500:]}")
    record: dict[str, Any] = json.loads(told.read_text("utf-8"))
    if ended.returncode:
        record["escaped"] += 1
        record["by"][f"ended with {ended.returncode}"] = text[-300:]
    reached = [int(n) for n in re.findall(r"cov: (\d+)", text)] or [0]
    return record | {"edges_first": reached[0], "edges": reached[-1]}


def _path() -> str:
    """Return where this process looks for modules: it runs in another folder."""
    return os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)


def first_inputs(reader: Reader) -> list[bytes]:
    """Return what a parser's corpus begins with."""
    seeds = reader.seeds()
    plain = [bz2.decompress(seed) for seed in seeds] if reader.name == "dump bz2" else []
    blind = [mutation(seeds, f"{reader.name}:{n}") for n in range(BEGIN_WITH)]
    return [data[:LONGEST] for data in (*plain, *seeds, *blind)]


def shaped(name: str, data: bytes) -> bytes:
    """Return what a parser reads of an input: what is plain becomes streams of bz2."""
    if name != "dump bz2" or data.startswith(b"BZ"):
        return data
    return b"".join(map(bz2.compress, data.split(b"\x00")))


class Inputs:
    """Reads inputs one by one, and counts what becomes of them."""

    def __init__(self, reader: Reader, told: Path, folder: Path) -> None:
        self.reader, self.told = reader, told
        self.path = folder / f"seed{reader.suffix}"
        self.figures = Fuzzed(reader.name)
        self.shortest: dict[str, str] = {}
        self.begin = self.kept = time.monotonic()

    def read(self, data: bytes) -> None:
        """Read an input; a kind of what escapes is kept with the shortest input that it has."""
        data = shaped(self.reader.name, data)
        self.path.write_bytes(data)
        self.figures.tries += 1
        kind = outcome(self.reader, self.path, signal.ITIMER_VIRTUAL)
        if kind == "refused":
            self.figures.refused += 1
        elif kind:
            self.figures.slow += kind == "slow"
            self.figures.escaped += kind != "slow"
            before = self.shortest.get(kind)
            if before is None or len(data) < len(bytes.fromhex(before)):
                self.shortest[kind] = data.hex()
        if kind not in ("", "refused") or time.monotonic() - self.kept > KEEP_EVERY_S:
            self.keep()

    def keep(self) -> None:
        """Write the figures: the process may end at any moment."""
        self.kept = time.monotonic()
        self.figures.seconds = round(self.kept - self.begin, 1)
        record = self.figures.record() | {"by": self.shortest}
        self.told.write_text(json.dumps(record), encoding="utf-8")


def _memory() -> str | None:
    """Return a folder in memory, where there is one: a write on a disk takes longer than a try."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> None:
    """Fuzz one parser: NAME, file of the figures, folder of inputs, flags of libFuzzer."""
    import atheris

    name, told, *rest = sys.argv[1:]
    reader = next(reader for reader in READERS if reader.name == name)
    with tempfile.TemporaryDirectory(dir=_memory()) as folder, bounds():
        inputs = Inputs(reader, Path(told), Path(folder))
        with atheris.instrument_imports(include=["argus"]):  # imported when they are read
            for seed in reader.seeds():
                inputs.path.write_bytes(seed)
                consume(reader.read(inputs.path))
        atheris.Setup([sys.argv[0], *rest], inputs.read)
        with suppress(SystemExit):
            atheris.Fuzz()


if __name__ == "__main__":
    main()
