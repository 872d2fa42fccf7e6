import gzip
import signal
import subprocess
import sys
import threading
import time

import pytest
from pydantic import BaseModel

from argus.http_retry import Pace
from argus.llm import ChatConfig, LanguageModelError, Ledger, OpenAIModel, Prompt, State

OK, FAILED, NOT_ASKED = State.OK, State.FAILED, State.NOT_ASKED


class City(BaseModel):
    name: str
    people: int = 0


def ask(model, *texts, **options):
    return list(model.complete([Prompt(text) for text in texts], **options))


def test_outcomes_come_in_the_order_of_the_prompts(model, endpoint):
    endpoint.behave = lambda text, n: time.sleep(0.2 if text == "a" else 0) and None
    outcomes = ask(model(concurrency=4), "a", "b", "c", "d")
    assert [o.value for o in outcomes] == ["a!", "b!", "c!", "d!"]
    assert {(o.state, o.tokens_in, o.tokens_out, o.cached) for o in outcomes} == {(OK, 3, 2, False)}


def test_a_request_holds_what_configuration_and_prompt_say(model, endpoint):
    asking = model(api_key="secret", max_tokens=50, extra={"seed": 1}, base_url=endpoint.url + "/")
    list(asking.complete([Prompt("a", system="be brief"), Prompt("b", max_tokens=7)]))
    bodies = {body["messages"][-1]["content"]: body for body in endpoint.requests}
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "a"}]
    settings = {"max_tokens": 50, "temperature": 0.0, "seed": 1}
    assert bodies["a"] == {"model": "m", "messages": messages} | settings
    assert bodies["b"]["max_tokens"] == 7 and len(bodies["b"]["messages"]) == 1
    assert endpoint.headers[0]["Authorization"] == "Bearer secret"
    assert endpoint.headers[0]["path"] == "/v1/chat/completions"


def test_equal_prompts_are_asked_once_and_all_get_the_answer(model, endpoint):
    asking = model(concurrency=3)
    outcomes = ask(asking, "a", "b", "a", "a")
    assert [o.value for o in outcomes] == ["a!", "b!", "a!", "a!"]
    assert [o.cached for o in outcomes] == [False, False, True, True]
    assert sorted(endpoint.texts) == ["a", "b"]
    assert asking.spent.tokens_in == 6


def test_a_wait_that_the_server_asks_for_holds_for_all_requests(model, endpoint, monkeypatch):
    times, together, paused, pause = [], threading.Barrier(2), threading.Event(), Pace.pause
    monkeypatch.setattr(Pace, "pause", lambda self, s: (pause(self, s), paused.set())[0])

    def behave(text, n):
        times.append(time.monotonic())
        if n <= 2:
            together.wait(60)  # both are under way before one is refused
        if n == 1:
            return {"status": 429, "headers": {"Retry-After": "0.5"}}
        return paused.wait(60) and None if n == 2 else None

    endpoint.behave = behave
    assert {o.state for o in ask(model(concurrency=2), "a", "b", "c")} == {OK}
    assert min(times[2:]) - max(times[:2]) >= 0.5


@pytest.mark.parametrize(
    "trouble",
    [{"drop": True}, {"half": True}, {"headers": {"Content-Encoding": "gzip"}}, {"status": 503}],
)
def test_a_passing_trouble_is_tried_again(model, endpoint, trouble):
    endpoint.behave = lambda text, n: trouble if n == 1 else None
    assert ask(model(), "a")[0].value == "a!"
    assert len(endpoint.requests) == 2


def test_an_endpoint_that_dies_stops_the_run_and_loses_nothing(model, endpoint, ledger):
    endpoint.behave = lambda text, n: {"drop": True} if n > 5 else None
    asking = model(concurrency=1, attempts=2, give_up_after=3)
    got = []
    with pytest.raises(LanguageModelError, match="left 3 prompts in a row without an answer"):
        got.extend(asking.complete([Prompt(str(i)) for i in range(100)]))
    assert ledger.counts() == {OK: 5, FAILED: 3}
    assert len(endpoint.requests) == 5 + 3 * 2
    endpoint.behave = lambda text, n: None
    assert sum(o.cached for o in asking.complete([Prompt(str(i)) for i in range(100)])) == 5


@pytest.mark.parametrize("status", [401, 404, 301])
def test_a_refusal_that_every_prompt_would_meet_stops_at_once(model, endpoint, ledger, status):
    ask(model(), "before")
    endpoint.behave = lambda text, n: {"status": status, "content": "no such key"}
    with pytest.raises(LanguageModelError, match=f"refused with HTTP {status}: no such key.*again"):
        ask(asking := model(concurrency=1), *"abcdef")
    assert len(endpoint.requests) == 2
    assert asking.spent.tokens_in == asking.spent.tokens_out == 0
    assert ledger.counts() == {OK: 1, FAILED: 0}


def test_what_does_not_fit_fails_with_its_field(model, endpoint):
    answers = {"plain": '{"name": "Oslo"}', "shape": '{"people": "many"}', "deep": "[" * 100_000}
    endpoint.behave = lambda text, n: {"content": endpoint.chat(answers[text])}
    plain, shape, deep = ask(model(), *answers, schema=City)
    assert plain.value == City(name="Oslo")
    assert "does not fit City: name: Field required and 1 more" in shape.reason
    assert (shape.state, deep.state, deep.tokens_out) == (FAILED, FAILED, 2)


KILLED = """
import sys
from pathlib import Path
from argus.llm import ChatConfig, Ledger, OpenAIModel, Prompt
config = ChatConfig(model="m", base_url=sys.argv[1], concurrency=2)
model = OpenAIModel(config, Ledger(Path(sys.argv[2])))
for outcome in model.complete([Prompt(str(i)) for i in range(40)]):
    print(outcome.prompt.text, flush=True)
"""


def test_a_killed_run_is_taken_up_with_no_answer_asked_for_again(endpoint, tmp_path):
    path = tmp_path / "ledger.sqlite"
    endpoint.behave = lambda text, n: endpoint.released.wait(60) and None if n > 20 else None
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, endpoint.url, str(path)], stdout=subprocess.PIPE
    )
    for _ in range(10):
        child.stdout.readline()
    until = time.monotonic() + 60
    while len(endpoint.requests) < 22:
        assert time.monotonic() < until
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    child.stdout.close()
    endpoint.behave = lambda text, n: None
    asked_before = len(endpoint.requests)
    with Ledger(path) as ledger:
        kept = ledger.counts()[OK]
        assert 10 <= kept <= asked_before <= kept + 2 < 40
        config = ChatConfig(model="m", base_url=endpoint.url)
        outcomes = list(OpenAIModel(config, ledger).complete([Prompt(str(i)) for i in range(40)]))
    assert [o.value for o in outcomes] == [f"{i}!" for i in range(40)]
    assert len(endpoint.requests) - asked_before == 40 - kept


def test_secrets_reach_neither_ledger_nor_errors_nor_names(model, endpoint, ledger):
    key = "sk-0123456789abcdef0123"
    refused = {"stop": 401, "bad": 400}
    endpoint.behave = lambda text, n: (
        {"status": refused[text], "content": f"bad key {key}"}
        if text in refused
        else {"content": endpoint.chat(f"you sent {key}")}
    )
    asking = model(api_key=key)
    echo, bad = ask(asking, "echo", "bad")
    assert echo.value == "you sent ***" and "bad key ***" in bad.reason
    with pytest.raises(LanguageModelError) as raised:
        ask(asking, "stop")
    ledger.close()
    files = b"".join(path.read_bytes() for path in ledger.path.parent.iterdir())
    assert b"you sent ***" in files
    shown = f"{files!r} {raised.value} {asking.name} {asking.config!r}"
    assert key not in shown


def test_an_endless_answer_is_cut_off_and_fails(model, endpoint, monkeypatch):
    bomb = gzip.compress(b"a" * (20 * 2**20))
    endpoint.behave = lambda text, n: {"content": bomb, "headers": {"Content-Encoding": "gzip"}}
    outcome = ask(model(), "a")[0]
    assert outcome.state is FAILED
    assert outcome.reason == "the answer is longer than 16777216 bytes"
    assert len(endpoint.requests) == 1
