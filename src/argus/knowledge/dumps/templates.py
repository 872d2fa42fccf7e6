"""Templates that mark up words, as the words (wikitext_templates.toml); all others vanish."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import ModuleType

from typing_extensions import TypedDict

from argus.extras import naming_extras
from argus.knowledge.dumps.markup import GONE, replace_templates

DEEPEST, LONGEST = 8, 4000
"""Templates in templates beyond this depth, or with more characters, vanish."""

Parameters = Mapping[str, str]

_NAME = re.compile(r"\{\{\s*([^|{}\n<\x00]*)")
_PLACE = re.compile(r"\{(\w+)\}")
_FUNCTION = re.compile(
    r"\{\{\s*(?:formatnum|[ul]c(?:first)?)\s*:([^{}|]*+)[^{}]*+\}\}", re.IGNORECASE
)
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:[+/⁄]\d+(?:/\d+)?)?(?:e[-−]?\d+)?")
_GROUPED = re.compile(r"[-−]?\d{4,}")
_MULTIPLE = re.compile(r"e(3|6|9|12)(?=[a-z])", re.IGNORECASE)
_MULTIPLES = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
_BETWEEN = {
    "-": "–", "–": "–", "&ndash;": "–", "to": " to ", "to(-)": " to ", "and": " and ", "by": " by ",
    "or": " or ", "x": " × ", "×": " × ", "*": " × ", "+/-": " ± ", "±": " ± ", "+": " + ",
}  # fmt: skip
_COMPOUND = {("ft", "in"), ("mi", "yd"), ("mi", "ft"), ("yd", "ft"), ("st", "lb"), ("lb", "oz")}
_UNITS = {
    "km2": "km²", "m2": "m²", "cm2": "cm²", "mm2": "mm²", "sqkm": "km²", "sqm": "m²", "km3": "km³",
    "m3": "m³", "cm3": "cm³", "ft2": "sq ft", "ft3": "cu ft", "mi2": "sq mi", "in3": "cu in",
    "sqmi": "sq mi", "sqft": "sq ft", "sqyd": "sq yd", "cuft": "cu ft", "cumi": "cu mi",
    "cuin": "cu in", "cuyd": "cu yd", "C": "°C", "F": "°F", "C-change": "°C", "F-change": "°F",
    "kph": "km/h", "acre": "acres", "acres": "acres", "impgal": "imp gal", "usgal": "US gal",
    "USgal": "US gal", "l": "L", "foot": "feet", "mile": "miles", "inch": "inches", "kn": "knots",
    "lbs": "lb", "m3/s": "m³/s", "ft3/s": "cu ft/s", "cuft/s": "cu ft/s", "/km2": "/km²",
    "PD/sqkm": "/km²", "PD/sqmi": "/sq mi", "/sqmi": "/sq mi", "g/cm3": "g/cm³", "kg/m3": "kg/m³",
}  # fmt: skip
_ELEMENTS = {
    "hydrogen": "H", "helium": "He", "lithium": "Li", "carbon": "C", "nitrogen": "N", "oxygen": "O",
    "fluorine": "F", "sodium": "Na", "magnesium": "Mg", "aluminium": "Al", "silicon": "Si",
    "phosphorus": "P", "sulfur": "S", "chlorine": "Cl", "potassium": "K", "calcium": "Ca",
    "iron": "Fe", "copper": "Cu", "zinc": "Zn", "bromine": "Br", "silver": "Ag", "iodine": "I",
    "gold": "Au", "mercury": "Hg", "lead": "Pb", "uranium": "U",
}  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """What is left of a template: the first of `keep` that can be filled, or what `make` makes."""

    keep: tuple[str, ...]
    make: Callable[[str, Parameters], str] | None


class Entry(TypedDict, total=False):
    """A rule as it stands in wikitext_templates.toml, which says what its fields mean."""

    names: list[str]
    prefixes: list[str]
    language: str
    keep: list[str]
    make: str


def render_template(span: str, language: str, depth: int = 0) -> str:
    """Return the words that a whole "{{...}}" stands for; `GONE` where it stands for none.

    Words are wikitext: links in them are as they were.
    """
    match = _NAME.match(span)
    name = match[1].strip().replace("_", " ").lower() if match else ""
    if function := _FUNCTION.fullmatch(span):  # {{formatnum:12345}}
        return _grouped(function[1].strip()) or GONE
    rule = _rule(name.removeprefix("template:").strip(), language)
    if rule is None or depth >= DEEPEST or len(span) > LONGEST:
        return GONE
    parameters = _parameters(span, language, depth)
    if parameters is None:
        return GONE
    if rule.make is not None:
        return rule.make(name, parameters) or GONE
    return _filled(rule.keep, parameters)


def _parameters(span: str, language: str, depth: int) -> Parameters | None:
    """Return the parameters of a template, templates in them rendered; None for broken ones."""
    parser = _parser()
    try:
        nodes = parser.parse(span, skip_style_tags=True).nodes
    except (parser.parser.ParserError, RecursionError):
        return None
    if len(nodes) != 1 or not isinstance(nodes[0], parser.nodes.Template):
        return None

    def inner(span: str) -> str:
        return render_template(span, language, depth + 1)

    values: dict[str, str] = {}
    for parameter in nodes[0].params:
        name = str(parameter.name).strip().lower()
        values[name] = replace_templates(str(parameter.value), inner).strip()
    return values


def _filled(keep: tuple[str, ...], parameters: Parameters) -> str:
    positional = _positional(parameters)
    values = {**parameters, "last": positional[-1] if positional else ""}
    for pattern in keep:
        if all(values.get(name) for name in _PLACE.findall(pattern)):
            return _PLACE.sub(lambda place: values[place[1]], pattern) or GONE
    return GONE


def _positional(parameters: Parameters) -> list[str]:
    """Return the parameters without names, in order, up to the first that is missing."""
    values: list[str] = []
    while (value := parameters.get(str(len(values) + 1))) is not None:
        values.append(value)
    return values


def _converted(_: str, parameters: Parameters) -> str:
    """5|km -> 5 km; 5|-|10|km -> 5–10 km; 6|ft|2|in -> 6 ft 2 in; the conversion goes."""
    rest = _positional(parameters)
    if not rest:
        return ""
    text = _grouped(rest.pop(0))
    while len(rest) >= 2 and rest[0].lower() in _BETWEEN:
        text += _BETWEEN[rest[0].lower()] + _grouped(rest[1])
        rest = rest[2:]
    if not rest:
        return text
    unit = rest.pop(0)
    text = f"{text} {_unit(unit)}"
    while len(rest) >= 2 and (unit, rest[1]) in _COMPOUND and _NUMBER.fullmatch(rest[0]):
        text += f" {rest[0]} {_unit(rest[1])}"
        unit, rest = rest[1], rest[2:]
    return text


def _grouped(number: str) -> str:
    """12000 -> 12,000; 5+1/2 -> 5 1/2."""
    if _GROUPED.fullmatch(number) and number.lstrip("-−").isascii():
        return f"{int(number.replace('−', '-')):,}"
    return re.sub(r"(?<=\d)\+(?=\d+[/⁄])", " ", number)


def _unit(code: str) -> str:
    multiple = _MULTIPLE.match(code)
    if multiple:
        return f"{_MULTIPLES[multiple[1]]} {_unit(code[multiple.end() :])}"
    return _UNITS.get(code, code)


def _value(_: str, parameters: Parameters) -> str:
    """{{val|6.02|e=23|u=kg}} -> 6.02×10²³ kg."""
    number, power = parameters.get("1", ""), parameters.get("e", "")
    unit = parameters.get("u") or parameters.get("ul")
    text = number + (f"×10<sup>{power}</sup>" if power else "")
    return f"{text} {unit}" if unit and text else text


def _date(_: str, parameters: Parameters) -> str:
    """1967|8|31 -> August 31, 1967; with df=y 31 August 1967; a date in words stays."""
    year, month, day = (parameters.get(key, "") for key in ("1", "2", "3"))
    if not month or not year.isdigit():
        return year
    name = _month(month)
    if not day or not day.isdigit():
        return f"{name} {year}"
    day_first = parameters.get("df", "").lower() in {"y", "yes", "1"}
    return f"{int(day)} {name} {year}" if day_first else f"{name} {int(day)}, {year}"


def _as_of(_: str, parameters: Parameters) -> str:
    """2010|3 -> As of March 2010; what alt= says, and small letters with lc=."""
    if parameters.get("alt"):
        return parameters["alt"]
    begin = "since" if parameters.get("since") else "as of"
    begin = begin if parameters.get("lc") else begin.capitalize()
    year, month, day = (parameters.get(key, "") for key in ("1", "2", "3"))
    parts = [day if month else "", _month(month) if month else "", year]
    return " ".join([begin, *(part for part in parts if part)])


def _month(month: str) -> str:
    number = int(month) if month.isascii() and month.isdigit() else 0
    return _MONTHS[number - 1] if 1 <= number <= len(_MONTHS) else month


def _forms(_: str, parameters: Parameters) -> str:
    """c=漢字|p=hànzì -> 漢字; hànzì."""
    scripts = ("hangul", "hanja", "t", "s", "c", "p", "rr", "mr", "w", "j", "l")
    values = [parameters[name] for name in scripts if parameters.get(name)]
    return "; ".join(dict.fromkeys(values or _positional(parameters)[:1]))


def _joined(_: str, parameters: Parameters) -> str:
    return "".join(_positional(parameters))


def _spaced(_: str, parameters: Parameters) -> str:
    return " ".join(_positional(parameters))


def _element(name: str, parameters: Parameters) -> str:
    """{{carbon}} -> C; with a number, {{hydrogen|2}} -> H2."""
    return _ELEMENTS[name] + parameters.get("1", "")


def _ship(name: str, parameters: Parameters) -> str:
    """{{USS|Enterprise|CVN-65}} -> USS Enterprise (CVN-65)."""
    return _with_number(name.upper(), [*_positional(parameters), "", "", ""][:3])


def _named_ship(_: str, parameters: Parameters) -> str:
    """{{ship|HMS|Hood|51}} -> HMS Hood (51)."""
    prefix, *rest = [*_positional(parameters), "", "", "", ""][:4]
    return _with_number(prefix, rest)


def _with_number(prefix: str, ship: list[str]) -> str:
    """Ship: name, number, how it shows: 1 only the number, 2 without it, 3 without the prefix."""
    name, number, show = ship
    if show == "1" and number:
        return number
    words = [name] if show in {"3", "5", "6"} else [prefix, name]
    if number and show not in {"2", "6"}:
        words.append(f"({number})")
    return " ".join(word for word in words if word)


_MAKERS: Mapping[str, Callable[[str, Parameters], str]] = {
    "as_of": _as_of,
    "converted": _converted,
    "date": _date,
    "element": _element,
    "forms": _forms,
    "joined": _joined,
    "named_ship": _named_ship,
    "ship": _ship,
    "spaced": _spaced,
    "value": _value,
}


def _rule(name: str, language: str) -> Rule | None:
    names, prefixes = _rules(language)
    rule = names.get(name)
    if rule is None:
        rule = next((rule for begin, rule in prefixes if name.startswith(begin)), None)
    return rule


@cache
def _rules(language: str) -> tuple[Mapping[str, Rule], tuple[tuple[str, Rule], ...]]:
    """Return the rules by name and by how a name begins; a language's own win."""
    data = files("argus.knowledge.dumps").joinpath("wikitext_templates.toml")
    entries: list[Entry] = tomllib.loads(data.read_text(encoding="utf-8"))["template"]
    names: dict[str, Rule] = {}
    prefixes: list[tuple[str, Rule]] = []
    for entry in sorted(entries, key=lambda entry: "language" in entry):
        if entry.get("language", language) != language:
            continue
        make = _MAKERS[entry["make"]] if "make" in entry else None
        rule = Rule(tuple(entry.get("keep", ())), make)
        names |= dict.fromkeys(entry.get("names", ()), rule)
        prefixes += [(begin, rule) for begin in entry.get("prefixes", ())]
    return names, tuple(prefixes)


@cache
@naming_extras()
def _parser() -> ModuleType:
    import mwparserfromhell

    return mwparserfromhell
