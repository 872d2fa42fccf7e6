"""What a machine was measured to do: the coefficients of a plan, in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from argus.data.artifacts import replacing
from argus.errors import InputError

SHIPPED = "hardware"
DEFAULT = "two-cores"


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Coefficients of one machine; `argus plan --measure FILE` writes them.

    Rates are of the whole machine with all its cores. All `_s` are seconds.
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
    start_s: float
    """Once: start, load and check the encoder, write the report."""
    encode_s: float
    """Per token."""
    multiply_s: float
    """Per multiplication and addition of query and candidate vectors."""
    count_s: float
    """Per candidate that is compared with one related entity."""
    pair_s: float
    """Per related pair: exact similarity, hit probability, sums."""
    edge_s: float
    """Per relation that is read into a graph."""
    entity_s: float
    """Per entity: read, ground its label, key its text, put its row into the tables."""
    wikipedia_byte_s: float
    """Per byte of a Wikipedia dump as it is, compressed: decompressed, parsed, written."""
    wikidata_byte_s: float
    """The same of a Wikidata dump."""
    align_s: float
    """Per entity and relation of a knowledge base: joined, checked, written."""
    words_s: float
    """Per word that is put into the BM25 index."""
    base_bytes: int
    """Memory of a process with encoder and libraries, before any entity."""
    entity_bytes: int
    """Memory per entity: its text, place and key."""
    pair_bytes: int
    """Memory per related pair while they are scored and written."""
    stored_entity_bytes: int
    """On disk per entity: paragraph, aliases and its row of results, compressed."""
    stored_pair_bytes: int
    """On disk per related pair: relation and rank, compressed."""
    price_per_hour: float | None = None
    """Of the machine, in any currency."""


def load_hardware(name: str) -> Hardware:
    """Return the hardware that a file describes, or that ships under a name.

    Raises InputError for what is neither, and for a file that lacks a coefficient.
    """
    path = Path(name)
    if path.is_file():
        return _parsed(path.read_text(encoding="utf-8"), path)
    home = files("argus.workflows.plan").joinpath(SHIPPED)
    shipped = sorted(f.name.removesuffix(".json") for f in home.iterdir() if f.name[-5:] == ".json")
    if name not in shipped:
        raise InputError(
            f"{name!r}",
            expected=f"a file from argus plan --measure FILE, or one of {', '.join(shipped)}",
            fix="Measure the machine, or check the path.",
            where="--hardware",
        )
    return _parsed(home.joinpath(f"{name}.json").read_text(encoding="utf-8"), Path(name))


def save_hardware(hardware: Hardware, path: Path) -> None:
    """Write coefficients to a file that `load_hardware` reads."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(asdict(hardware), indent=2) + "\n", encoding="utf-8")


def _parsed(text: str, where: Path) -> Hardware:
    try:
        given: dict[str, Any] = json.loads(text)
        known = {f.name: f for f in fields(Hardware)}
        _check(given, known)
        return Hardware(**given)
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"is no description of hardware ({error})",
            expected="the file as argus plan --measure wrote it",
            fix="Measure again.",
            where=where,
        ) from error


def _check(given: dict[str, Any], known: dict[str, Any]) -> None:
    """Raise ValueError for names that are unknown and rates that are no positive numbers."""
    if unknown := sorted(given.keys() - known.keys()):
        raise ValueError(f"unknown: {', '.join(unknown)}")
    for name, value in given.items():
        is_rate = name.endswith(("_s", "_bytes")) or name in ("cores", "encoder_parameters")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_rate and not (number and value > 0):
            raise ValueError(f"{name} is {value!r}, not a number above 0")
