"""The README: short and plain. That it shows what is printed: tests/examples/test_examples.py."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest

from tests.support import console

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text("utf-8")
MOST_WORDS, MOST_PER_SENTENCE = 900, 18
DEMO_ENDS = ("report: argus-demo/report.html", "to work in: argus serve argus-demo")
"""What tests/cli/test_output.py sees a small demo print last, of its own folder."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose: no code, tables, headings or pictures."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if line[:1] not in ("|", "#", "!")]
    prose = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", "\n".join(lines))
    parts = re.split(r"(?<=[.:;?!])\s+", prose)
    return [part for part in parts if len(part.split()) > 1]


def test_it_is_short_and_its_sentences_are():
    assert len(TEXT.split()) <= MOST_WORDS
    lengths = [len(sentence.split()) for sentence in sentences(TEXT)]
    assert len(lengths) > 30 and sum(lengths) / len(lengths) <= MOST_PER_SENTENCE


def test_it_has_one_picture():
    assert len(re.findall(r"!\[", TEXT)) == 1 and (ROOT / "docs/overview.png").is_file()


def test_its_demo_is_what_the_make_file_has():
    commands = [step.command for step in console.steps(ROOT / "README.md")]
    assert commands[:2] == ["make demo", "make test"]
    make = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{command.partition(' ')[2]}:" in make for command in commands[:2])


def test_its_demo_printed_what_is_stored():
    stored = json.loads((ROOT / "benchmarks/results/demo.json").read_text("utf-8"))["result"]
    demo = console.steps(ROOT / "README.md")[0]
    *measured, report, service = demo.shown
    assert len(measured) >= 4 and not stored["failed"]
    for line in measured:
        start = line.removesuffix("...")
        assert any(printed.startswith(start) for printed in stored["headline"]), line
    assert (report, service) == DEMO_ENDS


@pytest.mark.parametrize("change", [("98.6%", "42.6%"), ("130 views", "131 views")])
def test_a_figure_that_is_not_so_is_seen(change):
    shown = {"98.6%": "found by their title, top 10: 98.6% (first: 54.3%) of 130 probes",
             "130 views": "index: argus-index (130 views)"}[change[0]]  # fmt: skip
    console.compare(console.Step("x", (shown,)), shown)
    with pytest.raises(pytest.fail.Exception, match="prints no line like"):
        console.compare(console.Step("x", (shown.replace(*change),)), shown)


@pytest.mark.parametrize(
    ("change", "is_seen"),
    [(("87", "96"), False), (("87", "130"), True), (("36.5%", "50.1%"), False),
     (("36.5%", "86.5%"), True), (("0.46", "0.51"), False), (("0.46", "0.86"), True)],
)  # fmt: skip
def test_numbers_that_move_may_move_a_little(change, is_seen):
    shown = "entities: 87; 36.5% below, mean 0.46"
    step = console.Step("x", (shown.replace(*change),))
    with pytest.raises(pytest.fail.Exception) if is_seen else contextlib.nullcontext():
        console.compare(step, shown, moves=1 / 6)
