import pyarrow as pa
import pytest
from hypothesis import given

from argus.errors import InputError
from argus.generative.failures.measures import measure, to_table
from argus.generative.failures.measures.columns import COLUMNS, OF_OUTPUT
from tests.generative.failures.measures.making import cases, found, made


def test_a_row_names_its_question():
    row = measure(made(found(True), found(False), question="Who?", positives=1), 10)
    assert (row["query_id"], row["question"], row["passages"]) == ("q", "Who?", 2)


@given(cases())
def test_a_row_has_every_column_in_order_and_makes_a_table(case):
    row = measure(case, 2)
    assert list(row) == list(OF_OUTPUT)
    table = to_table([row, row])
    assert table.schema == pa.schema(list(OF_OUTPUT.items()))
    assert table.to_pylist() == [row, row]


def test_rows_may_bring_more_columns_and_lack_some():
    said = {"judged": "YES", "judged_open": 2}
    table = to_table([{**said, "hit_1": 1}, {"pieces": 3, "hit_1": None}])
    names = ("hit_1", "pieces", "judged", "judged_open")
    assert table.column_names == [name for name in COLUMNS if name in names]
    assert table.to_pylist() == [
        {"hit_1": 1, "pieces": None, **said},
        {"hit_1": None, "pieces": 3, "judged": None, "judged_open": None},
    ]


def test_no_rows_make_an_empty_table_of_what_an_output_tells():
    table = to_table([])
    assert (table.num_rows, table.column_names) == (0, list(OF_OUTPUT))


def test_an_unknown_column_is_named():
    with pytest.raises(InputError, match="a row with hits"):
        to_table([{"hit_1": 1}, {"hits": 1}])


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_1(k):
    with pytest.raises(InputError, match=f"k = {k}"):
        measure(made(), k)
