"""Groups of options that several commands share, each a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from argus.cli.model_options import LanguageModel, needs_model
from argus.settings import Doc, Ge, Le

if TYPE_CHECKING:
    from argus.authority.jobs.inputs import AuthoritySource

__all__ = ["LanguageModel", "Supersession", "needs_model"]


@dataclass(frozen=True, kw_only=True)
class Supersession:
    """Options that say what supersedes what, and as of when."""

    records: Annotated[
        Path,
        Doc("Documents with type, time and scope: a file or a folder."),
    ]
    rules: Annotated[
        str | None,
        Doc("RULES.yaml, or a domain that ships (docs/domains.md)."),
    ] = None
    edges: Annotated[
        Path | None,
        Doc("File of superseder, superseded; beside or instead of rules."),
    ] = None
    as_of: Annotated[
        str | None,
        Doc("Only what had taken effect by this date."),
    ] = None
    known_by: Annotated[
        str | None,
        Doc("Only what had been published by this date."),
    ] = None

    theta: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Least confidence of a supersession that counts."),
    ] = 0.0

    def source(self) -> AuthoritySource:
        """Return where the authority relation comes from."""
        from argus.authority.jobs.inputs import AuthoritySource

        return AuthoritySource(
            records=self.records, rules=self.rules, edges=self.edges,
            as_of=self.as_of, known_by=self.known_by, theta=self.theta,
        )  # fmt: skip
