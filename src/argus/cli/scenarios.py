"""`argus research scenarios`: the needs that documents serve: audit, ablation, answers, a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from argus.cli import output
from argus.cli.groups import Entry, Group, example
from argus.cli.signatures import with_blocks
from argus.commands import carry, command
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.jobs import options as o
from argus.llm.config import ModelOptions, needs_model
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.scenarios.config import NeedsConfig, ProfileSettings
from argus.settings import (
    Option,
    Setting,
)


def _reading(_result: Any, given: Mapping[str, Any]) -> str:
    words = ("research", "scenarios", "preferences", "--study", given["out"], "--answers", "FILLED")
    return command(*words)


def _adding(_result: Any, given: Mapping[str, Any]) -> str:
    profiles = ["--index", "index/", "--profiles", given["out"]]
    indexing = ["--corpus", given["corpus"], *carry("index build"), "--out", "index/"]
    adding = command("tune", "apply", "scenarios", *profiles)
    return f"{command('index', 'build', *indexing)} && {adding}"


app = Group(
    "What documents would be needed for: audit, ablation, answers, a study, distillation.",
    entries=(
        Entry(
            "write", "argus.scenarios.profiles:profile_documents",
            "Write what documents are needed for (SPIKE).",
            example="argus research scenarios write --corpus docs.jsonl --out profiles/ "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            then=_adding, estimate="argus.scenarios.profiles:estimate_profiles",
        ),
        Entry("needs", "scenarios:needs", "Ask for documents by their needs: their risk."),
        Entry(
            "ablate", "argus.scenarios.ablation.job:ablate_scenarios",
            "Search with every component at every λ.",
            example="argus research scenarios ablate --corpus docs.jsonl --profiles profiles/ "
            "--queries queries.jsonl --qrels qrels.tsv",
        ),
        Entry(
            "qa", "argus.scenarios.qa.job:compare_answers",
            "Compare answers with and without scenarios.",
            example="argus research scenarios qa --index index/ --queries queries.jsonl "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            estimate="argus.scenarios.qa.job:estimate_answers",
        ),
        Entry(
            "study", "argus.scenarios.study:make_study", "Write sheets that people fill in.",
            example="argus research scenarios study --index index/ --queries queries.jsonl "
            "--out study/",
            then=_reading,
        ),
        Entry(
            "preferences", "argus.scenarios.preferences:read_preferences",
            "Tell what people prefer, and how far they agree.",
            example="argus research scenarios preferences --study study/ --answers filled/",
        ),
        Entry(
            "distill", "argus.scenarios.distill:distill", "Teach a small model profiles.",
            example="argus research scenarios distill --corpus docs.jsonl --profiles profiles/ "
            "--base student/ --epochs 3",
        ),
    ),
)  # fmt: skip
# Options of the encoder and the retriever, which those of the model must not be called.
TAKEN = ("--base-url", "--api-key-env", "--concurrency", "--timeout")


class NeedsModel(ModelOptions):
    """The writer of needs, beside an encoder and a retriever with an address of their own."""

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """See `ModelOptions.declared_settings`. The options begin with `--llm-`."""
        return tuple(
            replace(s, option=_renamed(s)) if s.spelling[0] in TAKEN else s
            for s in super().declared_settings()
        )


def _renamed(setting: Setting) -> Option:
    return replace(setting.option, spelling=(f"--llm-{setting.spelling[0].removeprefix('--')}",))


@example("argus research scenarios needs --corpus docs.jsonl --profiles profiles/ --out needs/")
@with_blocks
def needs(
    *,
    corpus: o.Corpus,
    profiles: Path | None = None,
    out: o.Out = o.OUT,
    measure: NeedsConfig,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    model: NeedsModel,
    writing: ProfileSettings,
    estimate: o.Estimate = False,
    retriever: NamedRetriever = None,
    asking: AskingConfig,
    encoder: EncoderConfig,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Ask for every document by its own information needs: the risk of documents.

    Twice: in an index of documents alone, and in one with scenarios, where each need is held out:
    it searches without the scenario that it comes from. Writes need_risk.parquet and .csv (a
    document's typical rank under its needs, the riskiest first), need_audit, needs, summary.json,
    manifest.json and report.html. A retriever is asked once, as it is, and of the figures --k alone
    counts: needs_served and needs_served_queries. With --model the needs of the documents that are
    drawn are written first; --estimate tells what that costs. --queries and --qrels measure what
    the risk tells of real questions.

    Args:
        profiles: Profiles of its documents, or a folder with them; --model writes what is missing.
    """
    from argus.scenarios.needs.risk import JudgedFiles

    writer = model.config()
    written_by = None if writer is None else writing.by(writer)
    read: dict[str, Any] = {"out": out, "config": measure, "fields": columns, "limit": limit}
    if estimate:
        from argus.scenarios.needs.risk import estimate_needs

        if written_by is None:
            raise needs_model(["--estimate"])
        output.print_estimate(estimate_needs(corpus, profiles, model=written_by, **read), json)
        return
    common: dict[str, Any] = read | {
        "model": written_by, "judged": JudgedFiles(queries, qrels), "encoder": encoder,
        "fresh": fresh,
    }  # fmt: skip
    if retriever is not None:
        from argus.scenarios.needs.served import ask_needs

        served = ask_needs(corpus, profiles, retriever, asking=asking, **common)
        output.show(served, as_json=json)
        return
    from argus.scenarios.needs.audit import audit_needs

    output.show(audit_needs(corpus, profiles, store=store, **common), as_json=json)
