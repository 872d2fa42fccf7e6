"""Who judges what, on which side, and what a sheet gives away."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import Query
from argus.errors import InputError
from argus.scenarios import study
from argus.scenarios.study import PLACE, Criterion, Pair, Shown, Versus, places, read_answers


def pair(n, versus=Versus.DOCUMENT, text="a document"):
    own = Shown(f"own{n}", text, (("Topic", "queues"), ("How it helps", "it counts <b>all</b>")))
    return Pair(
        f"p{n:03}", versus, Query(f"q{n}", f"question {n}"), (own,), (Shown("rival", text),)
    )


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
def test_each_pair_has_its_judges_and_sheets_are_as_long(n, judges, more, seed):
    sheets = judges + more
    rows = places([pair(i) for i in range(n)], sheets, judges, seed)
    assert Counter(row.pair.id for row in rows) == {f"p{i:03}": judges for i in range(n)}
    assert len({(row.sheet, row.pair.id) for row in rows}) == n * judges, "nobody twice"
    lengths = Counter(row.sheet for row in rows)
    per = [lengths[sheet] for sheet in range(1, sheets + 1)]
    assert max(per) - min(per) <= 1
    for sheet in lengths:
        sides = Counter(row.side for row in rows if row.sheet == sheet)
        assert abs(sides["A"] - sides["B"]) <= 1, "scenarios stand on either side alike"


def test_judges_of_a_pair_see_it_on_different_sides_and_in_different_order():
    rows = places([pair(i) for i in range(30)], 3, 3, 0)
    sides = {p: {r.side for r in rows if r.pair.id == p} for p in {r.pair.id for r in rows}}
    assert sum(len(own) == 2 for own in sides.values()) > 15
    orders = [[r.pair.id for r in rows if r.sheet == sheet] for sheet in (1, 2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def test_a_sheet_holds_no_word_of_the_key():
    page = study.page(1, places([pair(1), pair(2, Versus.MAIN_TOPIC)], 1, 1, 0))
    for word in ("own1", "q1", "scenarios", "rival", str(Versus.MAIN_TOPIC), "document:"):
        assert word not in page, "whose result it is, and what is compared, stand in the key"


def test_documents_cannot_run_in_the_page():
    evil = '=HYPERLINK("http://x")<script>alert(1)</script></section>'
    pair = Pair("p1", Versus.DOCUMENT, Query("q", evil), (Shown("a", evil),), (Shown("b", "x"),))
    html = study.page(1, places([pair], 1, 1, 0))
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
    assert html.count("</section>") == 1
    fetched = html.replace("http-equiv", "").replace("http://x", "")
    assert 'src="' not in html and "http" not in fetched


@pytest.mark.parametrize("sheet", ["", "-1", "²", "9" * 5_000])
def test_a_sheet_of_no_number_is_refused_with_its_line(tmp_path, sheet):
    names = [*PLACE, *Criterion]
    path = tmp_path / "sheet.csv"
    rows = [names, [sheet, "p1", *"A" * len(Criterion)]]
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"sheet\.csv, line 2, field 'pair': pair 'p1' on sheet"):
        read_answers([path], {})
