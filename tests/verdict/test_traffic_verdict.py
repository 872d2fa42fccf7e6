"""What a log and its judgements come to in the verdict: what to do next, with the user's paths."""

import argus
from argus.traffic.config import JudgingConfig
from argus.traffic.judging import judge_traffic
from argus.traffic.sampling import ServedQuestion
from argus.verdict import read_verdict, verdict_lines
from tests.support.examples import write_rows
from tests.traffic.test_judging import grade
from tests.verdict.test_commands import parses

TEXTS = {"tide": "the tide follows the moon", "bread": "sourdough rises in a bowl"}


def files(home):
    corpus, log = home / "corpus.jsonl", home / "log.jsonl"
    write_rows(corpus, [{"_id": i, "text": t} for i, t in TEXTS.items()])
    rows = [{"query": f"how high is spring tide number {i}", "results": ["bread"],
             "feedback": "down"} for i in range(6)]  # fmt: skip
    write_rows(log, rows)
    return corpus, log


def test_a_log_says_to_judge_it(tmp_path):
    corpus, log = files(tmp_path)
    config = argus.traffic.TrafficConfig(resamples=1_000)
    argus.audit_traffic(log, out=tmp_path / "out", corpus=corpus, config=config)
    verdict = read_verdict(tmp_path / "out")
    (judge,) = verdict.actions
    assert judge.title.startswith("Judge 50 real questions")
    assert str(corpus) in judge.command and "out-judged" in judge.command
    parses(judge.command)
    assert any(line.strip() == judge.command for line in verdict_lines(verdict))
    assert "Judge 50 real questions" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_judged_questions_that_fail_say_what_to_try_and_what_the_risk_was_worth(tmp_path):
    corpus, _ = files(tmp_path)
    log = [ServedQuestion(f"q{i:02}", f"question {i}", ("tide",)) for i in range(40)]
    config = JudgingConfig(budget=40, k=1)
    table = judge_traffic(log, corpus=corpus, out=tmp_path / "out", config=config).to_judge
    grade(table, lambda cell: int(int(cell[0][1:]) >= 15))
    result = judge_traffic(log, corpus=corpus, out=tmp_path / "out", config=config)
    assert result.summary["risk"]["here"]["auc"] == 1.0
    assert any("that order, measured here: AUC 1.00" in line for line in result.headline())
    assert "measured here on 40 judged questions" in result.report.read_text("utf-8")
    (action,) = read_verdict(tmp_path / "out").actions
    assert "argus tune apply blend" in action.command and str(corpus) in action.command
    parses(action.command)
