"""`remedy scenarios` from corpus to profiles, asked over HTTP: states, resume, budget."""

import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from argus.data.writing import write_jsonl
from argus.errors import ArgusError, InputError
from argus.llm import ChatConfig
from argus.scenarios.config import ProfileConfig
from argus.scenarios.files import read_profiles
from argus.scenarios.profiles import Role, profile_documents
from tests.support.scenarios import DOCUMENTS, NOISE, behaving


@pytest.fixture
def config(endpoint):
    def make(**options):
        model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001, **options)
        return ProfileConfig(model=model, role=Role.TEACHER)

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
    assert read_profiles(tmp_path / "out") == result.profiles
    asked = len(endpoint.requests)
    endpoint.behave = behaving()
    again = profile_documents(DOCUMENTS, out=tmp_path / "out", config=config())
    assert len(endpoint.requests) == asked + 1, "only what failed"
    assert again.summary["documents"]["ok"] == 6


def test_code_latex_and_tables_survive_the_model(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    result = profile_documents(DOCUMENTS[:7], out=tmp_path, config=config())
    sent = {text.removeprefix("[Text Content]\n") for text in endpoint.texts}
    for document in DOCUMENTS[:7]:
        assert document.content in sent
        kept = result.profiles[document.id].profile.scenarios[0].explanation
        assert kept == f"It says so, in part 1: {document.content}".strip()


def test_a_budget_that_is_spent_stops_with_all_that_was_paid_for(endpoint, config, tmp_path):
    def costly(text, n):
        return {"content": endpoint.chat(behaving()(text, n)["text"], usage=(3000, 500))}

    endpoint.behave = costly
    many = [Document(f"d{i}", f"Document {i}: the quick brown fox jumps.") for i in range(8)]
    with pytest.raises(ArgusError, match="raise the budget"):
        tight = config(max_total_tokens=20_000, concurrency=1)
        profile_documents(many, out=tmp_path, config=tight)
    written = read_profiles(tmp_path).values()
    assert sum(p.state == "ok" for p in written) == len(endpoint.requests) > 0
    waiting = [p.reason for p in written if p.state == "failed"]
    assert waiting and all(reason.startswith("not asked: ") for reason in waiting)


def test_of_several_collections_as_many_are_drawn_of_each(endpoint, config, tmp_path):
    endpoint.behave = behaving()
    one, two, same = (tmp_path / place for place in ("one", "two", "else/one"))
    for folder, n in ((one, 9), (two, 2), (same, 1)):
        folder.mkdir(parents=True)
        rows = [{"_id": f"d{i}", "text": f"{folder.name} holds thing {i}."} for i in range(n)]
        write_jsonl(folder / "corpus.jsonl", [*rows, {"_id": "empty", "text": " "}])

    def drawn(sample):
        out = tmp_path / f"out-{sample}"
        result = profile_documents(one, also=(two,), sample=sample, out=out, config=config())
        kept = {d.id: d.text for d in read_corpus(out)}
        assert [*result.profiles] == [*kept], "what a student is trained on"
        for id_, text in kept.items():
            name, _, own = id_.partition("/")
            assert text == f"{name} holds thing {own.removeprefix('d')}."
        return [*kept]

    few, more = drawn(3), drawn(5)
    assert [id_[:4] for id_ in few] == ["one/"] * 3 + ["two/"] * 2, "all, where fewer have text"
    assert set(few) < set(more) and len(more) == 5 + 2
    asked = len(endpoint.requests)
    with pytest.raises(InputError, match="two collections 'one'"):
        profile_documents(one, also=(two, same), out=tmp_path / "none", config=config())
    assert len(endpoint.requests) == asked
