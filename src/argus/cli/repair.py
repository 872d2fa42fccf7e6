"""`argus repair`: try the remedies there are, and keep what is proven to help."""

from __future__ import annotations

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.cli.remedy import Judging, Repaired
from argus.evaluation.config import ChunkedCorpus
from argus.remedies.repair.config import ReferenceConfig
from argus.repair.config import RepairConfig


@example("argus repair --index index/ --queries queries.jsonl --qrels qrels.tsv")
@with_blocks
def repair(
    *,
    index: Repaired,
    judging: Judging,
    chunks: ChunkedCorpus,
    profiles: o.NeedProfiles = None,
    reference: ReferenceConfig | None,
    model: LanguageModel,
    measure: RepairConfig,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Try the remedies there are on a copy of an index, and keep what is proven to help.

    Judged questions judge, cross-validated: none both chooses and tells. Without them, information
    needs that are held out do: of --profiles, or written by --model for a sample of the documents.
    Without either the blend is added, and said to be the default. What harms is never kept.
    """
    from argus.repair.job import repair_index
    from argus.scenarios.profiles.config import ProfileSettings

    writer = model.config()
    result = repair_index(
        index, queries=judging.queries, qrels=judging.qrels, profiles=profiles,
        chunks=chunks, reference=reference,
        writer=None if writer is None else ProfileSettings().by(writer),
        config=measure, encoder=encoder, device=device, out=judging.out,
    )  # fmt: skip
    o.show(result, as_json=json)
