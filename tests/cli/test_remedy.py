"""`argus remedy expand|synthesize|rollback` as a person types it."""

import json
import re

import pytest

from argus.indexes.views import ViewIndex


@pytest.fixture
def remedy(argus, index, repairable):
    """Run a remedy command on the index, whose knowledge base is known."""

    def run(name, *arguments, kb=repairable.kb, tau=repairable.tau):
        known = () if kb is None else ("--kb", kb)
        return argus("remedy", name, "--index", index, *known, "--tau", tau, *arguments)

    return run


def state(index):
    return [r.id for r in ViewIndex.open(index).remedies()]


def test_a_repair_is_shown_and_undone(argus, remedy, repairable, index):
    before = repairable.answers(index)
    ran = remedy("expand")
    assert ran.code == 0
    first, *others = ran.out.splitlines()
    [name] = state(index)
    assert re.fullmatch(rf"{name}: 11 views \(0\.0 MiB\) for 11 of 11 documents at risk", first)
    assert others[0].startswith("asked for by the names of their entities at risk, top 10: 100.0%")
    assert re.fullmatch(
        r"mean predicted RPS of these entities: 0\.\d{3} in the originals, 0\.\d{3} in the views "
        r"alone; by the better of both, which cannot fall, 0\.\d{3}",
        others[1],
    )
    assert others[2] == f"report: {index / 'remedies' / name / 'report.html'}"
    again = remedy("expand").out.splitlines()
    assert again == [f"{name} was in the index already; nothing added", first, *others]
    ran = argus("remedy", "list", "--index", index)
    assert ran.out.splitlines()[0].split() == ["id", "kind", "when", "(UTC)", "views", "documents"]
    assert re.fullmatch(rf"{name}  expand  20\S+  11     11", ran.out.splitlines()[1])
    [listed] = json.loads(argus("remedy", "list", "--index", index, "--json").out)
    assert (listed["id"], listed["kind"], listed["views"]) == (name, "expand", 11)
    ran = argus("remedy", "rollback", name, "--index", index)
    assert (ran.code, ran.out) == (0, f"removed 11 views of {name} from {index}\n")
    assert argus("remedy", "list", "--index", index).out == f"no remedy in {index}\n"
    assert repairable.answers(index) == before


def test_a_model_is_estimated_then_asked(remedy, endpoint, index, monkeypatch):
    monkeypatch.setenv("KEY", "sk-0123456789abcdefghij")
    endpoint.behave = lambda prompt, n: {
        "text": re.search(r"<text (\w+)>\n(.*)\n</text \1>\Z", prompt, re.DOTALL)[2].replace(
            "Bern ", "Bern, capital city, ", 1
        )
    }
    model = ("--model", "m", "--base-url", endpoint.url, "--api-key-env", "KEY")
    ran = remedy("synthesize", *model, "--estimate", "--input-price", 1, "--output-price", 2)
    assert ran.code == 0
    assert re.fullmatch(
        r"11 of 11 prompts would be asked \(0 are in the ledger\): [\d,]+ tokens in, at most "
        r"[\d,]+ out; about 0\.0\d, at most 0\.0\d\n",
        ran.out,
    )
    found = json.loads(remedy("synthesize", *model, "--estimate", "--json").out)
    assert (found["to_ask"], found["cached"], found["cost"]) == (11, 0, None)
    assert (endpoint.requests, state(index)) == ([], [])
    ran = remedy("synthesize", *model, "--json")
    assert len(endpoint.requests) == 11
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-0123456789abcdefghij"
    made = json.loads(ran.out)["made"]
    assert made["documents"] == {"measured": 2, "failed": 0, "not applicable": 9}
    assert "sk-0123" not in ran.out + ran.err


def test_a_budget_and_a_refusal_end_with_2_and_change_nothing(remedy, endpoint, index):
    model = ("--model", "m", "--base-url", endpoint.url)
    prices = ("--input-price", 1, "--output-price", 1)
    ran = remedy("synthesize", *model, *prices, "--budget", 0.000001)
    assert (ran.code, ran.out) == (2, "")
    assert "11 of 11 prompts are without an answer of m@" in ran.err
    assert ": the next request might pass the budget" in ran.err
    ran = remedy("synthesize", *model, "--max-total-tokens", 10)
    assert (ran.code, ran.out) == (2, "")
    assert "the next request might pass the budget: 10 tokens" in ran.err
    assert endpoint.requests == []
    ran = remedy("synthesize", *model, "--budget", 1)
    assert (ran.code, ran.out) == (2, "")
    assert "both prices, or neither price and no budget" in ran.err
    assert "--input-price, --output-price" in ran.err and "--max-total-tokens" in ran.err
    endpoint.behave = lambda prompt, n: {"status": 401, "content": "who are you?"}
    ran = remedy("synthesize", *model)
    assert (ran.code, ran.out) == (2, "")
    assert "refused with HTTP 401: who are you?" in ran.err
    assert state(index) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("synthesize", "--preset", "best"), "--preset: preset 'best'; expected one of paper"),
        (("expand", "--preset", "best"), "--preset: preset 'best'; expected one of paper, robust"),
        (("expand", "--tau", 2), "'--tau'"),
        (("expand", "--tau", "nan"), "'--tau'"),
        (("expand", "--tau", 0), "nothing to repair: 16 of its 16 entities"),
        (("expand", "--mentions", "guess"), "--mentions: 'guess'; expected gazetteer, capitals"),
        (("expand", "--k-aug", 0), "'--k-aug'"),
        (("expand", "--k", 0), "'--k'"),
        (("expand", "--min-similarity", 1), "no view could be made for the 16 entities at risk"),
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


def test_paths_that_are_wrong_are_named(argus, remedy, repairable, index, tmp_path):
    known = ("--kb", repairable.kb)
    ran = remedy("expand", kb=None)
    assert ran.code == 2
    assert "--kb: no knowledge base for the gazetteer to take names from" in ran.err
    for name in ("expand", "synthesize"):
        ran = remedy(name, "--mentions", "capitals", "--encoder", "none", kb=None)
        assert (ran.code, ran.out) == (2, "")
        assert "--kb: no knowledge base that says what the entities are; expected --kb" in ran.err
    for command in (("expand", *known), ("rollback", "x"), ("list",)):
        ran = argus("remedy", *command, "--index", f"{index}@original")
        assert (ran.code, ran.out) == (2, "")
        assert "names the state 'original' of an index; expected the folder alone" in ran.err
    ran = remedy("expand", kb="none.jsonl")
    assert ran.code == 2
    assert "none.jsonl: no such file" in ran.err
    for command in (("expand", *known), ("synthesize", *known), ("rollback", "x")):
        ran = argus("remedy", *command, "--index", "none")
        assert (ran.code, ran.out) == (2, "")
        assert "argus: none: no such folder; expected an index folder" in ran.err
        ran = argus("remedy", *command, "--index", tmp_path)
        assert ran.code == 2
        assert f"argus: {tmp_path}: is not an index" in ran.err
    ran = remedy("expand", "--out", index / "index.json")
    assert ran.code == 2
    assert "holds results of Argus; expected a place of its own" in ran.err
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
