import pytest

from argus.generative.failures.tables.metadata import metadata


def test_shares_are_pooled_and_averaged_over_passages(rows):
    found = metadata(
        rows(
            hit_1=[1, 0, 0],
            score_all=[10.0, 30.0, None],
            score_title=[5.0, 6.0, None],
            score_query=[0.0, 3.0, None],
            score_correct=[4.0, None, None],
            score_title_correct=[1.0, None, None],
            score_query_correct=[0.0, None, None],
        )
    )
    # Titles: 11 / 40 pooled; (5/10 + 6/30) / 2 = 0.35. Queries: 3 / 40; (0 + 0.1) / 2.
    assert found["score_shares_all"] == {
        "n": 2,
        "columns": ["identifiers", "pooled", "mean"],
        "rows": [["titles", 0.275, pytest.approx(0.35)], ["pseudo_queries", 0.075, 0.05]],
    }
    assert found["score_shares_correct"]["n"] == 1
    assert found["score_shares_correct"]["rows"] == [
        ["titles", 0.25, 0.25], ["pseudo_queries", 0.0, 0.0],
    ]  # fmt: skip


def test_a_score_of_nothing_has_no_share(rows):
    found = metadata(rows(score_all=[0.0], score_title=[0.0], score_query=[0.0]))
    assert "above 0" in found["score_shares_all"]["not_applicable"]
    # Of correct passages it cannot be told without positives.
    assert "positive_ctxs" in found["score_shares_correct"]["not_applicable"]


def test_the_gain_of_titles_is_over_questions_that_have_one(rows):
    found = metadata(
        rows(
            score_all=[1.0] * 4,
            answer_hit_1=[0] * 4,
            answer_title_gain=[28.0, 1.0, 4.0, None],
            answer_title_gain_correct=[None, 1.0, None, None],
        )
    )["answer_title_gain"]
    # Mean 33 / 3; deviations 17, -10, -7: sigma = sqrt(438 / 3)
    assert found["n"] == 3
    assert found["rows"] == [
        ["all", 3, 11.0, pytest.approx((438 / 3) ** 0.5), 4.0],
        ["correct", 1, 1.0, 0.0, 1.0],
    ]


def test_no_answer_that_is_a_title_too_is_said(rows):
    found = metadata(rows(score_all=[1.0], answer_hit_1=[0]))["answer_title_gain"]
    assert found["not_applicable"].startswith("In no passage is an answer both a title")
    without = metadata(rows(score_all=[1.0]))["answer_title_gain"]
    assert "have no answers" in without["not_applicable"]


def test_titles_of_correct_and_wrong_passages_are_compared(rows):
    found = metadata(
        rows(
            hit_1=[1, 1, 1, 1, 0],
            score_all=[1.0] * 5,
            question=["a", "b", "who sang this", "c", "d"],
            title_score_correct=[2.0, 3.0, 546.0, 5.0, None],
            title_score_wrong=[4.0, 3.0, 1.0, 0.0, 1.0],
        )
    )["title_score_difference"]
    # 2/4 - 1 = -0.5, 3/3 - 1 = 0, 546 - 1 = 545; one that is divided by 0 is left out.
    assert found["n"] == 3
    assert found["mean"] == pytest.approx(544.5 / 3)
    assert found["median"] == 0
    assert (found["min"], found["max"]) == (-0.5, 545)
    assert (found["extreme_id"], found["extreme_question"]) == ("q02", "who sang this")


def test_what_is_as_good_as_0_divides_nothing(rows):
    found = metadata(
        rows(
            hit_1=[1, 1],
            score_all=[1e-300, 2.0],
            score_title=[1e90, 1.0],
            score_query=[0.0, 0.0],
            title_score_correct=[1e90, 3.0],
            title_score_wrong=[1e-300, 2.0],
        )
    )
    assert found["score_shares_all"]["n"] == 1
    assert found["score_shares_all"]["rows"][0] == ["titles", 0.5, 0.5]
    difference = found["title_score_difference"]
    assert (difference["n"], difference["mean"], difference["extreme_id"]) == (1, 0.5, "q01")


def test_without_n_grams_it_says_how_to_get_them(rows):
    for table in metadata(rows(hit_1=[1], answer_hit_1=[1])).values():
        assert "--include_keys" in table["not_applicable"]
