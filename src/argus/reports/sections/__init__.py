"""The report's sections, in the order in which they are shown.

A section has the name of its job in summary.json: a module here that builds its figures and
tables, and a template `assets/sections/NAME.html.j2` that lays them out.
"""

from __future__ import annotations

from argus.reports.sections import (
    ablation,
    audit,
    authority,
    comparison,
    diagnosis,
    evaluation,
    exposure,
    generative_failures,
    generative_search,
    generative_stats,
    kb,
    lint,
    needs,
    probe,
    questions,
    remedy,
    scenarios,
    scenarios_qa,
    scoring,
)
from argus.reports.sections.base import MAX_ROWS, Build, Section

SECTIONS: dict[str, tuple[str, Build]] = {
    "audit": ("Entities", audit.section),
    "exposure": ("Documents", exposure.section),
    "probe": ("Probe", probe.section),
    "prediction": ("Predicted", probe.prediction_section),
    "questions": ("Questions", questions.section),
    "diagnosis": ("Diagnosis", diagnosis.section),
    "remedy": ("Repair", remedy.section),
    "scenarios": ("Scenarios", scenarios.section),
    "needs": ("Needs", needs.section),
    "scenarios_qa": ("Answers", scenarios_qa.section),
    "ablation": ("Scenario ablation", ablation.section),
    "generative_stats": ("N-grams", generative_stats.section),
    "generative_search": ("Generative search", generative_search.section),
    "generative_failures": ("Failures", generative_failures.section),
    "kb": ("Knowledge base", kb.section),
    "evaluation": ("Judged questions", evaluation.section),
    "comparison": ("Gained and lost", comparison.section),
    "authority": ("Superseded documents", authority.section),
    "lint": ("Superseded results", lint.section),
    "scoring": ("Authority benchmark", scoring.section),
}
"""Name to heading in the page's navigation and builder."""

__all__ = ["MAX_ROWS", "SECTIONS", "Build", "Section"]
