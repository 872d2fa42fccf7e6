"""Encode with models of sentence-transformers: dense, sparse (SPLADE), late interaction (ColBERT).

From texts to vectors, or to sparse rows or rows of tokens. A dense encoder puts the model's own
prompts before texts, pools as the model does, and pools spans from its token vectors. Sparse and
late-interaction encoders pool no spans: a span gets the rows of its whole text.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from argus.cores import available_cores
from argus.data.types import FloatArray, IntArray, Span
from argus.encoders.config import COSINE, DOT, Prompt, Prompts, resolve_prompts
from argus.encoders.protocol import (
    Family,
    R,
    SparseRows,
    TokenRows,
    concatenate,
    empty_rows,
    make_fingerprint,
    unit_rows,
)
from argus.errors import EncodingError, InputError

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

# A text this much shorter than the longest begins the next batch.
ALIKE = 0.8
# Tokens that cutting a text may add, as words at its ends are split otherwise.
MARGIN_TOKENS = 8


# Limits of a batch: padded tokens and texts, at most, and tokens that are enough. A batch of fewer
# takes shorter texts, too, since it would be slower per token.
BatchSizes = tuple[int, int, int]
# Measured: larger ones leave the caches.
ON_CPU: BatchSizes = 2_048, 64, 96
# Measured on an H100: `python -m benchmarks accelerator`.
ON_GPU: BatchSizes = 32_768, 1_024, 8_192
# Fast tokenizers may not be used from two threads at once.
_TOKENIZING = Lock()


class ModelEncoder(ABC, Generic[R]):
    """Base of the encoders on a loaded model.

    similarities: how rows are compared, by the model's own name for it. has_tasks: a module that
    came with the model takes a task, by the name of its prompt.
    """

    family: Family = "dense"
    similarities: Mapping[str, str]
    has_tasks = False

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        precision: str = "float32",
        prompts: Prompts | None = None,
        code: str = "",
    ) -> None:
        """Take a model as it is. prompts: None for its own. code: digest of code beside it."""
        self.model, self.name, self.precision, self.code = model, name, precision, code
        self.pooling: str = self.family
        self.prompts = prompts or resolve_prompts(model.prompts or {})
        ranks_by = str(model.similarity_fn_name)
        if ranks_by not in self.similarities:
            got = f"a model that ranks by {ranks_by}"
            expected = f"one that ranks by {' or '.join(self.similarities)}"
            fix = "Name another; a retriever that ranks so can be asked itself, with --retriever."
            raise InputError(got, expected=expected, fix=fix, where="--encoder")
        self.similarity = self.similarities[ranks_by]
        self._revision = weights_digest(model)  # now: packing hides weights from a later look
        model.eval()

    @cached_property
    @abstractmethod
    def dim(self) -> int:
        """Length of a vector, or terms of the vocabulary."""

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str], prompt: Prompt, task: str) -> R:
        """Return n rows, the prompt in front of each text. task: "query" or "document"."""

    @property
    def max_tokens(self) -> int | None:
        """Longest document in tokens, special tokens included. None when unlimited."""
        first = next(iter(self.model.children()), None)
        limits = (self.model.max_seq_length, getattr(first, "document_length", None))
        return min((int(n) for n in limits if n and not math.isinf(n)), default=None)

    @cached_property
    def fingerprint(self) -> str:
        """Model, a digest of its weights, prompts, pooling, sizes, precision, similarity."""
        parts: dict[str, object] = {"dim": self.dim, "max_tokens": self.max_tokens}
        parts |= {"precision": self.precision, "pooling": self.pooling, "normalize": "l2"}
        if self.similarity != COSINE:
            parts |= {"normalize": "none", "similarity": self.similarity}
        query, document = self.prompts.query, self.prompts.document
        parts |= {"query_prompt": repr(query.text), "document_prompt": repr(document.text)}
        if self.has_tasks and (query.name or document.name):
            parts |= {"query_task": repr(query.name), "document_task": repr(document.name)}
        parts |= {"code": self.code} if self.code else {}
        return make_fingerprint(f"sentence-transformers:{self.name}@{self._revision}", **parts)

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, prompt and special tokens included, nothing cut."""
        if not texts:
            return np.zeros(0, np.int64)
        tokenizer, prompt = self.model.tokenizer, self.prompts.document.text
        prompted = [prompt + text for text in texts]
        if callable(tokenizer):
            counted = tokenizer(prompted, truncation=False, verbose=False)["input_ids"]
        else:  # a tokenizers.Tokenizer, as models of static vectors have it
            counted = [encoding.ids for encoding in tokenizer.encode_batch(prompted)]
        return np.array([len(ids) for ids in counted], np.int64)

    def encode_queries(self, texts: Sequence[str]) -> R:
        """Return n rows, the query prompt in front of each text."""
        return self._encode(texts, self.prompts.query, "query")

    def encode_documents(self, texts: Sequence[str]) -> R:
        """Return n rows. Texts beyond the window are cut, as in any index."""
        return self._encode(texts, self.prompts.document, "document")

    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> R:
        def encode(batch: list[int]) -> R:
            return self._encode_batch([texts[i] for i in batch], prompt, task)

        counts = np.minimum(self.count_tokens(texts), self.max_tokens or ON_CPU[0])
        done = self._map(encode, counts.tolist())
        none: Any = empty_rows(self.family, self.dim)
        rows: Any = concatenate([none, *(part for _, part in done)])
        back: R = rows[np.argsort(np.array([i for batch, _ in done for i in batch], np.int64))]
        return back

    def _call(self, texts: Sequence[str], prompt: Prompt, task: str, **options: Any) -> Any:
        """Return what the library's own `encode` makes of one batch."""
        options |= {"batch_size": len(texts), "show_progress_bar": False}
        return self.model.encode(list(texts), prompt=prompt.text, task=task, **options)

    def _map(
        self, work: Callable[[list[int]], T], counts: Sequence[int]
    ) -> list[tuple[list[int], T]]:
        """Do `work` on batches of texts, and return each with its result. counts: of tokens."""
        return [(batch, work(batch)) for batch in batches_of(counts)]


class SentenceTransformerEncoder(ModelEncoder[FloatArray]):
    """Wraps a loaded SentenceTransformer, or its stand-in of `argus.encoders.bert`.

    One forward pass gives both the sentence vector, through all of the model's modules, and the
    token vectors that spans are pooled from. Texts are read in batches of similar token count.
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
        arguments: dict[str, Any] = getattr(model, "module_kwargs", None) or {}
        self.has_tasks = any("task" in names for names in arguments.values())

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        known = self.model.get_embedding_dimension()
        return int(known or self._forward([""], Prompt(), "query")["sentence_embedding"].shape[1])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return (n, dim): token vectors averaged over `spans[i]` in `texts[i]`.

        `g(H, s) = 1/|s| Σ_{i∈s} H_i` (ARGUS §B.4), then the model's own modules after pooling.
        One forward pass per text, or per window of a text that is too long. Raises EncodingError
        for a span longer than the window. Only with `pools_spans`.
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        readings = self._readings(texts, spans)

        def pool(batch: list[int]) -> dict[int, FloatArray]:
            group = [readings[i] for i in batch]
            forwarded = self._forward([r.text for r in group], self.prompts.document, "document")
            tokens = _to_numpy(forwarded["token_embeddings"])  # (n, n_tokens, n_hidden), padded
            pooled: dict[int, FloatArray] = {}
            for row, reading in zip(tokens, group, strict=True):
                count, padding = len(reading.ranges), len(row) - len(reading.ranges)
                if padding < 0:
                    raise EncodingError(
                        f"{self.name}: the tokenizer gives {count} tokens, the model {len(row)}; "
                        "span pooling needs them equal. Use --pooling sentence for this model."
                    )
                first = padding if self.model.tokenizer.padding_side == "left" else 0
                own = row[first : first + count]
                for i, span in reading.mentions:
                    pooled[i] = own[reading.covers(span)].mean(axis=0)
            return pooled

        pooled: dict[int, FloatArray] = {}  # as wide as a token vector, which Dense may change
        for _, part in self._map(pool, [len(reading.ranges) for reading in readings]):
            pooled |= part
        return self._rows(self._after_pooling(np.stack([pooled[i] for i in range(len(texts))])))

    def _rows(self, vectors: FloatArray) -> FloatArray:
        """Return vectors as they are compared: cut to `dim`, of length 1 but for the dot."""
        vectors = vectors[:, : self.dim]
        return unit_rows(vectors) if self.similarity == COSINE else vectors.astype(np.float32)

    def _encode_batch(self, texts: Sequence[str], prompt: Prompt, task: str) -> FloatArray:
        return self._rows(_to_numpy(self._forward(texts, prompt, task)["sentence_embedding"]))

    def _map(
        self, work: Callable[[list[int]], T], counts: Sequence[int]
    ) -> list[tuple[list[int], T]]:
        """Do `work` on batches: on a CPU one batch per core, each on one thread.

        That is faster than all cores on one batch, whose threads wait for each other in every
        operation.
        """
        import torch

        on_cpu = self.model.device.type == "cpu"
        batches = batches_of(counts, ON_CPU if on_cpu else ON_GPU)
        workers = min(available_cores(), len(batches)) if on_cpu else 0
        if workers < 2:
            return [(batch, work(batch)) for batch in batches]
        threads = torch.get_num_threads()
        try:
            with ThreadPoolExecutor(workers, "", torch.set_num_threads, (1,)) as pool:
                return list(zip(batches, pool.map(work, batches), strict=True))
        finally:
            torch.set_num_threads(threads)

    def _forward(self, texts: Sequence[str], prompt: Prompt, task: str) -> dict[str, torch.Tensor]:
        """Return the model's features: sentence and, where it has them, token embeddings."""
        import torch

        device = self.model.device
        kernels: AbstractContextManager[None] = nullcontext()
        if device.type == "cuda":  # cuDNN's attention plans anew for every shape of a batch
            from torch.nn.attention import SDPBackend, sdpa_kernel

            names = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH
            kernels = sdpa_kernel(list(names))
        own = self.has_tasks and prompt.name
        task = own or task
        with _TOKENIZING:
            features = self.model.preprocess(list(texts), prompt=prompt.text or None, task=task)
        features = {
            k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in features.items()
        }
        with torch.inference_mode(), kernels:
            by_task = own or "Router" in self._kinds
            out = self.model(features, task=task) if by_task else self.model(features)
        return dict(out)

    def _readings(self, texts: Sequence[str], spans: Sequence[Span]) -> list[Reading]:
        """Return the forward passes for all spans: each text once, or windows of a long one."""
        prompt = len(self.prompts.document.text)
        distinct = list(dict.fromkeys(texts))
        ranges = dict(zip(distinct, self._token_ranges(distinct), strict=True))
        limit = self.max_tokens or 1 << 30
        room = limit - len(self._token_ranges([""])[0])  # less special tokens and prompt
        readings: dict[str, Reading] = {}
        for i, (text, span) in enumerate(zip(texts, spans, strict=True)):
            if len(ranges[text]) > limit:
                begin, end = ranges[text][:, 0], ranges[text][:, 1]
                content = ranges[text][end > np.maximum(begin, prompt)] - prompt
                text, span = place_window(text, span, content.tolist(), room)
                if text not in ranges:
                    ranges[text] = self._token_ranges([text])[0][:limit]
                    ranges[text][limit - 1 :] = 0  # where the tokenizer cuts, a special token ends
            reading = readings.setdefault(text, Reading(text, ranges[text], prompt, []))
            if not reading.covers(span).any():
                raise EncodingError(
                    f"no token lies in characters {span.start} to {span.end} of "
                    f"{text[:60]!r}; the mention is white space or unknown to the tokenizer.",
                    retryable=False,
                )
            reading.mentions.append((i, span))
        return list(readings.values())

    def _token_ranges(self, texts: Sequence[str]) -> list[IntArray]:
        """Return the character range of every token, prompt and special tokens included."""
        encoded = self.model.tokenizer(
            [self.prompts.document.text + text for text in texts],
            truncation=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        return [np.array(offsets, np.int64) for offsets in encoded["offset_mapping"]]

    def _after_pooling(self, pooled: FloatArray) -> FloatArray:
        """Send pooled token vectors through the modules behind pooling (Dense, Normalize, ...)."""
        import torch

        first = self._kinds.index("Pooling") + 1
        if set(self._kinds[first:]) <= {"Normalize"}:
            return pooled  # unit_rows does the same, in full precision
        vectors = torch.from_numpy(pooled).to(self.model.device, self.model.dtype)
        features: dict[str, Any] = {"sentence_embedding": vectors}
        with torch.inference_mode():
            for module in self._modules[first:]:
                features = module(features)
        return _to_numpy(features["sentence_embedding"])


class SparseTextEncoder(ModelEncoder[SparseRows]):
    """A weight per term of the model's vocabulary. Nearly all are zero. Compared by dot product."""

    family: Family = "sparse"
    similarities: Mapping[str, str] = {DOT: "sparse-dot"}

    @cached_property
    def dim(self) -> int:
        """Terms of the vocabulary, of a word that is embedded: before, the model may not know."""
        return int(self._call(["dimension"], Prompt(), "document").shape[1])

    def _encode_batch(self, texts: Sequence[str], prompt: Prompt, task: str) -> SparseRows:
        from scipy.sparse import csr_array

        encoded = self._call(texts, prompt, task, save_to_cpu=True).coalesce()
        places, weights = encoded.indices().numpy(), encoded.values().float().numpy()
        shape = len(texts), self.dim
        matrix = csr_array((weights, (places[0], places[1])), shape=shape, dtype=np.float32)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return SparseRows(matrix)


class LateEncoder(ModelEncoder[TokenRows]):
    """A vector per token, compared by MaxSim.

    The tokens are those that the model scores: with the expansion of a query, without those that it
    skips in documents. A model that ranks by the mean ranks the same.
    """

    family: Family = "tokens"
    similarities: Mapping[str, str] = {"maxsim": "maxsim", "meanmaxsim": "maxsim"}

    @cached_property
    def dim(self) -> int:
        """Length of a token vector."""
        return int(self._call(["dimension"], Prompt(), "document")[0].shape[1])

    def _encode_batch(self, texts: Sequence[str], prompt: Prompt, task: str) -> TokenRows:
        return TokenRows.of(self._call(texts, prompt, task, convert_to_numpy=True), self.dim)


@dataclass(frozen=True)
class Reading:
    """Text for one forward pass, and the mentions to pool from it.

    ranges: characters of each token in prompt and text. Special tokens are empty. prompt:
    characters of the prompt. mentions: position in the caller's list, and span in `text`.
    """

    text: str
    ranges: IntArray
    prompt: int
    mentions: list[tuple[int, Span]]

    def covers(self, span: Span) -> npt.NDArray[np.bool_]:
        """Return which tokens overlap `span`, shape (n_tokens,)."""
        place = span.shift(self.prompt)
        begin, end = self.ranges[:, 0], self.ranges[:, 1]
        return np.asarray((begin < place.end) & (end > place.start) & (end > begin))


def place_window(
    text: str, span: Span, offsets: Sequence[tuple[int, int]], room: int
) -> tuple[str, Span]:
    """Return the stretch of `text` to read for `span`, and the span inside it.

    offsets: character range of each token of the whole text, without special tokens. room: tokens
    the model can read beside its special tokens and prompt.
    A span in the first window is read there, as the model reads the text itself. Otherwise the
    window is centred on the span and moved to a grid of half a window, so that neighbouring
    mentions share one forward pass, and a quarter of a window or the end of the text is on either
    side of each. The result depends on text and span alone.
    Raises EncodingError when the span itself does not fit.
    """
    size = room - MARGIN_TOKENS
    inside = [i for i, (a, b) in enumerate(offsets) if a < span.end and b > span.start]
    if not inside or inside[-1] - inside[0] + 1 > size:
        raise EncodingError(
            f"the mention {text[span.start : span.end][:60]!r} is {len(inside)} tokens long; the "
            f"model reads {room}.",
            retryable=False,
        )
    first, last = inside[0], inside[-1] + 1
    start = 0
    if last > size:
        step = max(1, size // 2)
        centred = (first + last - size) // 2
        start = max(0, round(centred / step) * step)
        if not start <= first <= last <= start + size:  # the grid may not cut the span
            start = centred
    stop = min(start + size, len(offsets))
    begin = offsets[start][0] if start else 0
    # Cut between words: pieces of a word would be other tokens.
    while 0 < begin < len(text) and text[begin - 1].isalnum() and text[begin].isalnum():
        begin += 1
    end = offsets[stop - 1][1] if stop < len(offsets) else len(text)
    begin, end = min(begin, span.start), max(end, span.end)
    return text[begin:end], span.shift(-begin)


def batches_of(counts: Sequence[int], sizes: BatchSizes = ON_CPU) -> list[list[int]]:
    """Return positions, longest texts first, in batches of bounded size.

    counts: tokens of every text. Texts of one batch are of similar length, if there are enough of
    them: padding is computed, too.
    """
    batches: list[list[int]] = []
    width, (max_tokens, max_texts, enough) = 0, sizes
    for i in sorted(range(len(counts)), key=lambda i: (-counts[i], i)):
        size = len(batches[-1]) if batches else max_texts
        is_full = size == max_texts or (size + 1) * width > max_tokens
        if is_full or (size * width >= enough and counts[i] < ALIKE * width):
            batches.append([])
            width = counts[i]
        batches[-1].append(i)
    return batches


def weights_digest(model: torch.nn.Module) -> str:
    """Return 12 hexadecimal digits that identify a model's weights, whatever their precision.

    Hashes name, shape and all values of every tensor, rounded to bfloat16: a model has one digest
    in float32 and bfloat16. Precision is a field of its own.
    """
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        values = tensor.detach().to("cpu", torch.bfloat16).contiguous().view(-1)
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(values.view(torch.uint8).numpy().data)
    return digest.hexdigest()[:12]


def _to_numpy(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)
