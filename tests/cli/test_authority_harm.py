"""`argus authority harm` as a person types it."""

import json

from tests.support.harm import faithful


def test_the_command_writes_the_same_summary(argus, endpoint):
    endpoint.behave = faithful
    ran = argus(
        "authority", "harm", "--benchmark", "cvepatchqa", "--model", "m", "--base-url",
        endpoint.url, "--first", "3", "--out", "out", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.out
    summary = json.loads(ran.out)
    assert summary["questions"] == 3
    assert {arm["arm"] for arm in summary["arms"]} <= {"superseded", "controlling"}
    ran = argus("authority", "harm", "--benchmark", "cvepatchqa", "--out", "out")
    assert ran.code == 2 and "no --model" in ran.err
