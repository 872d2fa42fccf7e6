"""Settings of an encoder: model, prompts, pooling, precision, endpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from argus.devices import Device
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.python_file import is_own
from argus.settings import Choices, Ge, Option, check_settings

E = TypeVar("E")

DEFAULT_MODEL = "all-MiniLM-L6-v2"
NONE = "none"  # name of an encoder that is none
COSINE, DOT = "cosine", "dot"
"""Similarities: rows have length 1, or the length of a row counts."""
TokenPooling = Literal["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"]
"""Names that sentence-transformers uses."""
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_ENCODER = Option(panel="Encoder")


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Settings of an encoder.

    Attributes:
        model: sentence-transformers name or folder, openai:MODEL, or your own: FILE.py:NAME.
        base_url: Endpoint of openai:MODEL encoders.
        api_key_env: Environment variable that holds the API key.
        query_prompt: Put before queries: a text, or a name of the model's own. Default: as the
            model says.
        document_prompt: Before documents, likewise.
        token_pooling: How token vectors become one. Default: as the model says.
        revision: Commit (or branch, tag) of a model of the hub.
        trust_remote_code: Run code that comes with the model; of the hub only at a pinned
            --revision.
        precision: auto (checked on your texts), float32, bfloat16, float16.
        batch_size: Texts per request to an endpoint.
        concurrency: Requests at once to an endpoint.
    """

    model: Annotated[str, Option(("--encoder",))] = DEFAULT_MODEL
    base_url: Annotated[str, _ENCODER] = BASE_URL
    api_key_env: Annotated[str, _ENCODER] = API_KEY_ENV
    query_prompt: Annotated[str | None, _ENCODER] = None
    document_prompt: Annotated[str | None, _ENCODER] = None
    token_pooling: Annotated[TokenPooling | None, Option(("--encoder-pooling",), "Encoder")] = None
    revision: Annotated[str | None, _ENCODER] = None
    trust_remote_code: Annotated[bool, _ENCODER] = False
    precision: Annotated[str, Choices(PRECISIONS), _ENCODER] = "auto"
    device: Device = None
    batch_size: Annotated[int, Ge(1), Option(("--batch",), "Encoder")] = 64
    concurrency: Annotated[int, Ge(1), _ENCODER] = 4

    def __post_init__(self) -> None:
        """Refuse options of a model of the hub beside others, and code without a pinned commit."""
        check_settings(self)
        is_folder = Path(self.model).is_dir()
        if self.is_endpoint or is_folder:
            what, options = "a folder", {"--revision": self.revision is not None}
            if self.is_endpoint:
                what = "an endpoint"
                options["--trust-remote-code"] = self.trust_remote_code
                options["--encoder-pooling"] = self.token_pooling is not None
            for option in (option for option, is_set in options.items() if is_set):
                got = f"{option} beside {self.model!r}, which is {what}"
                fix = f"Leave {option} out."
                raise InputError(got, expected="a model of the hub", fix=fix, where=option)
        is_pinned = re.fullmatch("[0-9a-f]{40}", self.revision or "") is not None
        if self.trust_remote_code and not is_folder and not is_pinned:
            got = f"code at revision {self.revision!r}, which may be other code tomorrow"
            expected = "the 40 digits of the commit whose code you have read"
            fix = "Give --revision COMMIT, or a folder that holds the model."
            raise InputError(got, expected=expected, fix=fix, where="--revision")

    @property
    def is_endpoint(self) -> bool:
        """True if texts are embedded by an endpoint, not here."""
        return self.model.startswith("openai:")

    @property
    def is_python(self) -> bool:
        """True if it is code of the user: FILE.py or FILE.py:NAME."""
        return is_own(self.model)


def as_config(encoder: E | EncoderConfig | str | Path) -> E | EncoderConfig:
    """Return settings of a name or a folder. Settings and loaded encoders stay as they are."""
    return EncoderConfig(model=str(encoder)) if isinstance(encoder, (str, Path)) else encoder
