"""The built wheel with what it requires and nothing else: what works without torch or numba."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
HEAVY = (
    "torch", "numba", "sentence_transformers", "transformers", "sklearn", "scipy", "duckdb",
    "lancedb",
)  # fmt: skip
MAIN = """
import sys; sys.path.insert(0, {site!r})
from argus.cli.main import main
for words in {commands!r}:
    try: sys.argv = ["argus", *words]; main()
    except SystemExit as end: print(f"exit {{end.code or 0}}")
"""


def closure(requirements: list[str]) -> set[str]:
    """Return the distributions that these requirements bring, extras that they name included."""
    names: set[str] = set()
    todo = [(Requirement(line), ("",)) for line in requirements]
    while todo:
        requirement, extras = todo.pop()
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in extras):
            continue
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in names and not requirement.extras:
            continue
        names.add(name)
        inner = ("", *requirement.extras)
        todo += [(Requirement(line), inner) for line in requires(name) or ()]
    return names


def build(source: Path, into: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, cwd=source, check=True, timeout=120, env=kept | environment)
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), TZ="UTC")


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """Install the wheel: its files, and links to the packages that it requires, alone."""
    site = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    required = [line.removeprefix("Requires-Dist: ") for line in lines if "Requires-Dist: " in line]
    for name in closure(required):
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return site


def test_the_wheel_is_the_same_to_the_byte_wherever_it_is_built(wheel, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt"):
        shutil.copyfile(ROOT / file, copy / file)  # with the time of the copy
    again = build(copy, tmp_path / "dist", TZ="Asia/Tokyo")
    assert (again.name, again.read_bytes()) == (wheel.name, wheel.read_bytes())


@pytest.fixture
def light(site: Path, tmp_path: Path):
    """Run commands in a Python that has the wheel and what it requires."""

    def run(*commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        program = MAIN.format(site=str(site), commands=commands)
        command = [sys.executable, "-I", "-S", "-c", program]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return run


FILES = {
    "docs.jsonl": "".join(f'{{"_id": "d{i}", "text": "Text {i}."}}\n' for i in range(3)),
    "q.jsonl": '{"_id": "q1", "text": "music from jamaica"}\n',
    "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td0\t1\n",
    "a.trec": "q1 Q0 d1 1 2.0 x\nq1 Q0 d0 2 1.0 x\n",
    "b.trec": "q1 Q0 d0 1 2.0 x\nq1 Q0 d1 2 1.0 x\n",
    "edges.tsv": "superseder\tsuperseded\nd2\td1\n",
}
SUPERSEDED = ("--records", "docs.jsonl", "--edges", "edges.tsv")
EVALUATE = ("evaluate", "--queries", "q.jsonl", "--qrels", "qrels.tsv", "--run", "a.trec",
            "--run", "b.trec", "--out", "judged")  # fmt: skip


def test_lint_gate_and_report_work_without_torch(site: Path, light, tmp_path: Path) -> None:
    assert not [name for name in HEAVY if (site / name).exists()]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    lint = "authority", "lint", "a.trec", *SUPERSEDED, "--out", "lint"
    ran = light(lint, EVALUATE, ("gate", "judged", "--min-ndcg", "0.9"), ("report", "judged"))
    said = re.split(r"^exit (\d)$", ran.stdout, flags=re.MULTILINE)
    assert said[1::2] == ["1", "0", "0", "0"], ran.stderr
    assert "d1" in said[0] and "judged/report.html" in said[6]  # superseded, served; written


PLANTED = re.compile("quantiles|link_to|sample")


def test_the_demo_runs_without_torch_or_lancedb(site: Path, light) -> None:
    """On a part of its documents: the README's commands run on all."""
    file = site / "argus" / "demo" / "python" / "documents.jsonl"
    rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join(row for i, row in enumerate(rows) if i % 8 == 0 or PLANTED.search(row)))
    ran = light(("demo",))
    assert "exit 0" in ran.stdout, ran.stderr
    assert "  lost: statistics.quantiles " in ran.stdout
