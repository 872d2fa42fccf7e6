"""`argus doctor`: whether everything is there that a job would need, and what to mend."""

from __future__ import annotations

from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.health.config import ProjectParts
from argus.llm.config import PANEL
from argus.retrievers.config import AskingConfig
from argus.settings import Doc, Option


@example("argus doctor --corpus docs.jsonl")
@with_blocks
def doctor(
    *,
    parts: ProjectParts,
    columns: FieldNames,
    asking: AskingConfig,
    encoder: EncoderConfig,
    llm: Annotated[
        str | None,
        Doc("A language model that is asked one short prompt: its name at an endpoint, or local:."),
        Option(panel=PANEL),
    ] = None,
    llm_base_url: Annotated[
        str | None, Doc("Its endpoint; default: as for --base-url."), Option(panel=PANEL)
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Try machine, extras, model, documents, retriever, questions: exit 0, or 2 and what to mend.

    Nothing is written. What is not named is not tried, the encoder excepted; an extra that is not
    installed is a note. With --config argus.toml it tries what `argus init` wrote down.
    """
    from argus.health.job import check_up

    key = None if llm is None else encoder.api_key_env
    language = LanguageModel(model=llm, base_url=llm_base_url, api_key_env=key)
    result = check_up(
        parts, columns=columns, asking=asking, encoder=encoder, model=language.config()
    )
    o.show(result, as_json=json)
    raise typer.Exit(result.exit_code)
