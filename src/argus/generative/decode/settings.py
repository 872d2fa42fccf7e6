"""How keys are decoded: beams, lengths, batches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated

from argus.errors import InputError
from argus.generative.settings import check_numbers
from argus.settings import Doc, Ge, Le, Option, check_settings

_PANEL = "Decoding"
LONGEST_SPAN = 32
"""Tokens of the span that holds the words of a set, at most."""


class Cure(StrEnum):
    """What is done about n-grams of the right passage that the beam drops (docs/ngrams.md)."""

    NONE = "none"
    SETS = "sets"
    BACKTRACKING = "backtracking"
    DIVERSE = "diverse"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Settings of the search for keys, with the published defaults (docs/ngrams.md, "Keys").

    beams: hypotheses that go on at each step; twice as many are kept as keys. body_tokens,
    title_tokens, query_tokens: the longest n-gram of each view, markers not counted but a title's
    and a pseudo-query's closing one (the published code counts the decoder's start token, too: its
    10, 15 and 30 are one less). rescore: each key by its view's input. cure: of false pruning;
    groups and diversity are those of diverse beams, rounds those of backtracking.
    """

    beams: Annotated[int, Ge(1), Doc("Width of the search."), Option(panel=_PANEL)] = 15
    body_tokens: Annotated[
        int, Ge(1), Doc("Of the longest n-gram of a text."), Option(("--tokens",), panel=_PANEL)
    ] = 10
    title_tokens: Annotated[int, Ge(1), Doc("Of the longest title."), Option(panel=_PANEL)] = 15
    query_tokens: Annotated[
        int, Ge(1), Doc("Of the longest pseudo-query (minder)."), Option(panel=_PANEL)
    ] = 30
    batch: Annotated[
        int,
        Ge(1),
        Doc("Questions at once; halved when memory runs out. Changes no score."),
        Option(panel=_PANEL),
    ] = 20
    question_ngrams: Annotated[
        bool,
        Doc("Look up the question's own words, too."),
        Option(("--question-ngrams/--no-question-ngrams",), panel=_PANEL),
    ] = True
    rescore: Annotated[
        bool,
        Doc("Score n-grams anew, or keep what the beam search gave them."),
        Option(("--rescore/--no-rescore",), panel=_PANEL),
    ] = True
    partial_titles: Annotated[
        bool,
        Doc("Keep titles that were not written to their end."),
        Option(panel=_PANEL),
    ] = False
    cure: Annotated[
        Cure,
        Doc("Of false pruning: none, sets (words in any order), backtracking, diverse."),
        Option(panel=_PANEL),
    ] = Cure.NONE
    groups: Annotated[
        int, Ge(2), Doc("Of diverse beams: groups, equally large."), Option(panel=_PANEL)
    ] = 5
    diversity: Annotated[
        float,
        Ge(0),
        Le(100),
        Doc("Of diverse beams: what a token costs a group per earlier one that took it."),
        Option(panel=_PANEL),
    ] = 0.5
    rounds: Annotated[
        int,
        Ge(1),
        Doc("Of backtracking: how often it goes back; each costs as much as the first search."),
        Option(panel=_PANEL),
    ] = 1

    def __post_init__(self) -> None:
        check_settings(self)
        check_numbers(self)
        if self.cure == Cure.DIVERSE and self.beams % self.groups:
            raise InputError(
                f"{self.groups} groups of {self.beams} beams",
                expected="groups of equal size: a divisor of --beams",
                fix="Give --groups 5 with --beams 15, say.",
                where="--groups",
            )
        if self.cure == Cure.SETS and self.body_tokens > LONGEST_SPAN:
            raise InputError(
                f"{self.body_tokens} tokens in any order",
                expected=f"at most {LONGEST_SPAN} tokens with --cure sets",
                fix="Give fewer --tokens, or another --cure.",
                where="--tokens",
            )

    @property
    def identity(self) -> dict[str, int | float | bool | str]:
        """All that decides which keys are written: not the batch, nor settings of other cures."""
        plain = asdict(self)
        settings_of_cures = {
            Cure.DIVERSE: ("cure", "groups", "diversity"),
            Cure.BACKTRACKING: ("cure", "rounds"),
            Cure.SETS: ("cure",),
        }
        used = settings_of_cures.get(self.cure, ())
        other = {"cure", "groups", "diversity", "rounds"}.difference(used)
        return {name: v for name, v in plain.items() if name not in other | {"batch"}}
