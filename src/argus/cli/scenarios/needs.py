"""`argus scenarios needs`: which documents are not brought back by what they are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel, needs_model
from argus.cli.remedy import print_estimate
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.retrievers.config import AskingConfig
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.profiles.config import ProfileSettings
from argus.settings import Doc, Option, Setting

if TYPE_CHECKING:
    from argus.scenarios.profiles.config import ProfileConfig

TAKEN = ("--base-url", "--api-key-env", "--concurrency", "--timeout")
"""Options of the encoder and the retriever, which those of the model must not be called."""


class NeedsModel(LanguageModel):
    """Who writes needs, beside an encoder and a retriever with an address of their own."""

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """See `LanguageModel.declared_settings`: what is taken begins with `--llm-`."""
        return tuple(
            replace(s, option=_renamed(s)) if s.spelling[0] in TAKEN else s
            for s in super().declared_settings()
        )


def _renamed(setting: Setting) -> Option:
    return replace(setting.option, spelling=(f"--llm-{setting.spelling[0].removeprefix('--')}",))


@example("argus scenarios needs --corpus docs.jsonl --profiles profiles/ --out needs/")
@with_blocks
def needs(
    *,
    corpus: o.Corpus,
    profiles: Annotated[
        Path | None,
        Doc("Profiles of its documents, or a folder with them; --model writes what is missing."),
    ] = None,
    out: o.Out = Path("argus-out"),
    measure: NeedsConfig,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    model: NeedsModel,
    writing: Annotated[ProfileSettings, Without("form")],
    estimate: o.Estimate = False,
    retriever: o.Retriever = None,
    asking: AskingConfig,
    encoder: EncoderConfig,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask for every document by its own information needs: the risk of documents.

    Twice: in an index of documents alone, and in one with scenarios, where each need is held out:
    it searches without the scenario that it comes from. Writes need_risk.parquet and .csv (a
    document's typical rank under its needs, the riskiest first), need_audit, needs, summary.json,
    manifest.json and report.html. A retriever is asked once, as it is, and of the figures --k alone
    counts: needs_served and needs_served_queries. With --model the needs of the documents that are
    drawn are written first; --estimate tells what that costs. --queries and --qrels measure what
    the risk tells of real questions.
    """
    from argus.scenarios.needs.measuring import JudgedFiles

    writer = model.config()
    written_by = None if writer is None else replace(writing, form=measure.form).by(writer)
    if estimate:
        _estimate(written_by, corpus, profiles, out, measure, columns, limit, json)
        return
    common: dict[str, Any] = {
        "out": out, "config": measure, "model": written_by, "judged": JudgedFiles(queries, qrels),
        "encoder": encoder, "fields": columns, "limit": limit, "fresh": fresh,
    }  # fmt: skip
    if retriever is not None:
        from argus.scenarios.needs.served_job import ask_needs

        served = ask_needs(corpus, profiles, retriever, asking=asking, **common)
        o.show(served, as_json=json)
        return
    from argus.scenarios.needs.job import audit_needs

    o.show(audit_needs(corpus, profiles, store=store, **common), as_json=json)


def _estimate(
    config: ProfileConfig | None,
    corpus: Any,
    profiles: Path | None,
    out: Path,
    measure: NeedsConfig,
    columns: FieldNames,
    limit: int | None,
    as_json: bool,
) -> None:
    from argus.scenarios.needs.costs import estimate_needs

    if config is None:
        raise needs_model(["--estimate"])
    cost = estimate_needs(
        corpus, profiles, out=out, config=measure, model=config, fields=columns, limit=limit
    )
    print_estimate(cost, as_json)
