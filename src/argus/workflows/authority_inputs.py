"""Records, rules and edges as they are named on the command line, to an authority relation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argus.authority.coverage import RuleCoverage, require_covered
from argus.authority.domains import Domain, load_domain
from argus.authority.edges import read_edges
from argus.authority.relation import Authority
from argus.authority.times import Moment, parse_moment
from argus.errors import InputError

SHOWN = 5
"""Ids that a summary names of the records that a rule does not apply to."""


@dataclass(frozen=True, kw_only=True)
class AuthoritySource:
    """Where an authority relation comes from.

    records: file or folder. rules: a YAML file, or the name of a built-in domain. edges: a file of
    superseder, superseded. At least one of rules and edges. as_of: a date; only what had taken
    effect by then. known_by: only what had been published by then.
    """

    records: Path
    rules: str | None = None
    edges: Path | None = None
    as_of: str | None = None
    known_by: str | None = None


@dataclass(frozen=True)
class OpenedAuthority:
    """The relation, and what its rules found in the records."""

    authority: Authority
    coverage: list[RuleCoverage]
    source: AuthoritySource

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files it was made of, for the manifest."""
        rules = Path(self.source.rules) if self.source.rules else None
        return {"records": self.source.records, "rules": rules, "edges": self.source.edges}

    def summary(self) -> dict[str, Any]:
        """Return what the relation holds, for summary.json."""
        edges = sum(len(edges) for edges in self.authority.edges.values())
        return {
            "records": len(self.authority),
            "given_edges": edges,
            "as_of": self.source.as_of,
            "known_by": self.source.known_by,
            "undated": self._undated() if self.authority.is_view else None,
            "rules": [_counts(found) for found in self.coverage],
        }

    def _undated(self) -> int:
        """Count the records that a view lets in because nothing is known of their time."""
        return sum(r.time is None and r.published is None for r in self.authority.records.values())


def _counts(found: RuleCoverage) -> dict[str, Any]:
    values = asdict(found)
    for name in ("no_scope", "no_time"):
        ids = values.pop(name)
        values |= {name: len(ids), f"{name}_examples": list(ids[:SHOWN])}
    return values


def open_authority(source: AuthoritySource) -> OpenedAuthority:
    """Read records, rules and edges; raise InputError for whatever cannot be what was meant."""
    if source.rules is None and source.edges is None:
        raise InputError(
            "neither rules nor edges",
            expected="--rules RULES.yaml (or a domain's name), or --edges FILE, or both",
            fix="Say what supersedes what.",
        )
    domain = load_domain(source.rules) if source.rules is not None else Domain("records", ())
    moments = {
        name: parse_moment(value, zone=domain.zone, where=f"--{name.replace('_', '-')}")
        for name, value in (("as_of", source.as_of), ("known_by", source.known_by))
    }
    edges = read_edges(source.edges) if source.edges is not None else []
    authority = Authority(domain.read(source.records), domain.rules, edges)
    coverage = require_covered(authority)
    return OpenedAuthority(_at(authority, moments), coverage, source)


def _at(authority: Authority, moments: dict[str, Moment | None]) -> Authority:
    if not any(moments.values()):
        return authority
    return authority.as_of(moments["as_of"], moments["known_by"])
