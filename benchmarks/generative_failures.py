"""Why generative retrieval fails on this project's own outputs (`research generative analyse`).

The models and indexes of `generative_quality`: SEAL with and without titles in the passages on 200
held-out titles of wiki2, SEAL and MINDER on the demo's 150 questions, and both where the beam is 60
instead of 15. Every search is replayed: what the beam dropped, and what titles, pseudo-queries and
single tokens are worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.generative.failures.analyse import analyse_failures
from argus.generative.settings import FailureConfig, Mode, ReplayConfig
from benchmarks.generative_quality import ask, demo_model, kept_in, wiki2_model

WIDE = 60
# Tables that go into the results.
KEPT = {
    "quality": ("quality", "t16_outcomes"),
    "metadata": ("score_shares_all", "score_shares_correct", "title_score_difference"),
    "generation": ("t05_ngram_words",),
    "scoring": ("count_and_score", "t17_keys"),
    "texts": ("gold_adjacent",),
    "corpus": ("coverage",),
    "replay": ("pruned", "replay_ranks"),
    "correlations": ("correlations",),
}


def run() -> dict[str, Any]:
    return {**_wiki2(kept_in("wiki2")), **_demo(kept_in("demo"))}


def _wiki2(home: Path) -> dict[str, Any]:
    _, trained, questions = wiki2_model(home)
    judged = home / "train" / "held_out.tsv"
    whole, texts = (ask(home, index, trained.model, questions) for index in ("index", "texts"))
    wide = ask(home, "texts", trained.model, questions, beams=WIDE)
    return {
        "wiki2_titles": _analysed(home, [whole], "index", trained.model, judged),
        "wiki2_texts_by_beam": _analysed(home, [texts, wide], "texts", trained.model, judged),
        "wiki2_titles_texts": _analysed(home, [whole, texts], None, None, judged),
    }


def _demo(home: Path) -> dict[str, Any]:
    corpus, trained, questions = demo_model(home)
    judged = corpus / "qrels" / "test.tsv"
    seal, minder = (ask(home, "index", trained.model, questions, mode) for mode in Mode)
    wide = ask(home, "index", trained.model, questions, beams=WIDE)
    return {
        "demo_seal_minder": _analysed(home, [seal, minder], "index", trained.model, judged),
        "demo_seal_by_beam": _analysed(home, [seal, wide], "index", trained.model, judged),
    }


def _analysed(
    home: Path, outputs: list[Path], index: str | None, model: Path | None, qrels: Path
) -> dict[str, Any]:
    config = FailureConfig(
        index=home / index if index else None,
        replay=ReplayConfig(model=model) if model else None,
    )
    out = home / "analysed" / "-".join([*(path.name for path in outputs), str(index)])
    result = analyse_failures(outputs, config=config, out=out, qrels=qrels)
    told = result.summary
    return {
        "systems": [_system(system) for system in told["systems"]],
        "comparison": told["comparison"],
        "replayed": told["replayed"],
    }


def _system(system: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "measured_failed", "measured_found", "among_failed", "among_found",
             "difference", "low", "high", "leading")  # fmt: skip
    return {
        "name": system["name"],
        "questions": system["questions"],
        "modes": [
            {name: mode[name] for name in names}
            for mode in system["modes"]
            if mode["not_applicable"] is None
        ],
        "figures": {
            table: system["figures"][section][table]
            for section, tables in KEPT.items()
            for table in tables
        },
    }
