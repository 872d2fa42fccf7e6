"""`argus research scenarios`: the needs that documents serve: audit, ablation, answers, a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.cli.groups import Entry, Group
from argus.commands import carry, command


def _reading(_result: Any, given: Mapping[str, Any]) -> str:
    words = ("research", "scenarios", "preferences", "--study", given["out"], "--answers", "FILLED")
    return command(*words)


def _adding(_result: Any, given: Mapping[str, Any]) -> str:
    profiles = ["--index", "index/", "--profiles", given["out"]]
    indexing = ["--corpus", given["corpus"], *carry("index build"), "--out", "index/"]
    adding = command("tune", "apply", "scenarios", *profiles)
    return f"{command('index', 'build', *indexing)} && {adding}"


app = Group(
    "What documents would be needed for: audit, ablation, answers, a study, distillation.",
    entries=(
        Entry(
            "write", "argus.scenarios.profiles:profile_documents",
            "Write what documents are needed for (SPIKE).",
            example="argus research scenarios write --corpus docs.jsonl --out profiles/ "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            then=_adding, estimate="argus.scenarios.profiles:estimate_profiles",
        ),
        Entry(
            "needs", "argus.scenarios.needs.audit:audit_needs",
            "Ask for documents by their needs: their risk.",
            example="argus research scenarios needs --corpus docs.jsonl --profiles profiles/ "
            "--out needs/",
        ),
        Entry(
            "ablate", "argus.scenarios.ablation.job:ablate_scenarios",
            "Search with every component at every λ.",
            example="argus research scenarios ablate --corpus docs.jsonl --profiles profiles/ "
            "--queries queries.jsonl --qrels qrels.tsv",
        ),
        Entry(
            "qa", "argus.scenarios.qa.job:compare_answers",
            "Compare answers with and without scenarios.",
            example="argus research scenarios qa --index index/ --queries queries.jsonl "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            estimate="argus.scenarios.qa.job:estimate_answers",
        ),
        Entry(
            "study", "argus.scenarios.study:make_study", "Write sheets that people fill in.",
            example="argus research scenarios study --index index/ --queries queries.jsonl "
            "--out study/",
            then=_reading,
        ),
        Entry(
            "preferences", "argus.scenarios.preferences:read_preferences",
            "Tell what people prefer, and how far they agree.",
            example="argus research scenarios preferences --study study/ --answers filled/",
        ),
        Entry(
            "distill", "argus.scenarios.distill:distill", "Teach a small model profiles.",
            example="argus research scenarios distill --corpus docs.jsonl --profiles profiles/ "
            "--base student/ --epochs 3",
        ),
    ),
)  # fmt: skip
