"""Where an authority relation comes from, and what a linted run may violate."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from argus.authority.latent_config import LatentConfig
from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Option, check_settings

Records = Annotated[Path, Doc("Documents with type, time and scope: a file or a folder.")]


@dataclass(frozen=True, kw_only=True)
class AuthoritySource:
    """Where an authority relation comes from, and as of when it holds.

    At least one of rules and edges. as_of: what had certainly taken effect by then; known_by: what
    had certainly been published by then. theta: of rules and edges (Def. 9).
    """

    records: Records
    rules: Annotated[str | None, Doc("RULES.yaml, or a domain that ships (docs/domains.md).")] = (
        None
    )
    edges: Annotated[
        Path | None, Doc("File of superseder, superseded; beside or instead of rules.")
    ] = None
    as_of: Annotated[str | None, Doc("Only what had taken effect by this date.")] = None
    known_by: Annotated[str | None, Doc("Only what had been published by this date.")] = None
    theta: Annotated[
        float, Ge(0), Le(1), Doc("Least confidence of a supersession that counts.")
    ] = 0.0

    def __post_init__(self) -> None:
        check_settings(self)


class LatentScope(StrEnum):
    """How a question is answered whose scope is not certain (CAR Def. 8)."""

    EXPECTATION = "expectation"
    """Every scope that it may have counts by its probability."""
    MAP = "map"
    """The likeliest scope alone."""


@dataclass(frozen=True, kw_only=True)
class VariantConfig:
    """Which variant of CAR answers: at most one of alpha and scope; None is neither."""

    alpha: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Doc("Serve what is not superseded with at least this probability (confidences of edges)."),
    ] = None
    scope: Annotated[
        LatentScope | None,
        Doc("The question's scope is uncertain: weigh all (expectation), or take the likeliest."),
    ] = None
    latent: LatentConfig = field(default_factory=LatentConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.alpha is not None and self.scope is not None:
            raise InputError(
                f"alpha {self.alpha} and scope {self.scope}",
                expected="at most one of the two",
                fix="Leave one out.",
                where="--alpha",
            )


@dataclass(frozen=True, kw_only=True)
class LintBounds:
    """What a run may violate before the lint fails.

    violations: of Theorem 4. stale_hits: None is no bound. false_retirements: queries that lost an
    active document. nothing_superseded: else a run under a relation that supersedes nothing is not
    measured, since rules that find nothing are a typo more often than a fact.
    """

    violations: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Share of queries against Theorem 4."),
        Option(("--max-violations",)),
    ] = 0.0
    stale_hits: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Doc("Mean superseded share of the top k."),
        Option(("--max-stale-hits",)),
    ] = None
    false_retirements: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Share of queries."),
        Option(("--max-false-retirements",)),
    ] = 0.0
    nothing_superseded: Annotated[
        bool,
        Doc("Pass though nothing is superseded; else exit 2."),
        Option(("--allow-nothing-superseded",)),
    ] = False

    def __post_init__(self) -> None:
        check_settings(self)
