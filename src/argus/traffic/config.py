"""Declare the settings of `argus traffic`: fields of the log, redaction, audit, and judging.

`LogConfig` is used by `argus.traffic.reading`, `TrafficConfig` by `argus.traffic.job`, and
`JudgingConfig` by `argus.traffic.judging`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from argus.data.fields import By, seconds
from argus.errors import InputError
from argus.measures import RESAMPLES, Resamples
from argus.settings import TOP_K, Doc, Ge, Le, Option, Seed, TopK, check_settings

_LOG, _SUPERSEDED = Option(panel="Log"), Option(panel="Superseded")
Format = Literal["plain", "spans", "ubi"]
# The best grade: 0 no help, 1 touches the question, 2 answers in part, 3 answers.
HIGHEST = 3


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    """Fields of a log, and patterns that are replaced before anything is stored.

    A field's name with dots is a path into an object. None tries the usual names.

    Attributes:
        format: Shape of the log; default: found, file by file.
        query_field: Field of the question.
        time_field: Field of the time.
        results_field: Field of what was served: ids, or objects with one.
        feedback_field: Field of what people said: thumbs, votes, marks.
        good_from: Numbers from here on are approval, lower ones are not; default: numbers do not
            count.
        redact: What else is replaced: NAME=REGEX; may be repeated.
        hash_only: Keep no text at all, but salted hashes of questions.
        key_file: Secret file that hashes are keyed with; default: random, and forgotten.
    """

    format: Annotated[Format | None, Option(panel="Log", default="")] = None
    query_field: Annotated[str | None, _LOG] = None
    time_field: Annotated[str | None, _LOG] = None
    results_field: Annotated[str | None, _LOG] = None
    feedback_field: Annotated[str | None, _LOG] = None
    good_from: Annotated[float | None, _LOG] = None
    by: By = ()
    redact: Annotated[tuple[str, ...], Option(panel="Log", repeated=True)] = ()
    hash_only: Annotated[bool, _LOG] = False
    key_file: Annotated[Path | None, _LOG] = None

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class TrafficConfig:
    """Depth of lists, number of examined questions, and windows to compare.

    Attributes:
        sample: Different questions that are asked and looked at one by one, drawn at random.
        split: Compare what came before this time with what came from then on; default: halves.
        records: Documents with type, time and scope: tells which were superseded when served.
        rules: What supersedes what, for --records: RULES.yaml, or a domain that ships.
        edges: Pairs of superseder and superseded, for --records: beside rules, or instead.
    """

    k: TopK = TOP_K
    sample: Annotated[int, Ge(1)] = 10_000
    split: str | None = None
    records: Annotated[Path | None, _SUPERSEDED] = None
    rules: Annotated[str | None, _SUPERSEDED] = None
    edges: Annotated[Path | None, _SUPERSEDED] = None
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if self.records is None and (self.rules is not None or self.edges is not None):
            expected = "--records, whose documents they speak of"
            fix = "Name the file of the records, which may be the corpus."
            got = "rules or edges without records"
            raise InputError(got, expected=expected, fix=fix, where="--records")
        if self.split is not None and seconds(self.split) is None:
            expected = "a time such as 2026-03-01 or 2026-03-01T12:00:00+01:00"
            fix = "Leave it out for halves."
            raise InputError(repr(self.split), expected=expected, fix=fix, where="--split")


@dataclass(frozen=True, kw_only=True)
class JudgingConfig:
    """Number of questions to judge, and the least relevant grade.

    Attributes:
        budget: Questions to judge; raised later, it goes on.
        max_chars: Characters shown of each document.
    """

    budget: Annotated[int, Ge(1)] = 50
    k: TopK = TOP_K
    relevant_from: Annotated[
        int, Ge(1), Le(HIGHEST), Doc(f"Least grade of a relevant document, of 0 to {HIGHEST}.")
    ] = 1
    max_chars: Annotated[int, Ge(100)] = 1_500
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
