"""Settings of decoding: beams, lengths, batches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated

from argus.generative.settings import check_numbers
from argus.settings import Doc, Ge, Option, check_settings

_PANEL = "Decoding"


class Cure(StrEnum):
    """Cures for n-grams of the right passage that the beam drops (docs/ngrams.md)."""

    NONE = "none"
    BACKTRACKING = "backtracking"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Settings of the search for keys, with the published defaults (docs/ngrams.md, "Keys").

    beams: hypotheses that go on at each step. Twice as many are kept as keys. body_tokens,
    title_tokens, query_tokens: the longest n-gram of each view, markers not counted but a title's
    and a pseudo-query's closing one (the published code counts the decoder's start token, too: its
    10, 15 and 30 are one less). rescore: each key by its view's input. cure: of false pruning.
    Rounds are those of backtracking.
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
        Doc("Of false pruning: none, or backtracking."),
        Option(panel=_PANEL),
    ] = Cure.NONE
    rounds: Annotated[
        int,
        Ge(1),
        Doc("Of backtracking: how often it goes back; each costs as much as the first search."),
        Option(panel=_PANEL),
    ] = 1

    def __post_init__(self) -> None:
        check_settings(self)
        check_numbers(self)

    @property
    def identity(self) -> dict[str, int | float | bool | str]:
        """All settings that decide which keys are written, without the batch and unused rounds."""
        unused = {"batch"} if self.cure == Cure.BACKTRACKING else {"batch", "cure", "rounds"}
        return {name: v for name, v in asdict(self).items() if name not in unused}
