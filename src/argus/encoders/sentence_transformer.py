"""Any sentence-transformers model: prompts respected, token spans pooled, precision explicit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.cores import available_cores
from argus.data.types import FloatArray, IntArray, Span
from argus.encoders.protocol import Fingerprint, unit_rows
from argus.encoders.windows import place_window
from argus.errors import EncodingError

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # in sentence-transformers' order
BATCH_TOKENS = 2048  # padded tokens per batch; larger ones leave the caches (measured)
MAX_BATCH = 64


class SentenceTransformerEncoder:
    """Wraps a loaded SentenceTransformer.

    One forward pass gives both the sentence vector, through all of the model's modules, and the
    token vectors that spans are pooled from. Texts are read in batches of similar token count.
    """

    def __init__(
        self, model: SentenceTransformer, *, name: str, precision: str = "float32"
    ) -> None:
        self.model, self.name, self.precision = model, name, precision
        self._tokenizing = Lock()  # fast tokenizers may not be used from two threads at once
        model.eval()

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        return int(
            self.model.get_embedding_dimension() or self._forward([""], "", "query")[0].shape[1]
        )

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, special tokens included."""
        return self.model.max_seq_length

    @cached_property
    def fingerprint(self) -> str:
        """Model, a digest of its weights, prompts, pooling, sizes, precision."""
        return str(
            Fingerprint(
                model=f"sentence-transformers:{self.name}",
                revision=weights_digest(self.model),
                dim=self.dim,
                max_tokens=self.max_tokens,
                precision=self.precision,
                pooling=self._pooling_name(),
                query_prompt=self._query_prompt,
                document_prompt=self._document_prompt,
            )
        )

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""
        encoded = self.model.tokenizer(
            [self._document_prompt + t for t in texts], truncation=False, verbose=False
        )
        return np.array([len(ids) for ids in encoded["input_ids"]], np.int64)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows; the model's query prompt is put in front."""
        return self._sentences(texts, self._query_prompt, "query")

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows; texts beyond the window are cut, as in any index."""
        return self._sentences(texts, self._document_prompt, "document")

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return (n, dim), unit rows: token vectors averaged over `spans[i]` in `texts[i]`.

        `g(H, s) = 1/|s| Σ_{i∈s} H_i` (ARGUS §B.4), then the model's own modules after pooling.
        One forward pass per text, or per window of a text that is too long. A model without token
        vectors gives the sentence vector. Raises EncodingError for a span longer than the window.
        """
        if not self._has_tokens:
            return self.encode_documents(texts)
        windows: dict[str, list[tuple[int, Span]]] = {}
        for i, (text, span) in enumerate(self._windowed(texts, spans)):
            windows.setdefault(text, []).append((i, span))
        out = np.empty((len(texts), self.dim), np.float32)
        distinct = list(windows)

        def pool(batch: list[int]) -> None:
            chosen = [distinct[i] for i in batch]
            _, tokens, offsets = self._forward(
                chosen, self._document_prompt, "document", spans=True
            )
            for row, text in enumerate(chosen):
                for i, span in windows[text]:
                    place = span.shift(len(self._document_prompt))
                    inside = (offsets[row, :, 0] < place.end) & (offsets[row, :, 1] > place.start)
                    inside &= offsets[row, :, 1] > offsets[row, :, 0]  # special tokens are empty
                    out[i] = tokens[row][inside].mean(axis=0)

        self._run(self._batches(distinct), pool)
        return unit_rows(self._after_pooling(out))

    def _sentences(self, texts: Sequence[str], prompt: str, task: str) -> FloatArray:
        out = np.empty((len(texts), self.dim), np.float32)

        def encode(batch: list[int]) -> None:
            out[batch] = self._forward([texts[i] for i in batch], prompt, task)[0]

        self._run(self._batches(texts), encode)
        return unit_rows(out)

    def _run(self, batches: Iterator[list[int]], work: Callable[[list[int]], None]) -> None:
        """Do `work` on every batch: on a CPU one batch per core, each on one thread.

        That is faster than all cores on one batch, whose threads wait for each other in every
        operation.
        """
        import torch

        waiting = list(batches)
        workers = min(available_cores(), len(waiting)) if self.model.device.type == "cpu" else 1
        if workers <= 1:
            for batch in waiting:
                work(batch)
            return
        threads = torch.get_num_threads()
        try:
            with ThreadPoolExecutor(
                workers, initializer=torch.set_num_threads, initargs=(1,)
            ) as pool:
                list(pool.map(work, waiting))
        finally:
            torch.set_num_threads(threads)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yield positions, longest texts first, at most BATCH_TOKENS padded tokens each."""
        counts = np.minimum(self.count_tokens(texts), self.max_tokens or 1 << 30)
        batch: list[int] = []
        for i in np.argsort(-counts, kind="stable"):
            if batch and (
                (len(batch) + 1) * counts[batch[0]] > BATCH_TOKENS or len(batch) == MAX_BATCH
            ):
                yield batch
                batch = []
            batch.append(int(i))
        if batch:
            yield batch

    def _forward(
        self, texts: Sequence[str], prompt: str, task: str, *, spans: bool = False
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return sentence vectors (n, dim), and on request token vectors and character offsets."""
        import torch

        with self._tokenizing:
            features = self.model.preprocess(list(texts), prompt=prompt or None, task=task)
            offsets = self._offsets(texts, prompt) if spans else np.empty(0, np.int64)
        features = {
            k: v.to(self.model.device) if isinstance(v, torch.Tensor) else v
            for k, v in features.items()
        }
        with torch.inference_mode():
            out = self.model(features, task=task) if self._is_routed else self.model(features)
        sentence = _to_numpy(out["sentence_embedding"])
        if not spans:
            return sentence, np.empty(0, np.float32), offsets
        if offsets.shape[:2] != tuple(out["token_embeddings"].shape[:2]):
            raise EncodingError(
                f"{self.name}: the tokenizer gives {offsets.shape[:2]} tokens, the model "
                f"{tuple(out['token_embeddings'].shape[:2])}; span pooling needs them equal. "
                "Use --pooling sentence for this model.",
                retryable=True,
            )
        return sentence, _to_numpy(out["token_embeddings"]), offsets

    def _offsets(self, texts: Sequence[str], prompt: str) -> IntArray:
        """Return the character range of every token, shape (n, n_tokens, 2), prompt included."""
        tokenized = self.model.tokenizer(
            [prompt + text for text in texts],
            padding=True,
            truncation=True,
            max_length=self.max_tokens,
            return_offsets_mapping=True,
        )
        return np.array(tokenized["offset_mapping"], np.int64)

    def _windowed(self, texts: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[str, Span]]:
        limit = self.max_tokens
        if limit is None:
            yield from zip(texts, spans, strict=True)
            return
        fixed = int(self.count_tokens([""])[0])  # special tokens and prompt
        counts = self.count_tokens(texts)
        for text, span, count in zip(texts, spans, counts, strict=True):
            if count <= limit:
                yield text, span
                continue
            encoded = self.model.tokenizer(
                text,
                add_special_tokens=False,
                truncation=False,
                return_offsets_mapping=True,
                verbose=False,
            )
            yield place_window(text, span, encoded["offset_mapping"], limit - fixed)

    def _after_pooling(self, pooled: FloatArray) -> FloatArray:
        """Send pooled token vectors through the modules behind pooling (Dense, Normalize, ...)."""
        import torch

        modules = list(self.model.children())
        position = next(i for i, m in enumerate(modules) if type(m).__name__ == "Pooling")
        features: dict[str, Any] = {
            "sentence_embedding": torch.from_numpy(pooled).to(self.model.device, self.model.dtype)
        }
        if not any(type(m).__name__ != "Normalize" for m in modules[position + 1 :]):
            return pooled  # unit_rows does the same, in full precision
        with torch.inference_mode():
            for module in modules[position + 1 :]:
                features = module(features)
        return _to_numpy(features["sentence_embedding"])

    @cached_property
    def _has_tokens(self) -> bool:
        modules = [type(m).__name__ for m in self.model.children()]
        return "Pooling" in modules and bool(getattr(self.model.tokenizer, "is_fast", False))

    @cached_property
    def _is_routed(self) -> bool:
        return any(type(m).__name__ == "Router" for m in self.model.children())

    @property
    def _query_prompt(self) -> str:
        return self._prompt(("query",))

    @property
    def _document_prompt(self) -> str:
        return self._prompt(DOCUMENT_PROMPTS)

    def _prompt(self, names: Sequence[str]) -> str:
        prompts = self.model.prompts or {}
        name = next((n for n in names if n in prompts), self.model.default_prompt_name)
        return (prompts.get(name) if name else None) or ""

    def _pooling_name(self) -> str:
        for module in self.model.children():
            if type(module).__name__ == "Pooling":
                return str(getattr(module, "pooling_mode", "pooled"))
        return "none"


def weights_digest(model: torch.nn.Module) -> str:
    """Return 12 hexadecimal digits that identify a model's weights, whatever their precision.

    Hashes name, shape and the first values of every tensor, rounded to bfloat16, so that the same
    model loaded in another precision (a field of its own) keeps its digest.
    """
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        head = tensor.detach().flatten()[:256].to("cpu", torch.bfloat16).float().numpy()
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(head.tobytes())
    return digest.hexdigest()[:12]


def _to_numpy(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)
