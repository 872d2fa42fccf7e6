from argus.scenarios.qa.judge import Arm, Case, Question, answer_cases, judge_answers

Q1, Q2 = Question("q1", "Why?", "Because."), Question("q2", "How?", "So.")


def is_judging(prompt):
    return "STUDENT ANSWER START" in prompt


def answering(score="REASON: fine\nSCORE: 60", answer="An answer."):
    return lambda prompt, n: {"text": score if is_judging(prompt) else answer}


def test_equal_contexts_are_answered_and_judged_once(endpoint, model):
    endpoint.behave = answering()
    cases = [Case(Q1, Arm.DOCUMENTS, "A"), Case(Q1, Arm.FUSED, "A"), Case(Q2, Arm.FUSED, "B")]
    judged = judge_answers(answer_cases(cases, model()), model())
    assert [j.score for j in judged] == [60, 60, 60]
    assert sum(map(is_judging, endpoint.texts)) == 2 and len(endpoint.texts) == 2 + 2
