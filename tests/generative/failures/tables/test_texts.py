from argus.generative.failures.tables.texts import texts


def test_hits_by_what_the_positives_texts_hold(rows):
    found = texts(
        rows(
            positives=[1] * 4,
            hit_1=[1, 0, 0, 1],
            hit_k=[1, 1, 0, 1],
            answer_hit_1=[0] * 4,
            gold_holds_answer=[1, 1, 0, None],
            gold_terms=[4, 2, 1, 3],
            gold_adjacent=[1, 0, None, 1],
        )
    )
    holds = found["gold_holds_answer"]
    assert holds["n"] == 3
    assert [row[1:4] for row in holds["rows"]] == [["present", 2, 0.5], ["absent", 1, 0]]
    adjacent = found["gold_adjacent"]
    assert adjacent["n"] == 3
    assert [row[1:4] for row in adjacent["rows"]] == [["present", 2, 1], ["absent", 1, 0]]
    assert (found["gold_terms"]["n"], found["gold_terms"]["mean"]) == (4, 2.5)


def test_what_is_missing_is_said(rows):
    no_texts = texts(rows(positives=[1], hit_1=[1], hit_k=[1], answer_hit_1=[1]))
    for table in no_texts.values():
        assert table["not_applicable"].startswith("The positives have no texts.")
    no_answers = texts(rows(positives=[1], hit_1=[1], hit_k=[1], gold_terms=[2]))
    assert "have no answers" in no_answers["gold_holds_answer"]["not_applicable"]
    assert no_answers["gold_terms"]["n"] == 1
