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
pieces under them, such as the measures of `argus.evaluation`, live in the folders that
docs/design.md names. Importing this package loads nothing heavy.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from argus.authority.conditions import check_conditions
    from argus.authority.domains import Domain, load_domain
    from argus.authority.edges import read_edges
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
    from argus.generative.decode.settings import Decoding
    from argus.generative.index.ngram_index import NgramIndex
    from argus.generative.scoring import Scoring
    from argus.knowledge.sources import EntityRows, PageFolder, TripleFiles
    from argus.llm import ChatConfig, LocalConfig
    from argus.scenarios.files import read_profiles
    from argus.scenarios.profile import Component
    from argus.workflows.audit import AuditConfig, AuditResult, audit
    from argus.workflows.authority_audit import AuthorityAuditResult, audit_authority
    from argus.workflows.authority_inputs import AuthoritySource
    from argus.workflows.authority_lint import LintBounds, LintResult
    from argus.workflows.authority_lint import lint_run as lint
    from argus.workflows.authority_score import (
        ScoreConfig,
        ScoreResult,
        generate_benchmark,
        score_systems,
    )
    from argus.workflows.authority_search import search_authority
    from argus.workflows.compare import CompareResult, compare_encoders, compare_folders
    from argus.workflows.compare import compare_two_indexes as compare_indexes
    from argus.workflows.diagnose import DiagnoseResult
    from argus.workflows.diagnose import diagnose_corpus as diagnose
    from argus.workflows.evaluate import EvaluateConfig, EvaluateResult, evaluate
    from argus.workflows.expand import expand_index
    from argus.workflows.explain import ExplainConfig, explain
    from argus.workflows.explain_types import Explanation
    from argus.workflows.exposure import ExposureConfig, ExposureResult, exposure
    from argus.workflows.gate import Bounds as GateBounds
    from argus.workflows.gate import GateResult, gate
    from argus.workflows.generative.build import BuildConfig as NgramBuildConfig
    from argus.workflows.generative.build import build as build_ngrams
    from argus.workflows.generative.failures.analyse import FailureResult, analyse_failures
    from argus.workflows.generative.failures.replaying import ReplayConfig
    from argus.workflows.generative.failures.settings import FailureConfig
    from argus.workflows.generative.search import SearchConfig as NgramSearchConfig
    from argus.workflows.generative.search import search as search_ngrams
    from argus.workflows.generative.stats import stats as ngram_stats
    from argus.workflows.generative.train import GenerativeTrainConfig, train_generative
    from argus.workflows.index import (
        IndexResult,
        add_documents,
        build_index,
        compact_index,
        delete_documents,
    )
    from argus.workflows.kb.build import KbResult, build_kb
    from argus.workflows.kb.settings import Dumps, KbConfig
    from argus.workflows.plan import Workload, load_hardware, plan
    from argus.workflows.probe import ProbeConfig, ProbeResult, fit_probe
    from argus.workflows.probe_predict import PredictResult, predict_rps
    from argus.workflows.receipt import RemedyResult
    from argus.workflows.reference import ReferenceConfig
    from argus.workflows.remedy import rollback
    from argus.workflows.retriever import IndexRetriever, open_retriever
    from argus.workflows.scenarios_ablate import AblateConfig, AblateResult, ablate_scenarios
    from argus.workflows.scenarios_distill import DistillConfig, DistillResult, distill
    from argus.workflows.scenarios_index import add_scenarios
    from argus.workflows.scenarios_needs import NeedsConfig, NeedsResult, audit_needs
    from argus.workflows.scenarios_profile import ProfileConfig, ProfileResult, profile_documents
    from argus.workflows.scenarios_qa import QAConfig, QAResult, compare_answers
    from argus.workflows.synthesize import SynthesizeConfig, synthesize_index

_HOMES = {
    "AblateConfig": "argus.workflows.scenarios_ablate",
    "AblateResult": "argus.workflows.scenarios_ablate",
    "AuditConfig": "argus.workflows.audit",
    "AuditResult": "argus.workflows.audit",
    "Authority": "argus.authority.relation",
    "AuthorityAuditResult": "argus.workflows.authority_audit",
    "AuthorityRetriever": "argus.authority.wrappers",
    "AuthoritySource": "argus.workflows.authority_inputs",
    "ChatConfig": "argus.llm",
    "CompareResult": "argus.workflows.compare",
    "Component": "argus.scenarios.profile",
    "Decoding": "argus.generative.decode.settings",
    "DiagnoseResult": "argus.workflows.diagnose",
    "DistillConfig": "argus.workflows.scenarios_distill",
    "DistillResult": "argus.workflows.scenarios_distill",
    "Domain": "argus.authority.domains",
    "Dumps": "argus.workflows.kb.settings",
    "Edge": "argus.authority.rules",
    "EngineConfig": "argus.engine",
    "EntityRows": "argus.knowledge.sources",
    "EvaluateConfig": "argus.workflows.evaluate",
    "EvaluateResult": "argus.workflows.evaluate",
    "ExplainConfig": "argus.workflows.explain",
    "Explanation": "argus.workflows.explain_types",
    "ExposureConfig": "argus.workflows.exposure",
    "ExposureResult": "argus.workflows.exposure",
    "FailureConfig": "argus.workflows.generative.failures.settings",
    "FailureResult": "argus.workflows.generative.failures.analyse",
    "GateBounds": "argus.workflows.gate",
    "GateResult": "argus.workflows.gate",
    "GenerativeTrainConfig": "argus.workflows.generative.train",
    "IndexResult": "argus.workflows.index",
    "IndexRetriever": "argus.workflows.retriever",
    "KbConfig": "argus.workflows.kb.settings",
    "KbResult": "argus.workflows.kb.build",
    "KnowledgeFolder": "argus.data.kb",
    "LintBounds": "argus.workflows.authority_lint",
    "LintResult": "argus.workflows.authority_lint",
    "LocalConfig": "argus.llm",
    "NeedsConfig": "argus.workflows.scenarios_needs",
    "NeedsResult": "argus.workflows.scenarios_needs",
    "NgramBuildConfig": "argus.workflows.generative.build",
    "NgramIndex": "argus.generative.index.ngram_index",
    "NgramSearchConfig": "argus.workflows.generative.search",
    "PageFolder": "argus.knowledge.sources",
    "PredictResult": "argus.workflows.probe_predict",
    "ProbeConfig": "argus.workflows.probe",
    "ProbeResult": "argus.workflows.probe",
    "ProfileConfig": "argus.workflows.scenarios_profile",
    "ProfileResult": "argus.workflows.scenarios_profile",
    "QAConfig": "argus.workflows.scenarios_qa",
    "QAResult": "argus.workflows.scenarios_qa",
    "Record": "argus.authority.records",
    "ReferenceConfig": "argus.workflows.reference",
    "RemedyResult": "argus.workflows.receipt",
    "ReplayConfig": "argus.workflows.generative.failures.replaying",
    "Rule": "argus.authority.rules",
    "ScopeKey": "argus.authority.rules",
    "ScoreConfig": "argus.workflows.authority_score",
    "ScoreResult": "argus.workflows.authority_score",
    "Scoring": "argus.generative.scoring",
    "Stream": "argus.authority.stream",
    "SynthesizeConfig": "argus.workflows.synthesize",
    "TripleFiles": "argus.knowledge.sources",
    "Workload": "argus.workflows.plan",
    "ablate_scenarios": "argus.workflows.scenarios_ablate",
    "add_documents": "argus.workflows.index",
    "add_scenarios": "argus.workflows.scenarios_index",
    "analyse_failures": "argus.workflows.generative.failures.analyse",
    "audit": "argus.workflows.audit",
    "audit_authority": "argus.workflows.authority_audit",
    "audit_needs": "argus.workflows.scenarios_needs",
    "build_index": "argus.workflows.index",
    "build_kb": "argus.workflows.kb.build",
    "build_ngrams": "argus.workflows.generative.build",
    "check_conditions": "argus.authority.conditions",
    "compact_index": "argus.workflows.index",
    "compare_answers": "argus.workflows.scenarios_qa",
    "compare_encoders": "argus.workflows.compare",
    "compare_folders": "argus.workflows.compare",
    "compare_indexes": "argus.workflows.compare",
    "delete_documents": "argus.workflows.index",
    "diagnose": "argus.workflows.diagnose",
    "distill": "argus.workflows.scenarios_distill",
    "evaluate": "argus.workflows.evaluate",
    "expand_index": "argus.workflows.expand",
    "expectation": "argus.authority.latent",
    "explain": "argus.workflows.explain",
    "exposure": "argus.workflows.exposure",
    "fit_probe": "argus.workflows.probe",
    "gate": "argus.workflows.gate",
    "generate_benchmark": "argus.workflows.authority_score",
    "lint": "argus.workflows.authority_lint",
    "load_domain": "argus.authority.domains",
    "load_hardware": "argus.workflows.plan",
    "map_frontier": "argus.authority.latent",
    "ngram_stats": "argus.workflows.generative.stats",
    "open_retriever": "argus.workflows.retriever",
    "plan": "argus.workflows.plan",
    "predict_rps": "argus.workflows.probe_predict",
    "profile_documents": "argus.workflows.scenarios_profile",
    "read_edges": "argus.authority.edges",
    "read_profiles": "argus.scenarios.files",
    "resolve": "argus.authority.resolve",
    "rollback": "argus.workflows.remedy",
    "safe_frontier": "argus.authority.uncertain",
    "scope_posterior": "argus.authority.latent",
    "score_systems": "argus.workflows.authority_score",
    "search_authority": "argus.workflows.authority_search",
    "search_ngrams": "argus.workflows.generative.search",
    "synthesize_index": "argus.workflows.synthesize",
    "train_generative": "argus.workflows.generative.train",
}
_OWN_NAMES = {
    "GateBounds": "Bounds",
    "NgramBuildConfig": "BuildConfig",
    "NgramSearchConfig": "SearchConfig",
    "build_ngrams": "build",
    "compare_indexes": "compare_two_indexes",
    "diagnose": "diagnose_corpus",
    "lint": "lint_run",
    "ngram_stats": "stats",
    "search_ngrams": "search",
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
