"""Run benchmarks: `python -m benchmarks [name ...]`; results go to benchmarks/results/NAME.json."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from argus.data.provenance import describe_environment, utc_now

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
    "dump_parsing", "relation_graph", "audit_million", "long_audits",
    "engine_overhead", "engine_long",
    "plan_accuracy", "accelerator", "startup", "retriever_seam",
    "blend_quality", "blend_speed", "blend_leads",
    "store_reading", "store_reach", "write_back", "stores_in_place", "four_retrievers", "demo",
    "suite_reuse", "suite_tables", "report_page", "serve_documents", "serve_page",
    "serve_load", "compiled_shapes",
    "traffic_risk", "traffic_calibration", "traffic_coverage", "traffic_scale", "traffic_support",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    for name in sys.argv[1:] or NAMES:
        print(f"== {name}", flush=True)
        result = importlib.import_module(f"benchmarks.{name}").run()
        RESULTS.mkdir(exist_ok=True)
        whole = {"finished": utc_now(), "environment": describe_environment(), "result": result}
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
        print(json.dumps(result, indent=2), flush=True)


if __name__ == "__main__":
    main()
