import pytest
from pydantic import ValidationError

from argus.scenarios.files import ProfileAnswer, repeats_itself


def read(**fields):
    return ProfileAnswer.model_validate({"main_topic": "Queues", **fields}).profile()


def pair(need, explanation):
    return {"information_need": need, "explanation": explanation}


GOOD = pair("A user wants to know how to queue.", "The document describes a queue.")


def test_scenarios_as_one_object_are_read_as_in_the_paper():
    found = read(scenarios={"A user wants to know a.": "Since a.", "…to know b.": "Since b."})
    first, second = found.scenarios
    assert (first.information_need, first.explanation) == ("A user wants to know a.", "Since a.")
    assert second.information_need == "…to know b."


@pytest.mark.parametrize(
    "scenario",
    [
        pair("A user wants to know x.", ""),
        pair(" ", "Since x."),
        pair("a user  wants to know HOW to queue.", "Else."),
        pair("Another.", GOOD["explanation"]),
        pair("Another.", "and so on " * 60),
    ],
)
def test_what_cannot_be_used_is_left_out(scenario):
    found = read(scenarios=[GOOD, scenario])
    assert [s.information_need for s in found.scenarios] == [GOOD["information_need"]]


@pytest.mark.parametrize(
    ("scenarios", "reason"),
    [
        ([], "the list of scenarios is empty"),
        ([pair("A user wants to know x.", "")], "a need without explanation"),
        ([pair("n" * 400, "e")], "scenario 1 repeats itself"),
        ("none", "Input should be a valid list"),
        ([{"explanation": "e"}], "Field required"),
    ],
)
def test_an_answer_with_nothing_to_use_says_why(scenarios, reason):
    with pytest.raises(ValidationError, match=reason):
        read(scenarios=scenarios)


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("The user wants to know. " * 20, True),
        ("ユーザーは知りたい" * 40, True),
        ("x" * 200, True),
        ("| a | b |\n|---|---|\n" + "".join(f"| {i} | row {i * 7} |\n" for i in range(12)), False),
        ("The report covers 2019, 2020 and 2021; in each year sales rose, in 2019 by 3%, in 2020 "
         "by 5%, in 2021 by 8%, while costs in each year fell, in 2019 by 1%.", False),
    ],
)  # fmt: skip
def test_loops_are_told_from_prose_and_tables(text, loops):
    assert repeats_itself(text) is loops
