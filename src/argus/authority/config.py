"""Declare the options of `argus authority` and of its benchmarks, as typed dataclasses.

`AuthoritySource` names the files that say which document supersedes which (records, rules, edges)
and the date they are read for. `LintBounds`, `ScoreConfig` and `HarmConfig` belong to the job of
that name. The command line makes an option of each field.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.jobs.options import Models
from argus.settings import Doc, Ge, Le, Option, Seed, check_settings

ANCHORS = 20  # retrieved documents that are looked at (CAR section 5: "the initial top-20")

Records = Annotated[Path, Doc("Documents with type, time and scope: a file or a folder.")]
Served = Annotated[int, Ge(1), Doc("Documents that a system may serve.")]
NamedBenchmark = Annotated[
    Any,
    Doc(
        "finsuperqa, cvepatchqa, legalprecedentqa, a benchmark's folder, or a released file of CAR "
        "(car:FILE,split=test,distractors=FILE)."
    ),
    Option(("--benchmark",), is_name=True, opened_by="argus.tasks.opening:benchmark_of"),
]
OtherQueries = Annotated[
    Path | str | None,
    Doc("Another file of questions in the benchmark's folder."),
    Option(("--queries",)),
]
Share = Annotated[float, Ge(0), Le(1)]


class Chains(StrEnum):
    """Chains that are served where anchors of one scope lead to different documents."""

    ALL = "all"  # Every chain: no retrieved document that is in force is held back
    # The chain of the best anchor. Where a scope is ambiguous (phi < 1), the most relevant chain is
    # taken for the right one (Proposition 1, middle factor).
    FIRST = "first"


CHAINS = Chains.ALL


class Settings:
    """Settings that are checked when they are made."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class AuthoritySource(Settings):
    """Files that an authority relation is made of, and the time at which it holds.

    You must give rules, edges or both. as_of: only records that had certainly taken effect by then.
    known_by: only records that had certainly been published by then. theta: least confidence of
    rules and edges (Def. 9).

    Attributes:
        rules: RULES.yaml, a domain that ships (docs/authority.md), or your own rule: FILE.py:NAME.
        edges: File of superseder, superseded; beside or instead of rules.
        as_of: Only what had taken effect by this date.
        known_by: Only what had been published by this date.
        theta: Least confidence of a supersession that counts.
    """

    records: Records
    rules: str | None = None
    edges: Path | None = None
    as_of: str | None = None
    known_by: str | None = None
    theta: Share = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if "" in (self.as_of, self.known_by):
            expected, fix = "a date such as 2024-03-01", "Leave it out to ask about today."
            raise InputError("an empty date", expected=expected, fix=fix, where="--as-of")
        object.__setattr__(self, "records", Path(self.records))


@dataclass(frozen=True, kw_only=True)
class LintBounds(Settings):
    """Bounds that a linted run must keep.

    violations: of Theorem 4. stale_hits: None for no bound. nothing_superseded: pass a run under a
    relation that supersedes nothing. By default it counts as not measured, because such rules are
    usually a typo.

    Attributes:
        violations: Share of queries against Theorem 4.
        stale_hits: Mean superseded share of the top k.
        nothing_superseded: Pass though nothing is superseded; else exit 2.
    """

    violations: Annotated[Share, Option(("--max-violations",))] = 0.0
    stale_hits: Annotated[float | None, Ge(0), Le(1), Option(("--max-stale-hits",))] = None
    nothing_superseded: Annotated[bool, Option(("--allow-nothing-superseded",))] = False


@dataclass(frozen=True, kw_only=True)
class ScoreConfig(Settings):
    """Built-in systems to score. seed, contaminated: of a benchmark that is made.

    Attributes:
        systems: A built-in system; may be given again. Default: all.
        contaminated: The variant with distractors in the asked scopes.
    """

    k: Served = 5
    systems: Annotated[tuple[str, ...], Option(("--system",), repeated=True)] = ()
    seed: Seed = 0
    contaminated: bool = False


@dataclass(frozen=True, kw_only=True)
class HarmConfig(Models, Settings):
    """Contexts to compare, the model that answers, and the judge.

    seed: of a benchmark that is made.

    Attributes:
        systems: Answer also from what this system serves; may be given again.
        ask: What is asked; {question} stands for the benchmark's own question.
        max_chars: Characters of all documents of a context, shared alike.
        first: Only the first so many questions.
    """

    k: Served = 5
    systems: Annotated[tuple[str, ...], Option(("--system",), repeated=True)] = ()
    ask: str = "{question}"
    max_chars: Annotated[int, Ge(1_000)] = 24_000
    first: Annotated[int | None, Ge(1)] = None
    seed: Seed = 0
