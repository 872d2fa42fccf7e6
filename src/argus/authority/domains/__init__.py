"""Domains: YAML files that say how records are read and what supersedes what (docs/domains.md)."""

from argus.authority.domains.domain import Domain
from argus.authority.domains.load import builtin_domains, load_domain, write_rules

__all__ = ["Domain", "builtin_domains", "load_domain", "write_rules"]
