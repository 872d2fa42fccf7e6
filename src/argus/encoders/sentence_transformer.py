"""Encode with sentence-transformers: dense, sparse (SPLADE), late interaction (ColBERT).

From texts to vectors, or to sparse rows or rows of tokens. A dense encoder puts the model's own
prompts before texts, pools as the model does, and pools spans from its token vectors. Layers in
bfloat16 are packed for the processor (`pack_linear_layers`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from argus.cores import available_cores
from argus.data.types import FloatArray, IntArray
from argus.encoders.config import COSINE, DOT, Prompts, resolve_prompts
from argus.encoders.models import ON_CPU, BatchSizes, DenseEncoder, ModelEncoder
from argus.encoders.protocol import Family, R, SparseRows, TokenRows
from argus.errors import InputError

T = TypeVar("T")

# Measured on an H100: `python -m benchmarks accelerator`.
ON_GPU: BatchSizes = 32_768, 1_024, 8_192
# Fast tokenizers may not be used from two threads at once.
_TOKENIZING = Lock()
# Of the largest value: two roundings to bfloat16 apart.
_TOLERANCE = 0.02


class TorchEncoder(ModelEncoder[R]):
    """Base of the encoders on a loaded model of sentence-transformers.

    similarities: how rows are compared, by the model's own name for it.
    """

    similarities: Mapping[str, str]

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        precision: str = "float32",
        prompts: Prompts | None = None,
    ) -> None:
        """Take a model as it is. prompts: None for its own."""
        # The digest now: packing hides weights from a later look.
        source = f"sentence-transformers:{name}@{weights_digest(model)}"
        prompts = prompts or resolve_prompts(model.prompts or {})
        super().__init__(source, prompts=prompts, precision=precision, pooling=self.family)
        self.model, self.name = model.eval(), name
        ranks_by = str(model.similarity_fn_name)
        if ranks_by not in self.similarities:
            got = f"a model that ranks by {ranks_by}"
            expected = f"one that ranks by {' or '.join(self.similarities)}"
            fix = "Name another; a retriever that ranks so can be asked itself, with --retriever."
            raise InputError(got, expected=expected, fix=fix, where="--encoder")
        self.similarity = self.similarities[ranks_by]

    @property
    def max_tokens(self) -> int | None:
        """Longest document in tokens, special tokens included. None when unlimited."""
        first = next(iter(self.model.children()), None)
        limits = (self.model.max_seq_length, getattr(first, "document_length", None))
        return min((int(n) for n in limits if n and not math.isinf(n)), default=None)

    def _tokenize(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        tokenizer = self.model.tokenizer
        if not callable(tokenizer):  # a tokenizers.Tokenizer, as models of static vectors have it
            return [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        ids: list[list[int]] = tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        return ids

    def _call(self, texts: Sequence[str], prompt: str, task: str, **options: Any) -> Any:
        """Return what the library's own `encode` makes of one batch."""
        options |= {"batch_size": len(texts), "show_progress_bar": False}
        return self.model.encode(list(texts), prompt=prompt, task=task, **options)


class SentenceTransformerEncoder(TorchEncoder[FloatArray], DenseEncoder):
    """Wraps a loaded SentenceTransformer.

    One forward pass gives both the sentence vector, through all of the model's modules, and the
    token vectors that spans are pooled from.
    """

    def __init__(self, model: Any, **settings: Any) -> None:
        self._modules = list(model.children())
        self._kinds = [type(module).__name__ for module in self._modules]
        is_unit = self._kinds[-1] == "Normalize"
        own = {DOT: COSINE, "euclidean": COSINE} if is_unit else {DOT: DOT}
        self.similarities = {COSINE: COSINE, **own}
        super().__init__(model, **settings)
        self.pooling, self.pools_spans = "none", False
        if "Pooling" in self._kinds:
            pooling = self._modules[self._kinds.index("Pooling")]
            self.pooling = getattr(pooling, "pooling_mode", "pooled")
            # Mentions are found by the offsets of characters, which slow tokenizers lack.
            self.pools_spans = bool(getattr(model.tokenizer, "is_fast", False))
            self.pads_left = getattr(model.tokenizer, "padding_side", "") == "left"
        on_cpu = model.device.type == "cpu"
        self.sizes, self.workers = (ON_CPU, available_cores()) if on_cpu else (ON_GPU, 1)

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        known = self.model.get_embedding_dimension()
        return int(known or self._forward([""], "", "query")[0].shape[1])

    def _map(
        self, work: Callable[[list[int]], T], counts: Sequence[int]
    ) -> list[tuple[list[int], T]]:
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(1 if self.workers > 1 else threads)
            return super()._map(work, counts)
        finally:
            torch.set_num_threads(threads)

    def _forward(
        self, texts: Sequence[str], prompt: str, task: str
    ) -> tuple[FloatArray, FloatArray]:
        device = self.model.device
        kernels: AbstractContextManager[None] = nullcontext()
        if device.type == "cuda":  # cuDNN's attention plans anew for every shape of a batch
            names = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH
            kernels = sdpa_kernel(list(names))
        with _TOKENIZING:
            features = self.model.preprocess(list(texts), prompt=prompt or None, task=task)
        features = {
            k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in features.items()
        }
        with torch.inference_mode(), kernels:
            by_task = {"task": task} if "Router" in self._kinds else {}
            out = self.model(features, **by_task)
        texts_vectors = _to_numpy(out["sentence_embedding"])
        tokens = _to_numpy(out["token_embeddings"]) if self.pools_spans else texts_vectors[:, None]
        return texts_vectors, tokens

    def _offsets(self, texts: Sequence[str]) -> list[IntArray]:
        encoded = self.model.tokenizer(
            list(texts), truncation=False, return_offsets_mapping=True, verbose=False
        )
        return [np.array(offsets, np.int64) for offsets in encoded["offset_mapping"]]

    def _after_pooling(self, pooled: FloatArray) -> FloatArray:
        """Send pooled token vectors through the modules behind pooling (Dense, Normalize, ...)."""
        first = self._kinds.index("Pooling") + 1
        if set(self._kinds[first:]) <= {"Normalize"}:
            return pooled  # unit_rows does the same, in full precision
        vectors = torch.from_numpy(pooled).to(self.model.device, self.model.dtype)
        features: dict[str, Any] = {"sentence_embedding": vectors}
        with torch.inference_mode():
            for module in self._modules[first:]:
                features = module(features)
        return _to_numpy(features["sentence_embedding"])


class SparseTextEncoder(TorchEncoder[SparseRows]):
    """A weight per term of the model's vocabulary. Nearly all are zero. Compared by dot product."""

    family: Family = "sparse"
    similarities: Mapping[str, str] = {DOT: "sparse-dot"}

    @cached_property
    def dim(self) -> int:
        """Terms of the vocabulary, of a word that is embedded: before, the model may not know."""
        return int(self._call(["dimension"], "", "document").shape[1])

    def _encode_batch(self, texts: Sequence[str], prompt: str, task: str) -> SparseRows:
        encoded = self._call(texts, prompt, task, save_to_cpu=True).coalesce()
        places, weights = encoded.indices().numpy(), encoded.values().float().numpy()
        shape = len(texts), self.dim
        matrix = csr_array((weights, (places[0], places[1])), shape=shape, dtype=np.float32)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return SparseRows(matrix)


class LateEncoder(TorchEncoder[TokenRows]):
    """A vector per token, compared by MaxSim.

    The tokens are those that the model scores: with the expansion of a query, without those that it
    skips in documents. A model that ranks by the mean ranks the same.
    """

    family: Family = "tokens"
    similarities: Mapping[str, str] = {"maxsim": "maxsim", "meanmaxsim": "maxsim"}

    @cached_property
    def dim(self) -> int:
        """Length of a token vector."""
        return int(self._call(["dimension"], "", "document")[0].shape[1])

    def _encode_batch(self, texts: Sequence[str], prompt: str, task: str) -> TokenRows:
        return TokenRows.of(self._call(texts, prompt, task, convert_to_numpy=True), self.dim)


class PackedLinear(nn.Module):
    """A linear layer for inference: weight in oneDNN's blocked layout, GELU fused if asked.

    numel: how many parameters it stands for. None is registered, since none can be moved or cast.
    """

    def __init__(self, linear: nn.Linear, *, gelu: bool = False) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().clone())
        self.bias = None if linear.bias is None else linear.bias.detach()
        self.numel = sum(p.numel() for p in linear.parameters())
        self.fused = ("gelu", "none") if gelu else ("none", "")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x @ weight.T + bias`, through GELU if fused. x: (..., n_in)."""
        activation, algorithm = self.fused
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.weight, self.bias, activation, [], algorithm
        )
        return out


def pack_linear_layers(model: nn.Module) -> int:
    """Replace the bfloat16 linear layers of a CPU model where that is exact. Return how many.

    Without this, oneDNN rearranges every weight in every call. The operators used are those that
    torch.compile emits when it freezes a model. They are not a documented interface, so each layer
    is checked against the layer it replaces, and left alone if they are missing or disagree. In
    BERT's feed-forward blocks the activation behind the first layer is fused into it.
    """
    if not torch.backends.mkldnn.is_available():
        return 0
    packed = 0
    with torch.inference_mode():
        for parent in list(model.modules()):
            layers = dict(parent.named_children())
            dense, activation = layers.get("dense"), layers.get("intermediate_act_fn")
            if dense is not None and activation is not None:
                fused = _replacement(dense, nn.Sequential(dense, activation), gelu=True)
                if fused is not None:
                    parent.dense, parent.intermediate_act_fn = fused, nn.Identity()
                    packed += 1
            for name, layer in list(parent.named_children()):
                replacement = _replacement(layer, layer)
                if replacement is not None:
                    setattr(parent, name, replacement)
                    packed += 1
    return packed


def _replacement(
    layer: nn.Module, reference: nn.Module, *, gelu: bool = False
) -> PackedLinear | None:
    """Return the packed layer if it agrees with `reference` on values of a usual size."""
    if type(layer) is not nn.Linear or layer.weight.dtype != torch.bfloat16:
        return None
    sample = torch.linspace(-2, 2, 3 * layer.in_features, dtype=torch.bfloat16)
    sample = sample.reshape(1, 3, layer.in_features)
    try:
        candidate = PackedLinear(layer, gelu=gelu)
        expected = reference(sample).float()
        difference = (candidate(sample).float() - expected).abs().max()
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return None
    is_close = float(difference) <= _TOLERANCE * max(1.0, float(expected.abs().max()))
    return candidate if is_close else None


def weights_digest(model: torch.nn.Module) -> str:
    """Return 12 hexadecimal digits that identify a model's weights, whatever their precision.

    Hashes name, shape and all values of every tensor, rounded to bfloat16: a model has one digest
    in float32 and bfloat16. Precision is a field of its own.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        values = tensor.detach().to("cpu", torch.bfloat16).contiguous().view(-1)
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(values.view(torch.uint8).numpy().data)
    return digest.hexdigest()[:12]


def _to_numpy(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)
