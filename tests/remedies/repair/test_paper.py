"""The preset `paper` in one flag."""

import pytest

from argus.errors import InputError
from argus.indexes.views import ViewIndex
from argus.remedies.config import NER_MODEL, PAPER, ReferenceConfig


def test_where_the_model_is_not_at_hand_the_error_says_how_to_get_it(
    repairable, index, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=rf"model '{NER_MODEL}' could not be loaded .*\n?.*Fetch"):
        repairable.expand(index, reference=ReferenceConfig(kb=(repairable.kb,)), config=PAPER)
    assert ViewIndex.open(index).remedies() == []
