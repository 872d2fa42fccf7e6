"""A study from an index to what people say, with raters whose habits are known."""

import json

import pytest

from argus.errors import ArgusError, InputError
from argus.scenarios.study import StudyConfig, make_study, read_preferences
from tests.support.qa import asking
from tests.support.study import fill

CONFIG = StudyConfig(k=2, raters=4)


@pytest.fixture(scope="module")
def subject(tmp_path_factory, shared, minilm):
    return asking(tmp_path_factory.mktemp("index"), shared("spike_scenarios"), minilm)


@pytest.fixture(scope="module")
def study(tmp_path_factory, subject, minilm):
    out = tmp_path_factory.mktemp("study")
    return make_study(subject.index, subject.queries, out=out, config=CONFIG, encoder=minilm)


def key_of(study):
    lines = (study.folder / "key.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_sides_show_what_they_are_said_to(study):
    key = {(row["sheet"], row["pair"]): row for row in key_of(study)}
    for sheet in range(1, 5):
        page = (study.folder / "sheets" / f"sheet-{sheet}.html").read_text("utf-8")
        for part in page.split('<section data-pair="')[1:]:
            row = key[sheet, part.partition('"')[0]]
            sides = dict(zip("AB", part.split('<div class="side">')[1:], strict=True))
            own, rival = sides[row["side"]], sides["B" if row["side"] == "A" else "A"]
            assert "How it helps</dt>" in own and "How it helps</dt>" not in rival
            assert ("Topic</dt>" in rival) == (row["versus"] == "main-topic")
            if row["versus"] == "main-topic":
                assert row["scenarios"] == row["rival"], "the same documents on both sides"


def test_a_sheet_that_did_not_come_back_and_empty_cells_are_counted(study, tmp_path):
    fill(study.folder, tmp_path, lambda row: "tie" if row["sheet"] == 1 else "", sheets=(1, 2))
    summary = read_preferences(study.folder, tmp_path, out=tmp_path / "out").summary
    assert summary["sheets"] == 2
    measured = 4 * sum(row["sheet"] == 1 for row in key_of(study))
    assert summary["answers"]["measured"] == measured
    assert summary["answers"]["total"] == 4 * len(key_of(study))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",A\n", ",left\n", r"'left'.*expected A, B or tie"),
        (",", ";", "no column 'sheet', 'pair'"),
        ("1,p", "1,x", "a pair that is on that sheet of this study"),
    ],
)
def test_wrong_sheets_are_refused_with_their_place(study, tmp_path, old, new, message):
    fill(study.folder, tmp_path, lambda row: "A")
    first, wrong = tmp_path / "answers-1.csv", tmp_path / "wrong.csv"
    wrong.write_text(first.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_preferences(study.folder, wrong)


def test_sheets_that_say_nothing_or_the_same_are_refused(study, tmp_path):
    fill(study.folder, tmp_path, lambda row: "")
    first = tmp_path / "answers-1.csv"
    with pytest.raises(InputError, match=r"comes twice, first in .*answers-1.csv"):
        read_preferences(study.folder, [first, first])
    with pytest.raises(ArgusError, match="All cells of the criteria are empty"):
        read_preferences(study.folder, tmp_path)
    with pytest.raises(InputError, match=r"no key.jsonl in it"):
        read_preferences(tmp_path, first)
