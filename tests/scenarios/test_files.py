import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.scenarios.files import read_profiles, write_profiles
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from tests.support.tasks import lines

text = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20)
whole = st.builds(
    lambda topic, aspects, pairs: ScenarioProfile(
        topic,
        tuple(aspects),
        tuple(Scenario(f"{i}: {need}", f"{i}, {why}") for i, (need, why) in enumerate(pairs)),
    ),
    st.one_of(st.just(""), text),
    st.lists(text, max_size=3, unique=True),
    st.lists(st.tuples(text, text), min_size=1, max_size=4),
)


@given(
    st.lists(whole, min_size=1, max_size=4), st.text(max_size=5).filter(lambda t: t.isprintable())
)
def test_profiles_survive_the_round_trip_whatever_they_hold(tmp_path_factory, profiles, reason):
    path = tmp_path_factory.mktemp("p") / "profiles.jsonl"
    given = [Profiled(f"d{i}", ProfileState.OK, p, source="s") for i, p in enumerate(profiles)]
    given += [
        Profiled("n", ProfileState.NOISE, None, reason),
        Profiled("f", ProfileState.FAILED, None, reason),
    ]
    assert list(read_profiles(write_profiles(path, given)).values()) == given


PAIR = {"information_need": "n", "explanation": "e"}


def test_rows_without_a_state_are_validated_as_answers_are(tmp_path):
    rows = [
        {"id": "a", "main_topic": "m", "scenarios": [PAIR, {"information_need": "x"}]},
        {"id": "b", "scenarios": []},
        {"id": "c", "noise": True},
        {"id": "d", "state": "ok", "main_topic": 5, "scenarios": [PAIR]},
    ]
    a, b, c, d = read_profiles(lines(tmp_path / "p.jsonl", *rows)).values()
    assert a.state == "ok" and len(a.profile.scenarios) == 1 and c.state == "noise"
    assert b.state == "failed" and "the list of scenarios is empty" in b.reason
    assert d.state == "failed" and d.reason.startswith("main_topic: ")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"_id": "a", "scenarios": [PAIR]}] * 2, r"line 2: document 'a' comes twice"),
        ([{"_id": "a", "state": "done"}], "state 'done'; expected one of ok, noise, failed"),
        ([], "no profile; expected lines such as"),
    ],
)
def test_bad_files_are_named_with_the_mend(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_profiles(lines(tmp_path / "p.jsonl", *rows))
