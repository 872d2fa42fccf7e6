"""The pages hold what benchmarks/results/faults.json says, and what failed is told as such."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator

from benchmarks.faults import __main__ as campaign
from benchmarks.faults import table
from benchmarks.faults.__main__ import Figures, _or_failed
from benchmarks.faults.readers import READERS
from benchmarks.faults.states import ELSEWHERE, READ_ONLY, commands
from benchmarks.pages import body
from tests.support.example_runs import EXAMPLES

RESULTS = json.loads(table.RESULTS.read_text("utf-8"))["result"]


def test_the_pages_hold_the_figures():
    assert body(table.SUMS, table.BEGIN) == list(table.sums(RESULTS))
    parts = (table.commands, table.served, table.soaked)
    assert body(table.COMMANDS, table.BEGIN) == [line for part in parts for line in part(RESULTS)]
    assert body(table.OF_READERS, table.BEGIN) == list(table.readers(RESULTS))


def test_every_command_and_reader_is_on_the_page_or_left_out_by_name():
    page = table.COMMANDS.read_text("utf-8")
    tried = [name for name in commands() if f"`{name.removeprefix('argus ')}`" in page]
    assert set(commands()) - set(tried) <= {n for n in commands() if f"`{n}`" in page}
    assert {reader.name for reader in READERS} <= RESULTS["fuzz"].keys()
    assert set(commands()) | {*READ_ONLY, *ELSEWHERE} == set(EXAMPLES)


def test_what_cannot_be_run_is_a_record_and_told():
    def figures() -> Iterator[tuple[str, str, dict[str, int]]]:
        yield "kills", "argus a, kill", {"tries": 3, "writes": 9, "lost": 1}
        raise RuntimeError("argus a ended with 1")

    def others() -> Figures:
        raise RuntimeError("argus b ended with 1")
        yield

    told = [*_or_failed("kills", "argus a", figures()), *_or_failed("kills", "argus b", others())]
    assert [name for _, name, _ in told] == ["argus a, kill", "argus a", "argus b"]
    lines = "\n".join(table.commands({"kills": {name: record for _, name, record in told}}))
    assert "| `a` | 9 | 3 |  |  |  |  | 1 | 0 | 0 | 0 |" in lines
    assert "Could not be run whole, and so not struck: `argus a`, `argus b`." in lines


def test_a_record_of_fewer_tries_does_not_take_the_place_of_one_of_more(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "RESULTS", tmp_path / "faults.json")
    for tries in (100, 3, 100):
        record = {"tries": tries, "lost": 0}
        campaign._keep("kills", "argus a, kill", record, Namespace(seed=tries))
        kept = json.loads(campaign.RESULTS.read_text("utf-8"))["result"]["kills"]["argus a, kill"]
        assert (kept["tries"], kept["seed"]) == (100, 100)
    campaign._keep("kills", "argus a, kill", {"tries": 3, "lost": 1}, Namespace(seed=4))
    kept = json.loads(campaign.RESULTS.read_text("utf-8"))["result"]["kills"]["argus a, kill"]
    assert (kept["tries"], kept["lost"]) == (3, 1)  # what more tries did not show is not hidden
