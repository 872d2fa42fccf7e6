"""How keys are decoded: beams, lengths, batches."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from argus.errors import InputError

_OPTIONS = {"body_tokens": "--tokens"}


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Settings of the search for keys, with the published defaults (docs/generative.md, "Keys").

    beams: hypotheses that go on at each step; twice as many are kept as keys. body_tokens,
    title_tokens, query_tokens: the longest n-gram of each view, markers not counted but a title's
    and a pseudo-query's closing one (the published code counts the decoder's start token, too: its
    10, 15 and 30 are one less). batch: questions at once; halved where memory does not suffice.
    partial_titles: keep titles that were not closed. question_ngrams: look up the question's own
    words. rescore: score keys anew, each by its view's input; else they keep the beam search's
    scores.
    """

    beams: int = 15
    body_tokens: int = 10
    title_tokens: int = 15
    query_tokens: int = 30
    batch: int = 20
    partial_titles: bool = False
    question_ngrams: bool = True
    rescore: bool = True

    def __post_init__(self) -> None:
        switches = {"partial_titles", "question_ngrams", "rescore"}
        for name, value in asdict(self).items():
            if name in switches:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(
                    f"{value!r}",
                    expected="a whole number from 1",
                    fix="Leave it out for the default.",
                    where=_OPTIONS.get(name, f"--{name.replace('_', '-')}"),
                )
