"""`argus remedy expand|synthesize|rollback` as a person types it."""

import functools
import json
import re

import pytest

from argus.indexes.views import ViewIndex
from argus.llm import ChatConfig

PAPER = ("--preset", "paper", "--mentions", "gazetteer")  # its NER model is not at hand


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


def test_json_is_the_summary_and_nothing_else(argus, remedy, index):
    ran = remedy("expand", *PAPER, "--k", 3, "--json")
    assert ran.code == 0
    summary = json.loads(ran.out)
    [name] = state(index)
    assert (summary["remedy"], summary["k"], summary["made"]["preset"]) == (name, 3, "paper")
    folder = index / "remedies" / name
    assert json.loads((folder / "summary.json").read_text())["remedy"] == summary
    again = json.loads(remedy("expand", *PAPER, "--k", 3, "--json").out)
    assert again | {"seconds": 0} == summary | {"seconds": 0, "added": False}
    note = json.loads(argus("remedy", "rollback", name, "--index", index, "--json").out)
    assert note == json.loads((folder / "rolled_back.json").read_text())
    assert note["views_removed"] == summary["counts"]["views"]


def test_judged_queries_and_a_folder_can_be_given(remedy, repairable, index, tmp_path):
    queries, qrels = tmp_path / "q.jsonl", tmp_path / "r.tsv"
    rows = ({"_id": q.id, "text": q.text} for q in repairable.queries)
    queries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{q}\t{doc}\t1\n" for q, docs in repairable.qrels.items() for doc in docs]
    qrels.write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    ran = remedy("expand", "--queries", queries, "--qrels", qrels, "--out", tmp_path / "out")
    assert ran.code == 0
    before, _, verdict = ran.out.partition("\n\nverdict: ")
    report, undo = before.splitlines()[-2:]
    assert "judged questions" in verdict
    assert report == f"report: {tmp_path / 'out' / 'report.html'}"
    assert undo.startswith("To undo it: argus remedy rollback expand-robust-")
    assert "evaluation" in json.loads((tmp_path / "out" / "summary.json").read_text())
    ran = remedy("expand", "--queries", queries)
    assert (ran.code, ran.out) == (2, "")
    assert "--qrels: --queries without --qrels; expected both, or neither" in ran.err


def test_descriptions_are_inserted_without_a_model(remedy, index):
    summary = json.loads(remedy("synthesize", "--json").out)
    assert summary["made"]["written_by"] == "descriptions of the knowledge base"
    assert summary["counts"]["views"] == 11
    assert state(index) == [summary["remedy"]]


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


def test_an_index_without_an_encoder_takes_the_one_of_the_option(argus, repairable, tmp_path):
    from argus.indexes.job import build_index

    index = build_index(repairable.documents, out=tmp_path / "i", encoder=repairable.encoder)
    given = ("remedy", "expand", "--index", index.index.path, "--kb", repairable.kb)
    ran = argus(*given)
    assert (ran.code, ran.out) == (2, "")
    assert "Give the encoder that made it (--encoder)" in ran.err
    assert argus(*given, "--encoder", "all-MiniLM-L6-v2").code == 0
    assert len(state(index.index.path)) == 1


def test_a_device_can_be_named(remedy, index):
    ran = remedy("expand", "--device", "no-such-device")
    assert (ran.code, ran.out) == (2, "")
    assert "no-such-device" in ran.err
    assert remedy("expand", "--device", "cpu").code == 0


def test_what_other_remedies_hold_is_said(argus, remedy, index):
    assert remedy("expand").code == 0
    [first] = state(index)
    ran = remedy("expand", *PAPER)
    assert re.search(rf"\d+ more were in the index already \({first}\)", ran.out)
    second = state(index)[1]
    ran = argus("remedy", "rollback", first, "--index", index)
    assert f"{second} left out views that this one held: run its command again" in ran.out
    assert "nothing added" not in remedy("expand", *PAPER).out


def test_a_models_cost_is_shown_and_failures_can_be_accepted(remedy, endpoint, index):
    fine = "Season of Mist, record label in France, pressed the album on vinyl."
    endpoint.behave = lambda prompt, n: (
        {"text": fine} if "the album on vinyl" in prompt else {"drop": True}
    )
    model = ("--model", "m", "--base-url", endpoint.url, "--timeout", 5, "--concurrency", 11)
    prices = ("--input-price", 1e6, "--output-price", 1e6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argus.llm.config.ChatConfig.attempts", 1)
        patch.setattr(
            "argus.llm.config.ChatConfig.__init__",
            functools.partialmethod(ChatConfig.__init__, attempts=1, give_up_after=99),
        )
        ran = remedy("synthesize", *model)
        assert (ran.code, ran.out) == (2, "")
        assert "10 of 11 prompts are without an answer" in ran.err
        assert "give --accept-unanswered" in ran.err
        assert state(index) == []
        ran = remedy("synthesize", *model, *prices, "--accept-unanswered")
    assert ran.code == 0
    assert "11 prompts, 11 of them answered before: 0 tokens in, 0 out, costing 0" in ran.out


def test_what_was_rejected_is_said(remedy, endpoint):
    fine = "Season of Mist, record label in France, pressed the album on vinyl."
    endpoint.behave = lambda prompt, n: {"text": fine if "the album on vinyl" in prompt else "X"}
    ran = remedy("synthesize", "--model", "m", "--base-url", endpoint.url)
    assert ran.code == 0
    assert " 1 views (0.0 MiB) for 1 of 11 documents at risk" in ran.out
    assert (
        "10 documents keep their original alone, rejected or not answered: see synthesis.parquet"
        in ran.out
    )


def test_an_unknown_remedy_names_those_that_there_are(argus, remedy, index):
    assert remedy("expand").code == 0
    [name] = state(index)
    ran = argus("remedy", "rollback", "x", "--index", index)
    assert (ran.code, ran.out) == (2, "")
    assert f"unknown remedy 'x'; expected one of {name}. Check the id." in ran.err
    assert argus("remedy", "rollback", name, "--index", index).code == 0
    ran = argus("remedy", "rollback", name, "--index", index)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{name} was rolled back already (20")


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


def test_settings_may_stand_in_a_file(remedy, tmp_path):
    file = tmp_path / "argus.toml"
    file.write_text('[remedy.expand]\npreset = "paper"\nmentions = "gazetteer"\nk-aug = 1\n')
    made = json.loads(remedy("expand", "--config", file, "--json").out)["made"]
    assert made["preset"] == "paper"
    file.write_text("[remedy.expand]\nkaug = 1\n")
    ran = remedy("expand", "--config", file)
    assert ran.code == 2
    assert "'kaug'" in ran.err
