"""`argus check` joins what documents are needed for."""

import pytest

from argus import check
from argus.data import Document
from argus.errors import InputError
from argus.verdict import read_verdict
from tests.support.scenarios import profiles_of
from tests.support.word_encoder import WordEncoder

DOCUMENTS = [Document(f"d{i:02}", f"name{i} filler", f"name{i}") for i in range(30)]


def test_needs_are_a_part_of_a_check_and_of_its_verdict(tmp_path):
    profiles = profiles_of({d.id: [d.title] for d in DOCUMENTS[:10]})
    result = check(DOCUMENTS, profiles=profiles, encoder=WordEncoder(), out=tmp_path / "out")
    assert [*result.parts] == ["exposure", "needs"]
    assert result.summary["needs"]["risk"]["measured"] == 10
    (count,) = read_verdict(tmp_path / "out").counts
    assert (count.name, count.total) == ("by_need", 10)


def test_needs_are_of_documents(tmp_path):
    with pytest.raises(InputError) as error:
        check(profiles=tmp_path / "x", out=tmp_path / "out")
    assert error.value.where == "--profiles"
