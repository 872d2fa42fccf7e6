"""Run benchmarks: `python -m benchmarks [name ...]`; results go to benchmarks/results/NAME.json.

What begins with two dashes is no name: a benchmark reads it by itself.
"""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks.shared import store

NAMES = (
    "exact_rps", "encoding", "ngram_index", "ngram_decoding", "ngram_evidence",
    "dump_parsing",
    "accelerator", "audit_million", "engine_overhead", "store_reach", "stores_in_place",
    "serve_documents", "serve_load", "demo", "probe_quality", "repair",
    "repair_rps", "blend_quality", "tuning", "authority_quality", "authority_contamination",
    "scenario_quality", "scenario_choice", "adapt_quality",
    "generative_quality", "generative_speed", "generative_failures",
    "generative_unigrams", "generative_tuning", "traffic_risk", "drift_quality",
    "probe_worth", "limit", "languages", "authority_versions", "suite_tables", "reproduce_tables",
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
