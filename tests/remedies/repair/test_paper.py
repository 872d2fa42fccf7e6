"""The preset `paper` in one flag, and what its receipt says of it."""

import pytest

from argus.errors import InputError
from argus.indexes.views import ViewIndex
from argus.knowledge.gazetteer import CapitalisedNames
from argus.remedies.config import NER_MODEL, PAPER, ReferenceConfig, SynthesizeConfig
from argus.remedies.paper import BEYOND, describe_differences, list_differences

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
    made = result.summary["made"]
    assert made["paper"] == {"unlike": [], "beyond": list(BEYOND["expansion"])}
    lines = list(result.headline())
    assert f"preset paper as published: mentions by {NER_MODEL}, k_aug=2, τ=0.3" in lines
    assert any(line.startswith("beyond the paper's text: ") for line in lines)
    assert "beyond the paper&#39;s text" in result.report.read_text() or (
        "beyond the paper's text" in result.report.read_text()
    )


def test_without_the_preset_mentions_are_names_of_the_knowledge_base(
    repairable, index, known, tagger
):
    result = repairable.expand(index, reference=known)
    assert MODELS == [] and "paper" not in result.summary["made"]


def test_what_is_set_otherwise_stays_and_is_told(repairable, index, tagger):
    reference = ReferenceConfig(kb=(repairable.kb,), mentions="gazetteer")
    result = repairable.expand(index, reference=reference, config=PAPER, tau=1.0)
    assert MODELS == []
    assert result.summary["made"]["paper"]["unlike"] == [
        f"mentions by gazetteer, not by {NER_MODEL}", "τ=1, not 0.3",
    ]  # fmt: skip
    told = "preset paper, but not as published: mentions by gazetteer, not by"
    assert any(line.startswith(told) for line in result.headline())


def test_a_synthesis_under_the_preset_looks_up_by_words_alone(
    repairable, index, known, config, tagger
):
    paper = SynthesizeConfig(model=config().model, preset="paper")
    assert paper.lookup == PAPER and SynthesizeConfig().lookup.title_first
    result = repairable.synthesize(index, reference=known, config=paper)
    assert MODELS == [()]
    assert result.summary["made"]["paper"]["beyond"] == list(BEYOND["synthesis"])
    assert paper.described() != config().described(), "another remedy"


def test_where_the_model_is_not_at_hand_the_error_says_how_to_get_it(
    repairable, index, known, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=rf"model '{NER_MODEL}' could not be loaded .*\n?.*Fetch"):
        repairable.expand(index, reference=known, config=PAPER)
    assert ViewIndex.open(index).remedies() == []


def test_notes_name_every_setting_that_differs():
    own = list_differences("expansion", mentions=f"ner:{NER_MODEL}", tau=0.3)
    assert own["unlike"] == []
    other = list_differences("synthesis", mentions="ner:x", tau=0.5, k_aug=3)
    assert len(other["unlike"]) == 3 and "k_aug" not in " ".join(other["unlike"])
    assert any(line.startswith("the guard") for line in other["beyond"])
    assert "not as published" in next(describe_differences(other))
