"""`argus authority propose`, `accept`, `learn`: supersessions that records tell of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.authority.jobs.config import Records
from argus.authority.learning.config import AcceptConfig, ProposeConfig
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc


@example("argus authority propose --records records.jsonl --to proposals.csv")
@with_blocks
def propose(
    *,
    records: Records,
    to: Annotated[
        Path,
        Doc("CSV file for the proposals, to be reviewed."),
        o.Output(marks=("decision,confidence,superseder,superseded,",)),
    ],
    rules: Annotated[
        str | None, Doc("RULES.yaml, or a domain that ships, which reads the records.")
    ] = None,
    measure: ProposeConfig,
    clue_weights: Annotated[
        Path | None, Doc("As argus authority learn wrote it; default: those that ship.")
    ] = None,
    known: Annotated[
        Path | None, Doc("Edges of supersessions that are known, and not proposed again.")
    ] = None,
    labels: Annotated[
        Path | None,
        Doc("All true supersessions: every candidate is decided by them, and measured."),
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Propose which record supersedes which, from texts, titles and dates, with a confidence.

    Clues are words of supersession beside a name ("overruled X", "deprecated, use X"), citations,
    one title in two versions, and near-duplicates with a later date. Write accept or reject into
    the column `decision`, then run argus authority accept.
    """
    from argus.authority.learning.job import propose_supersessions

    result = propose_supersessions(
        records,
        out=to,
        config=measure,
        rules=rules,
        clue_weights=clue_weights,
        known=known,
        labels=labels,
    )  # fmt: skip
    o.show(result, as_json=json)


@example("argus authority accept reviewed.csv --to edges.jsonl")
@with_blocks
def accept(
    *,
    proposals: Annotated[Path, typer.Argument(help="Reviewed proposals.")],
    to: Annotated[
        Path,
        Doc("JSONL file for the edges."),
        o.Output(marks=('"superseder": ', '"superseded": ', '"rule": ', '"evidence": ')),
    ],
    measure: AcceptConfig,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Write the accepted ones of PROPOSALS as edges with their evidence, for --edges.

    What was accepted is certain. Undecided proposals that are taken keep their confidence, which
    --theta and argus authority search --alpha go by. Edges that make a cycle are refused.
    """
    from argus.authority.learning.job import accept_proposals

    o.show(accept_proposals(proposals, out=to, config=measure), as_json=json)


@example("argus authority learn reviewed.csv --to weights.json")
@with_blocks
def learn(
    *,
    proposals: Annotated[list[Path], typer.Argument(help="Reviewed proposals, files of them.")],
    to: Annotated[
        Path, Doc("JSON file for the model."), o.Output(marks=('"weights": {', '"bias": '))
    ],
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Learn of reviewed PROPOSALS how sure each clue makes: the --clue-weights of propose.

    A logistic regression whose weights start from those of a person, calibrated by Platt's method
    on pairs that took no part in the weights.
    """
    from argus.authority.learning.job import learn_supersessions

    o.show(learn_supersessions(proposals, out=to), as_json=json)
