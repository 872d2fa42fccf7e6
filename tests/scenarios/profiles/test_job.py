"""`remedy scenarios` from corpus to profiles, asked over HTTP: states, resume, budget."""

import json

import pytest

from argus.data.types import Document
from argus.engine import EngineConfig
from argus.errors import ArgusError, InputError
from argus.llm import ChatConfig, LanguageModelError, LocalConfig
from argus.scenarios.files import read_profiles
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import estimate_profiles, profile_documents
from argus.scenarios.prompts import Role
from tests.support.results import shown
from tests.support.scenarios import DOCUMENTS, NOISE, behaving, profile


@pytest.fixture
def config(endpoint):
    def make(role=Role.TEACHER, **options):
        own = {
            name: options.pop(name)
            for name in ("max_chars", "accept_unanswered")
            if name in options
        }
        model = ChatConfig(**{"model": "m", "base_url": endpoint.url, "backoff_s": 0.001} | options)
        return ProfileConfig(model=model, role=role, **own)

    return make


def test_every_document_ends_as_ok_noise_or_failed_with_a_reason(endpoint, config, tmp_path):
    endpoint.behave = behaving(**{"404": NOISE, "Heap": {"text": '{"main_topic": "heap", "scen'}})
    result = profile_documents(DOCUMENTS, out=tmp_path / "out", config=config())
    states = {doc: str(p.state) for doc, p in result.profiles.items()}
    assert states == {
        "queue": "ok", "heap": "failed", "latex": "ok", "code": "ok", "table": "ok",
        "greek": "ok", "error": "noise", "empty": "failed",
    }  # fmt: skip
    assert result.profiles["heap"].reason.startswith("the answer does not fit ProfileAnswer")
    assert result.profiles["empty"].reason == "the document has no text"
    assert result.summary["documents"] == {"total": 8, "ok": 5, "noise": 1, "failed": 2}
    assert result.summary["scenarios"] == 10
    assert read_profiles(tmp_path / "out") == result.profiles
    page = result.report.read_text(encoding="utf-8")
    assert "What would these documents be needed for?" in page


def test_code_latex_and_tables_survive_the_model(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    result = profile_documents(DOCUMENTS[:7], out=tmp_path, config=config())
    sent = {text.removeprefix("[Text Content]\n") for text in endpoint.texts}
    for document in DOCUMENTS[:7]:
        assert document.content in sent
        kept = result.profiles[document.id].profile.scenarios[0].explanation
        assert kept == f"It says so, in part 1: {document.content}".strip()


def test_an_endpoint_without_schemas_is_told_in_words(endpoint, config, tmp_path):
    plain = behaving()

    def refuse(text, n):
        asked = "response_format" in endpoint.requests[n - 1]
        return (
            {"status": 400, "content": "unknown field response_format"} if asked else plain(text, n)
        )

    endpoint.behave = refuse
    result = profile_documents(DOCUMENTS[:3], out=tmp_path, config=config(concurrency=1))
    assert result.summary["documents"]["ok"] == 3
    formats = ["response_format" in body for body in endpoint.requests]
    assert formats == [True, False, False, False]
    schema = endpoint.requests[0]["response_format"]["json_schema"]["schema"]
    assert set(schema["required"]) == {"noise", "main_topic", "key_aspects", "scenarios"}
    assert "fits this JSON schema" in endpoint.requests[1]["messages"][0]["content"]


def test_a_second_run_asks_only_what_failed(endpoint, config, tmp_path):
    broken = {"text": json.dumps(profile("x") | {"scenarios": []})}
    endpoint.behave = behaving(Heap=broken)
    first = profile_documents(DOCUMENTS[:4], out=tmp_path, config=config())
    assert "the list of scenarios is empty" in first.profiles["heap"].reason
    endpoint.requests.clear()
    endpoint.behave = behaving()
    second = profile_documents(DOCUMENTS[:4], out=tmp_path, config=config())
    assert len(endpoint.requests) == 1
    assert second.summary["documents"]["ok"] == 4


def test_answers_outlive_an_endpoint_and_the_run_goes_on(endpoint, config, tmp_path):
    good = behaving()
    endpoint.behave = lambda text, n: good(text, n) if n <= 2 else {"status": 403}
    with pytest.raises(LanguageModelError, match="What was answered so far is kept"):
        profile_documents(DOCUMENTS[:5], out=tmp_path, config=config(concurrency=1))
    endpoint.requests.clear()
    endpoint.behave = good
    result = profile_documents(DOCUMENTS[:5], out=tmp_path, config=config())
    assert len(endpoint.requests) == 3
    assert result.summary["documents"]["ok"] == 5


def test_a_budget_that_is_spent_stops_with_all_that_was_paid_for(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    tight = config(max_total_tokens=20_000, concurrency=1)
    many = [
        Document(f"d{i}", f"Document {i}: the quick brown fox jumps over dogs.") for i in range(8)
    ]
    spent = {"usage": {"prompt_tokens": 3000, "completion_tokens": 500}}

    def costly(text, n):
        answer = json.loads(endpoint.chat(behaving()(text, n)["text"]))
        return {"content": json.dumps(answer | spent)}

    endpoint.behave = costly
    with pytest.raises(ArgusError, match="raise the budget"):
        profile_documents(many, out=tmp_path, config=tight)
    written = read_profiles(tmp_path)
    states = [p.state for p in written.values()]
    assert states.count("ok") == len(endpoint.requests) > 0
    waiting = [p for p in written.values() if p.state == "failed"]
    assert waiting
    assert all(p.reason.startswith("not asked: ") for p in waiting)


def test_long_documents_are_shown_in_part_which_is_noted(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    long = Document("long", "".join(f"{i:05} words, " for i in range(16_000))[:200_000])
    result = profile_documents([long], out=tmp_path, config=config(max_chars=1_000))
    assert len(endpoint.texts[0]) == len("[Text Content]\n") + 1_000
    assert result.profiles["long"].notes[0].startswith("only the first 1,000 of 200,000 characters")
    assert result.summary["notes"][0]["documents"] == 1


def test_an_answer_that_was_cut_off_is_failed_and_says_so(endpoint, config, tmp_path):
    endpoint.behave = lambda text, n: {"text": '{"noise": false, "main_t', "finish": "length"}
    with pytest.raises(ArgusError, match="none of 1 documents has scenarios: the answer was cut"):
        profile_documents(DOCUMENTS[:1], out=tmp_path, config=config())
    assert "the answer was cut off" in read_profiles(tmp_path)["queue"].reason


def test_a_student_gets_the_shorter_instruction(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    profile_documents(DOCUMENTS[:1], out=tmp_path, config=config(Role.STUDENT))
    system = endpoint.requests[0]["messages"][0]["content"]
    assert "Step 1" not in system
    assert "Information Needs: Generate a diverse set" in system


def test_an_estimate_asks_nothing(endpoint, config, tmp_path):
    priced = config(input_price=1.0, output_price=2.0)
    found = estimate_profiles(DOCUMENTS, out=tmp_path, config=priced)
    assert (found.prompts, found.to_ask) == (7, 7)
    assert found.cost > 0
    assert endpoint.requests == []


def test_a_corpus_without_text_is_refused(config, tmp_path):
    with pytest.raises(ArgusError, match="no document has text"):
        profile_documents([Document("a", " ")], out=tmp_path, config=config())
    with pytest.raises(InputError, match="two documents have the id 'a'"):
        profile_documents([Document("a", "x")] * 2, out=tmp_path, config=config())


def test_only_a_local_model_waits_for_the_cluster(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    nowhere = EngineConfig(name="ray", address="127.0.0.1:1")
    out = tmp_path / "out"
    result = profile_documents(DOCUMENTS[:2], out=out, config=config(), engine=nowhere)
    assert result.summary["documents"]["ok"] == 2
    assert "engine" not in json.loads((out / "manifest.json").read_text())["scenarios"]
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    local = ProfileConfig(model=LocalConfig(model=str(tmp_path)))
    pytest.importorskip("ray")
    with pytest.raises(ArgusError, match="no Ray cluster answers"):
        (tmp_path / "config.json").write_text("{}")
        profile_documents(DOCUMENTS[:2], out=out, config=local, engine=nowhere, fresh=True)
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_profiles_show_their_figures(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    result = profile_documents(DOCUMENTS[:2], out=tmp_path, config=config())
    assert shown(result)[0].startswith("2 of 2 documents have 4 scenarios")
    assert shown(result)[-1] == f"profiles: {tmp_path / 'profiles.jsonl'}"
