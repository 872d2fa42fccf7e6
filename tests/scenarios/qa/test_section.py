from dataclasses import asdict

import pyarrow as pa
import pytest

from argus.data.folders import ArtifactFolder
from argus.jobs.workspace import Record
from argus.reports import write_report
from argus.scenarios.qa.agreement import agreement
from argus.scenarios.qa.compare import Arm, Case, Judged, Question
from argus.scenarios.qa.findings import arm_summaries, comparisons
from argus.scenarios.qa.judge import Failure, Vote, combine
from argus.scenarios.qa.section import ARMS, mean_scores
from argus.scenarios.qa.tables import SCHEMA
from tests.support.pages import tables


def judged(arm, scores):
    for i, score in enumerate(scores):
        case = Case(Question(f"q{i}", "Why <b>now</b>?", "Because."), arm, "context")
        vote = Vote(score, "") if score is not None else Vote(None, "odd", Failure.UNPARSABLE)
        verdict = combine([vote])
        yield Judged(case, verdict.state, verdict.score, "<i>So.</i>", verdict,
                     failure=verdict.failure, reason=verdict.reason)  # fmt: skip


def written(tmp_path, found, **changed):
    """A folder as the job writes it."""
    folder = ArtifactFolder(tmp_path / "out")
    folder.open()
    rows = [
        {
            "query_id": j.case.question.id, "question": j.case.question.text,
            "arm": str(j.case.arm), "state": str(j.state), "reason": j.reason, "score": j.score,
            "votes": "", "answer": j.answer,
        }
        for j in found
    ]  # fmt: skip
    folder.write_table("scenarios_qa", pa.Table.from_pylist(rows, schema=SCHEMA))
    options = {"seed": 0, "resamples": 1000}
    arms = [arm | {"nDCG@10": None} for arm in arm_summaries(found, **options)]
    usage = {"tokens_in": 9, "tokens_out": 9, "cost": None}
    stage = {"model": "m@here", "prompts": 8, "cached": 0, "unanswered": 0, **usage}
    summary = {
        "index": "index", "scenarios": 3, "reasoned": "", "votes": 1, "k": 10, "weight": 0.7,
        "max_chars": 48000, "retrieval": None, "gold": None, "unanswered": 0, "notes": [],
        "questions": {
            "total": 8, "asked": 8, "not drawn": 0, "not applicable": 0, "reasons": {},
            "answers_without_query": 0,
        },
        "arms": arms, "comparisons": comparisons(found, **options),
        "agreement": asdict(agreement([])),
        "language_model": dict.fromkeys(("answering", "judging"), stage | {"answers": usage}),
    }  # fmt: skip
    folder.write_section("summary.json", "scenarios_qa", summary | changed)
    record = Record("scenarios_qa", {}, {}, {"fingerprint": "encoder 384"})
    folder.write_section("manifest.json", "scenarios_qa", record.manifest({}))
    return write_report(folder.path).read_text()


def test_arms_differences_and_answers_are_shown_as_text(tmp_path):
    low, high = [10, 20, 30, 40, 50, 60, 70, None], [20, 40, 50, 60, 50, 90, 80, 70]
    page = written(tmp_path, [*judged(Arm.DOCUMENTS, low), *judged(Arm.FUSED_SCENARIOS, high)])
    assert "<b>now</b>" not in page and "<i>So.</i>" not in page
    found = tables(page)
    names = [c["name"] for c in found["scenarios_qa_arms"]["columns"]]
    arm = dict(zip(names, found["scenarios_qa_arms"]["rows"][1], strict=True))
    assert arm["context"] == "ranked and shown with scenarios"
    assert (arm["mean score"], arm["of questions"]) == ("55.7", 7)
    assert (arm["documents alone on these"], arm["failed"]) == ("40.0", 0)
    [row] = found["scenarios_qa_differences"]["rows"]
    assert row[3] == "+15.7"
    assert found["scenarios_qa_reasons"]["rows"] == [["documents alone", 1, "odd"]]
    answers = found["scenarios_qa_answers"]["rows"]
    assert len(answers) == 16
    assert answers[7][-1] == "failed: odd"
    assert "documents → fused + scenarios on 7 questions" in page


def test_arms_without_a_score_have_no_bar_and_their_reasons(tmp_path):
    page = written(tmp_path, [*judged(Arm.DOCUMENTS, [10.0]), *judged(Arm.FUSED, [None])])
    found = tables(page)
    [row] = found["scenarios_qa_differences"]["rows"]
    assert row[4] == "none: no question was measured in both"
    assert found["scenarios_qa_arms"]["rows"][1][1:3] == ["–", "none: no question was measured"]


def test_a_bar_has_the_interval_of_its_mean_if_any():
    arms = [
        {"arm": "documents", "mean": 40.0, "low": 30.0, "high": 55.0, "questions": 9},
        {"arm": "fused", "mean": 50.0, "low": None, "high": None, "questions": 3},
    ]
    [bars] = mean_scores(arms, ARMS)["data"]
    assert bars["error_y"]["array"] == [pytest.approx(15), 0]
    assert bars["error_y"]["arrayminus"] == [pytest.approx(10), 0]
    assert bars["x"] == ["documents alone", "ranked with scenarios"]
