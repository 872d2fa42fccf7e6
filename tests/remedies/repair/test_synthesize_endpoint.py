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
    rows,
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


def test_a_passing_429_costs_nothing_a_lasting_one_stops(repairable, index, endpoint, config):
    endpoint.behave = lambda p, n: {"status": 429, "content": "slow down"}
    with pytest.raises(ArgusError, match=r"11 of 11 prompts .* HTTP 429: slow down.*nothing was"):
        repairable.synthesize(index, config=config(attempts=2, give_up_after=20))
    assert unchanged(index, repairable)
    busy = []
    endpoint.behave = lambda p, n: (
        busy.append(n) or {"status": 429, "headers": {"Retry-After": "0"}}
        if len(busy) < 3
        else {"text": good(document_in(p))}
    )
    result = repairable.synthesize(index, config=config())
    assert result.summary["made"]["documents"]["measured"] == AT_RISK


def test_stalled_and_garbage_answers_leave_the_others_used(repairable, index, endpoint, config):
    broken = {
        repairable.texts["swim"]: {"text": "In summer", "drip": True},
        repairable.texts["notes"]: {"content": b"\xff\x00<html>"},
        repairable.texts["vinyl"]: {"drop": True},
        repairable.texts["medal"]: {"text": "The Royal", "finish": "length"},
    }
    endpoint.behave = lambda p, n: broken.get(document_in(p), {"text": good(document_in(p))})
    given = config(attempts=1, timeout_s=4)
    with pytest.raises(ArgusError, match=r"2 of 11 prompts .*give --accept-unanswered"):
        repairable.synthesize(index, config=given)
    assert unchanged(index, repairable)
    asked = len(endpoint.requests)
    accepting = dataclasses.replace(given, accept_unanswered=True)
    result = repairable.synthesize(index, config=accepting)
    assert len(endpoint.requests) == asked, "what was never answered is not asked for again"
    assert result.summary["made"]["language_model"]["unanswered"] == 2
    assert result.summary["made"]["documents"]["failed"] == 4
    reasons = {row["doc_id"]: row["reason"] for row in rows(result) if row["state"] == "failed"}
    assert set(reasons) == {"swim", "notes", "vinyl", "medal"}
    assert "no whole answer within 4 s" in reasons["swim"]
    assert "no chat completion" in reasons["notes"]
    assert "no answer in 1 attempts" in reasons["vinyl"]
    assert "cut off" in reasons["medal"]
    assert set(only_insertions(index, result)) == {
        "old-town", "bridge", "factory", "steamer", "engine", "letters", "concert"
    }  # fmt: skip


@pytest.mark.parametrize(
    "trouble", [{"status": 502}, {"drop": True}, {"text": "", "drip": True}], ids=str
)
def test_an_endpoint_that_breaks_off_adds_nothing(repairable, index, endpoint, config, trouble):
    endpoint.behave = lambda p, n: trouble if n > 3 else {"text": good(document_in(p))}
    timeout_s = 3 if "drip" in trouble else 60
    options = {"attempts": 2, "timeout_s": timeout_s, "give_up_after": 20, "concurrency": 8}
    with pytest.raises(ArgusError) as raised:
        repairable.synthesize(index, config=config(**options))
    said = str(raised.value)
    assert f"8 of 11 prompts are without an answer of m@{endpoint.url}: no answer in 2" in said
    assert "nothing was added" in said and "the same command: it asks only the rest" in said
    assert unchanged(index, repairable)
    asked = len(endpoint.requests)
    endpoint.behave = answering(good)
    result = repairable.synthesize(index, config=config(**options))
    assert len(endpoint.requests) - asked == 8
    assert result.summary["made"]["documents"]["measured"] == AT_RISK
    assert set(syntheses(index)) == set(only_insertions(index, result))


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
