"""Which encoder, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.devices import Device
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.settings import Choices, Doc, Ge, Option, check_settings

DEFAULT_MODEL = "all-MiniLM-L6-v2"
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_PANEL = "Encoder"


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Which encoder, and how it is run."""

    model: Annotated[
        str,
        Doc("sentence-transformers name or folder, or openai:MODEL."),
        Option(("--encoder",)),
    ] = DEFAULT_MODEL
    base_url: Annotated[str, Doc("Endpoint of openai:MODEL encoders."), Option(panel=_PANEL)] = (
        BASE_URL
    )
    api_key_env: Annotated[
        str, Doc("Environment variable that holds the API key."), Option(panel=_PANEL)
    ] = API_KEY_ENV
    precision: Annotated[
        str,
        Choices(PRECISIONS),
        Doc("auto (checked on your texts), float32, bfloat16, float16."),
        Option(panel=_PANEL),
    ] = "auto"
    device: Device = None
    batch_size: Annotated[
        int, Ge(1), Doc("Texts per request to an endpoint."), Option(("--batch",), panel=_PANEL)
    ] = 64
    concurrency: Annotated[
        int, Ge(1), Doc("Requests at once to an endpoint."), Option(panel=_PANEL)
    ] = 4

    def __post_init__(self) -> None:
        check_settings(self)
