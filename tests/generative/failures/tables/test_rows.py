import math

import numpy as np
import pyarrow as pa

from argus.generative.failures.tables.rows import Rows, known


def test_rows_are_ordered_by_id_and_missing_values_are_nan(rows):
    found = rows(query_id=["b", "a"], hit_1=[1, None], outcome=["PN", None])
    assert found.text("query_id") == ["a", "b"]
    assert math.isnan(found.number("hit_1")[0]) and found.number("hit_1")[1] == 1
    assert found.text("outcome") == [None, "PN"]


def test_a_column_that_is_not_there_is_one_without_values(rows):
    found = rows(hit_1=[1, 0])
    assert np.isnan(found.number("coverage")).all()
    assert found.text("judged") == [None, None]
    assert found.lists("length_ngrams").shape == (0, 11)
    assert not found.has("coverage") and found.has("hit_1")


def test_a_column_of_nothing_but_nulls_is_read_whatever_its_type():
    table = pa.table({"query_id": ["a"], "hit_1": pa.nulls(1), "length_ngrams": pa.nulls(1)})
    found = Rows.of(table, k=10, seed=0)
    assert np.isnan(found.number("hit_1")).all()
    assert not found.has("hit_1")
    assert found.lists("length_ngrams").size == 0


def test_the_first_thing_that_is_missing_is_named(rows):
    found = rows(hit_1=[1])
    assert found.missing("correctness") is None
    assert "--include_keys" in found.missing("correctness", "keys", "index")["not_applicable"]


def test_known_is_where_every_column_has_a_value():
    first, second = np.array([1.0, np.nan, 0.0]), np.array([1.0, 1.0, np.nan])
    assert known(first, second).tolist() == [True, False, False]
