"""`argus scenarios qa`: answers from documents, and from documents with their scenarios."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LOCAL, LanguageModel
from argus.data.fields import CoerceIds
from argus.engine.config import EngineConfig
from argus.errors import InputError
from argus.llm.config import ChatConfig
from argus.llm.local_config import LocalConfig
from argus.scenarios.qa.config import QASettings
from argus.settings import Doc, Option, Setting, checked_of

OWN = ("model", "base_url", "api_key_env", "temperature", "input_price", "output_price")
TEXTS = {
    "model": "Another model, as for --model.",
    "base_url": "Another endpoint.",
    "api_key_env": "Variable that holds its key; default: none for another endpoint.",
    "temperature": "Default 0; several votes differ by more than chance only above it.",
}


class Judge:
    """Options that say who judges; by default whoever answers. They go by ChatConfig's fields."""

    def __init__(self, **options: Any) -> None:
        self.options = {name: value for name, value in options.items() if value is not None}

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return settings of ChatConfig as those of a judge, none of them set unless given."""
        return tuple(
            replace(
                s, text=TEXTS.get(s.name, s.text), default=None, optional=True,
                option=Option((f"--judge-{s.name.replace('_', '-')}",), panel="Judge"),
            )
            for s in checked_of(ChatConfig)
            if s.name in OWN
        )  # fmt: skip

    def config(self, answerer: LanguageModel) -> ChatConfig | LocalConfig | None:
        """Return who judges, None for whoever answers.

        A key is never sent to another endpoint than its own. Raises InputError for a budget that
        could not be kept for want of the judge's prices, and for options that do not fit.
        """
        own = self.options
        if not own.keys() & {"model", "base_url", "temperature"}:
            self._refuse_idle_options()
            return None
        self._check_prices(answerer)
        block = self._options(answerer)
        config = block.config()
        assert config is not None and block.model is not None
        if isinstance(config, LocalConfig):
            if temperature := own.get("temperature"):
                raise InputError(
                    f"--judge-temperature {temperature:g} with a {LOCAL} model",
                    expected="an endpoint with it: decoding is greedy on this machine",
                    fix="Leave it out.",
                    where="--judge-temperature",
                )
            return config
        if "api_key_env" in own:
            key = os.environ.get(own["api_key_env"])
            config = replace(config, api_key=key, api_key_env=own["api_key_env"])
        elif "base_url" in own:
            config = replace(config, api_key=None)
        return replace(config, temperature=own.get("temperature", config.temperature))

    def _options(self, answerer: LanguageModel) -> LanguageModel:
        """Return the options of the answering model with what the judge has of its own."""
        own, model = self.options, self.options.get("model") or answerer.model or ""
        if model.startswith(LOCAL):
            common = {
                name: answerer.options.get(name) for name in ("max_tokens_override", "retry_failed")
            }
            adapter = None if "model" in own else answerer.options.get("adapter")
            return LanguageModel(
                model=model, adapter=adapter, base_url=own.get("base_url"), **common
            )
        mine = {n: v for n, v in own.items() if n not in ("temperature", "api_key_env")}
        return answerer.but(**mine | {"model": model, "adapter": None})

    def _check_prices(self, answerer: LanguageModel) -> None:
        home = {name: answerer.options.get(name) for name in ("model", "base_url")}
        same = home == {name: self.options.get(name, value) for name, value in home.items()}
        priced = {"input_price", "output_price"} <= self.options.keys()
        if "input_price" not in answerer.options or same or priced:
            return
        if self.options.get("model", "").startswith(LOCAL):
            return
        raise InputError(
            "prices of the answering model alone",
            expected="those of the judge, too, since it is another one",
            fix="Give --judge-input-price and --judge-output-price.",
            where="--judge-input-price",
        )

    def _refuse_idle_options(self) -> None:
        idle = [s.where for s in self.declared_settings() if s.name in self.options]
        if idle:
            raise InputError(
                f"{', '.join(idle)} without another judge",
                expected="--judge-model or --judge-base-url with it",
                fix="Name the judge, or leave it out: the answering model judges.",
                where=idle[0],
            )


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Options that say what is asked, and what for."""

    index: Annotated[str, Doc("PATH, PATH@REMEDY: an index with scenarios."), o.INDEX]
    queries: Annotated[Path, Doc("Questions (JSONL, CSV, TSV, Parquet, BEIR folder).")]
    answers: Annotated[
        Path | None,
        Doc("Reference answers (query_id, answer); default: the queries' answer field."),
    ] = None
    qrels: Annotated[
        Path | None,
        Doc("Judgements, for the oracle and the rankings' nDCG@10."),
    ] = None
    reasoned: Annotated[
        Path | None,
        Doc("Reformulated queries (query_id, text) to search with, as BRIGHT's."),
    ] = None
    coerce_ids: Annotated[CoerceIds, Option()] = False
    encoder: o.IndexEncoder = None
    device: o.Device = None


@example(
    "argus scenarios qa --index index/ --queries queries.jsonl --model NAME "
    "--base-url http://127.0.0.1:8000/v1"
)
@with_blocks
def qa(
    subject: Subject,
    model: LanguageModel,
    judge: Judge,
    measure: QASettings,
    engine: EngineConfig | None,
    out: o.Out = Path("argus-out"),
    estimate: o.Estimate = False,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Compare answers from documents, from documents with scenarios, and from relevant documents.

    Each answer gets a score from 0 to 100 against a reference answer (SPIKE §4.4). Answers are kept
    in OUT/answers.sqlite: a run that was stopped goes on, and nothing is paid for twice. Writes
    scenarios_qa.parquet and .csv, summary.json, manifest.json and report.html.
    """
    from argus.scenarios.qa.estimate import estimate_answers
    from argus.scenarios.qa.job import compare_answers
    from argus.scenarios.qa.summary import estimate_lines

    answering = model.config()
    if answering is None:
        raise InputError(
            "no --model",
            expected="the model that answers",
            fix="Name one of an OpenAI-compatible endpoint, or local:FOLDER.",
            where="--model",
        )
    whole = measure.by(answering, judge.config(model))
    if estimate:
        estimates = estimate_answers(
            subject.index, subject.queries, config=whole, out=out, answers=subject.answers,
            qrels=subject.qrels, reasoned=subject.reasoned, encoder=subject.encoder,
            device=subject.device, coerce_ids=subject.coerce_ids,
        )  # fmt: skip
        o.print_json(estimates) if json else o.print_lines(estimate_lines(estimates))
        return
    result = compare_answers(
        subject.index, subject.queries, config=whole, out=out, answers=subject.answers,
        qrels=subject.qrels, reasoned=subject.reasoned, encoder=subject.encoder,
        device=subject.device, coerce_ids=subject.coerce_ids, fresh=fresh, engine=engine,
    )  # fmt: skip
    o.show(result, as_json=json)
