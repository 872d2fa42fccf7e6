"""What measures SPIKE's Tables 5 and 6 in recipes: answers with scenarios as context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from argus.encoders.config import EncoderConfig
from argus.scenarios.qa.compare import Arm
from argus.suite.recipes.requests import AnswerRequest
from argus.suite.recipes.setting import Setting, path_lacking
from argus.suite.recipes.sources import (
    Figures,
    Source,
    encoder_of,
    model_lacking,
    short,
    task_folder,
)
from argus.tasks.opening import open_task
from argus.tasks.task import Task

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

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._scores: dict[str, Scores] = {}

    def lacking(self, request: AnswerRequest) -> str:
        """See `Source.lacking`."""
        if (request.ranked, request.shown) not in ARMS:
            return NO_ARM
        paths = [task_folder(task) for task in request.questions]
        paths += [Path(profiles) for profiles in request.profiles]
        reasons = (*map(path_lacking, paths), model_lacking(request.encoder))
        return next(filter(None, reasons), "") or ("" if self.setting.model else NO_MODEL)

    def run_of(self, request: AnswerRequest) -> str:
        """See `Source.run_of`."""
        return repr(replace(request, ranked="documents", shown="documents"))

    def measure(self, requests: Sequence[AnswerRequest]) -> Figures:
        """See `Source.measure`: where several tasks are averaged, each is compared once."""
        run, figures = requests[0], Figures()
        oracle = any(request.ranked == "relevant" for request in requests)
        pairs = zip(run.questions, run.profiles, strict=True)
        scores = [self._of_task(*pair, run, oracle=oracle) for pair in pairs]
        for request in requests:
            values = [of_task[ARMS[request.ranked, request.shown]] for of_task in scores]
            why = next((value for value in values if isinstance(value, str)), "")
            figures[request] = why or fmean(value for value in values if isinstance(value, float))
        return figures

    def _of_task(self, place: str, profiles: str, run: AnswerRequest, *, oracle: bool) -> Scores:
        """Return what a task's answers score, arm by arm; each is asked for once.

        oracle: whether answers from all relevant documents are asked for, too.
        """
        task = open_task(place)
        encoder = encoder_of(run, task)
        key = short(f"{place} {profiles} {encoder} {oracle}")
        if key not in self._scores:
            folder = self.setting.home / f"answers-{key}"
            self._scores[key] = self._compared(task, profiles, encoder, folder, oracle=oracle)
        return self._scores[key]

    def _compared(
        self, task: Task, profiles: str, encoder: EncoderConfig, folder: Path, *, oracle: bool
    ) -> Scores:
        from argus.indexes.job import build_index
        from argus.scenarios.profiles.index import add_scenarios
        from argus.scenarios.qa.config import QASettings
        from argus.scenarios.qa.job import compare_answers

        if not task.answers or task.excluded:
            why = "exclude documents" if task.answers else "have no reference answers"
            return dict.fromkeys(ARMS.values(), f"the questions of {task.name} {why}")
        model = self.setting.model
        assert model is not None, "lacking() says so"
        index = folder / "index"
        build_index(task.documents, out=index, encoder=encoder, store=self.setting.vectors(encoder))
        add_scenarios(index, profiles, encoder=encoder, weight=WEIGHT)
        arms = compare_answers(
            index, task.queries, config=QASettings().by(model, None), answers=task.answers,
            qrels=task.qrels if oracle else None, encoder=encoder, out=folder / "qa",
        ).summary["arms"]  # fmt: skip
        return {
            arm["arm"]: "no answer was judged" if arm["mean"] is None else arm["mean"]
            for arm in arms
        }
