"""`argus tune try` on real indexes: chosen by questions, by needs, or by default."""

import pytest

from argus.data.types import Document, Query
from argus.errors import ArgusError, InputError
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.remedies.undo import list_remedies, rollback
from argus.repair import RepairConfig
from argus.repair.job import repair_index
from argus.repair.trials import TRIAL
from argus.scenarios.files import read_fields
from argus.scenarios.remedy import add_scenarios
from argus.tuning.arms import APPLICABLE
from argus.tuning.questions import hold_out_needs

ASPECTS = {
    "deque": ("a line-up of entries", "forget the oldest", "fast at both ends"),
    "heapq": ("the smallest entry first", "a waiting list by urgency", "merge what is in order"),
    "bisect": ("find the place of a value", "insert without sorting", "search by halves"),
    "zlib": ("make data smaller", "a check-sum of bytes", "a stream of blocks"),
    "csv": ("tables as lines", "quote a comma", "read rows as mappings"),
    "json": ("objects as text", "pretty indentation", "a custom encoder"),
    "shelve": ("a dictionary on disk", "write back on close", "any object by key"),
    "queue": ("threads that wait", "a limit of places", "a task that is done"),
}


def documents():
    return [Document(doc, ". ".join(said).capitalize() + ".") for doc, said in ASPECTS.items()]


@pytest.fixture
def built(minilm, tmp_path):
    build_index(documents(), out=tmp_path / "ix", encoder=minilm)
    return tmp_path / "ix"


def profiles():
    return {
        doc: read_fields(
            doc,
            {
                "main_topic": doc,
                "scenarios": [
                    {"information_need": f"I need {aspect}", "explanation": f"It is {aspect}."}
                    for aspect in said
                ],
            },
        )
        for doc, said in ASPECTS.items()
    }


def ids(index):
    return [r["id"] for r in list_remedies(index)]


def test_needs_that_are_held_out_judge_and_are_no_views_then(built, minilm, monkeypatch):
    (built / TRIAL / "index.lance").mkdir(parents=True)
    (built / TRIAL / "index.lance" / "part").write_text("left by a killed run")
    indexed = set()

    def added(index, profiles, **options):
        told = [p.profile for p in profiles.values() if p.profile is not None]
        indexed.update(s.information_need for profile in told for s in profile.scenarios)
        return add_scenarios(index, profiles, **options)

    monkeypatch.setattr("argus.repair.trials.add_scenarios", added)
    result = repair_index(built, profiles=profiles(), encoder=minilm)
    summary = result.summary
    assert (summary["judged_by"], summary["questions"]) == ("held-out needs", 8)
    assert not (built / TRIAL).exists()
    config = RepairConfig()
    asked = hold_out_needs(profiles(), config.max_needs, config.seed)[0].queries
    assert len(asked) == 8 and indexed and not indexed & {need.text for need in asked}
    for remedy in reversed(summary["remedies"]):
        rollback(built, remedy)
    assert not ids(built)


def test_profiles_of_other_documents_are_refused(built, minilm):
    others = {f"{doc} 2": profiled for doc, profiled in profiles().items()}
    with pytest.raises(InputError) as error:
        repair_index(built, profiles=others, encoder=minilm)
    assert error.value.where == "--profiles" and not ids(built)


def test_a_step_that_fails_takes_those_before_it_out_again(built, minilm, monkeypatch):
    from argus.repair import trials as module

    def fails(*args, **options):
        raise ArgusError("no space left")

    materials = module.Materials(minilm, profiles=profiles())
    tried, _ = module.candidates(materials)
    monkeypatch.setattr(module, "blend_index", fails)
    with pytest.raises(ArgusError, match="no space left"):
        module.apply_steps(built, tried["scenarios + blend"])
    assert not ids(built)


def test_a_trial_leaves_the_index_and_judged_questions_choose_as_it_said(built, minilm):
    questions = [Query(f"q{i}", doc) for i, doc in enumerate(ASPECTS)]
    qrels = {f"q{i}": {doc: 1} for i, doc in enumerate(ASPECTS)}
    options = {"queries": questions, "qrels": qrels, "profiles": profiles(), "encoder": minilm}
    version = ViewIndex.open(built).version
    tried = repair_index(built, **options, config=RepairConfig(only_try=True))
    assert ViewIndex.open(built).version == version and not ids(built)
    assert tried.summary["remedies"] == [] and tried.summary["only_try"]
    kept = repair_index(built, **options)
    summary = kept.summary
    assert summary["kept"] == tried.summary["kept"]
    added = {arm["arm"] for arm in summary["arms"] if arm["applies"]}
    assert added == {"scenarios", "blend", "scenarios + blend", "sentences", *APPLICABLE}
    assert {arm["arm"] for arm in summary["arms"]} == {*added, "vectors alone"}
    assert "no knowledge base" in summary["missing"]["expand"]
    assert summary["questions"] == 8 and len(summary["chosen_by_fold"]) == 5
    is_kept = summary["kept"] != "nothing"
    assert bool(ids(built)) == bool(summary["remedies"]) == is_kept
    assert is_kept or ViewIndex.open(built).version == version
