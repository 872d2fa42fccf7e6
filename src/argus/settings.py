"""Declare each setting once, as a typed field that gives its option, TOML key, bound and help.

    @dataclass(frozen=True, kw_only=True)
    class ExposureConfig:
        # its docstring ends: "Attributes:" and, indented below,
        # "k: How far down a list counts as brought back."

        k: Annotated[int, Ge(1)] = 10

        def __post_init__(self) -> None:
            check_settings(self)

The line of the docstring is the help of `--k` (`argus.cli.signatures`). Parameters of a job are
settings likewise, by the section `Args:`. A type that many share has its help with it:
`Annotated[int, Doc("...")]`. A field without help is for Python alone. Its bound is checked, too,
and an error names the field.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from keyword import iskeyword
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Interval, Le, Lt
from typing_extensions import Doc

from argus.errors import InputError

__all__ = [
    "ALONE", "CORPUS", "INDEX", "OUTPUT", "TOP_K", "Choices", "Doc", "Ge", "Gt", "Interval", "Le",
    "Lt", "Option", "Options", "Reads", "Seed", "Setting", "TopK", "Without", "Writes",
    "check_settings", "checked_of", "docs_of", "nested", "notes_of", "setting_of", "settings_of",
]  # fmt: skip


N = TypeVar("N")

Bound = Ge | Le | Gt | Lt | Interval

# The greatest whole number that arrays and files of results hold, and a loop counts to.
LARGEST = 2**63 - 1
SECTION = re.compile(r"\n\n(?:Args|Attributes):\n")


@dataclass(frozen=True, slots=True)
class Option:
    """The form of a setting on the command line, where that is not `--name-of-the-field`.

    spelling: the option with its aliases, as in ("--lambda",) or ("--exact/--approximate",).
    panel: the heading under which help shows it. repeated: a tuple's values are given one by one,
    with the option again, not all at once by commas. default: words of the help in place of
    the default, where None stands for something else.
    """

    spelling: tuple[str, ...] = ()
    panel: str | None = None
    repeated: bool = False
    default: str | None = None
    argument: str = ""
    """The name in capitals of a setting that is given by its place, without an option."""
    is_name: bool = False
    """Whether a text names it, though a program may give a path."""
    opened_by: str = ""
    """Module and function that make the value of the text, where that takes other rooms."""


@dataclass(frozen=True, slots=True)
class Options:
    """In a parameter's type: its options are the settings of a config, which is made of them.

    optional: the value is None where none of them is given.
    """

    config: type
    optional: bool = False


class Without(tuple[str, ...]):
    """In the type of a config: settings of it that are no options here."""

    def __new__(cls, *names: str) -> Without:
        """Make it of the names of fields."""
        return super().__new__(cls, names)


@dataclass(frozen=True, slots=True)
class Reads:
    """In a setting's type: it names a corpus or an index, which is looked at before all else."""

    kind: Literal["corpus", "index"]


@dataclass(frozen=True, slots=True)
class Writes:
    """In a setting's type: the command writes to the file or folder that it names.

    default: from all options, where the command writes without this one. None: nowhere. alone:
    where this option is set, the command writes there and nowhere else. A flag: nowhere. marks:
    of a file that is written at once, words that one of Argus has: any other file is kept.
    """

    default: Callable[[Mapping[str, Any]], object] = lambda _options: None
    alone: bool = False
    marks: tuple[str, ...] = ()


CORPUS, INDEX = Reads("corpus"), Reads("index")
OUTPUT, ALONE = Writes(), Writes(alone=True)


@dataclass(frozen=True, slots=True)
class Choices:
    """All that a text may be, where its type does not say so."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, as its field declares it.

    kind: int, float, str, bool, Path or an Enum. Of a tuple, of each of its values. least, most:
    inclusive bounds. above, below: exclusive ones. choices: all it may be.
    """

    name: str
    kind: type
    text: str
    option: Option
    default: object = MISSING
    container: type[tuple[Any, ...]] | type[list[Any]] | None = None
    """True for several values. Lists are for parameters of commands."""
    optional: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    owner: type | None = field(default=None, compare=False)
    """The config whose field it is. None for a parameter of a command."""

    @property
    def many(self) -> bool:
        """Tell whether it takes several values."""
        return self.container is not None

    @property
    def repeated(self) -> bool:
        """Tell whether these are given one by one, with the option again."""
        return self.option.repeated or self.container is list

    @property
    def spelling(self) -> tuple[str, ...]:
        """The option with its aliases."""
        return self.option.spelling or ("--" + self.name.replace("_", "-"),)

    @property
    def where(self) -> str:
        """The name in errors: the option, of two opposite ones the first; or the argument."""
        return self.option.argument or self.spelling[0].partition("/")[0]

    @property
    def key(self) -> str:
        """The option as a Python name and, with dashes, as a key of a TOML file."""
        if self.option.argument:
            return self.name
        name = self.where.lstrip("-").replace("-", "_")
        return f"{name}_" if iskeyword(name) else name

    @property
    def bounds(self) -> str:
        """The bounds in words, such as "from 0 to 1". Empty where there are none."""
        lower = {"from": self.least, "above": self.above}
        bare = self.least is None and self.above is None
        upper = {"to": self.most, "below" if bare else ", below": self.below}
        words = []
        for word, bound in (lower | upper).items():
            if bound is not None:
                number = f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"
                words.append(f"{word} {number}")
        return " ".join(words).replace(" ,", ",")

    def check(self, value: object) -> None:
        """Raise InputError for a value outside the bounds or the choices."""
        values = value if isinstance(value, tuple | list) else (value,)
        if not values and self.bounds:
            values = (value,)
        for one in values:
            if (one is None and self.optional) or self._accepts(one):
                continue
            raise InputError(
                repr(one.value if isinstance(one, Enum) else one),
                expected=f"at most {LARGEST}" if _is_huge(one) else self._expected(),
                fix=self._fix(),
                where=self.where,
            )

    def _accepts(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if _is_huge(value):
            return False
        if not self.bounds:
            return True
        return (
            isinstance(value, int if self.kind is int else int | float)
            and math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def _fix(self) -> str:
        if self.default is MISSING:
            return "Correct it."
        plain = self.default is not None and not self.many
        return f"Leave it out for {self.default}." if plain else "Leave it out for the default."

    def _expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        kind = "a whole number" if self.kind is int else "a number"
        return f"{kind} {self.bounds}"


def _is_huge(value: object) -> bool:
    return isinstance(value, int) and abs(value) > LARGEST


def docs_of(documented: Any) -> dict[str, str]:
    """Return the lines of help in a docstring, by name: its section `Args:` or `Attributes:`.

    Of a class also those of its bases.
    """
    texts: dict[str, str] = {}
    for one in reversed(documented.__mro__ if isinstance(documented, type) else [documented]):
        entries = SECTION.split(inspect.cleandoc(one.__doc__ or ""))[1:]
        for entry in re.split(r"\n    (?! )", "\n" + "".join(entries))[1:]:
            name, _, text = entry.partition(": ")
            texts[name] = " ".join(text.split())
    return texts


def settings_of(config: Any) -> tuple[Setting, ...]:
    """Return the settings that a config's own fields declare, in their order. config: the class."""
    return tuple(setting for setting in _checked_fields(config) if setting.text)


def notes_of(hints: Mapping[str, Any], kind: type[N]) -> dict[str, N]:
    """Return the note of one kind in each type that has it, by name.

    hints: types of parameters, or of fields, with their notes.
    """
    return {
        name: note
        for name, hint in hints.items()
        for note in _bare(hint)[1]
        if isinstance(note, kind)
    }


@cache
def nested(config: type) -> dict[str, tuple[type, bool]]:
    """Return the fields that hold a config, with its type and whether it may be None."""
    configs = {}
    hints = get_type_hints(config, include_extras=True)
    for f in fields(config):
        kind, optional = _without_none(_bare(hints[f.name])[0])
        if isinstance(kind, type) and is_dataclass(kind):
            configs[f.name] = kind, optional
    return configs


def check_settings(config: Any) -> None:
    """Check all settings of a config against their bounds and choices, in `__post_init__`.

    Raises InputError, whose `where` is the option.
    """
    for setting in checked_of(type(config)):
        setting.check(getattr(config, setting.name))


def checked_of(config: Any) -> tuple[Setting, ...]:
    """Return the checked fields of a config: its settings, and others with a bound or choices."""
    return _checked_fields(config)


@cache
def _checked_fields(config: Any) -> tuple[Setting, ...]:
    """Return the checked fields of a config. Those that are no settings have no text."""
    hints, docs = get_type_hints(config, include_extras=True), docs_of(config)
    declared = []
    for f in fields(config):
        setting = setting_of(f.name, hints[f.name], _default(f), docs.get(f.name))
        notes = _bare(hints[f.name])[1]
        if setting is None and any(isinstance(n, Choices | Bound) for n in notes):
            hint: Any = Annotated[hints[f.name], Doc(""), Option((f.name,))]
            setting = setting_of(f.name, hint, _default(f))
        if setting is not None:
            declared.append(replace(setting, owner=config))
    return tuple(declared)


def setting_of(
    name: str, hint: Any, default: object = MISSING, text: str | None = None
) -> Setting | None:
    """Return the setting that a field, or a parameter, of this type declares. None without help.

    default: MISSING where it has to be given. text: its help, else a `Doc` of the type. Of several
    Docs or Options the last holds, so that `Annotated[Device, Option(panel="Decoding")]` shows a
    shared setting under another heading.
    """
    kind, notes = _bare(hint)
    if text is None:
        text = next((n.documentation for n in reversed(notes) if isinstance(n, Doc)), None)
    if text is None:
        return None
    option = next((n for n in reversed(notes) if isinstance(n, Option)), Option())
    kind, optional = _without_none(kind)
    kind = str if option.is_name else kind
    containers: dict[Any, Any] = {tuple: tuple, list: list, Sequence: list}
    container = containers.get(get_origin(kind))
    if container is not None:
        kind, more = _bare(get_args(kind)[0])
        notes = (*notes, *more)
    choices = next((n.values for n in notes if isinstance(n, Choices)), ())
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        kind = type(choices[0])
    elif isinstance(kind, type) and issubclass(kind, Enum):
        choices = tuple(member.value for member in kind)
    elif kind is Any or not isinstance(kind, type):  # whatever else it may be, it is given as text
        kind = str
    names = {"ge": "least", "le": "most", "gt": "above", "lt": "below"}
    bounds: Any = {
        bound: value
        for note in notes
        if isinstance(note, Bound)
        for name, bound in names.items()
        if (value := getattr(note, name, None)) is not None
    }
    return Setting(name, kind, text, option, default, container, optional, choices, **bounds)


def _bare(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its notes, and the notes."""
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        return kind, tuple(notes)
    return hint, ()


def _without_none(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    kinds = [k for k in get_args(kind) if k is not NoneType]
    if str in kinds:  # and what only a program can give
        kinds = [Path] if Path in kinds else [str]
    bare = kinds[0] if len(kinds) == 1 else Union[tuple(kinds)]  # noqa: UP007 - made as it runs
    return bare, NoneType in get_args(kind)


def _default(f: Any) -> object:
    return f.default_factory() if f.default_factory is not MISSING else f.default


Seed = Annotated[int, Ge(0), Doc("Seed of every random choice.")]
# The depth to which a list is read, unless a job says otherwise.
TOP_K = 10
TopK = Annotated[int, Ge(1), Le(1_000_000), Doc("How far down a list counts as brought back.")]
