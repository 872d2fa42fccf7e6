"""`argus tune apply expand|synthesize|rollback` as a person types it."""

import pytest

from argus.indexes.views import ViewIndex


@pytest.fixture
def remedy(argus, index, repairable):
    """Run a remedy command on the index, whose knowledge base is known."""

    def run(name, *arguments, kb=repairable.kb, tau=repairable.tau):
        known = () if kb is None else ("--kb", kb)
        return argus("tune", "apply", name, "--index", index, *known, "--tau", tau, *arguments)

    return run


def state(index):
    return [r.id for r in ViewIndex.open(index).remedies()]


def test_a_budget_and_a_refusal_end_with_2_and_change_nothing(remedy, endpoint, index):
    model = ("--model", "m", "--base-url", endpoint.url)
    prices = ("--input-price", 1, "--output-price", 1)
    ran = remedy("synthesize", *model, *prices, "--budget", 0.000001)
    assert (ran.code, ran.out) == (2, "")
    assert "11 of 11 prompts are without an answer of m@" in ran.err
    assert ": the next request might pass the budget" in ran.err
    ran = remedy("synthesize", *model, "--max-total-tokens", 10)
    assert (ran.code, ran.out) == (2, "")
    assert "the next request might pass the budget" in ran.err
    assert endpoint.requests == []
    endpoint.behave = lambda prompt, n: {"status": 401, "content": "who are you?"}
    ran = remedy("synthesize", *model)
    assert (ran.code, ran.out) == (2, "")
    assert "refused with HTTP 401: who are you?" in ran.err
    ran = remedy("expand", "--min-similarity", 1)
    assert ran.code == 2 and "no view could be made" in ran.err
    assert state(index) == []


def test_a_full_disk_is_a_message_and_the_same_command_goes_on(
    remedy, index, full_disk, monkeypatch
):
    full_disk(ViewIndex, "add", 4096)
    ran = remedy("expand")
    assert (ran.code, ran.out) == (2, "")
    assert "adding views failed" in ran.err
    assert "The index is as it was before" in ran.err
    assert state(index) == []
    monkeypatch.undo()
