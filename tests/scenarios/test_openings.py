"""Beginnings that explanations share: by hand, and on the scenarios that ship and are released."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.scenarios.files import as_row, read_profiles
from argus.scenarios.openings import GUIDELINE, Form, in_form, shared_openings, without_opening
from argus.scenarios.profile import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.prompts import Role, scenario_prompt

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
    assert [as_row(p) for p in plain.values()] == [as_row(p) for p in written.values()], "on disk"
    assert in_form(written, Form.WRITTEN) == written


def test_fewer_documents_share_nothing_however_often_one_says_it():
    few = of(f"The document describes {a} of all kinds." for a in ANIMALS[:4])
    assert indexed(in_form(few, Form.PLAIN)) == indexed(few)
    one = {"d": profiled("d", *[f"The document describes {a} well." for a in ANIMALS])}
    assert not shared_openings(one.values()), "a document counts once"


def test_a_tenth_of_many_documents_has_to_share_it():
    many = [f"Word{i} stands alone in its own text." for i in range(95)]
    shared = shared_openings(of([*many, *["It says that all is well."] * 9]).values())
    assert not shared
    shared = shared_openings(of([*many, *["It says that all is well."] * 11]).values())
    assert without_opening("It says that nothing is well.", shared) == "nothing is well."


def test_three_words_stay_whatever_is_shared():
    shared = shared_openings(of(["The document says it all"] * 6).values())
    assert without_opening("The document says it all", shared) == "says it all"
    assert without_opening("The document", shared) == "The document"


def test_a_profile_without_scenarios_stays():
    failed = Profiled("f", ProfileState.FAILED, None, "cut off")
    assert in_form({"f": failed}, Form.PLAIN) == {"f": failed}


WORDS = st.lists(st.sampled_from(["a", "B", "the", "x"]), min_size=1, max_size=8).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=20))
def test_what_is_indexed_ends_the_explanation_and_is_never_empty(texts):
    for p in in_form(of(texts), Form.PLAIN).values():
        (scenario,) = p.profile.scenarios
        assert scenario.indexed and scenario.explanation.endswith(scenario.indexed)


@pytest.mark.parametrize("source", ["released", "demo"])
def test_real_explanations_open_alike_and_then_do_not(shared, tmp_path, source):
    path = shared("spike_scenarios") / "scenarios.jsonl"
    if source == "demo":
        write_sample_corpus(tmp_path, standard_library())
        path = tmp_path / "profiles.jsonl"
    written = {d: p for d, p in read_profiles(path).items() if p.profile is not None}

    def commonest(profiles):
        two = Counter(" ".join(text.split()[:2]).casefold() for text in indexed(profiles))
        return max(two.values()) / two.total()

    assert commonest(written) > 0.5
    assert commonest(in_form(written, Form.PLAIN)) < 0.1


@pytest.mark.parametrize("role", list(Role))
def test_a_generator_is_told_of_the_plain_form_alone(role):
    written, plain = (scenario_prompt("text", role, form=form) for form in Form)
    assert written == scenario_prompt("text", role) and GUIDELINE not in written.system
    assert plain.system == f"{written.system}\n{GUIDELINE}"
    assert plain.key != written.key, "answers of one form are not taken for the other's"
