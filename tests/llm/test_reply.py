import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.llm.structured import Reply, read_reply


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
        (choice("...", "content_filter"), "withheld (finish_reason content_filter)"),
        (choice(None, refusal="I may not"), "the model refused: I may not"),
        (choice("half", "MAX_TOKENS"), "cut off (finish_reason MAX_TOKENS; max_tokens 9)"),
        (choice("half", "max_tokens"), "cut off (finish_reason max_tokens; max_tokens 9)"),
        (choice("half", "model_length"), "cut off (finish_reason model_length; max_tokens 9)"),
        (choice("half", "error"), "did not come to its end (finish_reason error)"),
        (choice("Calling", "tool_calls"), "did not come to its end (finish_reason tool_calls)"),
        (choice("half", "of tomorrow"), "did not come to its end (finish_reason of tomorrow)"),
        (choice("half", ""), "did not come to its end (finish_reason )"),
        (choice("half", ["stop"]), "did not come to its end (finish_reason ['stop'])"),
        (choice(""), "the answer is empty (finish_reason stop)"),
        (choice(" \n"), "the answer is blank (finish_reason stop)"),
        (choice([{"type": "text", "text": "hi"}]), "content is list, not text"),
        ({"message": "hi"}, "no chat completion (AttributeError"),
        (None, "no chat completion (TypeError"),
    ],
)
def test_an_unusable_answer_says_why_and_keeps_its_count(answer, reason):
    reply = read_reply(body(answer), max_tokens=9)
    assert reply.text == "" and reason in reply.reason


@pytest.mark.parametrize("finish", ["stop", "STOP", "eos", "end_turn", None])
def test_a_whole_answer_is_taken_whatever_its_finish_reason(finish):
    assert read_reply(body(choice("hi", finish)), max_tokens=9).text == "hi"


@pytest.mark.parametrize(("tokens", "whole"), [(8, True), (9, False), (10, False)])
def test_without_finish_reason_the_count_tells_of_a_cut(tokens, whole):
    usage = {"prompt_tokens": 3, "completion_tokens": tokens}
    reply = read_reply(body(choice("half an ans", None), usage=usage), max_tokens=9)
    assert bool(reply.text) == whole and reply.tokens_out == tokens
    cut_off = f"the answer was cut off (finish_reason None, {tokens} tokens; max_tokens 9)"
    assert reply.reason == ("" if whole else cut_off)


def test_what_a_truncated_answer_cost_is_counted():
    assert read_reply(body(choice("x", "length")), max_tokens=9).tokens_in == 1


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "[]", "null", "3", '{"choices": []}', "[" * 100_000, "1" * 5000, "\ud800"],
)
def test_garbage_is_shown_by_its_beginning(text):
    reply = read_reply(text, max_tokens=9)
    assert reply.reason.startswith("the answer is no chat completion (")
    assert reply.reason.endswith(f"it begins {text[:120]!r}")


def test_an_error_under_status_200_is_passed_on():
    reply = read_reply(body(error={"message": "overloaded"}), max_tokens=9)
    assert reply.reason == 'the endpoint answered with an error: {"message": "overloaded"}'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "error", "refusal"]), inner
        )
    ),
)


@given(JSON | st.builds(lambda x: {"choices": [{"message": x}]}, JSON))
def test_no_json_at_all_makes_it_raise(data):
    reply = read_reply(json.dumps(data), max_tokens=9)
    assert bool(reply.text) != bool(reply.reason)
