"""Parse the name of an index, PATH@STATE, and read and write its settings file `index.json`.

A state is the index before or after a remedy. `index.json` names the encoder of the vectors and the
search settings, so every command that opens an index reads it first. No vector is loaded. The
vectors lie in the table of `argus.indexes.views`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from annotated_types import Ge, MinLen

from argus.data.reading import read_own
from argus.data.writing import write_whole
from argus.encoders.config import COSINE, EncoderConfig, as_config
from argus.errors import EncoderMismatch, IndexMissing, InputError, Location, unnamed
from argus.indexes.blend import Recipe

if TYPE_CHECKING:
    from argus.encoders.protocol import Encoder

FILE = "index.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """An index as it is named on the command line: `PATH`, or `PATH@STATE`.

    States: `original` (no remedy), `REMEDY_ID` (right after it), `before:REMEDY_ID` (right before).
    """

    path: Path
    as_of: str | None = None

    def __str__(self) -> str:
        return f"{self.path}@{self.as_of}" if self.as_of else str(self.path)


def parse_index_spec(text: str | Path | IndexSpec) -> IndexSpec:
    """Return path and state. A path that exists as it stands, '@' and all, is that path.

    Raises InputError for an empty text, which names no folder, and for half of a state.
    """
    if isinstance(text, IndexSpec):
        return text
    path, at, as_of = str(text).rpartition("@")
    if text == "":
        raise unnamed("the name of an index is empty")
    if not at or Path(text).exists():
        return IndexSpec(Path(text))
    if not path or not as_of:
        expected = "PATH, PATH@original, PATH@REMEDY_ID or PATH@before:REMEDY_ID"
        fix = "Leave '@' out to search the index as it is now."
        raise InputError(f"index {str(text)!r}", expected=expected, fix=fix)
    return IndexSpec(Path(path), as_of)


def index_folder(text: str | Path) -> Path:
    """Return the folder of an index to change. Raises InputError where a state is named."""
    spec = parse_index_spec(text)
    if spec.as_of is None:
        return spec.path
    got = f"names the state {spec.as_of!r} of an index"
    expected = "the folder alone: an index is changed as it is now, with all its states"
    fix = f"Give {spec.path}; states can be searched and compared."
    raise InputError(got, expected=expected, fix=fix, where=str(text))


def describe_encoder(encoder: Encoder | EncoderConfig | str) -> dict[str, Any]:
    """Return the settings from which a later command loads the encoder again.

    They name no device (another machine has others), and no user, password or query of an address.
    An encoder object has no settings: whoever opens the index must pass it again.
    """
    config = as_config(encoder)
    if not isinstance(config, EncoderConfig):
        return {}
    address = urlsplit(config.base_url)
    host = address.netloc.rpartition("@")[2]
    base_url = urlunsplit((address.scheme, host, address.path, "", ""))
    given = {name: value for name, value in asdict(config).items() if value not in (None, False)}
    return given | {"device": None, "base_url": base_url}


@dataclass(frozen=True, kw_only=True)
class IndexHeader:
    """The encoder of an index, and how the index is searched.

    encoder: settings that load it again (`describe_encoder`), none where it was an object.
    similarity: how it compares vectors. corpus_fields: fields of the corpus that hold ids and
    texts, None each where that is not known. foreign: True for vectors of a file that the encoder
    does not make of the same texts. made: a random id, which tells the index from others
    that were made at its path. recipes: search settings of remedies, in order.
    """

    fingerprint: Annotated[str, MinLen(1)]
    dim: Annotated[int, Ge(1)]
    encoder: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    similarity: str = COSINE
    corpus_fields: dict[str, str | None] | None = None
    foreign: bool = False
    made: str = ""
    recipes: tuple[Recipe, ...] = ()

    @property
    def unit(self) -> bool:
        """True if the vectors have length 1."""
        return self.similarity == COSINE

    def check_queries(self, fingerprint: str, where: Path) -> None:
        """Raise EncoderMismatch unless this encoder is the one to embed queries with."""
        if fingerprint != self.fingerprint:
            raise EncoderMismatch(where, stored=self.fingerprint, given=fingerprint)

    def check_fingerprint(self, fingerprint: str, where: Path) -> None:
        """Raise InputError unless this encoder made the vectors: two are never mixed."""
        self.check_queries(fingerprint, where)
        if self.foreign:
            raise InputError(
                "holds vectors of your own, which its encoder does not make of the same texts",
                expected="vectors of one encoder: two are never mixed",
                fix="Build an index without --vectors, or name what made them with --encoder.",
                where=where,
            )


def write_header(path: Path, header: IndexHeader) -> None:
    """Write `path/index.json`, whole or not at all, without fields and parts that are unset."""
    content = asdict(header)
    unset = IndexHeader(fingerprint=header.fingerprint, dim=header.dim)
    for name in ("similarity", "corpus_fields", "foreign", "made", "recipes"):
        if content[name] == getattr(unset, name):
            del content[name]
    plain = asdict(Recipe("", -1))
    for recipe in content.get("recipes", ()):
        for name in [name for name, value in plain.items() if recipe[name] == value]:
            del recipe[name]
    write_whole(path / FILE, json.dumps(content, indent=2) + "\n")


def read_header(path: Path) -> IndexHeader:
    """Read `path/index.json`.

    Raises InputError when the folder is missing or no index, when the file is damaged, and when
    another version of Argus wrote it.
    """
    from pydantic import ValidationError

    file = path / FILE
    if not file.is_file():
        is_folder = path.is_dir()
        raise IndexMissing(
            f"is not an index: it holds no {FILE}" if is_folder else "no such folder",
            expected="a folder that `argus index build` wrote to its end",
            fix="Check the path, or make an index with `argus index build`.",
            where=path,
        )
    try:
        header: IndexHeader = _reader().validate_json(read_own(file), strict=True)
        if header.format != FORMAT:
            raise ValueError(f"format {header.format}, not {FORMAT}")
    except ValueError as error:
        problem, place = str(error), ""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            problem, place = first["msg"].lower(), ".".join(map(str, first["loc"]))
        raise InputError(
            f"is damaged ({problem})",
            expected=f"the header as Argus wrote it, of format {FORMAT}",
            fix="Restore it from a copy, or build the index again with --fresh.",
            where=Location(file, field=place) if place else file,
        ) from error
    return header


@cache
def _reader() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(IndexHeader)
