from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge.triples import Literal, parse_line

FILE = Path("x.nt")
S, P = "http://example.org/s", "http://example.org/p"
characters = st.characters(exclude_categories=["Cs"])
iris = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='<>"\\ ', min_codepoint=0x21),
    min_size=1,
)
blanks = st.from_regex(r"_:[A-Za-z0-9_]([A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?", fullmatch=True)
literals = st.builds(
    Literal,
    st.text(characters),
    st.from_regex(r"([a-z]{2,3}(-[A-Za-z0-9]{1,4})?)?", fullmatch=True),
)


def parse(line):
    return parse_line(line, FILE, 7)


def escaped(text, always):
    """Write a literal's text; `always`: other characters as numbers, as old writers do."""
    short = {c: rf"\{letter}" for c, letter in zip('\n\r"\\\t\b\f', 'nr"\\tbf', strict=True)}
    number = lambda c: f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"  # noqa: E731
    return "".join(short.get(c) or (number(c) if always and not c.isalpha() else c) for c in text)


def serialised(term, always):
    if isinstance(term, Literal):
        end = f"@{term.language}" if term.language else ""
        return f'"{escaped(term.text, always)}"{end}'
    return term if term.startswith("_:") else f"<{term}>"


@given(
    iris.filter(lambda i: not i.startswith("_:")) | blanks,
    iris,
    iris.filter(lambda i: not i.startswith("_:")) | blanks | literals,
    st.booleans(),
    st.sampled_from([" ", "\t", "  \t"]),
    st.sampled_from(["", "\n", "\r\n", " # a comment\n"]),
)
@settings(deadline=None)
def test_what_is_serialised_is_parsed_again(subject, predicate, object_, always, space, end):
    terms = (serialised(term, always) for term in (subject, predicate, object_))
    assert parse(space.join([*terms, "."]) + end) == (subject, predicate, object_)


@pytest.mark.parametrize(
    ("line", "object_"),
    [
        (f'<{S}><{P}>"no space".', Literal("no space")),
        (f'<{S}> <{P}> "1"^^<http://www.w3.org/2001/XMLSchema#int> .',
         Literal("1")),
        (rf'<{S}> <{P}> "\u00E9\U0001F600\"\\n" .', Literal('é😀"\\n')),
        (rf'<{S}> <{P}> "\uD83D\uDE00" .', Literal("😀")),
        (f'<{S}> <{P}> "a . # b" . # c', Literal("a . # b")),
        (rf"<{S}> <{P}> <http://example.org/\u00E9> .", "http://example.org/é"),
        (f"<{S}> <{P}> <http://example.org/a`b|c> .", "http://example.org/a`b|c"),
        (f"<{S}> <{P}> _:b1.", "_:b1"),
    ],
)  # fmt: skip
def test_the_forms_of_the_grammar(line, object_):
    assert parse(line) == (S, P, object_)


@pytest.mark.parametrize(
    "line",
    [
        f"<{S}> <{P}> <http://example.org/open .",
        f"<{S}> <{P}> <{S}>",
        f'<{S}> <{P}> "open .',
        f'"{S}" <{P}> <{S}> .',
        "@prefix ex: <http://example.org/> .",
        f"<{S}> <{P}> <{S}> <{S}> .",
        rf'<{S}> <{P}> "\q" .',
        rf'<{S}> <{P}> "\U00110000" .',
        rf'<{S}> <{P}> "\uD83D" .',
    ],
)
def test_a_broken_line_says_where(line):
    with pytest.raises(InputError, match=r"x\.nt, line 7: "):
        parse(line)
