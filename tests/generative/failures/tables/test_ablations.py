import pytest

from argus.generative.failures.tables.ablations import RESAMPLES, ablations
from argus.measures.significance import paired_difference


def test_what_is_switched_off_is_compared_question_by_question(rows):
    before, after = [1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1]
    found = ablations(
        rows(
            score_all=[1.0] * 9,
            hit_1=[*before, None],
            hit_k=[1] * 8 + [None],
            hit_1_without_titles=[*after, None],
            hit_k_without_titles=[1] * 8 + [None],
        )
    )["ablations"]
    assert found["n"] == 8
    assert [row[:3] for row in found["rows"]] == [["titles", "hit_1", 8], ["titles", "hit_k", 8]]
    made = dict(zip(found["columns"], found["rows"][0], strict=True))
    ids = [f"q{i}" for i in range(8)]
    plain = paired_difference(
        dict(zip(ids, before, strict=True)),
        dict(zip(ids, after, strict=True)),
        seed=0,
        resamples=RESAMPLES,
    )
    # 7 harmed, 1 improved: -6/8. Of 2^8 signs those of 7 or more alike: 2·(1 + 8) / 256.
    assert made["difference"] == pytest.approx(-0.75)
    assert made["p_value"] == pytest.approx(18 / 256)
    assert (made["improved"], made["harmed"], made["no_interval"]) == (1, 7, "")
    assert (made["low"], made["high"]) == (plain.low, plain.high)
    unchanged = dict(zip(found["columns"], found["rows"][1], strict=True))
    assert (unchanged["low"], unchanged["p_value"]) == (None, 1.0)
    assert unchanged["no_interval"] == "no query changed"


def test_questions_of_one_id_are_counted_each(rows):
    found = ablations(
        rows(
            query_id=["a", "a"],
            score_all=[1.0, 1.0],
            hit_1=[1, 1],
            hit_1_without_queries=[0, 1],
        )
    )["ablations"]
    assert found["rows"][0][:5] == ["queries", "hit_1", 2, 1.0, 0.5]


def test_nothing_can_be_switched_off_without_n_grams(rows):
    assert "--include_keys" in ablations(rows(hit_1=[1]))["ablations"]["not_applicable"]
