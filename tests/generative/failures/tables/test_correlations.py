import pytest

from argus.generative.failures.measures.columns import COLUMNS
from argus.generative.failures.tables.correlations import INDICATORS, correlations


def test_every_measured_indicator_is_set_against_both_hits(rows):
    found = correlations(
        rows(
            hit_1=[1, 1, 0, 0, None],
            hit_k=[1, 1, 1, 1, None],
            overlap=[0.9, 0.8, 0.2, 0.1, 0.5],
            dominance=[0.1, None, None, 0.2, None],
        )
    )
    table = found["correlations"]
    made = {tuple(row[:2]): dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert len(made) == 4
    # Ranks 4 3 2 1 against 3.5 3.5 1.5 1.5: sum of products 4 / sqrt(5 · 4)
    assert made["overlap", "hit_1"]["n"] == 4
    assert made["overlap", "hit_1"]["rho"] == pytest.approx(4 / 20**0.5)
    assert made["overlap", "hit_k"]["rho"] is None
    assert made["overlap", "hit_k"]["why_not"] == "one of the two never varies"
    assert made["dominance", "hit_1"]["why_not"] == "only 2 pairs; needs 3"
    spread = found["indicators"]
    assert [row[0] for row in spread["rows"]] == ["overlap", "dominance"]
    assert spread["rows"][0][1:3] == [5, pytest.approx(0.5)]


def test_without_positives_indicators_are_described_all_the_same(rows):
    found = correlations(rows(hit_1=[None], overlap=[0.4]))
    assert "positive_ctxs" in found["correlations"]["not_applicable"]
    assert found["indicators"]["rows"][0][:3] == ["overlap", 1, 0.4]


def test_indicators_are_columns_that_are_measured():
    assert set(INDICATORS) <= set(COLUMNS)
