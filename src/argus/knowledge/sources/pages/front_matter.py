"""Front matter of a page: values that it holds, read in time that grows with their length."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

_FRONT_MATTER = re.compile(
    r"\s*(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<values>(?:.*?\n)??)(?P=fence)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
_MOST_CHARS = 1 << 18
_MOST_DOTS = 4_000
"""Of TOML, whose readers take the square of a key's parts."""
_MOST_MERGED = 10_000
"""Pairs that `<<` of YAML merges in all: of mappings that merge each other they double."""
_BROKEN_VALUES = (RecursionError, ArithmeticError, LookupError, TypeError, AttributeError)
"""What readers of YAML and TOML raise, beside errors of their own, for a value of a wrong form."""


def split_front_matter(text: str) -> tuple[dict[str, object], str, str]:
    """Return the values between `---` (YAML) or `+++` (TOML) lines, the rest, and a note.

    What is longer than front matter gets is text: nothing of it is taken off.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text, ""
    if len(match["values"]) > _MOST_CHARS:
        return {}, text, "broken front matter"
    rest = text[match.end() :]
    try:
        values = _toml(match["values"]) if match["fence"] == "+++" else _yaml(match["values"])
    except ValueError:
        return {}, rest, "broken front matter"
    if isinstance(values, dict):
        return values, rest, ""
    return {}, text if values is not None else rest, ""  # a rule, then text, then a rule


def _toml(values: str) -> object:
    if values.count(".") > _MOST_DOTS:
        raise ValueError(f"more than {_MOST_DOTS:,} dots")
    try:
        return tomllib.loads(values)
    except _BROKEN_VALUES as error:
        raise ValueError(str(error)) from error


def _yaml(values: str) -> object:
    import yaml

    try:
        return yaml.load(values, Loader=_loader())
    except (yaml.YAMLError, *_BROKEN_VALUES) as error:
        raise ValueError(str(error)) from error


@cache
def _loader() -> type[Any]:
    """Return the safe loader of YAML that counts what `<<` merges."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self.merged = 0

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            for key, value in node.value:
                if key.tag != "tag:yaml.org,2002:merge":
                    continue
                for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if isinstance(one, yaml.MappingNode):
                        self.flatten_mapping(one)
                        self.merged += len(one.value)
                    if self.merged > _MOST_MERGED:
                        raise ValueError(f"more than {_MOST_MERGED:,} pairs are merged")
            super().flatten_mapping(node)

    return Loader
