"""`argus research scenarios`: the needs that documents serve: audit, ablation, answers, a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.cli import options as o
from argus.cli.config_options import Without, job, with_blocks
from argus.cli.groups import Group, example
from argus.cli.model_options import Judge, LanguageModel, NamedModel, needs_model
from argus.data.fields import CoerceIds, FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.retrievers.config import AskingConfig
from argus.scenarios.ablation.config import AblateConfig
from argus.scenarios.distill.settings import DistillConfig
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.profiles.config import ProfileSettings
from argus.scenarios.qa.config import QASettings
from argus.scenarios.study.config import PreferenceConfig, StudyConfig
from argus.settings import Doc, Option, Setting

app = Group("What documents would be needed for: audit, ablation, answers, a study, distillation.")
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


@app.command()
@example("argus research scenarios needs --corpus docs.jsonl --profiles profiles/ --out needs/")
@with_blocks
def needs(
    *,
    corpus: o.Corpus,
    profiles: Annotated[
        Path | None,
        Doc("Profiles of its documents, or a folder with them; --model writes what is missing."),
    ] = None,
    out: o.Out = o.OUT,
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
    from argus.scenarios.needs.source import JudgedFiles

    writer = model.config()
    written_by = None if writer is None else replace(writing, form=measure.form).by(writer)
    read: dict[str, Any] = {"out": out, "config": measure, "fields": columns, "limit": limit}
    if estimate:
        from argus.scenarios.needs.risk import estimate_needs

        if written_by is None:
            raise needs_model(["--estimate"])
        o.print_estimate(estimate_needs(corpus, profiles, model=written_by, **read), json)
        return
    common: dict[str, Any] = read | {
        "model": written_by, "judged": JudgedFiles(queries, qrels), "encoder": encoder,
        "fresh": fresh,
    }  # fmt: skip
    if retriever is not None:
        from argus.scenarios.needs.served import ask_needs

        served = ask_needs(corpus, profiles, retriever, asking=asking, **common)
        o.show(served, as_json=json)
        return
    from argus.scenarios.needs.audit import audit_needs

    o.show(audit_needs(corpus, profiles, store=store, **common), as_json=json)


# Settings of an encoder that its own options would name as those of the language model.
ENDPOINT = ("base_url", "api_key_env", "batch_size", "concurrency")


@app.command()
@job(
    "argus.scenarios.ablation.job:ablate_scenarios",
    "argus research scenarios ablate --corpus docs.jsonl --profiles profiles/ "
    "--queries queries.jsonl --qrels qrels.tsv",
)
def ablate(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Scenarios (profiles.jsonl, or its folder).")],
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = o.OUT,
    config: AblateConfig,
    excluded: o.Excluded = None,
    expansions: Annotated[
        Path | None, Doc("Pseudo-queries and summaries (JSONL), instead of --model.")
    ] = None,
    model: NamedModel,
    encoder: Annotated[EncoderConfig, Without(*ENDPOINT)],
    store: o.Store = None,
    fields: FieldNames,
    engine: EngineConfig | None,
    fresh: o.Fresh = False,
) -> None:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions or --model also documents expanded with pseudo-queries and with a summary; the
    model's answers are kept in OUT/answers.sqlite. Writes ablation.parquet and .csv, summary.json,
    manifest.json and report.html with a heat map.
    """


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Options that name the questions, and the documents asked for."""

    index: Annotated[str, Doc("PATH, PATH@REMEDY: an index with scenarios."), o.INDEX]
    queries: Annotated[Path, Doc("Questions (JSONL, CSV, TSV, Parquet, BEIR folder).")]
    answers: Annotated[
        Path | None,
        Doc("Reference answers (query_id, answer); default: the queries' answer field."),
    ] = None
    qrels: Annotated[Path | None, Doc("Judgements, for the oracle and the rankings' nDCG@10.")] = (
        None
    )
    reasoned: Annotated[
        Path | None, Doc("Reformulated queries (query_id, text) to search with, as BRIGHT's.")
    ] = None
    coerce_ids: Annotated[CoerceIds, Option()] = False
    encoder: o.IndexEncoder = None
    device: o.Device = None


@app.command()
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
    engine: EngineConfig | None,
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
        o.print_json(estimates) if json else o.print_lines(estimate_lines(estimates))
        return
    result = compare_answers(**asked, fresh=fresh, engine=engine)
    o.show(result, as_json=json)


def _reading(_result: Any, given: Mapping[str, Any]) -> str:
    return o.command(
        "research", "scenarios", "preferences", "--study", given["out"], "--answers", "FILLED"
    )


@app.command()
@job(
    "argus.scenarios.study.job:make_study",
    "argus research scenarios study --index index/ --queries queries.jsonl --out study/",
    _reading,
)
def study(
    *,
    index: o.IndexState,
    queries: o.Queries,
    out: o.Out = o.OUT,
    config: StudyConfig,
    coerce_ids: Annotated[CoerceIds, Option()] = False,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    fresh: o.Fresh = False,
) -> None:
    """Write sheets on which people compare results with scenarios and without (SPIKE §4.3).

    Each person gets OUT/sheets/sheet-N: a page for a browser, and the same as a table. Neither says
    which side has what; OUT/key.jsonl does, and stays with you. Four criteria: specificity,
    comprehensibility, usefulness, overall. argus research scenarios preferences reads what comes
    back.
    """


@app.command()
@job(
    "argus.scenarios.study.preferences:read_preferences",
    "argus research scenarios preferences --study study/ --answers filled/",
)
def preferences(
    *,
    study: Annotated[Path, Doc("Folder of argus research scenarios study, with its key.")],
    answers: Annotated[
        list[Path], Doc("Filled sheets, or a folder of them; may be given again."), Option()
    ],
    out: Annotated[
        Path | None,
        Doc("Folder for the results; default STUDY/preferences."),
        o.Output(lambda options: Path(options["study"]) / "preferences"),
    ] = None,
    config: PreferenceConfig,
    fresh: o.Fresh = False,
) -> None:
    """Tell what the people of a study prefer, and how far they agree.

    Per comparison and criterion: the share that prefers scenarios with its interval, and Fleiss',
    Cohen's and Krippendorff's measures of agreement. Writes preferences and preference_answers
    (.parquet and .csv), summary.json, manifest.json and report.html.
    """


@app.command()
@job(
    "argus.scenarios.distill.job:distill",
    "argus research scenarios distill --corpus docs.jsonl --profiles profiles/ --base student/ "
    "--epochs 3",
)
def distill(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Teacher's profiles: a file, or a folder that holds them.")],
    out: o.Out = o.OUT,
    config: DistillConfig,
    device: o.Device = None,
    fields: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> None:
    """Fine-tune a small language model with LoRA on the scenarios that a large one wrote.

    Writes OUT/adapter (with --merge, OUT/merged, too), losses.parquet, summary.json and
    manifest.json. The adapter generates with --model local:BASE --adapter OUT/adapter; a merged
    model with --model local:OUT/merged, or from any endpoint that serves it.
    """
