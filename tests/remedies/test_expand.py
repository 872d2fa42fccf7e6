from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Document, Span
from argus.remedies.config import K_AUG, PAPER, ExpandConfig
from argus.remedies.expansion import check_context, choose, look_up, make_views
from argus.remedies.reference import PassageLookup
from tests.support.draws import examples
from tests.support.expanding import AARE, BERN, TOWN, pair, risk

MOON = Document("moon", "Bern, Bern, Bern: the crater Bern lies on the Moon.", "Craters")
FLOOD = Document("flood", "In 2005 the Aare flooded Bern.", "Floods")
KB = [AARE, BERN, MOON, FLOOD]


@pytest.fixture(scope="module")
def lookup():
    return PassageLookup(KB)


def found(pairs):
    return [(p.document.id, p.risk.entity, p.passage.id, p.passage.linked) for p in pairs]


FLAGGED = {"d": [risk(TOWN, "Aare", "aare"), risk(TOWN, "Bern", "bern")]}


# ---- presets -------------------------------------------------------------------------------------


def test_the_paper_preset_is_section_5_2_and_nothing_else():
    assert asdict(ExpandConfig.from_options("paper")) == {
        "preset": "paper", "k_aug": 2, "title_first": False, "min_similarity": None,
        "max_views": None, "fit_window": False, "skip_known": False,
    }  # fmt: skip
    assert ExpandConfig.from_options("paper") == PAPER


def test_the_paper_preset_makes_one_view_per_entity_and_passage(minilm, lookup):
    """`1 + k_aug · N_d` views with the original; the text is document, space, passage (d ∥ p)."""
    pairs = look_up([TOWN], FLAGGED, lookup, PAPER)
    assert found(pairs) == [
        ("d", "Aare", "aare", False),
        ("d", "Aare", "flood", False),
        ("d", "Bern", "moon", False),
        ("d", "Bern", "bern", False),
    ], "by BM25 alone, whatever bears the name"
    assert choose(pairs, PAPER) == pairs, "no context check, no cap"
    made = make_views(pairs, PAPER, minilm, remedy="r")
    assert len(made) == PAPER.k_aug * len(FLAGGED["d"])
    assert [view.text for view in made] == [
        f"They swam in the Aare at Bern. {passage.text}" for passage in (AARE, FLOOD, MOON, BERN)
    ]


# ---- looking up ----------------------------------------------------------------------------------


def test_passages_that_bear_the_name_keep_others_out(lookup):
    config = replace(PAPER, title_first=True)
    assert found(look_up([TOWN], FLAGGED, lookup, config)) == [
        ("d", "Aare", "aare", True),
        ("d", "Bern", "bern", True),
    ]
    unlinked = {"d": [risk(TOWN, "swam"), risk(TOWN, "Aare")]}
    assert found(look_up([TOWN], unlinked, lookup, config)) == [("d", "Aare", "aare", True)]
    moon = Document("d", "The crater Moon.")
    assert found(look_up([moon], {"d": [risk(moon, "Moon")]}, lookup, config)) == [
        ("d", "Moon", "moon", False),
    ], "without a passage of that name BM25 finds"


# ---- the context check ---------------------------------------------------------------------------


def test_a_pairs_similarity_is_a_cosine_pooled_over_the_name(minilm, store):
    unnamed = Document("u", "A river in Switzerland.")
    pairs = [pair(TOWN, "Aare", p) for p in (AARE, BERN, unnamed)]
    checked = check_context(pairs, minilm, store)
    mention = minilm.encode_spans([TOWN.content], pairs[0].risk.spans)
    expected = [
        mention @ minilm.encode_spans([AARE.text], [Span(4, 8)]).T,
        mention @ minilm.encode_spans([f"Bern {BERN.text}"], [Span(0, 4)]).T,
        mention @ minilm.encode_documents([unnamed.text]).T,
    ]
    assert [p.similarity for p in checked] == pytest.approx(np.ravel(expected), abs=1e-5)
    assert [replace(p, similarity=None) for p in checked] == pairs


DOCUMENTS = [Document(name, "Aare Bern Moon") for name in "abc"]
CHOICES = st.lists(
    st.tuples(
        st.sampled_from(DOCUMENTS),
        st.sampled_from(["Aare", "Bern", "Moon"]),
        st.sampled_from(KB),
        st.one_of(st.none(), st.sampled_from([-0.2, 0.0, 0.3, 0.7, 0.70001, 1.0])),
    ),
    max_size=12,
    unique_by=lambda t: (t[0].id, t[2].id),
)


@settings(max_examples=examples(100), deadline=None)
@given(CHOICES, st.sampled_from([None, 0.0, 0.5]), st.one_of(st.none(), st.integers(1, 3)))
def test_choosing_is_what_sorting_each_document_says(choices, least, most):
    pairs = [pair(d, entity, p, similarity=s) for d, entity, p, s in choices]
    config = replace(PAPER, min_similarity=least, max_views=most)
    expected = []
    for document in dict.fromkeys(p.document.id for p in pairs):
        of_it = [p for p in pairs if p.document.id == document]
        if least is not None:
            of_it = [p for p in of_it if p.similarity is not None and p.similarity >= least]
            of_it.sort(key=lambda p: (-p.similarity, p.passage.id))
            names = dict.fromkeys(p.risk.entity for p in of_it)
            of_it = [
                p for name in names for p in [q for q in of_it if q.risk.entity == name][:K_AUG]
            ]
        if most is not None:
            of_it.sort(key=lambda p: (-(p.similarity or 0), p.risk.entity, p.passage.id))
            of_it = of_it[:most]
        expected += of_it
    chosen = choose(pairs, config)
    assert sorted(map(repr, chosen)) == sorted(map(repr, expected))
    if most is not None:
        for document in {p.document.id for p in chosen}:
            in_order = [p for p in chosen if p.document.id == document]
            assert in_order == [p for p in expected if p.document.id == document]


# ---- views ---------------------------------------------------------------------------------------
