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
    ran = remedy("synthesize", *model, "--budget", 1)
    assert (ran.code, ran.out) == (2, "")
    assert "both prices, or neither price and no budget" in ran.err
    assert "--input-price and --output-price" in ran.err and "--max-total-tokens" in ran.err
    endpoint.behave = lambda prompt, n: {"status": 401, "content": "who are you?"}
    ran = remedy("synthesize", *model)
    assert (ran.code, ran.out) == (2, "")
    assert "refused with HTTP 401: who are you?" in ran.err
    assert state(index) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("synthesize", "--preset", "best"), "--preset: 'best'; expected one of paper, robust"),
        (("expand", "--preset", "best"), "--preset: 'best'; expected one of paper, robust"),
        (("expand", "--tau", 2), "'--tau'"),
        (("expand", "--tau", "nan"), "'--tau'"),
        (("expand", "--tau", 0), "nothing to repair: 16 of its 16 entities"),
        (("expand", "--mentions", "guess"), "--mentions: 'guess'; expected gazetteer, capitals"),
        (("expand", "--k-aug", 0), "'--k-aug'"),
        (("expand", "--k", 0), "'--k'"),
        (("expand", "--min-similarity", 1), "no view could be made"),
        (("expand", "--probe", "nowhere"), "nowhere: no probe.json in it"),
        (("synthesize", "--estimate"), "--estimate: nothing to estimate without a model"),
        (("expand", "--min-similarity", -2), "'--min-similarity'"),
        (("synthesize", "--min-similarity", 3), "'--min-similarity'"),
        (("synthesize", "--model", "m", "--base-url", "nowhere"), "--base-url: 'nowhere'"),
        (("synthesize", "--model", " "), "no model"),
        (("synthesize", "--budget", 5), "--budget: --budget without --model; expected --model"),
        (("synthesize", "--timeout", 5, "--concurrency", 2), "--concurrency, --timeout without"),
        (("synthesize", "--accept-unanswered"), "--accept-unanswered without --model"),
        (
            ("synthesize", "--model", "m", "--min-similarity", 0.9),
            "--min-similarity: --min-similarity with --model; expected one of them",
        ),
    ],
)
def test_mistakes_are_named_and_exit_with_2(remedy, index, arguments, message):
    ran = remedy(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
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
