"""What measures SPIKE's Tables 5 and 6 in recipes: answers with scenarios as context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from argus.scenarios.qa.compare import Arm
from argus.suite.recipes.requests import AnswerRequest
from argus.suite.recipes.setting import path_lacking
from argus.suite.recipes.sources import (
    Figures,
    Source,
    encoder_of,
    model_lacking,
    short,
    task_folder,
)
from argus.tasks.opening import open_task

NO_MODEL = (
    "no language model is named: --model NAME answers and judges, --base-url and --api-key-env as "
    "for argus scenarios qa"
)
ARMS = {
    ("documents", "documents"): Arm.DOCUMENTS, ("scenarios", "documents"): Arm.FUSED,
    ("scenarios", "scenarios"): Arm.FUSED_SCENARIOS, ("relevant", "documents"): Arm.ORACLE,
    ("relevant", "scenarios"): Arm.ORACLE_SCENARIOS,
}  # fmt: skip
"""By what ranks documents, and what of them is shown."""
NO_ARM = "scenarios are shown where they rank, as in the paper"
WEIGHT = 0.7
"""λ of SPIKE's main tables (section 4.1), with its component M+E."""
Scores = Mapping[str, float | str]
"""Mean score of each arm, or why it has none."""


class OfAnswers(Source[AnswerRequest]):
    """Scores of `argus scenarios qa`: one comparison per task and encoder, its arms together."""

    def lacking(self, request: AnswerRequest) -> str:
        """See `Source.lacking`."""
        if (request.ranked, request.shown) not in ARMS:
            return NO_ARM
        reasons = (
            path_lacking(task_folder(request.questions)), path_lacking(Path(request.profiles)),
            model_lacking(request.encoder),
        )  # fmt: skip
        return next(filter(None, reasons), "") or ("" if self.setting.model else NO_MODEL)

    def is_sure(self, request: AnswerRequest) -> bool:
        """See `Source.is_sure`: questions may have no answers, or a model no verdict."""
        return False

    def run_of(self, request: AnswerRequest) -> str:
        """See `Source.run_of`."""
        return repr(replace(request, ranked="documents", shown="documents"))

    def measure(self, requests: Sequence[AnswerRequest]) -> Figures:
        """See `Source.measure`. All relevant documents are shown only where a request says so."""
        oracle = any(request.ranked == "relevant" for request in requests)
        scores = self._compared(requests[0], oracle=oracle)
        return {request: scores[ARMS[request.ranked, request.shown]] for request in requests}

    def _compared(self, run: AnswerRequest, *, oracle: bool) -> Scores:
        from argus.indexes.job import build_index
        from argus.scenarios.profiles.index import add_scenarios
        from argus.scenarios.qa.config import QASettings
        from argus.scenarios.qa.job import compare_answers

        task = open_task(run.questions)
        if not task.answers or task.excluded:
            why = "exclude documents" if task.answers else "have no reference answers"
            return dict.fromkeys(ARMS.values(), f"the questions of {task.name} {why}")
        model = self.setting.model
        assert model is not None, "lacking() says so"
        encoder = encoder_of(run, task)
        key = short(f"{run.questions} {run.profiles} {encoder} {oracle}")
        folder = self.setting.home / f"answers-{key}"
        index = folder / "index"
        build_index(task.documents, out=index, encoder=encoder, store=self.setting.vectors(encoder))
        add_scenarios(index, run.profiles, encoder=encoder, weight=WEIGHT)
        arms = compare_answers(
            index, task.queries, config=QASettings().by(model, None), answers=task.answers,
            qrels=task.qrels if oracle else None, encoder=encoder, out=folder / "qa",
        ).summary["arms"]  # fmt: skip
        return {
            arm["arm"]: "no answer was judged" if arm["mean"] is None else arm["mean"]
            for arm in arms
        }
