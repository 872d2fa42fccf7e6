"""`remedy synthesize` with an endpoint that stalls, refuses, breaks off or dies."""

import pytest

from argus.errors import ArgusError
from argus.llm import Ledger, State
from tests.support.synthesizing import AT_RISK, document_in, good, unchanged


def test_an_endpoint_that_dies_midway_costs_nothing(
    repairable, index, endpoint, second_endpoint, config
):
    whole = repairable.synthesize(repairable.copy(index.parent / "whole"), config=config())
    expected = repairable.answers(index.parent / "whole")

    def five_and_gone(prompt, n):
        if n == 5:
            second_endpoint.stop()  # whoever calls from now on finds nobody
        return {"text": good(document_in(prompt))}

    second_endpoint.behave = five_and_gone
    options = {"attempts": 2, "concurrency": 1, "give_up_after": 10}
    dying = config(base_url=second_endpoint.url, **options)
    with pytest.raises(ArgusError, match=r"(?s)run the same command") as raised:
        repairable.synthesize(index, config=dying)
    assert (
        f"6 of 11 prompts are without an answer of m@{second_endpoint.url}: no answer in 2 "
        "attempts; last: ConnectError" in str(raised.value)
    )
    assert unchanged(index, repairable)
    with Ledger(index / "answers.sqlite") as ledger:
        assert ledger.counts()[State.OK] == 5
    asked = len(endpoint.requests)
    result = repairable.synthesize(index, config=config())
    assert len(endpoint.requests) - asked == AT_RISK - 5
    texts = {document_in(t) for t in endpoint.texts[asked:]}
    assert not texts & {document_in(t) for t in second_endpoint.texts}
    assert result.remedy == whole.remedy
    assert repairable.answers(index) == expected
