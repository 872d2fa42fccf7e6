"""Settings of an encoder: model, prompts, pooling, precision, endpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from argus.devices import Device
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.settings import Choices, Doc, Ge, Option, check_settings

E = TypeVar("E")

DEFAULT_MODEL = "all-MiniLM-L6-v2"
COSINE, DOT = "cosine", "dot"
"""Similarities: rows have length 1, or the length of a row counts."""
TokenPooling = Literal["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"]
"""Names that sentence-transformers uses."""
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_PANEL = "Encoder"


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Settings of an encoder."""

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
    query_prompt: Annotated[
        str | None,
        Doc(
            "Put before queries: a text, or a name of the model's own. Default: as the model says."
        ),
        Option(panel=_PANEL),
    ] = None
    document_prompt: Annotated[
        str | None,
        Doc("Before documents, likewise."),
        Option(panel=_PANEL),
    ] = None
    token_pooling: Annotated[
        TokenPooling | None,
        Doc("How token vectors become one. Default: as the model says."),
        Option(("--encoder-pooling",), panel=_PANEL),
    ] = None
    revision: Annotated[
        str | None, Doc("Commit (or branch, tag) of a model of the hub."), Option(panel=_PANEL)
    ] = None
    trust_remote_code: Annotated[
        bool,
        Doc("Run code that comes with the model; of the hub only at a pinned --revision."),
        Option(panel=_PANEL),
    ] = False
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
        self._check_place()
        self._check_revision()

    @property
    def is_endpoint(self) -> bool:
        """True if texts are embedded by an endpoint, not here."""
        return self.model.startswith("openai:")

    def _check_place(self) -> None:
        """Refuse options of a model of the hub for a folder or an endpoint."""
        if not self.is_endpoint and not Path(self.model).is_dir():
            return
        what, options = "a folder", {"--revision": self.revision is not None}
        if self.is_endpoint:
            what = "an endpoint"
            options["--trust-remote-code"] = self.trust_remote_code
            options["--encoder-pooling"] = self.token_pooling is not None
        for option in (option for option, is_set in options.items() if is_set):
            raise InputError(
                f"{option} beside {self.model!r}, which is {what}",
                expected="a model of the hub",
                fix=f"Leave {option} out.",
                where=option,
            )

    def _check_revision(self) -> None:
        """Refuse code of the hub without a pinned commit, which may be other code tomorrow."""
        if not self.trust_remote_code or Path(self.model).is_dir():
            return
        if re.fullmatch("[0-9a-f]{40}", self.revision or "") is None:
            raise InputError(
                "--trust-remote-code without a pinned revision"
                if self.revision is None
                else f"{self.revision!r}, which may name other code tomorrow",
                expected="the 40 digits of the commit whose code you have read",
                fix="Give --revision COMMIT, or a folder that holds the model.",
                where="--revision",
            )


def as_config(encoder: E | EncoderConfig | str | Path) -> E | EncoderConfig:
    """Return settings of a name or a folder. Settings and loaded encoders stay as they are."""
    return EncoderConfig(model=str(encoder)) if isinstance(encoder, (str, Path)) else encoder
