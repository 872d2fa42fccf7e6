"""`argus remedy receipt`: what a repair changed in what a retriever serves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.remedies.served.config import ServedReceiptConfig
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import Doc, Option


@example("argus remedy receipt --before index/ --corpus docs.jsonl --out receipt/")
@with_blocks
def receipt(
    *,
    corpus: o.Corpus,
    before: Annotated[
        str | None,
        Doc(f"What is served before the repair, asked now: {NAMES}."),
        Option(panel=RETRIEVER),
    ] = None,
    after: Annotated[
        str | None,
        Doc("What is served after it: the same, or another; goes on from --before of --out."),
        Option(panel=RETRIEVER),
    ] = None,
    ranked_by: Annotated[
        str | None,
        Doc(
            "Repaired index that ranks the results of --after, as argus.BlendedRetriever serves "
            "it; without --after, those of --before."
        ),
        Option(panel=RETRIEVER),
        o.INDEX,
    ] = None,
    queries: Annotated[
        Path | None, Doc("Judged queries; default: titles and sentences of the documents.")
    ] = None,
    qrels: o.MaybeQrels = None,
    out: o.Out = Path("argus-out"),
    measure: ServedReceiptConfig,
    asking: AskingConfig,
    encoder: Annotated[str | None, Doc("Embeds the queries of a store.")] = None,
    columns: FieldNames,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask what is served before a repair, and again after it; say what came, and who gave way.

    With --before alone the answers are kept in --out. Repair whatever is served: an index, a
    store, an analyser, a reranker. The same command with --after asks the same queries again.
    What argus remedy blend wrote into a store is asked by the name blended:STORE.

    Writes receipt_served.parquet and .csv, summary.json, manifest.json and report.html.
    """
    from argus.remedies.served.job import served_receipt

    result = served_receipt(
        corpus,
        before=before,
        after=after,
        ranked_by=ranked_by,
        queries=queries,
        qrels=qrels,
        out=out,
        config=measure,
        asking=asking,
        encoder=encoder,
        fields=columns,
        fresh=fresh,
    )
    o.show(result, as_json=json)
