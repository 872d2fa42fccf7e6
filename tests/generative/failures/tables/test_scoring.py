import pytest

from argus.generative.failures.tables.scoring import scoring


def test_shares_of_count_and_of_score_are_pooled(rows):
    found = scoring(
        rows(
            score_all=[60.0, 40.0, None],
            score_title=[20.0, 5.0, None],
            score_query=[0.0, 5.0, None],
            ngrams_all=[150, 50, None],
            title_ngrams_all=[2, 2, None],
            query_ngrams_all=[0, 1, None],
        )
    )["count_and_score"]
    assert (found["n"], found["ngrams"], found["score"]) == (2, 200, 100)
    assert found["rows"] == [
        ["titles", 4, 0.02, 25, 0.25],
        ["pseudo_queries", 1, 0.005, 5, 0.05],
        ["body", 195, 0.975, 70, 0.7],
    ]


def test_hits_with_and_without_pseudo_queries(rows):
    found = scoring(
        rows(
            hit_1=[1, 1, 0],
            hit_k=[1, 1, 1],
            score_all=[1.0] * 3,
            query_ngrams_all=[5, 1, 0],
            query_ngrams_first=[3, 0, 0],
        )
    )["query_ngrams"]
    assert [row[:4] for row in found["rows"]] == [
        ["first", "present", 1, 1], ["first", "absent", 2, 0.5],
    ]  # fmt: skip


def test_an_output_without_pseudo_queries_has_no_table_of_them(rows):
    found = scoring(
        rows(hit_1=[1], hit_k=[1], score_all=[1.0], query_ngrams_all=[0], query_ngrams_first=[0])
    )
    assert found["query_ngrams"]["not_applicable"].startswith("No n-gram is a pseudo-query")


def test_deciles_of_quantity_give_the_mean_frequency(rows):
    found = scoring(
        rows(
            hit_1=[0] * 9 + [1],
            hit_k=[1] * 10,
            score_all=[1.0] * 10,
            ngrams_first=list(range(11, 21)),
            frequency_all=[None, *[float(100 * i) for i in range(2, 11)]],
        )
    )["t13_ngrams_first_deciles"]
    assert found["columns"][-1] == "frequency_all"
    assert found["rows"][0] == [1, 11, 11, 11, 1, 0, 1, None]
    assert found["rows"][9] == [10, 20, 20, 20, 1, 1, 1, 1000]


def test_title_repetition_is_given_by_value(rows):
    found = scoring(
        rows(
            hit_1=[1, 0, 0, 0, None],
            hit_k=[1, 1, 0, 1, None],
            title_repetition=[2, 2, 10, None, 3],
        )
    )["t15_title_repetition"]
    assert found["n"] == 3
    assert [row[:3] + row[5:6] for row in found["rows"]] == [[2, 2, 0.5, 1], [10, 1, 0, 0]]


def test_passages_without_titles_are_said(rows):
    found = scoring(rows(hit_1=[1], hit_k=[1], score_all=[1.0]))["t15_title_repetition"]
    assert "have no titles" in found["not_applicable"]
    both = scoring(rows(hit_1=[None], title_repetition=[2]))["t15_title_repetition"]
    assert "--correct answer" in both["not_applicable"]


def test_keys_of_correct_and_wrong_passages(rows):
    found = scoring(
        rows(
            hit_1=[1, 0],
            score_all=[1.0, 1.0],
            keys_correct=[0.25, 0.0],
            keys_wrong=[0.25, 1.0],
            keys_shared=[0.5, 0.0],
            weight_correct=[4.0, None],
            weight_wrong=[2.0, 6.0],
            weight_shared=[9.0, None],
        )
    )["t17_keys"]
    assert found["n"] == 2
    assert found["rows"] == [
        ["correct", 0.125, 1, 4.0, 0.0],
        ["wrong", 0.625, 2, 4.0, 2.0],
        ["shared", 0.25, 1, 9.0, 0.0],
    ]
    assert sum(row[1] for row in found["rows"]) == pytest.approx(1)
