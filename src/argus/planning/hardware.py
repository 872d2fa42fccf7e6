"""What a machine was measured to do: the coefficients of a plan, in a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path

from argus.data.artifacts import write_whole
from argus.data.records import parse_json
from argus.errors import InputError

SHIPPED = "hardware"


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Coefficients of one machine; `argus plan --measure FILE` writes them.

    Rates are of the whole machine with all its cores, and slopes: what a larger job took beyond a
    smaller one, per unit (`argus.planning.rates`). All `_s` are seconds.
    """

    name: str
    cores: int
    memory_bytes: int
    processor: str = ""
    accelerator: str = ""
    encoder: str
    """The one that was measured, with its precision."""
    encoder_parameters: int
    """Of its layers, without the table of token vectors."""
    encoder_window: int | None
    """Tokens of a text that it reads; None: all."""
    start_s: float
    """Once: import, load and check the encoder, load what is compiled, write the report."""
    encode_s: float
    """Per token that is read: tokenized, encoded, its mention pooled, the vector stored."""
    multiply_s: float
    """Per multiplication and addition of query and candidate vectors, candidates gathered."""
    count_s: float
    """Per candidate that is compared with one related entity."""
    partition_s: float
    """Per candidate of a query whose k best are sought, without the product."""
    edge_s: float
    """Per relation that is read from a table of text into a graph."""
    pair_s: float
    """Per related pair: restricted twice, hit probabilities, curves, written."""
    entity_s: float
    """Per entity: read, its label grounded, its text keyed, its row put into the tables."""
    number_s: float
    """Per number of a vector that is projected: projection, and the storing of the vector."""
    wikipedia_byte_s: float
    """Per byte of a Wikipedia dump as it is, compressed: decompressed, parsed, written."""
    wikidata_byte_s: float
    """The same of a Wikidata dump."""
    align_s: float
    """Per entity, statement and link that dumps give: joined, checked, grounded, written."""
    words_s: float
    """Per word of a text that is put into the BM25 index and saved."""
    base_bytes: int
    """Memory of a process with encoder and libraries that has encoded some hundred texts."""
    edge_bytes: int
    """Memory per relation while a table of them is read into a graph."""
    entity_bytes: int
    """Memory per entity: text, item, key and place in the store, row of the tables."""
    pair_bytes: int
    """Memory per related pair of one pass over them, beside what the whole audit keeps."""
    number_bytes: int
    """Memory per number of the vectors that are projected, beside the vectors."""
    word_bytes: int
    """Memory per word while the BM25 index is built, texts included."""
    kb_entity_bytes: int
    """On disk per entity of a knowledge base: paragraph, label, alias; compressed."""
    kb_pair_bytes: int
    """On disk per related pair of a knowledge base: half a statement and half a link."""
    stored_word_bytes: int
    """On disk per word of the BM25 index."""
    stored_entity_bytes: int
    """On disk per entity in an audit's results: its row, as Parquet and as CSV."""
    stored_pair_bytes: int
    """On disk per related pair in an audit's results: its ranks, compressed."""
    report_bytes: int
    """On disk whatever the size: report, summary, manifest."""
    price_per_hour: float | None = None
    """Of the machine, in any currency."""


def load_hardware(name: str) -> Hardware:
    """Return the hardware that a file describes, or that ships under a name.

    Raises InputError for what is neither, and for a file that lacks a coefficient.
    """
    path = Path(name)
    if path.is_file():
        return _parsed(path.read_bytes(), path)
    home = files("argus.planning").joinpath(SHIPPED)
    shipped = sorted(f.name.removesuffix(".json") for f in home.iterdir() if f.name[-5:] == ".json")
    if name not in shipped:
        raise InputError(
            f"{name!r}",
            expected=f"a file from argus plan --measure FILE, or one of {', '.join(shipped)}",
            fix="Measure the machine, or check the path.",
            where="--hardware",
        )
    return _parsed(home.joinpath(f"{name}.json").read_bytes(), Path(name))


def save_hardware(hardware: Hardware, path: Path) -> None:
    """Write coefficients to a file that `load_hardware` reads."""
    write_whole(path, json.dumps(asdict(hardware), indent=2) + "\n")


def _parsed(content: bytes, where: Path) -> Hardware:
    try:
        values = parse_json(content.decode())
        _check(values)
        return Hardware(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"is no description of hardware ({error})",
            expected="the file as argus plan --measure wrote it",
            fix="Measure again.",
            where=where,
        ) from error


def _check(values: Mapping[str, object]) -> None:
    """Raise ValueError for unknown names, missing ones, and rates that are no positive numbers."""
    if unknown := sorted(values.keys() - {f.name for f in fields(Hardware)}):
        raise ValueError(f"unknown: {', '.join(unknown)}")
    required = [f.name for f in fields(Hardware) if f.default is MISSING]
    if missing := [name for name in required if name not in values]:
        count = f"{len(missing)} of {len(required)}"
        raise ValueError(f"{count} entries are missing: {missing[0]}, ...")
    for name, value in values.items():
        is_rate = name.endswith(("_s", "_bytes")) or name in ("cores", "encoder_parameters")
        window = name == "encoder_window" and value is not None
        if (is_rate or window) and not _is_positive(value):
            raise ValueError(f"{name} is {value!r}, not a number above 0")


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
