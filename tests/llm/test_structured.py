"""Answers of models: bodies of completions, objects in them, and LaTeX in their JSON."""

import json
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from argus.llm.model import (
    Reply,
    UnusableAnswer,
    read_object,
    read_reply,
    response_format,
    schema_text,
)
from tests.support.draws import examples


def body(choice=None, **fields):
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 1}} | fields)


def choice(content, finish="stop", **message):
    return {"message": {"content": content} | message, "finish_reason": finish}


def test_a_whole_answer_is_read_with_its_counts():
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    assert read_reply(body(choice("hi"), usage=usage), max_tokens=9) == Reply("hi", "", 3, 2)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (choice("half an ans", "length"), "cut off (finish_reason length; max_tokens 9)"),
        (choice("...", "content_filter"), "cut off (finish_reason content_filter"),
        (choice(None, refusal="I may not"), "the model refused: I may not"),
        (choice("half", "MAX_TOKENS"), "cut off (finish_reason MAX_TOKENS; max_tokens 9)"),
        (choice("half", "model_length"), "cut off (finish_reason model_length; max_tokens 9)"),
        (choice("Calling", "tool_calls"), "cut off (finish_reason tool_calls"),
        (choice("half", ""), "cut off (finish_reason "),
        (choice("half", ["stop"]), "cut off (finish_reason ['stop']"),
        (choice(" \n"), "the answer is empty (finish_reason stop)"),
        (choice([{"type": "text", "text": "hi"}]), "no chat completion (AttributeError"),
        (None, "no chat completion (TypeError"),
    ],
)
def test_an_unusable_answer_says_why_and_keeps_its_count(answer, reason):
    reply = read_reply(body(answer), max_tokens=9)
    assert reply.text == "" and reason in reply.reason


FIELDS = st.sampled_from(["choices", "message", "content", "usage", "error", "refusal"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner),
)


@settings(max_examples=examples(40))
@given(JSON | st.builds(lambda x: {"choices": [{"message": x}]}, JSON))
def test_no_json_at_all_makes_it_raise(data):
    reply = read_reply(json.dumps(data), max_tokens=9)
    assert bool(reply.text) != bool(reply.reason)


class Need(BaseModel):
    question: str
    why: str = ""


class Profile(BaseModel):
    topic: str
    needs: list[Need] = []


@pytest.mark.parametrize(
    "text",
    [
        ' \n{"topic": "x"}\n',
        '```\n{"topic": "x"}```',
        'Sure!\n```JSON\n{"topic": "x"}\n```\nAnything else?',
    ],
)
def test_json_is_read_alone_or_in_a_fence(text):
    assert read_object(text, Profile) == Profile(topic="x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("``` {", "does not fit Profile: the answer: Invalid JSON"),
        ('{"topic": "x"} {"topic": "y"}', "the answer: Invalid JSON"),
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


class Answer(BaseModel):
    text: str


def read(answer: str) -> str:
    return read_object(answer, Answer).text


TABLE = "| a | b |\n|---|---|\n| 1 | `x\\|y` |\n"
CODE = (
    "def f(n):\n\treturn n\n\r\n\tfor i in range(n):\n\t\tprint('\\n', n)\n# new\nnu = 1\nless = 2"
)
LATEX = r"$\frac{\alpha}{\beta} \times \nabla \rho \to \text{a} \\ \begin{x} \u{e} \(x\) \tau$"


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text(alphabet="\\\b\f\n\r\t\"/u0aefnrtb'{ ")
)
@example(TABLE)
@example(CODE)
@example(LATEX)
@example("東京\tне\u2028😀\x00")
def test_a_properly_escaped_text_comes_back_as_it_was(text):
    assume(not re.search("[\b\f][A-Za-z]", text))  # the documented case that is ambiguous
    for ascii_only in (True, False):
        assert read(json.dumps({"text": text}, ensure_ascii=ascii_only)) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        (r"\times", "\times"),
        (r"\nu = 1\nnot\nless", "\nu = 1\nnot\nless"),
        (r"\b \f 1\b2", "\b \f 1\b2"),
        (r"\u00e9 \upsilon \u12", "é \\upsilon \\u12"),
        (r"\ud83d\ude00", "😀"),
        (r"C:\\temp\\new \"hi\" \/", r'C:\temp\new "hi" /'),
    ],
)
def test_each_kind_of_backslash_is_read_as_it_was_meant(answer, text):
    assert read(f'{{"text": "{answer}"}}') == text
