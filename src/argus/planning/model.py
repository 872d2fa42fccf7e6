"""What every step of an audit takes, as arithmetic over the coefficients of a machine.

Counts follow the code: a query is multiplied with all candidates, every related entity is compared
with each of them, and so on. docs/plans.md has the formulas, and what they assume.
"""

from __future__ import annotations

from dataclasses import dataclass

from argus.planning.bounds import bounds
from argus.planning.hardware import Hardware
from argus.planning.workload import Workload

TOKENS_PER_WORD = 1.35
"""Word pieces of English prose, BERT's vocabulary."""
FLOAT, KEY_BYTES = 4, 16
GRAPHS_BYTES = 16
"""Of a pair: in the graph as it was read, and in the one of entities with vectors."""
RESTRICT_BYTES = 52
"""Of a pair while a graph is restricted: both ends, keys of both directions, and their sort."""
RANKS_BYTES = 20
"""Of a pair: the five columns of its ranks."""
ORDER_BYTES = 28
"""Of a pair while the curves are made: its place by entity, and what sorts it."""
EXACT_QUERIES = 512
"""Of a product without a reservoir, at most."""
READER_BYTES = 512 << 20
"""Assumed of a process that reads a dump in splits of 16 MiB."""
PROCESS_BYTES = 1 << 30
"""Assumed of a process with DuckDB and Arrow, beside what is counted."""


@dataclass(frozen=True)
class Step:
    """What one step takes.

    memory_bytes: the peak of one machine. stored_bytes: what is left of it on disk in the end.
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
    return [*steps, _load(work, hardware), _graph(work, hardware), _encode(work, hardware),
            _rank(work, hardware), _score(work, hardware)]  # fmt: skip


def _knowledge(work: Workload, hw: Hardware) -> list[Step]:
    wikipedia = work.wikipedia_bytes * hw.wikipedia_byte_s
    wikidata = work.wikidata_bytes * hw.wikidata_byte_s
    reading = (wikipedia + wikidata) / work.machines
    joined = work.entities * (1 + work.stated) * hw.align_s
    joining = bounds().joins_bytes + PROCESS_BYTES
    shards = work.entities * hw.kb_entity_bytes + work.pairs * hw.kb_pair_bytes
    words = work.entities * work.words
    return [
        Step("read the dumps", reading, READER_BYTES * hw.cores, 0, "cores (bz2, parsing)", True),
        Step("align, write shards", joined, joining, shards, "one machine's joins", False),
        Step(
            "index the paragraphs", words * hw.words_s, words * hw.word_bytes + PROCESS_BYTES,
            words * hw.stored_word_bytes, "one core, its memory", False,
        ),
    ]  # fmt: skip


def _load(work: Workload, hw: Hardware) -> Step:
    seconds = hw.start_s + work.entities * hw.entity_s
    return Step("load and ground", seconds, _resident(work, hw), 0, "one core", False)


def _graph(work: Workload, hw: Hardware) -> Step:
    edges = work.pairs / 2
    reading, restricting = edges * hw.edge_bytes, _vectors(work) + work.pairs * RESTRICT_BYTES
    memory = _resident(work, hw) + max(reading, restricting)
    return Step("relation graph", edges * hw.edge_s, memory, 0, "one core, memory", False)


def _encode(work: Workload, hw: Hardware) -> Step:
    larger = (work.parameters or hw.encoder_parameters) / hw.encoder_parameters
    tokens = work.words * TOKENS_PER_WORD
    if hw.encoder_window is not None:
        tokens = min(tokens, hw.encoder_window)
    seconds = work.entities * tokens * hw.encode_s * larger / work.machines
    stored = work.entities * (work.dim * FLOAT + KEY_BYTES)
    bound = "accelerator" if hw.accelerator else "cores (the model's layers)"
    return Step("encode", seconds, _resident(work, hw) + _vectors(work), stored, bound, True)


def _rank(work: Workload, hw: Hardware) -> Step:
    products = work.entities * work.candidates * work.dim * hw.multiply_s
    compared = min(work.neighbours, bounds().direct_related)
    counts = work.entities * work.candidates * compared * hw.count_s
    memory = _resident(work, hw) + _vectors(work) + _working(work, hw) + work.pairs * RANKS_BYTES
    bound = "products" if products > counts else "comparisons"
    return Step("rank", (products + counts) / work.machines, memory, 0, bound, True)


def _score(work: Workload, hw: Hardware) -> Step:
    numbers = projected_numbers(work.entities, work.dim)
    seconds = work.pairs * hw.pair_s + numbers * hw.number_s + displaced_s(
        work.entities, work.neighbours, work.dim, hw.multiply_s, hw.partition_s
    )  # fmt: skip
    transient = max(
        min(work.pairs, bounds().pass_pairs) * hw.pair_bytes,
        numbers * hw.number_bytes,
        2 * bounds().block_bytes,
    )
    ranks = work.pairs * (RANKS_BYTES + ORDER_BYTES)
    memory = _resident(work, hw) + _vectors(work) + ranks + transient
    rows = work.entities * hw.stored_entity_bytes + work.pairs * hw.stored_pair_bytes
    stored = hw.report_bytes + rows
    return Step("score and write", seconds, memory, stored, "one core, memory", False)


def _resident(work: Workload, hw: Hardware) -> float:
    """Return what a process holds of entities and relations from beginning to end."""
    return hw.base_bytes + work.entities * hw.entity_bytes + work.pairs * GRAPHS_BYTES


def _vectors(work: Workload) -> float:
    """Return what the vectors take; beyond the bound they are a file."""
    return min(work.entities * work.dim * FLOAT, bounds().gathered_bytes)


def _working(work: Workload, hw: Hardware) -> float:
    """Return what all workers hold of products, and of the candidates' rows with a reservoir."""
    limits, columns = bounds(), work.candidates
    exact = columns == work.entities
    most = EXACT_QUERIES if exact else limits.reservoir_queries
    room = limits.working_bytes // (FLOAT * columns * hw.cores)
    products = hw.cores * max(1, min(most, room)) * columns * FLOAT
    return products + (0 if exact else hw.cores * columns * work.dim * FLOAT)


def projected_numbers(entities: float, dim: float) -> float:
    """Return how many numbers the vectors have that are projected."""
    return min(entities, bounds().projected) * dim


def displaced_s(
    entities: float, neighbours: float, dim: float, multiply_s: float, partition_s: float
) -> float:
    """Return how long it takes to say who outranks the worst: their related ask all entities."""
    queries = min(entities, bounds().worst * neighbours)
    return queries * entities * (dim * multiply_s + partition_s)
