"""Run benchmarks: `python -m benchmarks [name ...]`; results go to benchmarks/results/NAME.json.

What begins with two dashes is no name: a benchmark reads it by itself.
"""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks.shared import store

NAMES = (
    "exact_rps", "rps_memory", "encoding",
    "gazetteer", "bm25", "diagnosis", "view_search",
    "probe_quality", "phrasing", "repair_rps", "repair", "repair_causes",
    "authority_scale", "authority_stream", "authority_score",
    "authority_quality", "authority_contamination", "authority_anchors", "authority_proposals",
    "scenario_search", "scenario_ledger", "scenario_quality", "scenario_wording", "scenario_choice",
    "scenario_form",
    "adapt_quality",
    "ngram_index", "ngram_decoding", "ngram_evidence",
    "generative_quality", "generative_speed", "generative_failures", "failures_scale",
    "generative_cures", "generative_unigrams", "generative_tuning",
    "dump_parsing", "relation_graph", "audit_million",
    "engine_overhead",
    "accelerator", "startup", "retriever_seam",
    "blend_quality", "blend_speed", "blend_leads",
    "store_reading", "store_reach", "write_back", "stores_in_place", "four_retrievers", "demo",
    "suite_reuse", "suite_tables", "reproduce_tables",
    "report_page", "serve_documents", "serve_page", "serve_load",
    "compiled_shapes",
    "traffic_risk", "traffic_scale", "traffic_support",
    "car_scorer",  # last: without the scorer it ends with exit code 2
)  # fmt: skip


def main() -> None:
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for name in named or NAMES:
        print(f"== {name}", flush=True)
        result = importlib.import_module(f"benchmarks.{name}").run()
        store(name, result)
        print(json.dumps(result, indent=2), flush=True)


if __name__ == "__main__":
    main()
