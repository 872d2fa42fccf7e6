"""The report's sections, in the order in which they are shown, and where each is made.

A section stands in the folder of its capability: a module with `section(folder, summary)`, and
beside it a template of the module's name that lays out its parts. It is imported when a folder
holds results of its job, so that this room knows no capability.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from argus.data.reading import WRITTEN, reading
from argus.errors import Location
from argus.reports.section import Build, Section


class Home(NamedTuple):
    """The place where a section is made.

    heading: in the page's navigation. command: of Argus, that writes the results. module: dotted.
    """

    heading: str
    command: str
    module: str

    def build(self, folder: Path, summary: object, *, where: Location) -> Section:
        """Return the section that the module's `section` makes of a folder of results.

        summary: the job's part of summary.json, which is at `where`. Raises InputError for one that
        Argus did not write.
        """
        make: Build = import_module(self.module).section
        with reading(where, "is not as Argus wrote it", expected="results of one run", fix=WRITTEN):
            return make(folder, summary)

    @property
    def template(self) -> str:
        """Its template's name for the page's loader: a path inside the package."""
        return self.module.removeprefix("argus.").replace(".", "/") + ".html.j2"


# By the name that the job has in summary.json.
SECTIONS: dict[str, Home] = {
    "audit": Home("Entities", "research audit", "argus.retrievability.audit.report"),
    "traffic": Home("Traffic", "traffic audit", "argus.traffic.section"),
    "judging": Home("Judged traffic", "traffic judge", "argus.traffic.sampling"),
    "exposure": Home("Documents", "check", "argus.retrievability.exposure.report"),
    "reach": Home("Store", "check", "argus.reachability.job"),
    "probe": Home("Probe", "research probe fit", "argus.retrievability.probes.report"),
    "prediction": Home(
        "Predicted", "research probe predict", "argus.retrievability.probes.predict"
    ),
    "questions": Home("Questions", "demo", "argus.demo.summary"),
    "diagnosis": Home("Diagnosis", "research diagnose", "argus.remedies.diagnosis"),
    "remedy": Home("Repair", "tune apply", "argus.remedies.receipt"),
    "blend": Home("Blend", "tune apply blend", "argus.remedies.blend"),
    "written": Home("Written", "tune apply write", "argus.remedies.store_writing"),
    "repair": Home("Chosen repair", "tune try", "argus.repair.job"),
    "adapt": Home("Queries corrected", "tune apply adapt", "argus.scenarios.adapt.job"),
    "scenarios": Home("Scenarios", "tune apply scenarios", "argus.scenarios.profiles.job"),
    "needs": Home("Needs", "research scenarios needs", "argus.scenarios.needs.section"),
    "needs_served": Home(
        "Needs served", "research scenarios needs", "argus.scenarios.needs.served"
    ),
    "scenarios_qa": Home("Answers", "research scenarios qa", "argus.scenarios.qa.section"),
    "preferences": Home(
        "People", "research scenarios preferences", "argus.scenarios.study.preferences"
    ),
    "ablation": Home(
        "Scenario ablation", "research scenarios ablate", "argus.scenarios.ablation.section"
    ),
    "generative_search": Home(
        "Generative search", "research generative search", "argus.generative.jobs.search_section"
    ),
    "generative_failures": Home(
        "Failures", "research generative analyse", "argus.generative.failures.report"
    ),
    "kb": Home("Knowledge base", "research kb build", "argus.kb.findings"),
    "evaluation": Home("Judged questions", "evaluate", "argus.evaluation.summary"),
    "comparison": Home("Gained and lost", "evaluate", "argus.evaluation.comparison"),
    "authority": Home("Superseded documents", "check", "argus.authority.audit"),
    "lint": Home("Superseded results", "authority lint", "argus.authority.lint"),
    "harm": Home("Stale context", "research authority harm", "argus.authority.harm"),
    "scoring": Home(
        "Authority benchmark", "research authority score", "argus.authority.benchmarks.job"
    ),
}
