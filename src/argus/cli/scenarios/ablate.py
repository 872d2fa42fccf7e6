"""`argus scenarios ablate`: components x λ, and document expansion beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.scenarios.ablation.config import AblateConfig
from argus.settings import Doc

ENDPOINT = ("base_url", "api_key_env", "batch_size", "concurrency")
"""Settings of an encoder that its own options would name as those of the language model."""


@example(
    "argus scenarios ablate --corpus docs.jsonl --profiles profiles/ --queries queries.jsonl "
    "--qrels qrels.tsv"
)
@with_blocks
def ablate(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Scenarios (profiles.jsonl, or its folder).")],
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = Path("argus-out"),
    measure: AblateConfig,
    excluded: o.Excluded = None,
    expansions: Annotated[
        Path | None,
        Doc("Pseudo-queries and summaries (JSONL), instead of --model."),
    ] = None,
    model: LanguageModel,
    encoder: Annotated[EncoderConfig, Without(*ENDPOINT)],
    store: o.Store = None,
    columns: FieldNames,
    engine: EngineConfig | None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions or --model also documents expanded with pseudo-queries and with a summary; the
    model's answers are kept in OUT/answers.sqlite. Writes ablation.parquet and .csv, summary.json,
    manifest.json and report.html with a heat map.
    """
    from argus.scenarios.ablation.job import ablate_scenarios

    result = ablate_scenarios(
        corpus,
        profiles,
        queries,
        qrels,
        out=out,
        encoder=encoder,
        excluded=excluded,
        expansions=expansions,
        model=model.config(),
        config=measure,
        fields=columns,
        store=store,
        fresh=fresh,
        engine=engine,
    )  # fmt: skip
    o.show(result, as_json=json)
