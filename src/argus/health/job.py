"""A check-up: everything that a job would need, tried before the job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig, as_config
from argus.health.config import ProjectParts
from argus.health.findings import HealthCheck, HealthResult
from argus.health.machine import check_extras, check_machine
from argus.health.parts import Trial, check_language_model
from argus.retrievers.config import AskingConfig

if TYPE_CHECKING:
    from argus.llm.config import ChatConfig
    from argus.llm.local_config import LocalConfig


def check_up(
    parts: ProjectParts | None = None,
    *,
    columns: FieldNames | None = None,
    asking: AskingConfig | None = None,
    encoder: EncoderConfig | str | None = None,
    model: ChatConfig | LocalConfig | None = None,
    folder: Path | str = ".",
) -> HealthResult:
    """Try machine, extras, model, documents, retriever and questions; nothing is written.

    parts: what there is to try beside machine, extras and encoder. model: a language model that is
    asked one short prompt. folder: where results would go, for the room on its disk. What fails is
    a check of the result, never an error.
    """

    def checks() -> Iterator[HealthCheck]:
        yield from check_machine(Path(folder))
        yield from check_extras()
        yield from Trial(
            parts or ProjectParts(),
            columns or FieldNames(),
            asking or AskingConfig(),
            as_config(encoder or EncoderConfig()),
        ).checks()
        if model is not None:
            yield check_language_model(model)

    return HealthResult(tuple(checks()))
