"""`remedy expand`: documents at risk get views with what a knowledge base says (ARGUS §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from argus.data.types import Qrels, Query
from argus.encoders import Encoder, EncoderConfig
from argus.remedies.diagnosis.config import TAU
from argus.remedies.expand import ROBUST, ExpandConfig, check_context, choose, look_up, views
from argus.remedies.repair.receipt import RemedyResult, check_judged, settle
from argus.remedies.repair.reference import ReferenceConfig
from argus.remedies.repair.remedy import Made, Making, Remedy, apply
from argus.retrievability.probes import Probe


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
    corpus: Path | None = None,
    k: int = 10,
    device: str | None = None,
    out: Path | None = None,
) -> RemedyResult:
    """Add expansions to an index and write the receipt; see `argus.remedies.repair.remedy.apply`.

    `max_views` of the preset counts the expansions that a document has of other remedies.
    """
    check_judged(queries, qrels, corpus)

    def make(making: Making) -> Made:
        flagged = making.diagnosis.flagged()
        found = look_up(making.documents, flagged, making.lookup, config)
        checked = found
        if config.min_similarity is not None or config.max_views is not None:
            checked = check_context(found, making.encoder, making.store)
        taken = choose(checked, config)
        made = views(taken, config, making.encoder, remedy=making.remedy)
        notes = {
            "preset": config.preset,
            "passages_found": len(found),
            "passages_without_vector": len(found) - len(checked),
            "passages_refused": len(checked) - len(taken),
        }
        return Made(made, notes, most_views=config.max_views)

    remedy = Remedy("expand", config.preset, asdict(config), make)
    applied = apply(
        index, remedy, reference=reference, probe=probe, encoder=encoder, tau=tau, device=device,
        out=out,
    )  # fmt: skip
    return settle(applied, probe=probe, queries=queries, qrels=qrels, corpus=corpus, k=k)
