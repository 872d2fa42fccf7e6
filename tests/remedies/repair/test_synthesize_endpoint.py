"""`remedy synthesize` with an endpoint that stalls, refuses, breaks off or dies."""

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from argus.errors import ArgusError
from argus.llm import Ledger, State
from tests.support.synthesizing import (
    AT_RISK,
    answering,
    document_in,
    good,
    only_insertions,
    syntheses,
    unchanged,
)

ARGUS = Path(sys.executable).parent / "argus"


@pytest.mark.parametrize("give_up_after", [2, 10], ids=["many left", "few left"])
def test_an_endpoint_that_dies_midway_costs_nothing(
    repairable, index, endpoint, second_endpoint, config, give_up_after
):
    whole = repairable.synthesize(repairable.copy(index.parent / "whole"), config=config())
    expected = repairable.answers(index.parent / "whole")

    def five_and_gone(prompt, n):
        if n == 5:
            second_endpoint.stop()  # whoever calls from now on finds nobody
        return {"text": good(document_in(prompt))}

    second_endpoint.behave = five_and_gone
    options = {"attempts": 2, "concurrency": 1, "give_up_after": give_up_after}
    dying = config(base_url=second_endpoint.url, **options)
    with pytest.raises(ArgusError, match=r"(?s)run the same command") as raised:
        repairable.synthesize(index, config=dying)
    if give_up_after == 10:
        assert (
            f"6 of 11 prompts are without an answer of m@{second_endpoint.url}: no answer in 2 "
            "attempts; last: ConnectError" in str(raised.value)
        )
        assert "nothing was added to the index" in str(raised.value)
    assert unchanged(index, repairable)
    with Ledger(index / "answers.sqlite") as ledger:
        assert ledger.counts()[State.OK] == 5
    asked = len(endpoint.requests)
    result = repairable.synthesize(index, config=config())
    assert len(endpoint.requests) - asked == AT_RISK - 5
    texts = {document_in(t) for t in endpoint.texts[asked:]}
    assert not texts & {document_in(t) for t in second_endpoint.texts}
    assert result.remedy == whole.remedy
    assert repairable.answers(index) != repairable.answers(repairable.built)
    assert {d: v.text for d, v in syntheses(index).items()} == {
        d: v.text for d, v in syntheses(index.parent / "whole").items()
    }
    assert repairable.answers(index) == expected


def test_accepted_failures_can_be_completed_later(repairable, index, endpoint, config):
    endpoint.behave = lambda p, n: {"status": 502} if n > 3 else {"text": good(document_in(p))}
    options = {"attempts": 1, "give_up_after": 20, "concurrency": 1}
    accepting = dataclasses.replace(config(**options), accept_unanswered=True)
    part = repairable.synthesize(index, config=accepting)
    assert part.summary["counts"]["views"] == 3
    endpoint.behave = answering(good)
    rest = repairable.synthesize(index, config=config(**options))
    assert rest.remedy != part.remedy
    assert rest.summary["counts"]["views"] == AT_RISK - 3
    assert rest.summary["made"]["relied_on"] == [part.remedy]
    assert len(syntheses(index)) == AT_RISK


@pytest.mark.slow
def test_a_run_killed_while_asking_keeps_its_answers(repairable, index, endpoint, config):
    command = [
        ARGUS, "remedy", "synthesize", "--index", index, "--kb", repairable.kb, "--model", "m",
        "--base-url", endpoint.url, "--tau", repairable.tau, "--concurrency", "1",
    ]  # fmt: skip
    child = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def deadly(prompt, n):
        if n == 6:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        return {"text": good(document_in(prompt))}

    endpoint.behave = deadly
    assert child.wait(timeout=300) == -signal.SIGKILL
    assert unchanged(index, repairable)
    with Ledger(index / "answers.sqlite") as ledger:
        assert ledger.counts() == {State.OK: 5, State.FAILED: 0}
    endpoint.behave = answering(good)
    result = repairable.synthesize(index, config=config())
    assert len(endpoint.requests) == 6 + (AT_RISK - 5)
    assert len(only_insertions(index, result)) == AT_RISK
