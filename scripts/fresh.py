"""Install a wheel in fresh environments, run the demo there, and print seconds and megabytes.

    python scripts/fresh.py dist/*.whl [--uv] [--python python3.12 ...] [--extra torch ...]

pip compiles what it installs; uv, as `uvx` does, leaves that to the first import.
Of the first Python it also prints the processor seconds (user and system, the best of three runs)
of commands that start cold, beside those of `import numpy, onnxruntime`. Exit code 1 where a
command fails or takes longer than it may. A Python that is not here is named and skipped.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TIMEOUT_S = 900
IMPORTS = "import numpy, onnxruntime"
# Processor seconds of IMPORTS where the bounds below were set. A slower machine is allowed more.
USUAL_S = 0.2
# Commands, each with its most processor seconds, in a folder where the demo ran.
COLD = {
    "argus --help": 0.25,
    "argus check nowhere.jsonl": 0.5,
    "argus explain 'number 4000' --index index": 1.2,
    "argus explain 'number 4000' d7 --index index": 1.5,
    "argus authority search 'number 4000' --records 5000.jsonl --edges edges.tsv": 1.2,
    "argus explain 'number 4000' d7 --retriever search.py:search --corpus 5000.jsonl": 1.5,
    "argus check 1000.jsonl --out checked": 40.0,  # 20 s on two cores
}
FAILING = {"argus check nowhere.jsonl": 2}
EVERYWHERE = (
    "argus demo",
    "argus gate argus-demo --min-ndcg 0.2",
    "argus init --corpus 1000.jsonl --retriever search.py:search",
    "argus check --config argus.toml --sample 50",
    "argus authority search number --records 1000.jsonl --edges edges.tsv",
    "argus doctor --config argus.toml",
    "argus index build --corpus 5000.jsonl --out index",
)


def write_inputs(folder: Path) -> None:
    """Write what the commands read."""
    for n in (1000, 5000):
        rows = ({"_id": f"d{i}", "title": f"T{i}", "text": f"Number {i} of {n}."} for i in range(n))
        (folder / f"{n}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "edges.tsv").write_text("superseder\tsuperseded\nd1\td0\n")
    (folder / "search.py").write_text("def search(query, k):\n    return ['d0', 'd1']\n")


def run(venv: Path, command: str, folder: Path) -> float:
    """Run a command of an environment. Return its processor seconds. Raises SystemExit."""
    program, *words = shlex.split(command)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [venv / "bin" / program, *words], cwd=folder, capture_output=True, text=True,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != FAILING.get(command, 0):
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_here(python: str) -> bool:
    """Return whether a Python runs, and say so if not: a shim may be there without its Python."""
    runs = shutil.which(python) and subprocess.run([python, "-c", ""], check=False).returncode == 0
    if not runs:
        print(f"skipped: no {python} here")
    return bool(runs)


def install(python: str, what: str, home: Path, *, by_uv: bool) -> tuple[Path, str]:
    """Make an environment with `what` in it. Return it, with its seconds and megabytes in words."""
    venv = home / "venv"
    make = ["uv", "venv", "-q", "-p", python] if by_uv else [python, "-m", "venv"]
    command = [venv / "bin" / "pip", "install", "-q", what]
    if by_uv:
        command = ["uv", "pip", "install", "-q", "--link-mode", "copy", "-p", venv, what]
    subprocess.run([*make, venv], check=True, timeout=TIMEOUT_S)
    empty, begun = megabytes(venv), time.perf_counter()
    subprocess.run(command, check=True, timeout=TIMEOUT_S)
    seconds = time.perf_counter() - begun
    return venv, f"installed in {seconds:.0f} s, {megabytes(venv) - empty:.0f} MB"


def megabytes(venv: Path) -> float:
    """Return what the packages of an environment take on the disk."""
    (site,) = venv.glob("lib/python*/site-packages")
    return sum(file.lstat().st_blocks for file in site.rglob("*")) * 512 / 2**20


def start_cold(venv: Path, folder: Path) -> Iterator[str]:
    """Run each of COLD three times, print the best, and yield those that take too long."""
    usual = min(run(venv, f"python -c {shlex.quote(IMPORTS)}", folder) for _ in range(3))
    print(f"  {usual:5.2f} s        {IMPORTS}")
    for command, bound in COLD.items():
        runs = 1 if bound > 10 else 3
        seconds = min(run(venv, command, folder) for _ in range(runs))
        print(f"  {seconds:5.2f} s {seconds / usual:5.1f}x {command}", flush=True)
        if seconds > bound * max(1, usual / USUAL_S):
            yield f"{command}: {seconds:.2f} s; at most {bound} s"


def main() -> None:
    """Read the command line, and try every Python and extra."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=lambda name: str(Path(name).resolve()))
    parser.add_argument("--python", action="append")
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--uv", action="store_true", help="install by uv, not by pip")
    given = parser.parse_args()
    if given.uv and not shutil.which("uv"):
        raise SystemExit("fresh.py: --uv without uv; install it: pip install uv")
    here = [python for python in given.python or ["python3"] if is_here(python)]
    slow: list[str] = []
    for python in here:
        with tempfile.TemporaryDirectory() as name:
            venv, told = install(python, given.wheel, Path(name), by_uv=given.uv)
            print(f"{python}: {told}", flush=True)
            write_inputs(Path(name))
            for command in EVERYWHERE:
                begun = time.perf_counter()
                run(venv, command, Path(name))
                print(f"  {time.perf_counter() - begun:5.1f} s wall  {command}", flush=True)
            if python == here[0]:
                slow += start_cold(venv, Path(name))
    for extra in given.extra if here else []:
        with tempfile.TemporaryDirectory() as name:
            _, told = install(here[0], f"{given.wheel}[{extra}]", Path(name), by_uv=given.uv)
            print(f"{here[0]} [{extra}]: {told}", flush=True)
    raise SystemExit("\n".join(slow) or ("" if here else "none of these Pythons is here") or None)


if __name__ == "__main__":
    main()
