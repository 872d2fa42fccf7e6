"""Settings of an encoder, and the prompts that it puts before queries and documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from argus.devices import Device
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.python_file import is_own
from argus.settings import Choices, Ge, Option, check_settings

E = TypeVar("E")

DEFAULT_MODEL = "all-MiniLM-L6-v2"
NONE = "none"  # name of an encoder that is none
# Similarities: rows have length 1, or the length of a row counts.
COSINE, DOT = "cosine", "dot"
PRECISIONS = ("int8", "float32", "bfloat16", "float16")
_ENCODER = Option(panel="Encoder")


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Settings of an encoder.

    Attributes:
        model: sentence-transformers name or folder, FILE.onnx, openai:MODEL, or your own:
            FILE.py:NAME.
        base_url: Endpoint of openai:MODEL encoders.
        api_key_env: Environment variable that holds the API key.
        query_prompt: Put before queries: a text, or a name of the model's own. Default: as the
            model says.
        document_prompt: Before documents, likewise.
        revision: Commit (or branch, tag) of a model of the hub.
        precision: float32, bfloat16 or float16 on torch. Default: int8 of the default model, which
            needs no torch, and float32 of others.
        batch_size: Texts per request to an endpoint.
        concurrency: Requests at once to an endpoint.
    """

    model: Annotated[str, Option(("--encoder",))] = DEFAULT_MODEL
    base_url: Annotated[str, _ENCODER] = BASE_URL
    api_key_env: Annotated[str, _ENCODER] = API_KEY_ENV
    query_prompt: Annotated[str | None, _ENCODER] = None
    document_prompt: Annotated[str | None, _ENCODER] = None
    revision: Annotated[str | None, _ENCODER] = None
    precision: Annotated[str | None, Choices(PRECISIONS), _ENCODER] = None
    device: Device = None
    batch_size: Annotated[int, Ge(1), Option(("--batch",), "Encoder")] = 64
    concurrency: Annotated[int, Ge(1), _ENCODER] = 4

    def __post_init__(self) -> None:
        """Refuse values that no encoder has."""
        check_settings(self)

    @property
    def is_default(self) -> bool:
        """True if it is the default model, in any precision."""
        is_other = self.revision is not None or Path(self.model).is_dir()
        return self.model.removeprefix("sentence-transformers/") == DEFAULT_MODEL and not is_other

    @property
    def is_packaged(self) -> bool:
        """True if its weights come with Argus, and it needs no torch. On a GPU it does."""
        is_int8 = self.precision in (None, "int8") and self.device in (None, "cpu")
        return self.is_default and is_int8

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


QUERY_NAMES = (
    "query", "search_query", "retrieval.query", "question", "queries", "web_search_query",
)  # fmt: skip
# Names of such prompts in models. The first with a text is used.
DOCUMENT_NAMES = (
    "document", "passage", "corpus", "search_document", "retrieval.passage", "retrieval.document",
    "documents", "passages",
)  # fmt: skip


class Prompts(NamedTuple):
    """Texts before queries and before documents."""

    query: str = ""
    document: str = ""


def resolve_prompts(
    prompts: Mapping[str, str | None], *, query: str | None = None, document: str | None = None
) -> Prompts:
    """Return the prompts to use.

    prompts: the model's own, by name. query, document: a text, or the name of one of them. None
    takes the model's own. Raises InputError for a word that is no name of theirs and, without a
    space or a colon, no prompt either.
    """
    own = {name: text or "" for name, text in prompts.items()}
    found = []
    for option, prompt, usual in (
        ("--query-prompt", query, QUERY_NAMES),
        ("--document-prompt", document, DOCUMENT_NAMES),
    ):
        if prompt is None:
            name = next((name for name in usual if own.get(name)), "")
            found.append(own.get(name, ""))
        elif prompt in own:
            found.append(own[prompt])
        elif re.fullmatch(r"[\w.\-]+", prompt):
            expected = "a text, since the model has no prompts of its own"
            if own:
                expected = f"one of the model's prompts ({', '.join(map(repr, own))})"
            fix = f"Give the text as it stands before a query or document, as in {prompt + ': '!r}."
            raise InputError(repr(prompt), expected=expected, fix=fix, where=option)
        else:
            found.append(prompt)
    return Prompts(*found)
