from argus.generative.failures.tables import PARTS, csv_tables


def test_every_table_that_applies_becomes_columns_and_rows():
    figures = {"questions": 3, "judged": 3, "k": 10, **{part: {} for part in PARTS}}
    figures["quality"] = {
        "rows": {"n": 3, "columns": ["a", "b"], "rows": [[1, 2], [3, None]]},
        "single": {"n": 3, "mean": 0.5},
    }
    figures["scoring"] = {"none": {"not_applicable": "no keys"}}
    assert list(csv_tables(figures)) == [
        ("rows", ["a", "b"], [[1, 2], [3, None]]),
        ("single", ["n", "mean"], [[3, 0.5]]),
    ]
