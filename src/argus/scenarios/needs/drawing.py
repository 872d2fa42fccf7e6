"""Choose the documents whose needs ask: all, a random sample, or as many as it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.measures.intervals import wilson
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.findings import Need
from argus.scenarios.needs.search import NeedSearch
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.needs.writing import NeedWriter
from argus.scenarios.profile import Profiled, Scenario
from argus.scenarios.profile import needs as needs_of

BATCH = 50
"""Documents that are drawn until the interval is looked at again."""


@dataclass(frozen=True)
class NeedPlace:
    """Rank of a document for one of its needs. rank: as `NeedSearch.ranks`."""

    need: Need
    rank: int | None
    is_further: bool = False


@dataclass
class Drawn:
    """Documents that were drawn, and where they stand. further: scenarios written besides."""

    profiles: dict[str, Profiled] = field(default_factory=dict)
    places: list[NeedPlace] = field(default_factory=list)
    further: dict[str, tuple[Scenario, ...]] = field(default_factory=dict)

    def hits(self, k: int) -> dict[str, list[bool]]:
        """Return, by document that could be asked for, which of its needs find it in the top k."""
        hits: dict[str, list[bool]] = {}
        for place in self.places:
            if place.rank is not None:
                hits.setdefault(place.need.doc_id, []).append(place.rank <= k)
        return hits

    def width(self, k: int) -> float:
        """Return the width of the 95% interval of the documents that any of their needs finds."""
        hits = self.hits(k)
        if not hits:
            return 1.0
        low, high = wilson(sum(map(any, hits.values())) / len(hits), len(hits))
        return float(high - low)


def draw_order(source: NeedSource, config: NeedsConfig, *, writes: bool) -> list[Document]:
    """Return the documents whose needs may ask, in random order, at most `config.sample`.

    writes: whether needs are written. If not, only documents with a profile have some. The order is
    by a hash of the ids: a larger sample holds the smaller one.
    """
    documents = [d for d in source.usable if writes or d.id in source.profiles]
    documents.sort(key=lambda d: (content_hash(str(config.seed), d.id), d.id))
    return documents[: config.sample]


def draw(
    source: NeedSource, config: NeedsConfig, writer: NeedWriter | None, search: NeedSearch, k: int
) -> Drawn:
    """Draw documents, have their needs written where they have none, and ask for them."""
    order = draw_order(source, config, writes=writer is not None)
    step = BATCH if config.until_width else max(1, len(order))
    drawn = Drawn()
    for start in range(0, len(order), step):
        batch = order[start : start + step]
        profiles = (
            {d.id: source.profiles[d.id] for d in batch}
            if writer is None
            else writer.profiles(batch)
        )
        drawn.profiles |= profiles
        drawn.places += _places(profiles, search)
        if config.until_width and drawn.width(k) <= config.until_width:
            break
    if writer is not None and config.further:
        _more(drawn, order, config.further, writer, search, k)
    return drawn


def _more(
    drawn: Drawn,
    order: Sequence[Document],
    n: int,
    writer: NeedWriter,
    search: NeedSearch,
    k: int,
) -> None:
    """Ask for further needs of the documents that some of theirs find and others do not."""
    hits = drawn.hits(k)
    torn = [d for d in order if any(hits.get(d.id, ())) and not all(hits[d.id])]
    drawn.further = writer.further(torn, drawn.profiles, n)
    needs = []
    for id_, scenarios in drawn.further.items():
        profile = drawn.profiles[id_].profile
        first = len(profile.scenarios) if profile else 0
        needs += [Need(id_, first + i, s.information_need) for i, s in enumerate(scenarios)]
    ranks = search.ranks(needs)
    drawn.places += [NeedPlace(n, rank, True) for n, rank in zip(needs, ranks, strict=True)]


def _places(profiles: Mapping[str, Profiled], search: NeedSearch) -> list[NeedPlace]:
    needs = [Need(*need) for need in needs_of(profiles)]
    return [NeedPlace(n, rank) for n, rank in zip(needs, search.ranks(needs), strict=True)]
