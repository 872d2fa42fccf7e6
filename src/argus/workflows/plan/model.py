"""What every step of an audit takes, as arithmetic over the coefficients of a machine.

Counts follow the code: a query is multiplied with all candidates, every related entity is compared
with each of them, and so on. docs/scale.md has the formulas, how well they predict, and the paper's
scale worked through.
"""

from __future__ import annotations

from dataclasses import dataclass

from argus.errors import InputError
from argus.retrievability.rank_kernels import DIRECT_RELATED
from argus.workflows.plan.hardware import Hardware

TOKENS_PER_WORD = 1.35
"""Word pieces of English prose, BERT's vocabulary."""
RESERVOIR_FROM, RESERVOIR = 50_000, 20_000
"""As `argus audit` chooses by itself."""
FLOAT = 4


@dataclass(frozen=True, kw_only=True)
class Workload:
    """An audit. neighbours: related entities per entity, mean. words: of a paragraph, mean.

    parameters: of the encoder's layers, None for the one that was measured. reservoir: competitors
    per 1,024 queries, 0 for all, None as `argus audit` chooses. wikipedia_bytes, wikidata_bytes:
    of the compressed dumps that the knowledge base is made of, 0 without. machines: of the
    hardware, that share the work.
    """

    entities: int
    dim: int = 384
    neighbours: float = 20
    words: float = 80
    parameters: int | None = None
    reservoir: int | None = None
    wikipedia_bytes: int = 0
    wikidata_bytes: int = 0
    machines: int = 1

    def __post_init__(self) -> None:
        least = {
            "--entities": (self.entities, 2),
            "--dim": (self.dim, 1),
            "--neighbours": (self.neighbours, 0),
            "--words": (self.words, 1),
            "--reservoir": (self.reservoir, 0),
            "--parameters": (self.parameters, 1),
            "--wikipedia-gb": (self.wikipedia_bytes, 0),
            "--wikidata-gb": (self.wikidata_bytes, 0),
            "--machines": (self.machines, 1),
        }
        for name, (value, at_least) in least.items():
            if value is not None and not at_least <= value < 1e15:
                raise InputError(
                    f"{value:g}", expected=f"a number from {at_least}", fix="For example 7e6 "
                    "entities of 1024 dimensions.", where=name,
                )  # fmt: skip

    @property
    def candidates(self) -> int:
        """What every query is ranked among."""
        if self.reservoir == 0 or (self.reservoir is None and self.entities <= RESERVOIR_FROM):
            return self.entities
        return min(self.entities, self.reservoir or RESERVOIR)

    @property
    def pairs(self) -> float:
        """Related pairs (x, t)."""
        return self.entities * min(self.neighbours, self.entities - 1)


@dataclass(frozen=True)
class Step:
    """What one step takes. memory_bytes: the peak of one machine. stored_bytes: it leaves on disk.

    bound: what limits it. shared: whether more machines shorten it.
    """

    name: str
    seconds: float
    memory_bytes: float
    stored_bytes: float
    bound: str
    shared: bool

    def cost(self, hardware: Hardware, machines: int) -> float | None:
        """Return its price; a step that one machine does alone is paid for one."""
        if hardware.price_per_hour is None:
            return None
        return self.seconds / 3600 * hardware.price_per_hour * (machines if self.shared else 1)


def plan(work: Workload, hardware: Hardware) -> list[Step]:
    """Return the steps of an audit, in their order."""
    steps = []
    if work.wikipedia_bytes or work.wikidata_bytes:
        steps += _knowledge(work, hardware)
    return [*steps, _load(work, hardware), _encode(work, hardware), _graph(work, hardware),
            _rank(work, hardware), _score(work, hardware)]  # fmt: skip


def _knowledge(work: Workload, hw: Hardware) -> list[Step]:
    wikipedia = work.wikipedia_bytes * hw.wikipedia_byte_s
    wikidata = work.wikidata_bytes * hw.wikidata_byte_s
    reading = (wikipedia + wikidata) / work.machines
    stored = work.entities * hw.stored_entity_bytes + work.pairs * hw.stored_pair_bytes
    joined = (work.entities + work.pairs / 2) * hw.align_s
    words = work.entities * work.words
    return [
        Step("read the dumps", reading, 1 << 30, stored, "cores (bz2, parsing)", True),
        Step("align, write shards", joined, 3 << 30, stored, "one machine's joins", False),
        Step(
            "index the paragraphs", words * hw.words_s, words * 16 + hw.base_bytes, words * 6,
            "one core, its memory", False,
        ),
    ]  # fmt: skip


def _load(work: Workload, hw: Hardware) -> Step:
    seconds = hw.start_s + work.entities * hw.entity_s
    return Step("load and ground", seconds, _held(work, hw), 0, "one core", False)


def _encode(work: Workload, hw: Hardware) -> Step:
    larger = (work.parameters or hw.encoder_parameters) / hw.encoder_parameters
    tokens = work.entities * work.words * TOKENS_PER_WORD
    seconds = tokens * hw.encode_s * larger / work.machines
    vectors = work.entities * (work.dim * FLOAT + 16)
    bound = "accelerator" if hw.accelerator else "cores (the model's layers)"
    return Step("encode", seconds, _held(work, hw), vectors, bound, True)


def _graph(work: Workload, hw: Hardware) -> Step:
    edges = work.pairs / 2
    memory = _held(work, hw) + work.pairs * 24
    return Step("relation graph", edges * hw.edge_s, memory, 0, "one core, memory", False)


def _rank(work: Workload, hw: Hardware) -> Step:
    products = work.entities * work.candidates * work.dim * hw.multiply_s
    compared = min(work.neighbours, DIRECT_RELATED)
    counts = work.entities * work.candidates * compared * hw.count_s
    memory = _held(work, hw) + work.entities * work.dim * FLOAT + work.pairs * 20
    bound = "products" if products > counts else "comparisons"
    seconds = (products + counts) / work.machines
    return Step("rank", seconds, memory, work.pairs * hw.stored_pair_bytes, bound, True)


def _score(work: Workload, hw: Hardware) -> Step:
    memory = _held(work, hw) + work.pairs * hw.pair_bytes
    stored = work.entities * hw.stored_entity_bytes
    return Step(
        "score and write", work.pairs * hw.pair_s, memory, stored, "one core, memory", False
    )


def _held(work: Workload, hw: Hardware) -> float:
    """Return what a process holds of the entities from beginning to end."""
    return hw.base_bytes + work.entities * hw.entity_bytes + work.pairs * 8
