"""Domain files and the domains that come with Argus."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from argus.authority.domains.reading import Domain
from argus.authority.domains.spec import GLOBAL, DomainSpec, RuleSpec
from argus.authority.records import OWN_ID
from argus.authority.rules import Rule, ScopeKey
from argus.authority.times import zone_named
from argus.data.reading import read_text
from argus.data.writing import write_whole
from argus.data.yaml_file import Place, YamlFile, nearest, read_spec
from argus.errors import InputError

_PACKAGE = "argus.authority.domains"


def builtin_domains() -> list[str]:
    """Return the names of the domains that come with Argus."""
    inside = files(_PACKAGE).iterdir()
    return sorted(f.name.removesuffix(".yaml") for f in inside if f.name.endswith(".yaml"))


def load_domain(source: str | Path) -> Domain:
    """Return a domain by the name of a built-in one, or from a YAML file.

    A name given as text means the built-in one. As a Path, a file of that name comes first.

    Raises InputError with file, line and dotted place for any fault in the file, with the nearest
    known name for a typo.
    """
    known = builtin_domains()
    path = Path(source)
    if str(source) in known and (isinstance(source, str) or not path.is_file()):
        text = files(_PACKAGE).joinpath(f"{source}.yaml").read_text(encoding="utf-8")
        return _domain(text, Path(f"{source}.yaml"))
    expected = f"{', '.join(known)}, or a YAML file"
    if not path.exists():
        is_name = path.suffix == "" and path.name == str(source)
        otherwise = "Name one of these, or your own rules by their path."
        fix = nearest(str(source), known, otherwise) if is_name else "Check the path."
        got = f"no domain or file {str(source)!r}"
        raise InputError(got, expected=expected, fix=fix, where=path)
    return _domain(read_text(path, expected), path)


def write_rules(path: Path, rules: Sequence[Rule], name: str = "rules") -> None:
    """Write rules as a domain file that `load_domain` reads back as they are."""
    content = {"name": name, "rules": [_plain(rule) for rule in rules]}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    if yaml.safe_load(text) != content:  # PyYAML leaves a few line breaks of Unicode bare
        text = yaml.safe_dump(content, sort_keys=False, width=1000)
    write_whole(path, text)


def _plain(rule: Rule) -> dict[str, Any]:
    """Return a rule as a domain file has it. Settings that have their defaults are left out."""
    keys = [
        key.superseding
        if key.superseding == key.superseded
        else {"superseding": key.superseding, "superseded": key.superseded}
        for key in rule.scope
    ]
    content = {
        "name": rule.name, "superseding": list(rule.superseding),
        "superseded": list(rule.superseded), "scope": keys or GLOBAL, "order": rule.order.value,
        "ties": rule.ties.value,
        "condition": {key: list(values) for key, values in rule.condition.items()},
        "relation": rule.relation, "confidence": float(rule.confidence),
    }  # fmt: skip
    usual = {name: RuleSpec.model_fields[name].default for name in list(content)[4:]}
    return {key: value for key, value in content.items() if value != usual.get(key)}


def _domain(text: str, file: Path) -> Domain:
    spec, where = read_spec(DomainSpec, text, file)
    rules = tuple(_rule(rule, ("rules", i), where) for i, rule in enumerate(spec.rules))
    if spec.unmatched not in ("error", "skip"):
        fix = nearest(spec.unmatched, ["error", "skip"])
        raise where.error(("unmatched",), f"{spec.unmatched!r}", "error or skip", fix)
    _check_names(spec, rules, where)
    return Domain(
        name=spec.name or file.stem,
        rules=rules,
        shapes=None if spec.records is None else tuple(spec.records),
        zone=zone_named(spec.zone, where.at(("zone",))),
        results=spec.results,
        skip=spec.unmatched == "skip",
        dates=tuple(spec.dates),
    )


def _rule(spec: RuleSpec, place: Place, where: YamlFile) -> Rule:
    fields: dict[str, Any] = {name: getattr(spec, name) for name in RuleSpec.model_fields}
    fields["scope"] = [ScopeKey(key.superseding, key.superseded) for key in spec.scope]
    try:
        return Rule(**fields)
    except InputError as error:
        raise where.error(place, error.got, error.expected, error.fix) from error


def _check_names(spec: DomainSpec, rules: Sequence[Rule], where: YamlFile) -> None:
    """Refuse types and scope keys of rules that no record shape makes: a typo would go unseen."""
    shapes = spec.records or []
    types = [shape.type.constant for shape in shapes]
    if not shapes or None in types:
        return
    for i, rule in enumerate(rules):
        for side in ("superseding", "superseded"):
            named: tuple[str, ...] = getattr(rule, side)
            for type_ in named:
                if type_ not in types:
                    names = sorted({str(t) for t in types})
                    got, expected = f"no record shape is of type {type_!r}", ", ".join(names)
                    fix = nearest(type_, names)
                    raise where.error(("rules", i, side), got, f"one of {expected}", fix)
            keys = sorted({k for s in shapes if s.type.constant in named for k in s.scope})
            for j, key in enumerate(getattr(scope, side) for scope in rule.scope):
                if key not in (*keys, OWN_ID):
                    got = f"no record of type {' or '.join(named)} has the scope key {key!r}"
                    expected = f"one of {', '.join(keys) or '(no key)'}"
                    place = ("rules", i, "scope", j)
                    raise where.error(place, got, expected, nearest(key, keys))
