"""What measures ARGUS' Table 4 in recipes: how reachable retrieved relevant documents are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from argus.measures.association import AssociationFigures
from argus.remedies.config import NER, NER_MODEL
from argus.suite.recipes.requests import GoldRequest
from argus.suite.recipes.setting import path_lacking, write_stdlib
from argus.suite.recipes.sources import (
    Figures,
    Source,
    data_lacking,
    encoder_of,
    model_lacking,
    short,
    task_folder,
)


class OfGold(Source[GoldRequest]):
    """Differences of ARGUS' Table 4: one diagnosis and one search per collection and encoder."""

    def lacking(self, request: GoldRequest) -> str:
        """See `Source.lacking`."""
        kind, _, model = request.mentions.partition(":")
        reasons = (
            data_lacking(task_folder(request.judged), self.setting),
            model_lacking(request.encoder),
            path_lacking(Path(request.probe)) if request.probe else "",
            data_lacking(Path(request.kb), self.setting) if request.kb else "",
            model_lacking(model or NER_MODEL) if kind == NER else "",
        )
        return next(filter(None, reasons), "")

    def is_sure(self, request: GoldRequest) -> bool:
        """See `Source.is_sure`: all relevant documents may come back, or none."""
        return False

    def run_of(self, request: GoldRequest) -> str:
        """See `Source.run_of`."""
        return repr(replace(request, k=10))

    def measure(self, requests: Sequence[GoldRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.evaluation.job import evaluate
        from argus.indexes.job import build_index
        from argus.remedies.config import ReferenceConfig
        from argus.remedies.diagnosis import diagnose
        from argus.suite.measuring import digest
        from argus.tasks.opening import open_task

        run = requests[0]
        for place in (task_folder(run.judged), Path(run.kb)):
            write_stdlib(place, self.setting.stdlib)
        task = open_task(run.judged)
        encoder = encoder_of(run, task)
        store = self.setting.vectors(encoder)
        folder = self.setting.home / f"gold-{short(f'{self.run_of(run)} {digest(task)}')}"
        diagnose(
            task.documents, out=folder / "diagnosis", encoder=encoder, store=store,
            probe=run.probe or None,
            reference=ReferenceConfig(
                kb=(Path(run.kb),) if run.kb else (), mentions=run.mentions
            ),
        )  # fmt: skip
        build_index(task.documents, out=folder / "index", encoder=encoder, store=store)
        summary = evaluate(
            task.queries, task.qrels, indexes=[str(folder / "index")],
            exact=True, diagnosis=folder / "diagnosis", excluded=task.excluded,
            out=folder / "evaluation",
        ).summary  # fmt: skip
        assert summary["association"] is not None, "a diagnosis was given"
        by_k = {figures["k"]: figures for figures in summary["association"][0]}
        return {request: _difference(by_k[request.k]) for request in requests}


def _difference(figures: AssociationFigures) -> float | str:
    if figures["difference"] is not None:
        return figures["difference"]
    if not figures["retrieved"] + figures["unretrieved"]:
        return "no relevant document has an entity with a predicted RPS"
    side = "outside" if figures["retrieved"] else "among"
    return f"no relevant document with an entity is {side} the first {figures['k']}"
