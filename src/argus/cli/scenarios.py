"""`argus research scenarios`: the needs that documents serve: audit, ablation, answers, a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.cli import output
from argus.cli.groups import Entry, Group, example
from argus.cli.model_options import AnyModel, Judge, LanguageModel, needs_model
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.data.fields import CoerceIds, FieldNames
from argus.devices import Device
from argus.encoders.config import EncoderConfig
from argus.jobs import options as o
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.scenarios.ablation.config import AblateConfig
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.profiles.config import ProfileSettings
from argus.scenarios.qa.config import QASettings
from argus.settings import (
    INDEX,
    Option,
    Setting,
    Without,
)


def _reading(_result: Any, given: Mapping[str, Any]) -> str:
    words = ("research", "scenarios", "preferences", "--study", given["out"], "--answers", "FILLED")
    return command(*words)


app = Group(
    "What documents would be needed for: audit, ablation, answers, a study, distillation.",
    entries=(
        Entry("needs", "scenarios:needs", "Ask for documents by their needs: their risk."),
        Entry("ablate", "scenarios:ablate", "Search with every component at every λ."),
        Entry("qa", "scenarios:qa", "Compare answers with and without scenarios."),
        Entry(
            "study", "argus.scenarios.study.job:make_study", "Write sheets that people fill in.",
            example="argus research scenarios study --index index/ --queries queries.jsonl "
            "--out study/",
            then=_reading,
        ),
        Entry(
            "preferences", "argus.scenarios.study.preferences:read_preferences",
            "Tell what people prefer, and how far they agree.",
            example="argus research scenarios preferences --study study/ --answers filled/",
        ),
        Entry(
            "distill", "argus.scenarios.distill.job:distill", "Teach a small model profiles.",
            example="argus research scenarios distill --corpus docs.jsonl --profiles profiles/ "
            "--base student/ --epochs 3",
        ),
    ),
)  # fmt: skip
# Options of the encoder and the retriever, which those of the model must not be called.
TAKEN = ("--base-url", "--api-key-env", "--concurrency", "--timeout")


class NeedsModel(LanguageModel):
    """The writer of needs, beside an encoder and a retriever with an address of their own."""

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """See `LanguageModel.declared_settings`. The options begin with `--llm-`."""
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
    writing: Annotated[ProfileSettings, Without("form")],
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
    from argus.scenarios.needs.source import JudgedFiles

    writer = model.config()
    written_by = None if writer is None else replace(writing, form=measure.form).by(writer)
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


# Settings of an encoder that its own options would name as those of the language model.
ENDPOINT = ("base_url", "api_key_env", "batch_size", "concurrency")


@example(
    "argus research scenarios ablate --corpus docs.jsonl --profiles profiles/ "
    "--queries queries.jsonl --qrels qrels.tsv"
)
@with_blocks
def ablate(
    *,
    corpus: o.Corpus,
    profiles: Path,
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = o.OUT,
    config: AblateConfig,
    excluded: o.Excluded = None,
    expansions: Path | None = None,
    model: AnyModel,
    encoder: Annotated[EncoderConfig, Without(*ENDPOINT)],
    store: o.Store = None,
    fields: FieldNames,
    engine: o.Engine = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions or --model also documents expanded with pseudo-queries and with a summary; the
    model's answers are kept in OUT/answers.sqlite. Writes ablation.parquet and .csv, summary.json,
    manifest.json and report.html with a heat map.

    Args:
        profiles: Scenarios (profiles.jsonl, or its folder).
        expansions: Pseudo-queries and summaries (JSONL), instead of --model.
    """
    from argus.scenarios.ablation.job import ablate_scenarios

    result = ablate_scenarios(
        corpus, profiles, queries, qrels, out=out, config=config, excluded=excluded,
        expansions=expansions, model=model, encoder=encoder, store=store, fields=fields,
        engine=engine, fresh=fresh,
    )  # fmt: skip
    output.show(result, as_json=json)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Options that name the questions, and the documents asked for.

    Attributes:
        index: PATH, PATH@REMEDY: an index with scenarios.
        queries: Questions (JSONL, CSV, TSV, Parquet, BEIR folder).
        answers: Reference answers (query_id, answer); default: the queries' answer field.
        qrels: Judgements, for the oracle and the rankings' nDCG@10.
        reasoned: Reformulated queries (query_id, text) to search with, as BRIGHT's.
    """

    index: Annotated[str, INDEX]
    queries: Path
    answers: Path | None = None
    qrels: Path | None = None
    reasoned: Path | None = None
    coerce_ids: Annotated[CoerceIds, Option()] = False
    encoder: o.EncoderName = None
    device: Device = None


@example(
    "argus research scenarios qa --index index/ --queries queries.jsonl --model NAME "
    "--base-url http://127.0.0.1:8000/v1"
)
@with_blocks
def qa(
    subject: Subject,
    model: LanguageModel,
    judge: Judge,
    measure: QASettings,
    engine: o.Engine = None,
    out: o.Out = o.OUT,
    estimate: o.Estimate = False,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Compare answers from documents, from documents with scenarios, and from relevant documents.

    Each answer gets a score from 0 to 100 against a reference answer (SPIKE §4.4). Answers are kept
    in OUT/answers.sqlite: a run that was stopped goes on, and nothing is paid for twice. Writes
    scenarios_qa.parquet and .csv, summary.json, manifest.json and report.html.
    """
    from argus.scenarios.qa.job import compare_answers
    from argus.scenarios.qa.section import estimate_lines
    from argus.scenarios.qa.stages import estimate_answers

    config = measure.by(model.required(), judge.config(model))
    asked: dict[str, Any] = {**vars(subject), "config": config, "out": out}
    if estimate:
        estimates = estimate_answers(**asked)
        output.print_json(estimates) if json else output.print_lines(estimate_lines(estimates))
        return
    result = compare_answers(**asked, fresh=fresh, engine=engine)
    output.show(result, as_json=json)
