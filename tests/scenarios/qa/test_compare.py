from argus.scenarios.qa.judge import Arm, Case, Question, answer_cases, judge_answers

Q1, Q2 = Question("q1", "Why?", "Because."), Question("q2", "How?", "So.")


def is_judging(prompt):
    return "STUDENT ANSWER START" in prompt


def answering(score="REASON: fine\nSCORE: 60", answer="An answer."):
    return lambda prompt, n: {"text": score if is_judging(prompt) else answer}


def test_equal_contexts_are_answered_and_judged_once(endpoint, model):
    endpoint.behave = answering()
    cases = [Case(Q1, Arm.DOCUMENTS, "A"), Case(Q1, Arm.FUSED, "A"), Case(Q2, Arm.FUSED, "B")]
    judged = judge_answers(answer_cases(cases, model()), model(), 2)
    assert [j.score for j in judged] == [60, 60, 60]
    assert sum(map(is_judging, endpoint.texts)) == 4, "two votes on each of two answers"
    assert len(endpoint.texts) == 2 + 4


def test_more_votes_ask_only_the_new_ones(endpoint, model, ledger):
    scores = iter([10, 60, 90])
    endpoint.behave = lambda p, n: {
        "text": f"SCORE: {next(scores)}" if is_judging(p) else "An answer."
    }
    answered = answer_cases([Case(Q1, Arm.DOCUMENTS, "A")], model())
    [one] = judge_answers(answered, model(concurrency=1), 1)
    [three] = judge_answers(answered, model(concurrency=1), 3)
    assert (one.score, three.score) == (10, 60)
    assert [v.score for v in three.verdict.votes] == [10, 60, 90]
    assert sum(ledger.counts().values()) == 1 + 3
