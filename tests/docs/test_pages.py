"""Pages of docs/: short, with links that lead somewhere; container files and their paths."""

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

import argus
from benchmarks.__main__ import NAMES
from benchmarks.shared import stored
from tests.docs.test_readme import MOST_PER_SENTENCE, sentences
from tests.support.example_runs import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
OTHERS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
LINKED = [*PAGES, *OTHERS, *sorted((ROOT / "examples").rglob("*.md"))]


@cache
def reference() -> dict[str, str]:
    """Return the pages that are made of the code while the site is built."""
    return runpy.run_path(str(ROOT / "scripts" / "reference.py"))["pages"]()


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_its_sentences_are_short(page):
    lengths = [len(sentence.split()) for sentence in sentences(page.read_text("utf-8"))]
    assert len(lengths) < 5 or sum(lengths) / len(lengths) <= MOST_PER_SENTENCE


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", one.strip().lower()).replace(" ", "-") for one in plain}


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_every_link_leads_somewhere(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if path.startswith(("http://", "https://", "mailto:")):
            continue
        if "reference/" in path and page.is_relative_to(ROOT / "docs"):
            assert f"reference/{path.rpartition('reference/')[2]}" in reference(), target
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


def test_the_table_across_languages_is_the_benchmarks():
    text = (ROOT / "docs" / "results" / "stores-and-retrievers.md").read_text("utf-8")
    found = stored("languages")["nDCG@10"]
    for arm in ("cosine", "CSLS", "z-scores", "interleaved", "centred"):
        told = [found[s][arm]["mean"] for s in ("together", "once", "CMRC among XQuAD")]
        assert f"| {' | '.join(f'{mean:.3f}' for mean in told)} |" in text


def test_the_reference_has_every_command_and_every_public_name():
    made = "".join(reference().values())
    assert not [name for name in argus.__all__ if f".{name}\n" not in made]
    assert not [name for name in COMMANDS if f"$ {name}" not in made]


def test_every_page_is_in_the_site():
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    top = {page.name for page in PAGES if page.parent.name == "docs"}
    assert not [page for page in top if f"- {page}\n" not in nav]
