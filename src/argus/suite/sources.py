"""Measure cells of published tables: scenarios, entity audits, generative retrieval, suite grids.

The kinds of requests of `research reproduce` beside those of `argus.suite.requests`: each runs a
job of Argus and reads one figure from its result. `KINDS` lists all kinds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np

from argus.data.folders import SUMMARY, ArtifactFolder, is_current
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.generative.settings import FailureConfig
from argus.remedies.config import NER, NER_MODEL
from argus.retrievability.config import POOLING, Pooling
from argus.scenarios.ablation.findings import DOCUMENTS
from argus.suite.config import ORIGINAL, SuiteRetriever
from argus.suite.reading import filled, paths_in
from argus.suite.requests import (
    AuthorityRequest,
    Figures,
    GapRequest,
    Measured,
    Place,
    model_lacking,
    path_lacking,
    run_name,
)
from argus.tasks.opening import open_task, parse_task_spec
from argus.tasks.task import Task

K, POOL = 50, 800  # of the paper's audits
OF_LDA = ("held out", "commonest")
OF_ANSWERS = "generation.t07_answer_ngram"
TOO_FEW = "too few entities for it"
NO_PSEUDO_QUERY = (
    "the model that was trained here wrote no pseudo-query, so that its answers are SEAL's; train "
    "it longer (--train-minutes)"
)


@dataclass(frozen=True, kw_only=True)
class EncoderRequest(Measured):
    """A figure of an encoder. instruction: of a task that has none of its own."""

    encoder: str = DEFAULT_MODEL
    query_prompt: str = ""
    document_prompt: str = ""
    instruction: str = ""

    def prompted(self, task: Task) -> EncoderConfig:
        """Return the encoder with the task's instruction in its prompt."""
        encoder = EncoderConfig(
            model=self.encoder, query_prompt=self.query_prompt or None,
            document_prompt=self.document_prompt or None,
        )  # fmt: skip
        retriever = SuiteRetriever(name=self.encoder, encoder=encoder)
        retriever = retriever.with_instruction(self.instruction or task.instruction, task.name)
        assert retriever.encoder is not None
        return retriever.encoder


@dataclass(frozen=True, kw_only=True)
class AblationRequest(EncoderRequest):
    """nDCG@10 of a component at a λ, as `argus research scenarios ablate` measures it.

    collection: a task. scenarios: folder of profiles.jsonl and expansions.jsonl; by default the
    task's. component: of the grid; none: documents alone; pseudo-queries; summary. weight: λ.
    """

    collection: str
    scenarios: str = ""
    component: str
    weight: float = 1.0
    varies = ("component", "weight")

    @property
    def folder(self) -> Path:
        """The folder of its scenarios."""
        return Path(self.scenarios) if self.scenarios else parse_task_spec(self.collection).place

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        collection = parse_task_spec(self.collection).place
        yield place.data_lacking(collection)
        if collection != place.stdlib:
            yield path_lacking(self.folder / "profiles.jsonl")
        yield model_lacking(self.encoder)

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """See `Measured.compute`."""
        from argus.scenarios.ablation.findings import AblateConfig
        from argus.scenarios.ablation.job import ablate_scenarios
        from argus.scenarios.profile import Component, component

        first = requests[0]
        place.write_stdlib(parse_task_spec(first.collection).place)
        task, folder = open_task(first.collection), first.folder
        encoder, expansions = first.prompted(task), folder / "expansions.jsonl"
        cells = [request for request in requests if request.component in set(Component)]
        config = AblateConfig(
            components=tuple(component(name) for name in {r.component for r in cells} or {"M+E"}),
            weights=tuple({r.weight for r in cells} or {0.7}), placebos=0, tune_share=0.0,
        )  # fmt: skip
        summary = ablate_scenarios(
            task.documents, folder / "profiles.jsonl", task.queries, task.qrels,
            out=place.home / f"ablation-{run_name(first.run)}", encoder=encoder,
            excluded=task.excluded, config=config, store=place.vectors(encoder),
            expansions=expansions if expansions.is_file() else None,
        ).summary  # fmt: skip
        values: dict[tuple[str, float], float] = {}
        for row in summary["whole"]["rows"]:
            name, weight = row["component"], row["lambda"]
            if name is None or weight is None:
                name, weight = "none" if row["system"] == DOCUMENTS else row["system"], 1.0
            values[name, weight] = row["measures"]["nDCG@10"]
        return {r: values.get((r.component, r.weight)) for r in requests}


@dataclass(frozen=True, kw_only=True)
class KnowledgeRequest(Measured):
    """A figure of an audit of entities. knowledge: their folder, as `research audit` takes it."""

    knowledge: str
    encoder: str = DEFAULT_MODEL
    pooling: Pooling = POOLING

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        yield path_lacking(Path(self.knowledge))
        yield model_lacking(self.encoder)

    def audit(self, place: Place) -> Path:
        """Return the folder of an audit at the paper's k and N, which all recipes share."""
        from argus.retrievability.audit import audit
        from argus.retrievability.config import AuditConfig

        run = f"{self.knowledge} {self.encoder} {self.pooling}"
        folder = place.shared / "audits" / run_name(run)
        if not is_current(folder, "audit"):
            config = AuditConfig(k=(K,), pool=(POOL,), pooling=self.pooling)
            store = place.vectors(self.encoder)
            audit(self.knowledge, out=folder, encoder=self.encoder, config=config, store=store)
        return folder


@dataclass(frozen=True, kw_only=True)
class ReachRequest(KnowledgeRequest):
    """A value of ARGUS' figures, of an audit at one k and N.

    reach: mean RPS, above half (share above 0.5), low, mid, high (share in a band), held out
    (accuracy of LDA), commonest (share of the largest band). k: results read. pool: candidates N.
    """

    reach: str
    k: int = K
    pool: int = POOL
    varies = ("reach", "k", "pool")

    @property
    def is_sure(self) -> bool:
        """See `Measured.is_sure`."""
        return self.pool <= POOL and self.reach not in OF_LDA

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """Compute values of ARGUS' figures from the ranks and vectors that an audit keeps."""
        from argus.retrievability.audit_findings import PROJECTED, project_bands
        from argus.retrievability.probes.data import read_audit
        from argus.retrievability.ranks import FILE, read_pairs
        from argus.retrievability.rps import band, score

        folder = requests[0].audit(place)
        audited = read_audit(folder)
        ranks = read_pairs(folder / FILE, audited.ids)
        figures: Figures = {}
        for k, pool in dict.fromkeys((request.k, request.pool) for request in requests):
            asked = [r for r in requests if (r.k, r.pool) == (k, pool)]
            scores = score(ranks, len(audited.ids), k=k, pool=pool)
            rows = np.flatnonzero(scores.measured)
            if not len(rows):
                figures |= dict.fromkeys(asked, TOO_FEW)
                continue
            rps, vectors = scores.rps[rows], audited.vectors[rows]
            bands = band(rps)
            values: dict[str, Any] = {
                "mean RPS": float(rps.mean()), "above half": float((rps > 0.5).mean()),
                **{name: float((bands == name).mean()) for name in ("low", "mid", "high")},
            }  # fmt: skip
            if any(request.reach in OF_LDA for request in asked):
                some = np.sort(np.random.default_rng(0).permutation(len(rows))[:PROJECTED])
                shown = project_bands(vectors[some], bands[some])
                of_lda = (TOO_FEW, TOO_FEW) if shown is None else (shown.accuracy, shown.majority)
                values |= dict(zip(OF_LDA, of_lda, strict=True))
            figures |= {request: values[request.reach] for request in asked}
        return figures


@dataclass(frozen=True, kw_only=True)
class ProbeRequest(KnowledgeRequest):
    """A measure of a probe on held-out entities, as `argus research probe fit` prints it.

    family: ridge, xgboost, mlp, all zero, all one, mean, or best. measure: rmse, mae, pearson, ...
    """

    family: str
    measure: str
    varies = ("family", "measure")
    none = "all its predictions are equal"

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        constant = self.family in ("all zero", "all one", "mean")
        if constant and self.measure in ("pearson", "spearman"):
            yield "a constant has none"
        yield from super().lacking(place)
        if not find_spec("xgboost"):
            yield "xgboost is not installed: pip install 'argus-retrieval[probes]'"

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """Read measures on held-out entities from one fit of the quick grid."""
        from argus.retrievability.probes.fit import fit_probe

        audited = requests[0].audit(place)
        out = place.shared / "probes" / audited.name
        if is_current(out, "probe"):
            summary = ArtifactFolder(out).read_json(SUMMARY)["probe"]
        else:
            summary = fit_probe(audited, out=out).summary
        rows: dict[str, Any] = {row["family"]: row["test"] for row in summary["table"]}
        rows["best"] = summary["test"]
        return {request: rows[request.family][request.measure] for request in requests}


@dataclass(frozen=True, kw_only=True)
class GoldRequest(EncoderRequest):
    """ARGUS' Table 4: highest RPS of relevant documents that are retrieved less that of others.

    judged: a task. mentions: finder of entities, as `argus research diagnose` takes it. kb:
    passages with
    the names of the gazetteer. probe: folder of `argus research probe fit`; by default the one
    that ships.
    k: results that count as retrieved: 10, 20 or 50.
    """

    judged: str
    mentions: str
    kb: str = ""
    probe: str = ""
    k: int = 10
    is_sure = False
    varies = ("k",)
    none = "no relevant document with an entity on one side of the first k"

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        kind, _, model = self.mentions.partition(":")
        yield place.data_lacking(parse_task_spec(self.judged).place)
        yield model_lacking(self.encoder)
        yield path_lacking(Path(self.probe)) if self.probe else ""
        yield place.data_lacking(Path(self.kb)) if self.kb else ""
        yield model_lacking(model or NER_MODEL) if kind == NER else ""

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """Measure by one diagnosis and one search per collection and encoder."""
        from argus.evaluation.job import evaluate
        from argus.indexes.job import build_index
        from argus.remedies.config import ReferenceConfig
        from argus.remedies.diagnosis import diagnose
        from argus.suite.job import digest

        first = requests[0]
        for folder in (parse_task_spec(first.judged).place, Path(first.kb)):
            place.write_stdlib(folder)
        task = open_task(first.judged)
        encoder = first.prompted(task)
        store = place.vectors(encoder)
        home = place.home / f"gold-{run_name(f'{first.run} {digest(task)}')}"
        kb = (Path(first.kb),) if first.kb else ()
        diagnose(
            task.documents, out=home / "diagnosis", encoder=encoder, store=store,
            probe=first.probe or None, reference=ReferenceConfig(kb=kb, mentions=first.mentions),
        )  # fmt: skip
        build_index(task.documents, out=home / "index", encoder=encoder, store=store)
        summary = evaluate(
            task.queries, task.qrels, indexes=[str(home / "index")],
            diagnosis=home / "diagnosis", excluded=task.excluded, out=home / "evaluation",
        ).summary  # fmt: skip
        assert summary["association"] is not None, "a diagnosis was given"
        by_k = {found["k"]: found for found in summary["association"][0]}
        return {request: by_k[request.k]["difference"] for request in requests}


@dataclass(frozen=True, kw_only=True)
class FailureRequest(Measured):
    """A value of a table that `argus research generative analyse` makes of a system's output.

    output: the system: seal or minder. table: SECTION.TABLE of its figures. line: words in the
    table's first columns, or nothing for a single figure. value: the column, or that figure. The
    outputs are the published ones if they are here, else of a model trained here.
    """

    output: str
    table: str
    line: str
    value: str
    is_sure = False
    varies = ("output", "table", "line", "value")

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        if self.table.startswith("corpus.") and place.outputs:
            yield "it needs the index that was searched, which published outputs come without"
        if self.table == OF_ANSWERS and not place.outputs:
            yield "it needs answers: DATA/thesis has no seal.json and minder.json"

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """See `Measured.compute`."""
        from argus.generative.failures.analyse import analyse_failures
        from argus.generative.failures.tables import is_missing

        files, qrels = place.outputs, None
        are_published, tokenizer = bool(files), place.tokenizer
        config = FailureConfig(tokenizer=tokenizer, strict=tokenizer is not None)
        if not are_published:
            from argus.generative import settings
            from argus.generative.index.build import build_ngrams
            from argus.generative.search import search_ngrams
            from argus.generative.training.job import train_generative

            corpus, home = place.stdlib, place.shared / "generative"  # all recipes share them
            place.write_stdlib(corpus)
            pseudo, index = corpus / "expansions.jsonl", home / "index"
            build = settings.NgramBuildConfig(tokenizer="bpe:8000")
            build_ngrams(corpus, out=index, config=build, pseudo_queries=pseudo)
            training = settings.LearningConfig(max_minutes=place.minutes)
            model = train_generative(
                corpus, index=index, out=home / "train", pseudo_queries=pseudo,
                config=settings.GenerativeTrainConfig(training=training),
            ).model  # fmt: skip
            files, scoring = [], settings.Scoring().for_model(scratch=False)
            for mode in settings.Mode:
                search = settings.NgramSearchConfig(model=model, mode=mode, k=100, scoring=scoring)
                files.append(home / str(mode))
                search_ngrams(index, corpus / "queries.jsonl", out=files[-1], config=search)
            config, qrels = FailureConfig(index=index), place.stdlib / "qrels" / "test.tsv"
        out = place.home / "failures"
        summary = analyse_failures(files, config=config, qrels=qrels, out=out).summary
        systems: dict[str, Any] = dict(zip(("seal", "minder"), summary["systems"], strict=True))
        figures: Figures = {}
        for request in requests:
            part, _, name = request.table.partition(".")
            table = systems[request.output]["figures"][part][name]
            if "not_applicable" in table:
                figures[request] = str(table["not_applicable"])
                continue
            line, value = request.line, table.get(request.value)
            for row in table["rows"] if line else ():
                if line in (f"{row[0]}", f"{row[0]} {row[1]}"):
                    value = row[table["columns"].index(request.value)]
                    break
            figures[request] = f"no {line} in it" if value is None else float(value)
        wrote_none = is_missing(systems["minder"]["figures"]["scoring"]["query_ngrams"])
        if not are_published and wrote_none:
            figures |= {r: NO_PSEUDO_QUERY for r in requests if r.output == "minder"}
        return figures


def how_counted(place: Place) -> str:
    """Return a note on how published outputs are counted, or an empty text without any."""
    if not place.outputs:
        return ""
    if place.tokenizer:
        return "Counted as the thesis does (argus research generative analyse --strict)."
    return (
        "Not counted as the thesis does, by words instead of its tokens: DATA/thesis/tokenizer"
        " (of GPT-2 or BART) is not here, so that digits differ where tokens are counted."
    )


@dataclass(frozen=True, kw_only=True)
class GridRequest(Measured):
    """A measure of a suite's cell, or of an average of cells (`task` is then empty).

    retriever, remedy, task: names in the recipe's suite. measure: of the suite; or mean rank,
    median rank. average: the group of tasks that is averaged.
    """

    retriever: str
    measure: str = "nDCG@10"
    remedy: str = ORIGINAL
    task: str
    average: str = ""
    varies = ("retriever", "measure", "remedy", "task", "average")

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        suite = place.suite
        assert suite is not None
        retriever = next(r for r in suite.retrievers if r.name == self.retriever)
        remedy = next(r for r in suite.remedies if r.name == self.remedy)
        tasks = [t for t in suite.tasks if self.task == t.name or not self.task]
        tasks = [t for t in tasks if self.task or t.group == self.average]
        yield from (place.data_lacking(parse_task_spec(task.place).place) for task in tasks)
        yield model_lacking(retriever.encoder.model) if retriever.encoder else ""
        for task in tasks:
            values = filled(remedy, retriever, task)
            paths = [path for _, path in paths_in(values, remedy.kind)]
            yield from (path_lacking(path) for path in paths if path.parent != place.stdlib)
            key = str(values.get("api_key_env", ""))
            yield f"${key} is not set" if key and not os.environ.get(key) else ""

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """Run only the parts of the suite that a request needs."""
        from argus.suite.job import run_suite

        whole = place.suite
        assert whole is not None
        remedies: dict[str, set[str]] = {}
        for request in requests:
            remedies.setdefault(request.retriever, set()).add(request.remedy)
        tasks = {request.task for request in requests}
        groups = {request.average for request in requests if not request.task}
        suite = replace(
            whole,
            retrievers=tuple(
                replace(retriever, remedies=tuple(remedies[retriever.name]))
                for retriever in whole.retrievers if retriever.name in remedies
            ),
            tasks=tuple(t for t in whole.tasks if t.name in tasks or t.group in groups),
        )  # fmt: skip
        for task in suite.tasks:
            place.write_stdlib(parse_task_spec(task.place).place)
        out, store = place.home / "suite", place.shared / "suite"
        rows = {
            (row["retriever"], row["remedy"], row["name"]): row
            for row in run_suite(suite, out=out, store=store).summary["rows"]
        }
        figures: Figures = {}
        for request in requests:
            pair, name = (request.retriever, request.remedy), request.task or request.average
            row = rows.get((*pair, name)) or rows[*pair, "all tasks"]  # of one group: of all
            ranks = {"mean rank": row["mean_rank"], "median rank": row["median_rank"]}
            value = {**ranks, **row["measures"]}.get(request.measure)
            none = row["reason"] or f"no {request.measure}"
            figures[request] = none if value is None else value
        return figures


# Kinds of requests. A cell's is the first of which a recipe gives all fields without defaults.
KINDS: tuple[type[Measured], ...] = (
    GapRequest, ReachRequest, ProbeRequest, GoldRequest, AuthorityRequest,
    AblationRequest, FailureRequest, GridRequest,
)  # fmt: skip
