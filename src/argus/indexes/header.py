"""Name an index and read its `index.json`, without loading a vector."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast
from urllib.parse import urlsplit, urlunsplit

from annotated_types import Ge, MinLen
from typing_extensions import TypedDict

from argus.data.reading import read_own
from argus.data.writing import write_whole
from argus.encoders.config import COSINE, EncoderConfig, TokenPooling, as_config
from argus.errors import EncoderMismatch, IndexMissing, InputError, Location, unnamed
from argus.indexes.blend import Recipe

if TYPE_CHECKING:
    from argus.encoders.protocol import Encoder

FILE = "index.json"
FORMAT = 1
Text = Annotated[str, MinLen(1)]
FIELDS = ("id", "doc_id", "kind", "text", "source", "remedy", "added", "vector")


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


class EncoderSettings(TypedDict, total=False):
    """The fields of an `EncoderConfig`; none where the encoder was an object.

    Of prompts, pooling, revision and trust_remote_code those that were given.
    """

    model: str
    query_prompt: str
    document_prompt: str
    token_pooling: TokenPooling
    revision: str
    trust_remote_code: bool
    precision: str
    device: str | None
    base_url: str
    api_key_env: str
    batch_size: int
    concurrency: int


def describe_encoder(encoder: Encoder | EncoderConfig | str) -> EncoderSettings:
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
    return cast(EncoderSettings, given | {"device": None, "base_url": base_url})


@dataclass(frozen=True, kw_only=True)
class VectorsFile:
    """The file an index was built from instead of embedding, and its agreement with the encoder.

    encoder: fingerprint of the encoder that was named for queries. agreement, least: median and
    least cosine between the file's vectors and that encoder's, over the texts compared.
    """

    sha256: Text
    encoder: Text
    agreement: float
    least: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.agreement) and math.isfinite(self.least)):
            raise ValueError("a cosine that is no number")

    def __str__(self) -> str:
        return f"cosine between them: median {self.agreement:.2f}, least {self.least:.2f}"


class CorpusFields(TypedDict):
    """Fields of the corpus that hold ids and texts. A service of the index reads them there.

    None: where that is not known.
    """

    id: str | None
    text: str | None


@dataclass(frozen=True, kw_only=True)
class IndexHeader:
    """The encoder of an index, the origin of its vectors, and how it is searched.

    vectors: None where the encoder embedded the documents. similarity: how it compares vectors.
    corpus_fields: None for documents that came from a program. made: a random id, which tells the
    index from others that were made at its path. recipes: search settings of remedies, in order.
    """

    fingerprint: Text
    dim: Annotated[int, Ge(1)]
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    format: int = FORMAT
    fields: tuple[str, ...] = FIELDS
    vectors: VectorsFile | None = None
    similarity: str = COSINE
    corpus_fields: CorpusFields | None = None
    made: str = ""
    recipes: tuple[Recipe, ...] = ()

    @property
    def unit(self) -> bool:
        """True if the vectors have length 1."""
        return self.similarity == COSINE

    @property
    def foreign(self) -> VectorsFile | None:
        """The file of the vectors if the named encoder does not make them, else None."""
        file = self.vectors
        return file if file is not None and file.encoder != self.fingerprint else None

    @property
    def asked_with(self) -> str:
        """Fingerprint of the encoder for queries."""
        return self.foreign.encoder if self.foreign else self.fingerprint

    def check_fingerprint(self, fingerprint: str | None, where: Path) -> None:
        """Refuse to put vectors of an encoder beside those of the index. None passes.

        Raises InputError where no encoder known here made the vectors of the index, and
        EncoderMismatch where another one did.
        """
        if fingerprint is None or fingerprint == self.fingerprint:
            return
        if self.foreign is None:
            raise EncoderMismatch(where, stored=self.fingerprint, given=fingerprint)
        raise InputError(
            f"holds vectors of your own, which are not those of {self.foreign.encoder} "
            f"({self.foreign})",
            expected="vectors of one encoder: two are never mixed",
            fix="Build an index without --vectors, or with --encoder naming what made them; more "
            "vectors of the same origin are added with `argus index add --vectors`.",
            where=where,
        )

    def check_queries(self, fingerprint: str, where: Path) -> None:
        """Raise EncoderMismatch unless this encoder is the one to embed queries with."""
        if fingerprint != self.asked_with:
            raise EncoderMismatch(where, stored=self.asked_with, given=fingerprint)


def write_header(path: Path, header: IndexHeader) -> None:
    """Write `path/index.json`, whole or not at all."""
    unset: dict[str, Any] = {"similarity": COSINE, "corpus_fields": None, "made": "", "recipes": ()}
    content = {n: v for n, v in asdict(header).items() if n not in unset or v != unset[n]}
    plain = asdict(Recipe("", -1))
    for recipe in content.get("recipes", ()):
        for name in [n for n, v in recipe.items() if v == plain[n]]:
            del recipe[name]
    write_whole(path / FILE, json.dumps(content, indent=2) + "\n")


def read_header(path: Path) -> IndexHeader:
    """Read `path/index.json`.

    Raises InputError when the folder is missing or no index, when the file is damaged, and when
    another version of Argus wrote it.
    """
    from pydantic import ValidationError

    file = path / FILE
    if not path.is_dir():
        got = "is a file" if path.exists() else "no such folder"
        fix = "Make one with `argus index build`."
        raise IndexMissing(got, expected="an index folder", fix=fix, where=path)
    if not file.is_file():
        got = f"is not an index: it holds no {FILE}"
        expected = "a folder that `argus index build` wrote to its end"
        fix = "Check the path; a build that was stopped goes on when its command is run again."
        raise IndexMissing(got, expected=expected, fix=fix, where=path)
    try:
        header: IndexHeader = _reader().validate_json(read_own(file), strict=True)
    except ValueError as error:
        problem, place = str(error), ""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            problem, place = first["msg"].lower(), ".".join(map(str, first["loc"]))
        raise InputError(
            f"is damaged ({problem})",
            expected="the header as Argus wrote it: format, fingerprint, dim, encoder, fields",
            fix="Restore it from a copy, or build the index again with --fresh.",
            where=Location(file, field=place) if place else file,
        ) from error
    if header.format != FORMAT or header.fields != FIELDS:
        got = f"index format {header.format} with the fields {', '.join(header.fields)}"
        expected = f"format {FORMAT} with {', '.join(FIELDS)}"
        fix = "Use the version of Argus that wrote it, or build the index again."
        raise InputError(got, expected=expected, fix=fix, where=file)
    return header


@cache
def _reader() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(IndexHeader)
