"""Sheets that came back, and belong to no pair."""

import pytest

from argus.errors import InputError
from argus.scenarios.study.config import Criterion
from argus.scenarios.study.preferences import read_answers
from argus.scenarios.study.sheets import PLACE


@pytest.mark.parametrize("sheet", ["", "-1", "1.0", "two", "²", "9" * 5_000])
def test_a_sheet_of_no_number_is_refused_with_its_line(tmp_path, sheet):
    names = [*PLACE, *Criterion]
    path = tmp_path / "sheet.csv"
    rows = [names, [sheet, "p1", *"A" * len(Criterion)]]
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"sheet\.csv, line 2, field 'pair': pair 'p1' on sheet"):
        read_answers([path], {})
