"""The preset `paper` in one flag."""

import pytest

from argus.errors import InputError
from argus.indexes.views import ViewIndex
from argus.knowledge.gazetteer import CapitalisedNames
from argus.remedies.config import NER_MODEL, PAPER, ReferenceConfig

MODELS = []


class Tagger(CapitalisedNames):
    """In place of the paper's model, which is not at hand: notes which model was to be loaded."""

    def __init__(self, *model):
        MODELS.append(model)


@pytest.fixture
def tagger(monkeypatch):
    MODELS.clear()
    monkeypatch.setattr("argus.remedies.reference.TokenClassifier", Tagger)


@pytest.fixture
def known(repairable):
    return ReferenceConfig(kb=(repairable.kb,))


def test_the_preset_alone_finds_mentions_by_the_papers_model(repairable, index, known, tagger):
    result = repairable.expand(index, reference=known, config=PAPER, tau=0.3)
    assert MODELS == [()], "no name of a model: that of the paper"
    assert result.summary["added"]


def test_where_the_model_is_not_at_hand_the_error_says_how_to_get_it(
    repairable, index, known, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=rf"model '{NER_MODEL}' could not be loaded .*\n?.*Fetch"):
        repairable.expand(index, reference=known, config=PAPER)
    assert ViewIndex.open(index).remedies() == []
