import pytest

from argus.measures.measures import is_implicit


@pytest.mark.parametrize(
    ("question", "names", "implicit"),
    [
        ("Who founded Lotharingia?", ["Teutberga"], True),
        ("When did Teutberga die?", ["Teutberga"], False),
        ("a car", ["carpet"], True),
        ("Which interest rates apply?", ["The Rate of Interest"], False),
        ("cities and copied boxes", ["City"], False),
        ("cities and copied boxes", ["Copy"], False),
        ("cities and copied boxes", ["Box"], False),
        ("running and parsing", ["run"], False),
        ("running and parsing", ["urllib.parse"], False),
        ("How long is a 747?", ["Boeing 747"], False),
        ("How long is a 737?", ["Boeing 747"], True),
        ("東京の塔はどこですか", ["東京タワー"], False),
        ("大阪の塔はどこですか", ["東京タワー"], True),
        ("हिन्दी कहाँ बोली जाती है", ["हिन्दी"], False),
        ("हिसाब क्या है", ["हिन्दी"], True),
        ("CAFE\u0301 prices", ["Café"], False),
        ("the of", ["the of"], None),
    ],
)
def test_a_question_is_implicit_when_it_shares_no_content_word(question, names, implicit):
    assert is_implicit(question, names) is implicit
