"""Descriptions of endpoints: files of a person's own, and presets that come with Argus."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path

from argus.data.text_files import read_text
from argus.data.yaml_file import Value, YamlFile, nearest, read_spec, read_yaml
from argus.errors import InputError
from argus.http_retry import HIGHEST_PORT, fits_header, is_address
from argus.retrievers.http.spec import (
    PAGE,
    QUERY,
    QUOTED,
    VECTOR,
    EndpointSpec,
    K,
    filled,
    placeholders,
    texts_of,
    variables_of,
    with_variables,
)

_ANY = dict.fromkeys((QUERY, QUOTED, K, VECTOR, PAGE), "1")
_PRESETS = files("argus.retrievers.http").joinpath("presets")


def presets() -> list[str]:
    """Return the names of the descriptions that come with Argus."""
    return sorted(f.name.removesuffix(".yaml") for f in _PRESETS.iterdir())


def load_endpoint(path: Path) -> EndpointSpec:
    """Return the description in a file, over that of its preset if it names one.

    Raises InputError with file, line and place for whatever is wrong in it, and for environment
    variables that are not set.
    """
    text = read_text(
        path,
        "a YAML file that describes an endpoint",
        f"Check the path. A file may be two lines: preset: {presets()[0]} and url: ...",
    )
    spec, where = read_spec(EndpointSpec, text, path, lambda value: _over_preset(value, path))
    _check_request(spec, where)
    _check_variables(spec, where)
    _check_address(spec, where)
    return spec


def _over_preset(content: Value, path: Path) -> Value:
    """Return what a file says over what its preset says, with its own words filled in."""
    if not isinstance(content, dict):
        return content
    name = content.get("preset")
    if name is None:
        return content
    known = presets()
    if name not in known:
        raise InputError(
            f"no preset {name!r}",
            expected=f"one of {', '.join(known)}",
            fix=nearest(str(name), known),
            where=path,
        )
    text = _PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    preset, _ = read_yaml(Path(f"{name}.yaml"), text)
    assert isinstance(preset, dict)
    words = {**_mapping(preset.get("set")), **_mapping(content.get("set"))}
    merged: dict[str, Value] = {**preset, **content, "set": words}
    values = {f"{{{word}}}": value for word, value in words.items() if value is not None}
    return {key: value if key == "set" else filled(value, values) for key, value in merged.items()}


def _mapping(value: Value) -> dict[str, Value]:
    return value if isinstance(value, dict) else {}


def _check_request(spec: EndpointSpec, where: YamlFile) -> None:
    names = placeholders(spec.request)
    strange = sorted(names - {QUERY, QUOTED, K, VECTOR, PAGE})
    if strange:
        word = strange[0].strip("{}")
        is_known = word in spec.set
        raise where.error(
            ("set",) if is_known else (),
            f"nothing for {strange[0]}",
            f"a value for each of {', '.join(strange)}",
            f"Write it under set: {word}: ..." if spec.preset else "Remove the braces.",
        )
    if not names & {QUERY, QUOTED, VECTOR}:
        raise where.error(
            (), "a request without a query", f"{QUERY} or {VECTOR} in url, parameters or body",
            f'Write "{QUERY}" where the query belongs.',
        )  # fmt: skip
    if VECTOR in names and spec.encoder is None:
        raise where.error(
            (), f"{VECTOR} without an encoder", "the model that makes vectors of queries",
            "Add encoder: NAME.",
        )  # fmt: skip
    if placeholders(spec.headers):
        raise where.error(
            ("headers",), f"{min(placeholders(spec.headers))} in a header",
            "it in url, parameters or body", "Move it there.",
        )  # fmt: skip
    if (PAGE in names) != (spec.paging is not None):
        raise where.error(
            (), f"{PAGE} or paging alone", f"both, or neither: paging says what {PAGE} is",
            "Add the other, or remove it.",
        )  # fmt: skip
    if any(PAGE in text and text != PAGE for text in texts_of(spec.request)):
        raise where.error(
            (), f"{PAGE} within a text, which the first request has no value for",
            f'it alone, as the value of a parameter or in the body: "{PAGE}"', "Move it there.",
        )  # fmt: skip


def _check_variables(spec: EndpointSpec, where: YamlFile) -> None:
    missing = [name for name in spec.variables() if not os.environ.get(name)]
    if missing:
        raise where.error(
            (), f"the environment variable {missing[0]} is not set",
            "a value for each variable that the request names",
            f"Set it: export {missing[0]}=...",
        )  # fmt: skip
    for header, text in spec.headers.items():
        if not fits_header(with_variables(text)) or not fits_header(header):
            names = ", ".join(variables_of(text))
            raise where.error(
                ("headers",),
                f"{header!r} holds characters that no HTTP header can, or has spaces around it",
                "printable ASCII",
                f"Check what {names} holds." if names else "Mend it.",
            )


def _check_address(spec: EndpointSpec, where: YamlFile) -> None:
    """Refuse what is no address, and one whose host a query could choose. No value is shown."""
    place = re.split("[/?#]", spec.url.partition("://")[2], maxsplit=1)[0]
    if not is_address(filled(with_variables(spec.url), _ANY)) or placeholders(place):
        names = ", ".join(variables_of(spec.url))
        raise where.error(
            ("url",),
            repr(spec.url.rpartition("@")[2].partition("?")[0]),
            "an address such as http://127.0.0.1:9200/docs/_search",
            f"Give scheme and host, without braces; a port is at most {HIGHEST_PORT}."
            + (f" Check what {names} holds." if names else ""),
        )
