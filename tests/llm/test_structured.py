import pytest
from pydantic import BaseModel

from argus.llm.structured import UnusableAnswer, read_object, response_format, schema_text


class Need(BaseModel):
    question: str
    why: str = ""


class Profile(BaseModel):
    topic: str
    needs: list[Need] = []


@pytest.mark.parametrize(
    "text",
    [
        '{"topic": "x"}',
        ' \n{"topic": "x"}\n',
        '```json\n{"topic": "x"}\n```',
        '```\n{"topic": "x"}```',
        'Sure!\n```JSON\n{"topic": "x"}\n```\nAnything else?',
    ],
)
def test_json_is_read_alone_or_in_a_fence(text):
    assert read_object(text, Profile) == Profile(topic="x")


def test_a_fence_inside_a_string_is_text():
    inside = '{"topic": "a ```code``` b"}'
    assert read_object(inside, Profile).topic == "a ```code``` b"
    assert read_object(f"```json\n{inside}\n```", Profile).topic == "a ```code``` b"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "does not fit Profile: the answer: Invalid JSON"),
        ("``` {", "the answer: Invalid JSON"),
        ('{"topic": "x"} {"topic": "y"}', "the answer: Invalid JSON"),
        ('{"topic": "x"', "the answer: Invalid JSON"),
        ("[]", "the answer: Input should be an object"),
        ('{"topic": 3}', "topic: Input should be a valid string; it begins"),
        ('{"topic": "x", "needs": [{}, {}]}', "needs.0.question: Field required and 1 more"),
        ('{"topic": "\\ud800"}', "Invalid JSON"),
    ],
)
def test_what_does_not_fit_is_named_with_its_field(text, reason):
    with pytest.raises(UnusableAnswer) as raised:
        read_object(text, Profile)
    assert reason in str(raised.value)


def test_every_object_of_the_schema_that_is_sent_is_strict():
    before = schema_text(Profile)
    sent = response_format(Profile)["json_schema"]["schema"]
    assert sent["required"] == ["topic", "needs"] and sent["additionalProperties"] is False
    need = sent["$defs"]["Need"]
    assert need["required"] == ["question", "why"] and need["additionalProperties"] is False
    assert schema_text(Profile) == before and "additionalProperties" not in before


def test_a_generic_model_has_a_name_that_endpoints_accept():
    from typing import Generic, TypeVar

    T = TypeVar("T")

    class Box(BaseModel, Generic[T]):
        x: T

    assert response_format(Box[int])["json_schema"]["name"] == "Box_int_"
