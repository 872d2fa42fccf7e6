"""Pages of docs/: short, with links that lead somewhere; container files and their paths."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import argus
from benchmarks.__main__ import NAMES
from tests.docs.test_readme import MOST_PER_SENTENCE, sentences
from tests.support.example_runs import COMMANDS

ROOT = Path(__file__).parents[2]
MOST_CHARACTERS = 400
REFERENCE = runpy.run_path(str(ROOT / "scripts" / "reference.py"))["pages"]()
"""Pages that are made of the code while the site is built."""
PAGES = sorted((ROOT / "docs").rglob("*.md"))
OTHERS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
LINKED = [*PAGES, *OTHERS, *sorted((ROOT / "examples").rglob("*.md"))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_line_is_longer_than_can_be_read(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    text = re.sub(r"^\s*\|.*$", "", text, flags=re.MULTILINE)  # rows of tables
    long = [line for line in text.splitlines() if len(line) > MOST_CHARACTERS]
    assert not long


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_its_sentences_are_short(page):
    lengths = [len(sentence.split()) for sentence in sentences(page.read_text("utf-8"))]
    assert len(lengths) < 5 or sum(lengths) / len(lengths) <= MOST_PER_SENTENCE


def slug(heading: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    plain = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    return {slug(h) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_every_link_leads_somewhere(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        if path.rpartition("reference/")[1] and page.is_relative_to(ROOT / "docs"):
            assert f"reference/{path.rpartition('reference/')[2]}" in REFERENCE, target
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} is not there"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_benchmark_that_it_names_is_there(page):
    commands = re.findall(r"python -m benchmarks((?: [a-z]\w+)+)", page.read_text("utf-8"))
    names = {name for command in commands for name in command.split()}
    assert names <= {*NAMES}


def test_the_reference_has_every_command_and_every_public_name():
    made = "".join(REFERENCE.values())
    assert not [name for name in argus.__all__ if f".{name}\n" not in made]
    assert not [name for name in COMMANDS if f"$ {name}" not in made]


def test_every_page_is_in_the_site():
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    top = {page.name for page in PAGES if page.parent.name == "docs"}
    assert not [page for page in top if f"- {page}\n" not in nav]


def test_container_files_are_checked(tmp_path):
    script = ROOT / "scripts" / "check_containers.py"

    def check(folder):
        command = [sys.executable, str(script), str(folder)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert check(ROOT).returncode == 0
    broken = (ROOT / "Containerfile").read_text().replace("COPY src ./src", "COPY source ./src")
    (tmp_path / "Containerfile").write_text(broken + "GO home\n")
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    compose["services"]["argus"] |= {"depends_on": ["redis"], "speed": "high"}
    del compose["volumes"]["work"]
    (tmp_path / "compose.yaml").write_text(yaml.safe_dump(compose))
    ran = check(tmp_path)
    assert ran.returncode == 1
    for fault in ("no source here", "instruction 'GO'", "'redis', which is no", "key 'speed'",
                  "volume 'work' is not declared", "no ./examples here"):  # fmt: skip
        assert fault in ran.stdout, ran.stdout


@pytest.mark.parametrize("form", sorted((ROOT / ".github").rglob("*.yml")), ids=name)
def test_forms_and_workflows_are_yaml(form):
    content = yaml.safe_load(form.read_text("utf-8"))
    if "jobs" in content:
        steps = [step for job in content["jobs"].values() for step in job["steps"]]
        scripts = [w for s in steps for w in s.get("run", "").split() if w.startswith("scripts/")]
        targets = [
            w for s in steps for m in re.findall(r"make (.*)", s.get("run", "")) for w in m.split()
        ]
        make = (ROOT / "Makefile").read_text("utf-8")
        assert all((ROOT / script).is_file() for script in scripts)
        assert all(f"\n{target}:" in make for target in targets)
    else:
        assert "body" in content or "blank_issues_enabled" in content


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", DECISIONS, ids=name)
def test_a_decision_is_one_short_page_that_says_why(page):
    text = page.read_text("utf-8")
    title = text.partition("\n")[0]
    assert title.startswith(f"# {page.name[:4]}: ")
    assert "\n**Decided.** " in text and "\n**Why" in text
    prose = [word for line in text.splitlines() if line[:1] != "|" for word in line.split()]
    assert 40 <= len(prose) <= 300
    index = (page.parent / "README.md").read_text("utf-8")
    assert f"* [{title[2:]}]({page.name})\n" in index
