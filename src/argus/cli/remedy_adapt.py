"""`argus remedy adapt`: correct queries by what some documents are needed for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.remedy import Proof, Repaired, show_remedy
from argus.cli.remedy_scenarios import app as app
from argus.data.fields import CoerceIds
from argus.scenarios.adapt.config import AdaptConfig, Unlabelled
from argus.settings import Doc, Option


@dataclass(frozen=True, kw_only=True)
class LearntFrom:
    """Options that say where needs come from: one of --profiles, --needs and --from."""

    profiles: o.NeedProfiles = None
    needs: Annotated[
        Path | None,
        Doc("Queries that say what documents are needed for; with --needs-qrels."),
    ] = None
    needs_qrels: Annotated[
        Path | None, Doc("Which documents each of --needs is for, as judgements.")
    ] = None
    learn_from: Annotated[
        Unlabelled | None,
        Doc(
            "titles, or sentences held out of documents, where nobody wrote needs. It did not "
            "carry over to questions where that was measured."
        ),
        Option(("--from",)),
    ] = None
    coerce_ids: CoerceIds = False


@app.command()
@example("argus remedy adapt --index index/ --profiles profiles/")
@with_blocks
def adapt(
    index: Repaired,
    source: LearntFrom,
    settings: AdaptConfig,
    proof: Annotated[Proof, Without("k")],
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Learn a correction of all queries from what some documents are needed for.

    A repair that reaches beyond the documents that it was learnt from: no view is added, every
    query is moved a little, q' = unit(q + α·U Wᵀ q). Needs that are held out stop the learning and
    decide how far queries are moved; where they do not improve beyond chance, nothing is
    prescribed. `argus remedy rollback` takes it out again.
    """
    from argus.scenarios.adapt.job import adapt_index

    result = adapt_index(
        index, profiles=source.profiles, needs=source.needs, needs_qrels=source.needs_qrels,
        learn_from=source.learn_from, config=settings, encoder=encoder, device=device,
        queries=proof.queries, qrels=proof.qrels, corpus=proof.corpus, out=proof.out,
        coerce_ids=source.coerce_ids,
    )  # fmt: skip
    if result.summary["prescribed"]:
        show_remedy(result, json)
    else:
        o.show(result, as_json=json)
