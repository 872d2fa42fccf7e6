"""Which sentence says that one document supersedes another, which way, and how surely."""

import pytest

from argus.authority.learning.names import RecordNames
from argus.authority.learning.statements import sentences, statements
from argus.authority.records import Record

RECORDS = [
    Record("RFC-2616", "rfc", title="Hypertext Transfer Protocol 1.1"),
    Record("RFC-7230", "rfc", title="Message Syntax and Routing"),
    Record("roe", "case", title="Roe v. Wade"),
    Record("pals", "case", title="Palko v. Connecticut"),
    Record("ohio", "case", title="Ohio v. Roberts"),
    Record("other", "case", title="Roberts v. Jaycees"),
    Record("pkg.old", "code", title="pkg.old"),
    Record("pkg.read_all", "code", title="pkg.read_all"),
    Record("pkg.load", "code", title="pkg.load"),
]
NAMES = RecordNames(RECORDS)
SPEAKER = Record("speaker", "any")


def said(text, speaker=SPEAKER):
    return [
        (s.other, s.supersedes_other, s.has_doubt)
        for s in statements(text, NAMES.find(speaker, text))
    ]


@pytest.mark.parametrize(
    ("text", "other", "forward"),
    [
        ("This document obsoletes RFC-2616.", "RFC-2616", True),
        ("This document is obsoleted by RFC-7230.", "RFC-7230", False),
        ("It has been superseded in its entirety by RFC-7230.", "RFC-7230", False),
        ("RFC-2616 is hereby withdrawn.", "RFC-2616", True),
        ("The Court overruled its decision in Roe v. Wade.", "roe", True),
        ("Roe v. Wade, 410 U.S. 113, is no longer good law.", "roe", True),
        ("In a 7-2 decision it overruled Palko, holding otherwise.", "pals", True),
        ("Use this in place of RFC-2616.", "RFC-2616", True),
        ("For new work use RFC-7230 instead.", "RFC-7230", False),
    ],
)
def test_which_way_a_sentence_goes(text, other, forward):
    assert said(text) == [(other, forward, False)]


@pytest.mark.parametrize(
    "text",
    [
        "Roe v. Wade overruled much of what was thought before.",  # the other is who does it
        "It returns nothing instead of raising RFC-2616.",
        "The Court overruled the objection. Roe v. Wade stands.",  # two sentences
        "A patent was invalidated, and " + "so on " * 30 + "Roe v. Wade was cited.",
        "The Court of Roberts replaced the judge.",  # a short name of two, not named in full
    ],
)
def test_what_says_nothing(text):
    assert said(text) == []


def test_doubt_is_told_beside_it():
    assert said("He argued that the Court should overrule Roe v. Wade.") == [("roe", True, True)]


def test_a_short_name_is_that_of_the_case_that_is_named_in_full():
    text = "Hearsay was allowed by Ohio v. Roberts. The Court overruled Roberts."
    assert said(text) == [("ohio", True, False)]


def test_names_inside_a_container():
    old = RECORDS[-3]
    assert said("Deprecated, use read_all() instead.", old) == [("pkg.read_all", False, False)]
    both = said("Deprecated: use `read_all` or `load` instead.", old)
    assert both == [("pkg.read_all", False, False), ("pkg.load", False, False)]
    assert said("Deprecated, use read_all() instead.") == []  # nobody's outside of pkg


def test_a_sentence_does_not_end_at_versus():
    text = "The Court overruled Booth v. Maryland. It was No. 5 in 1987. Done"
    assert [text[a:b].strip() for a, b in sentences(text)] == [
        "The Court overruled Booth v. Maryland.", "It was No. 5 in 1987.", "Done",
    ]  # fmt: skip
