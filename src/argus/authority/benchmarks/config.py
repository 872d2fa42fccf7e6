"""Which systems are scored on a benchmark, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.settings import Doc, Ge, Option, Seed, check_settings

NamedBenchmark = Annotated[
    str,
    Doc(
        "finsuperqa, cvepatchqa, legalprecedentqa, a benchmark's folder, or a released file of CAR "
        "(car:FILE,split=test,distractors=FILE)."
    ),
]
OtherQueries = Annotated[
    Path | None,
    Doc("Another file of questions in the benchmark's folder."),
    Option(("--queries",)),
]
Served = Annotated[int, Ge(1), Doc("Documents that a system may serve.")]


@dataclass(frozen=True, kw_only=True)
class ScoreConfig:
    """Which built-in systems are scored. seed, contaminated: of a benchmark that is made."""

    k: Served = 5
    systems: Annotated[
        tuple[str, ...],
        Doc("A built-in system; may be given again. Default: all."),
        Option(("--system",), repeated=True),
    ] = ()
    seed: Seed = 0
    contaminated: Annotated[bool, Doc("The variant with distractors in the asked scopes.")] = False

    def __post_init__(self) -> None:
        check_settings(self)
