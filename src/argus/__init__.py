"""Argus finds what a retriever will never bring back.

>>> import argus
>>> result = argus.audit("corpus/", out="report/")  # doctest: +SKIP
>>> result.summary["mean_rps"]  # doctest: +SKIP

There is a function per command, here with what it takes and returns: `audit` and `exposure` find
blind spots, `fit_probe`, `predict_rps` and `diagnose` predict them, `build_index`, `expand_index`,
`synthesize_index` and `rollback` mend them, `evaluate`, `compare_indexes`, `explain` and `gate` say
what came of it; `profile_documents`, `add_scenarios`, `audit_needs`, `ablate_scenarios`,
`compare_answers` and `distill` index what documents would be needed for; `Authority`, `resolve`,
`lint`, `audit_authority` and `search_authority` keep what is superseded from being served;
`build_ngrams`, `train_generative`, `search_ngrams` and `ngram_stats` retrieve by n-grams that a
model writes, and `analyse_failures` says why they miss; `build_kb` makes knowledge bases of dumps
and other sources, and `plan` says what an audit will take. Each job writes a folder of results. The
pieces under them, such as the measures of `argus.measures`, live in the folders that
docs/design.md names. Importing this package loads nothing heavy.
"""

from typing import TYPE_CHECKING, Any

from argus.version import __version__ as __version__

if TYPE_CHECKING:
    from argus.authority.benchmarks.config import ScoreConfig
    from argus.authority.benchmarks.job import (
        ScoreResult,
        generate_benchmark,
        score_systems,
    )
    from argus.authority.conditions import check_conditions
    from argus.authority.domains import Domain, load_domain
    from argus.authority.edges import read_edges
    from argus.authority.jobs.audit import AuthorityAuditResult, audit_authority
    from argus.authority.jobs.config import AuthoritySource, LintBounds
    from argus.authority.jobs.lint import LintResult
    from argus.authority.jobs.lint import lint_run as lint
    from argus.authority.jobs.search import search_authority
    from argus.authority.latent import expectation, map_frontier, scope_posterior
    from argus.authority.records import Record
    from argus.authority.relation import Authority
    from argus.authority.resolve import resolve
    from argus.authority.rules import Edge, Rule, ScopeKey
    from argus.authority.stream import Stream
    from argus.authority.uncertain import safe_frontier
    from argus.authority.wrappers import AuthorityRetriever
    from argus.data.kb import KnowledgeFolder
    from argus.engine import EngineConfig
    from argus.evaluation.compare.job import (
        CompareResult,
        compare_encoders,
        compare_folders,
    )
    from argus.evaluation.compare.job import (
        compare_two_indexes as compare_indexes,
    )
    from argus.evaluation.config import EvaluateConfig
    from argus.evaluation.gate.config import GateBounds
    from argus.evaluation.gate.job import GateResult, gate
    from argus.evaluation.job import EvaluateResult, evaluate
    from argus.explanation.config import ExplainConfig
    from argus.explanation.job import explain
    from argus.explanation.types import Explanation
    from argus.generative.decode.settings import Decoding
    from argus.generative.failures.jobs.analyse import FailureResult, analyse_failures
    from argus.generative.failures.jobs.settings import FailureConfig, ReplayConfig
    from argus.generative.index.job import build_ngrams
    from argus.generative.index.ngram_index import NgramIndex
    from argus.generative.index.settings import NgramBuildConfig
    from argus.generative.index.stats import ngram_stats
    from argus.generative.jobs.search import search_ngrams
    from argus.generative.jobs.settings import NgramSearchConfig
    from argus.generative.settings import Scoring
    from argus.generative.training.config import GenerativeTrainConfig
    from argus.generative.training.job import train_generative
    from argus.indexes.job import (
        IndexResult,
        add_documents,
        build_index,
        compact_index,
        delete_documents,
    )
    from argus.indexes.retriever import IndexRetriever, open_retriever
    from argus.kb.build import KbResult, build_kb
    from argus.kb.config import KbConfig
    from argus.kb.source import Dumps
    from argus.knowledge.sources import EntityRows, PageFolder, TripleFiles
    from argus.llm import ChatConfig, LocalConfig
    from argus.planning import Workload, load_hardware, plan
    from argus.remedies.diagnosis.job import DiagnoseResult, diagnose
    from argus.remedies.repair.config import ReferenceConfig, SynthesizeConfig
    from argus.remedies.repair.expand import expand_index
    from argus.remedies.repair.receipt import RemedyResult
    from argus.remedies.repair.remedy import rollback
    from argus.remedies.repair.synthesize import synthesize_index
    from argus.retrievability.audit.config import AuditConfig
    from argus.retrievability.audit.job import AuditResult, audit
    from argus.retrievability.exposure.config import ExposureConfig
    from argus.retrievability.exposure.job import ExposureResult, exposure
    from argus.retrievability.probes.config import ProbeConfig
    from argus.retrievability.probes.fit import ProbeResult, fit_probe
    from argus.retrievability.probes.predict import PredictResult, predict_rps
    from argus.scenarios.ablation.config import AblateConfig
    from argus.scenarios.ablation.job import AblateResult, ablate_scenarios
    from argus.scenarios.distill.job import DistillResult, distill
    from argus.scenarios.distill.settings import DistillConfig
    from argus.scenarios.files import read_profiles
    from argus.scenarios.needs.config import NeedsConfig
    from argus.scenarios.needs.job import NeedsResult, audit_needs
    from argus.scenarios.profile import Component
    from argus.scenarios.profiles.config import ProfileConfig
    from argus.scenarios.profiles.index import add_scenarios
    from argus.scenarios.profiles.job import ProfileResult, profile_documents
    from argus.scenarios.qa.config import QAConfig
    from argus.scenarios.qa.job import QAResult, compare_answers

_HOMES = {
    "AblateConfig": "argus.scenarios.ablation.config",
    "AblateResult": "argus.scenarios.ablation.job",
    "AuditConfig": "argus.retrievability.audit.config",
    "AuditResult": "argus.retrievability.audit.job",
    "Authority": "argus.authority.relation",
    "AuthorityAuditResult": "argus.authority.jobs.audit",
    "AuthorityRetriever": "argus.authority.wrappers",
    "AuthoritySource": "argus.authority.jobs.config",
    "ChatConfig": "argus.llm",
    "CompareResult": "argus.evaluation.compare.job",
    "Component": "argus.scenarios.profile",
    "Decoding": "argus.generative.decode.settings",
    "DiagnoseResult": "argus.remedies.diagnosis.job",
    "DistillConfig": "argus.scenarios.distill.settings",
    "DistillResult": "argus.scenarios.distill.job",
    "Domain": "argus.authority.domains",
    "Dumps": "argus.kb.source",
    "Edge": "argus.authority.rules",
    "EngineConfig": "argus.engine",
    "EntityRows": "argus.knowledge.sources",
    "EvaluateConfig": "argus.evaluation.job",
    "EvaluateResult": "argus.evaluation.job",
    "ExplainConfig": "argus.explanation.config",
    "Explanation": "argus.explanation.types",
    "ExposureConfig": "argus.retrievability.exposure.config",
    "ExposureResult": "argus.retrievability.exposure.job",
    "FailureConfig": "argus.generative.failures.jobs.settings",
    "FailureResult": "argus.generative.failures.jobs.analyse",
    "GateBounds": "argus.evaluation.gate.config",
    "GateResult": "argus.evaluation.gate.job",
    "GenerativeTrainConfig": "argus.generative.training.config",
    "IndexResult": "argus.indexes.job",
    "IndexRetriever": "argus.indexes.retriever",
    "KbConfig": "argus.kb.config",
    "KbResult": "argus.kb.build",
    "KnowledgeFolder": "argus.data.kb",
    "LintBounds": "argus.authority.jobs.config",
    "LintResult": "argus.authority.jobs.lint",
    "LocalConfig": "argus.llm",
    "NeedsConfig": "argus.scenarios.needs.config",
    "NeedsResult": "argus.scenarios.needs.job",
    "NgramBuildConfig": "argus.generative.index.settings",
    "NgramIndex": "argus.generative.index.ngram_index",
    "NgramSearchConfig": "argus.generative.jobs.settings",
    "PageFolder": "argus.knowledge.sources",
    "PredictResult": "argus.retrievability.probes.predict",
    "ProbeConfig": "argus.retrievability.probes.config",
    "ProbeResult": "argus.retrievability.probes.fit",
    "ProfileConfig": "argus.scenarios.profiles.config",
    "ProfileResult": "argus.scenarios.profiles.job",
    "QAConfig": "argus.scenarios.qa.config",
    "QAResult": "argus.scenarios.qa.job",
    "Record": "argus.authority.records",
    "ReferenceConfig": "argus.remedies.repair.config",
    "RemedyResult": "argus.remedies.repair.receipt",
    "ReplayConfig": "argus.generative.failures.jobs.settings",
    "Rule": "argus.authority.rules",
    "ScopeKey": "argus.authority.rules",
    "ScoreConfig": "argus.authority.benchmarks.config",
    "ScoreResult": "argus.authority.benchmarks.job",
    "Scoring": "argus.generative.settings",
    "Stream": "argus.authority.stream",
    "SynthesizeConfig": "argus.remedies.repair.config",
    "TripleFiles": "argus.knowledge.sources",
    "Workload": "argus.planning",
    "ablate_scenarios": "argus.scenarios.ablation.job",
    "add_documents": "argus.indexes.job",
    "add_scenarios": "argus.scenarios.profiles.index",
    "analyse_failures": "argus.generative.failures.jobs.analyse",
    "audit": "argus.retrievability.audit.job",
    "audit_authority": "argus.authority.jobs.audit",
    "audit_needs": "argus.scenarios.needs.job",
    "build_index": "argus.indexes.job",
    "build_kb": "argus.kb.build",
    "build_ngrams": "argus.generative.index.job",
    "check_conditions": "argus.authority.conditions",
    "compact_index": "argus.indexes.job",
    "compare_answers": "argus.scenarios.qa.job",
    "compare_encoders": "argus.evaluation.compare.job",
    "compare_folders": "argus.evaluation.compare.job",
    "compare_indexes": "argus.evaluation.compare.job",
    "delete_documents": "argus.indexes.job",
    "diagnose": "argus.remedies.diagnosis.job",
    "distill": "argus.scenarios.distill.job",
    "evaluate": "argus.evaluation.job",
    "expand_index": "argus.remedies.repair.expand",
    "expectation": "argus.authority.latent",
    "explain": "argus.explanation.job",
    "exposure": "argus.retrievability.exposure.job",
    "fit_probe": "argus.retrievability.probes.fit",
    "gate": "argus.evaluation.gate.job",
    "generate_benchmark": "argus.authority.benchmarks.job",
    "lint": "argus.authority.jobs.lint",
    "load_domain": "argus.authority.domains",
    "load_hardware": "argus.planning",
    "map_frontier": "argus.authority.latent",
    "ngram_stats": "argus.generative.index.stats",
    "open_retriever": "argus.indexes.retriever",
    "plan": "argus.planning",
    "predict_rps": "argus.retrievability.probes.predict",
    "profile_documents": "argus.scenarios.profiles.job",
    "read_edges": "argus.authority.edges",
    "read_profiles": "argus.scenarios.files",
    "resolve": "argus.authority.resolve",
    "rollback": "argus.remedies.repair.remedy",
    "safe_frontier": "argus.authority.uncertain",
    "scope_posterior": "argus.authority.latent",
    "score_systems": "argus.authority.benchmarks.job",
    "search_authority": "argus.authority.jobs.search",
    "search_ngrams": "argus.generative.jobs.search",
    "synthesize_index": "argus.remedies.repair.synthesize",
    "train_generative": "argus.generative.training.job",
}
_OWN_NAMES = {
    "compare_indexes": "compare_two_indexes",
    "lint": "lint_run",
}
"""What is called otherwise at home, where other things have the plain name."""

__all__ = [
    "AblateConfig",
    "AblateResult",
    "AuditConfig",
    "AuditResult",
    "Authority",
    "AuthorityAuditResult",
    "AuthorityRetriever",
    "AuthoritySource",
    "ChatConfig",
    "CompareResult",
    "Component",
    "Decoding",
    "DiagnoseResult",
    "DistillConfig",
    "DistillResult",
    "Domain",
    "Dumps",
    "Edge",
    "EngineConfig",
    "EntityRows",
    "EvaluateConfig",
    "EvaluateResult",
    "ExplainConfig",
    "Explanation",
    "ExposureConfig",
    "ExposureResult",
    "FailureConfig",
    "FailureResult",
    "GateBounds",
    "GateResult",
    "GenerativeTrainConfig",
    "IndexResult",
    "IndexRetriever",
    "KbConfig",
    "KbResult",
    "KnowledgeFolder",
    "LintBounds",
    "LintResult",
    "LocalConfig",
    "NeedsConfig",
    "NeedsResult",
    "NgramBuildConfig",
    "NgramIndex",
    "NgramSearchConfig",
    "PageFolder",
    "PredictResult",
    "ProbeConfig",
    "ProbeResult",
    "ProfileConfig",
    "ProfileResult",
    "QAConfig",
    "QAResult",
    "Record",
    "ReferenceConfig",
    "RemedyResult",
    "ReplayConfig",
    "Rule",
    "ScopeKey",
    "ScoreConfig",
    "ScoreResult",
    "Scoring",
    "Stream",
    "SynthesizeConfig",
    "TripleFiles",
    "Workload",
    "__version__",
    "ablate_scenarios",
    "add_documents",
    "add_scenarios",
    "analyse_failures",
    "audit",
    "audit_authority",
    "audit_needs",
    "build_index",
    "build_kb",
    "build_ngrams",
    "check_conditions",
    "compact_index",
    "compare_answers",
    "compare_encoders",
    "compare_folders",
    "compare_indexes",
    "delete_documents",
    "diagnose",
    "distill",
    "evaluate",
    "expand_index",
    "expectation",
    "explain",
    "exposure",
    "fit_probe",
    "gate",
    "generate_benchmark",
    "lint",
    "load_domain",
    "load_hardware",
    "map_frontier",
    "ngram_stats",
    "open_retriever",
    "plan",
    "predict_rps",
    "profile_documents",
    "read_edges",
    "read_profiles",
    "resolve",
    "rollback",
    "safe_frontier",
    "scope_posterior",
    "score_systems",
    "search_authority",
    "search_ngrams",
    "synthesize_index",
    "train_generative",
]


def __getattr__(name: str) -> Any:
    """Load the public functions at first use: torch and numba take seconds to import."""
    if name not in _HOMES:
        raise AttributeError(f"module 'argus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), _OWN_NAMES.get(name, name))


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted({*globals(), *__all__})
