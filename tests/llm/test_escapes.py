import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from argus.llm.structured import COMMANDS, read_object, repair_escapes


class Answer(BaseModel):
    text: str


def read(answer: str) -> str:
    got = read_object(answer, Answer)
    assert isinstance(got, Answer)
    return got.text


NAMES = frozenset(COMMANDS.split())


def is_ambiguous(text: str) -> bool:
    """The documented case, told from the text and not from its JSON."""
    for found in re.finditer("([\b\f\n\r\t])([A-Za-z]+)", text):
        letter = {"\n": "n", "\r": "r", "\t": "t"}.get(found[1])
        if letter is None or letter + found[2] in NAMES:
            return True
    in_math = re.search("\n(?:e|i|u|less|exists)(?![A-Za-z])", text)
    return text.count("$") > 1 and in_math is not None


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
    if is_ambiguous(text):
        return
    for ascii_only in (True, False):
        assert read(json.dumps({"text": text}, ensure_ascii=ascii_only)) == text


@given(
    st.lists(
        st.sampled_from(
            [
                *NAMES,
                "alpha",
                "beta",
                "frac",
                "begin",
                "forall",
                "upsilon",
                "underline",
                "lambda",
                "sum",
                "(",
                "{",
                "%",
                "_",
            ]
        ),
        min_size=1,
    )
)
def test_latex_with_single_backslashes_is_restored(names):
    latex = "".join(f"\\{name}{{x}} " for name in names)
    assert read(f'{{"text": "{latex}"}}') == latex


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        (r"\\frac{1}{2}", r"\frac{1}{2}"),
        (r"\times", r"\times"),
        (r"\timer", "\timer"),
        (r"a\n\tb", "a\n\tb"),
        (r"\nu = 1\nnot\nless", "\nu = 1\nnot\nless"),
        (r"\b \f 1\b2", "\b \f 1\b2"),
        (r"\u00e9 \upsilon \u12", "é \\upsilon \\u12"),
        (r"\ud83d\ude00", "😀"),
        (r"C:\\temp\\new", r"C:\temp\new"),
        (r"\\\times", r"\\times"),
        (r"say \"hi\" \/", 'say "hi" /'),
    ],
)
def test_each_kind_of_backslash_is_read_as_it_was_meant(answer, text):
    assert read(f'{{"text": "{answer}"}}') == text


def test_the_ambiguous_case_is_the_documented_one():
    assert read(json.dumps({"text": "a\tan item"})) == r"a\tan item"
    assert is_ambiguous("a\tan item") and not is_ambiguous("a\tand item")


def test_text_without_backslash_is_the_same_object():
    text = '{"text": "x"}'
    assert repair_escapes(text) is text
