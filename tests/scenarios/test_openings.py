"""Beginnings that explanations share: by hand, and on the scenarios that ship and are released."""

from hypothesis import given
from hypothesis import strategies as st

from argus.scenarios.files import profile_fields
from argus.scenarios.profile import (
    Component,
    Form,
    Profiled,
    ProfileState,
    Scenario,
    ScenarioProfile,
    in_form,
    shared_openings,
    without_opening,
)

ANIMALS = ["cats", "dogs", "cows", "owls", "bats", "rats"]


def profiled(doc_id, *explanations):
    scenarios = tuple(Scenario(f"need {i}", text) for i, text in enumerate(explanations))
    return Profiled(doc_id, ProfileState.OK, ScenarioProfile("topic", (), scenarios))


def of(texts):
    return {f"d{i}": profiled(f"d{i}", text) for i, text in enumerate(texts)}


def indexed(profiles):
    return [
        p.profile.text(Component.E, i)
        for p in profiles.values()
        for i in range(len(p.profile.scenarios))
    ]


def test_what_five_documents_open_with_is_left_out_of_the_index_alone():
    written = of(f"The document describes {a} that live in barns." for a in ANIMALS)
    plain = in_form(written, Form.PLAIN)
    assert indexed(plain) == [f"{a} that live in barns." for a in ANIMALS]
    assert [p.profile.scenarios[0].explanation for p in plain.values()] == indexed(written)
    on_disk = [[profile_fields(p.profile) for p in ps.values()] for ps in (plain, written)]
    assert on_disk[0] == on_disk[1]
    assert in_form(written, Form.WRITTEN) == written


def test_a_tenth_of_many_documents_has_to_share_it():
    many = [f"Word{i} stands alone in its own text." for i in range(95)]
    shared = shared_openings(of([*many, *["It says that all is well."] * 9]).values())
    assert not shared
    shared = shared_openings(of([*many, *["It says that all is well."] * 11]).values())
    assert without_opening("It says that nothing is well.", shared) == "nothing is well."


WORDS = st.lists(st.sampled_from(["a", "B", "the", "x"]), min_size=1, max_size=8).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=20))
def test_what_is_indexed_ends_the_explanation_and_is_never_empty(texts):
    for p in in_form(of(texts), Form.PLAIN).values():
        (scenario,) = p.profile.scenarios
        assert scenario.indexed and scenario.explanation.endswith(scenario.indexed)
