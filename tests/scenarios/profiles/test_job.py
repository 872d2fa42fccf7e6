"""`remedy scenarios` from corpus to profiles, asked over HTTP: states, resume, budget."""

import json

import pytest

from argus.data.types import Document
from argus.errors import ArgusError
from argus.llm import ChatConfig
from argus.scenarios.config import ProfileConfig
from argus.scenarios.files import read_profiles
from argus.scenarios.generate import Role
from argus.scenarios.profiles import profile_documents
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


def test_an_answer_that_was_cut_off_is_failed_and_says_so(endpoint, config, tmp_path):
    endpoint.behave = lambda text, n: {"text": '{"noise": false, "main_t', "finish": "length"}
    with pytest.raises(ArgusError, match="none of 1 documents has scenarios: the answer was cut"):
        profile_documents(DOCUMENTS[:1], out=tmp_path, config=config())
    assert "the answer was cut off" in read_profiles(tmp_path)["queue"].reason
