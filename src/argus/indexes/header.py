"""`index.json`: what an index folder says of itself before any vector is read."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.reading import read_own, read_record
from argus.data.writing import write_whole
from argus.encoders.config import COSINE
from argus.encoders.pooling import TokenPooling
from argus.errors import FingerprintMismatch, InputError, Location
from argus.indexes.recipes import Recipe, RecipeRecord

FILE = "index.json"
FORMAT = 1
FIELDS = ("id", "doc_id", "kind", "text", "source", "remedy", "added", "vector")


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


class VectorsFileRecord(TypedDict):
    """What index.json says of a `VectorsFile`.

    sha256: SHA-256 of the file.
    encoder: fingerprint of the encoder that asks.
    agreement: median cosine to that encoder's vectors.
    least: least of these cosines.
    """

    sha256: str
    encoder: str
    agreement: float
    least: float


class CorpusFields(TypedDict):
    """Where the records of the corpus hold ids and texts: what serves the index reads them there.

    None: where that is not known.
    """

    id: str | None
    text: str | None


class HeaderRecord(TypedDict):
    """What index.json holds. `vectors` is missing in indexes of before there were any."""

    fingerprint: str
    dim: int
    encoder: EncoderSettings
    format: int
    fields: list[str]
    vectors: NotRequired[VectorsFileRecord | None]
    similarity: NotRequired[str]
    """Where it is not the cosine."""
    recipes: NotRequired[list[RecipeRecord]]
    """Where remedies changed how it is searched."""
    corpus_fields: NotRequired[CorpusFields]
    made: NotRequired[str]
    """Missing in indexes of before there was any."""


@dataclass(frozen=True, kw_only=True)
class VectorsFile:
    """The file from which an index was built instead of embedding, and how it was judged."""

    sha256: str
    encoder: str
    """Fingerprint of the encoder that was named for queries."""
    agreement: float
    """Median cosine between the file's vectors and that encoder's, over the texts compared."""
    least: float
    """The least of those cosines."""


@dataclass(frozen=True, kw_only=True)
class IndexHeader:
    """Which encoder made the vectors, and how a later command loads it again.

    vectors: None where that encoder embedded the documents. similarity: how it compares them.
    recipes: what remedies say of the search, in the order in which they came. corpus_fields: of
    the corpus that it was built from; None of documents of a program. made: tells the index from
    another that was made at its path before or after it; "" in older ones.
    """

    fingerprint: str
    dim: int
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    format: int = FORMAT
    fields: tuple[str, ...] = FIELDS
    vectors: VectorsFile | None = None
    similarity: str = COSINE
    recipes: tuple[Recipe, ...] = ()
    corpus_fields: CorpusFields | None = None
    made: str = ""

    @property
    def unit(self) -> bool:
        """Whether the vectors have length 1."""
        return self.similarity == COSINE

    @property
    def foreign(self) -> VectorsFile | None:
        """The file of the vectors where they are not what the named encoder makes; else None."""
        file = self.vectors
        return file if file is not None and file.encoder != self.fingerprint else None

    @property
    def asked_with(self) -> str:
        """Fingerprint of the encoder for queries."""
        return self.foreign.encoder if self.foreign else self.fingerprint

    def check_fingerprint(self, fingerprint: str | None, where: Path) -> None:
        """Refuse to put vectors of an encoder beside those of the index; None passes.

        Raises InputError where the index has vectors that no encoder known here made, and
        FingerprintMismatch where it is of another encoder.
        """
        if fingerprint is None or fingerprint == self.fingerprint:
            return
        if self.foreign is None:
            raise FingerprintMismatch(where, stored=self.fingerprint, given=fingerprint)
        raise InputError(
            f"holds vectors of your own, which are not those of {self.foreign.encoder} "
            f"({cosines(self.foreign)})",
            expected="vectors of one encoder: two are never mixed",
            fix="Build an index without --vectors, or with --encoder naming what made them; more "
            "vectors of the same origin are added with `argus index add --vectors`.",
            where=where,
        )

    def check_queries(self, fingerprint: str, where: Path) -> None:
        """Raise FingerprintMismatch unless this encoder is the one to embed queries with."""
        if fingerprint != self.asked_with:
            raise FingerprintMismatch(where, stored=self.asked_with, given=fingerprint)


def cosines(file: VectorsFile) -> str:
    """Return how well a file's vectors agree with the encoder, in words."""
    return f"cosine between them: median {file.agreement:.2f}, least {file.least:.2f}"


def write_header(path: Path, header: IndexHeader) -> None:
    """Write `path/index.json`, whole or not at all."""
    content = asdict(header)
    if header.unit:
        del content["similarity"]
    for name in ("corpus_fields", "made"):
        if not content[name]:
            del content[name]
    del content["recipes"]
    if header.recipes:
        content["recipes"] = [recipe.record() for recipe in header.recipes]
    write_whole(path / FILE, json.dumps(content, indent=2) + "\n")


def read_header(path: Path) -> IndexHeader:
    """Read `path/index.json`.

    Raises InputError when the folder is missing or no index, when the file is damaged, and when a
    later version of Argus wrote it.
    """
    file = _find(path)
    header = _header(_read(file), file)
    if header.format != FORMAT or header.fields != FIELDS:
        raise InputError(
            f"index format {header.format} with the fields {', '.join(header.fields)}",
            expected=f"format {FORMAT} with {', '.join(FIELDS)}",
            fix="Use the version of Argus that wrote it, or build the index again.",
            where=file,
        )
    return header


def _find(path: Path) -> Path:
    if not path.is_dir():
        raise InputError(
            "is a file" if path.exists() else "no such folder",
            expected="an index folder",
            fix="Make one with `argus index build`.",
            where=path,
        )
    file = path / FILE
    if not file.is_file():
        raise InputError(
            f"is not an index: it holds no {FILE}",
            expected="a folder that `argus index build` wrote to its end",
            fix="Check the path; a build that was stopped goes on when its command is run again.",
            where=path,
        )
    return file


def _read(file: Path) -> HeaderRecord:
    """Return what the file holds; InputError, with the field, for what Argus never wrote."""
    try:
        content = json.loads(read_own(file))
        return read_record(HeaderRecord, content, where=file)
    except InputError as error:
        raise _damaged(error.got, error.where or file) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(str(error), file) from error


def _header(record: HeaderRecord, file: Path) -> IndexHeader:
    """Return the header; InputError for values that no index has. Numbers may stand in quotes."""
    vectors = record.get("vectors")
    header = IndexHeader(
        fingerprint=_text(record["fingerprint"], Location(file, field="fingerprint")),
        dim=int(record["dim"]),
        encoder=record["encoder"],
        format=int(record["format"]),
        fields=tuple(record["fields"]),
        vectors=None if vectors is None else _vectors_file(vectors, file),
        similarity=record.get("similarity", COSINE),
        recipes=tuple(map(Recipe.of, record.get("recipes", ()))),
        corpus_fields=record.get("corpus_fields"),
        made=record.get("made", ""),
    )
    if header.dim < 1:
        raise _damaged(f"dim is {header.dim}", Location(file, field="dim"))
    return header


def _vectors_file(record: VectorsFileRecord, file: Path) -> VectorsFile:
    vectors = VectorsFile(
        sha256=_text(record["sha256"], Location(file, field="vectors.sha256")),
        encoder=_text(record["encoder"], Location(file, field="vectors.encoder")),
        agreement=float(record["agreement"]),
        least=float(record["least"]),
    )
    if not (math.isfinite(vectors.agreement) and math.isfinite(vectors.least)):
        raise _damaged("a cosine that is no number", Location(file, field="vectors"))
    return vectors


def _text(value: str, where: Location) -> str:
    if not value:
        raise _damaged(f"{where.field} is {value!r}", where)
    return value


def _damaged(problem: str, where: Location | Path | str) -> InputError:
    return InputError(
        f"is damaged ({problem})",
        expected="the header as Argus wrote it: format, fingerprint, dim, encoder, fields",
        fix="Restore it from a copy, or build the index again with --fresh.",
        where=where,
    )
