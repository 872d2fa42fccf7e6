"""`remedy expand`: documents at risk get views with what a knowledge base says (ARGUS §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from argus.corpora import NamedCorpus
from argus.data.types import Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.remedies.config import ROBUST, ExpandConfig
from argus.remedies.diagnosis.config import TAU
from argus.remedies.expand import KIND, check_context, choose, look_up, views
from argus.remedies.paper import is_paper, paper_notes
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.opened import open_index
from argus.remedies.repair.receipt import RepairResult, check_judged, settle
from argus.remedies.repair.remedy import Making, Proposal, Remedy, apply
from argus.remedies.repair.summary import Origin
from argus.retrievability.probes import Probe
from argus.settings import TOP_K


@one_writer
def expand_index(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: ExpandConfig = ROBUST,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    k: int = TOP_K,
    device: str | None = None,
    out: Path | None = None,
) -> RepairResult:
    """Add expansions to an index and write the receipt; see `argus.remedies.repair.remedy.apply`.

    To repair what is at risk alone loses most of what a repair of all documents gains
    (docs/results/what-reachability-tells.md).

    Under the preset `paper` mentions are found by NER unless `reference` says otherwise.
    `max_views` of the preset counts the expansions that a document has of other remedies.
    """
    questions = check_judged(queries, qrels, corpus)
    opened = open_index(
        index,
        reference=reference.under(config.preset),
        probe=probe,
        encoder=encoder,
        tau=tau,
        device=device,
    )
    remedy = Remedy("expand", config.preset, asdict(config), partial(_propose, config=config))
    applied = apply(opened, remedy, out=out)
    return settle(applied, questions, k=k)


def _propose(making: Making, *, config: ExpandConfig) -> Proposal:
    """Return an expansion per passage that fits its entity at risk."""
    opened = making.opened
    pairs = look_up(opened.documents, making.diagnosis.flagged(), opened.reference.lookup, config)
    compared = pairs
    if config.min_similarity is not None or config.max_views is not None:
        compared = check_context(pairs, opened.encoder, making.store)
    fitting = choose(compared, config)
    notes: Origin = {
        "preset": config.preset,
        "passages_found": len(pairs),
        "passages_without_vector": len(pairs) - len(compared),
        "passages_refused": len(compared) - len(fitting),
    }
    if is_paper(config.preset):
        finder = opened.reference.config.finder
        notes["paper"] = paper_notes(
            KIND, mentions=finder, tau=opened.tau, k_aug=config.k_aug
        )  # fmt: skip
    expansions = views(fitting, config, opened.encoder, remedy=making.remedy)
    return Proposal(expansions, notes, most_views=config.max_views)
