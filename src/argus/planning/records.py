"""What trials measure, and the rates that come of them."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict


@dataclass(frozen=True, kw_only=True)
class EncodingTrial:
    """An encoder, loaded, and few texts encoded by it, then more; tokens as it reads them.

    encoder_parameters: of its layers. load_s: of what an audit pays once.
    """

    encoder: str
    encoder_parameters: int
    encoder_window: int | None
    accelerator: str
    base_bytes: int
    load_s: float
    tokens: tuple[int, int]
    seconds: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class RankingTrial:
    """Related entities ranked among candidates."""

    queries: int
    candidates: int
    neighbours: float
    dim: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class DisplacingTrial:
    """The k best sought among entities. queries: by how many entities they were."""

    queries: int
    entities: int
    dim: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class GraphTrial:
    """A table of relations read into a graph."""

    edges: int
    seconds: float
    peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class AuditTrial:
    """An audit, its vectors for nothing.

    seconds: all but ranking. peak_bytes, stored_bytes: all but vectors.
    """

    entities: int
    pairs: float
    dim: int
    seconds: float
    peak_bytes: float
    stored_bytes: float


@dataclass(frozen=True, kw_only=True)
class KnowledgeTrial:
    """Pages and items aligned. rows: entities, statements and links; stored_bytes: of shards."""

    entities: int
    pairs: int
    rows: int
    seconds: float
    stored_bytes: int


@dataclass(frozen=True, kw_only=True)
class WordsTrial:
    """Texts put into a BM25 index, and that saved."""

    words: int
    seconds: float
    peak_bytes: int
    stored_bytes: int


@dataclass(frozen=True, kw_only=True)
class DumpTrial:
    """A dump read. bytes: compressed, as it is."""

    bytes: int
    seconds: float


Trial = (
    EncodingTrial
    | RankingTrial
    | DisplacingTrial
    | GraphTrial
    | AuditTrial
    | KnowledgeTrial
    | WordsTrial
    | DumpTrial
)


class EncodingRates(TypedDict):
    """Coefficients of an encoder; the names of all rates are those of `Hardware`."""

    encoder: str
    encoder_parameters: int
    encoder_window: int | None
    accelerator: str
    base_bytes: int
    encode_s: float


class ProductRates(TypedDict):
    """Coefficients of products and comparisons."""

    count_s: float
    multiply_s: float


class RankingRates(ProductRates):
    """The same, and that of seeking the k best."""

    partition_s: float


class GraphRates(TypedDict):
    """Coefficients of a relation that is read."""

    edge_s: float
    edge_bytes: int


class AuditRates(TypedDict):
    """Coefficients of pairs, entities and numbers of vectors."""

    pair_s: float
    entity_s: float
    number_s: float
    pair_bytes: int
    entity_bytes: int
    number_bytes: int
    stored_pair_bytes: int
    stored_entity_bytes: int
    report_bytes: int


class AligningRates(TypedDict):
    """Coefficients of aligning, and of shards."""

    align_s: float
    kb_pair_bytes: int
    kb_entity_bytes: int


class WordRates(TypedDict):
    """Coefficients of the BM25 index."""

    words_s: float
    word_bytes: int
    stored_word_bytes: int
