"""Encode texts with a model of this process, in batches, and pool the vectors of mentions.

`OnnxEncoder` runs a file by ONNX Runtime: the default, all-MiniLM-L6-v2 with int8 weights, needs no
torch. `argus.encoders.sentence_transformer` has the encoders on torch, `argus.encoders.load` opens
either by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from argus.cores import available_cores
from argus.data.types import FloatArray, IntArray, Span
from argus.encoders.config import COSINE, Prompts
from argus.encoders.protocol import Family, R, concatenate, empty_rows, make_fingerprint, unit_rows
from argus.errors import EncodingError, InputError

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
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class ModelEncoder(ABC, Generic[R]):
    """Base of the encoders on a loaded model.

    source: kind and name of the model, and a digest of its weights, for the fingerprint. sizes: of
    batches. workers: batches that are embedded at once.
    """

    family: Family = "dense"
    similarity = COSINE
    sizes, workers = ON_CPU, 1

    def __init__(self, source: str, *, prompts: Prompts, precision: str, pooling: str) -> None:
        self.source, self.prompts = source, prompts
        self.precision, self.pooling = precision, pooling

    @property
    @abstractmethod
    def dim(self) -> int:
        """Length of a vector, or terms of the vocabulary."""

    @property
    @abstractmethod
    def max_tokens(self) -> int | None:
        """Longest document in tokens, special tokens included. None when unlimited."""

    @abstractmethod
    def _tokenize(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        """Return the token ids of texts, special tokens included, nothing cut."""

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str], prompt: str, task: str) -> R:
        """Return n rows, the prompt in front of each text. task: "query" or "document"."""

    @cached_property
    def fingerprint(self) -> str:
        """Model, a digest of its weights, prompts, pooling, sizes, precision, similarity."""
        parts: dict[str, object] = {"dim": self.dim, "max_tokens": self.max_tokens}
        parts |= {"precision": self.precision, "pooling": self.pooling, "normalize": "l2"}
        if self.similarity != COSINE:
            parts |= {"normalize": "none", "similarity": self.similarity}
        query, document = self.prompts.query, self.prompts.document
        parts |= {"query_prompt": repr(query), "document_prompt": repr(document)}
        return make_fingerprint(self.source, **parts)

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, prompt and special tokens included, nothing cut."""
        prompted = [self.prompts.document + text for text in texts]
        return np.array([len(ids) for ids in self._tokenize(prompted)] if texts else [], np.int64)

    def encode_queries(self, texts: Sequence[str]) -> R:
        """Return n rows, the query prompt in front of each text."""
        return self._encode(texts, self.prompts.query, "query")

    def encode_documents(self, texts: Sequence[str]) -> R:
        """Return n rows. Texts beyond the window are cut, as in any index."""
        return self._encode(texts, self.prompts.document, "document")

    def _encode(self, texts: Sequence[str], prompt: str, task: str) -> R:
        def encode(batch: list[int]) -> R:
            return self._encode_batch([texts[i] for i in batch], prompt, task)

        counts = np.minimum(self.count_tokens(texts), self.max_tokens or ON_CPU[0])
        done = self._map(encode, counts.tolist())
        none: Any = empty_rows(self.family, self.dim)
        rows: Any = concatenate([none, *(part for _, part in done)])
        back: R = rows[np.argsort(np.array([i for batch, _ in done for i in batch], np.int64))]
        return back

    def _map(
        self, work: Callable[[list[int]], T], counts: Sequence[int]
    ) -> list[tuple[list[int], T]]:
        """Do `work` on batches of texts, and return each with its result. counts: of tokens.

        On a CPU one batch per core, each on one thread, is faster than all cores on one batch,
        whose threads wait for each other in every operation.
        """
        batches = batches_of(counts, self.sizes)
        workers = min(self.workers, len(batches))
        if workers < 2:
            return [(batch, work(batch)) for batch in batches]
        with ThreadPoolExecutor(workers) as pool:
            return list(zip(batches, pool.map(work, batches), strict=True))


class DenseEncoder(ModelEncoder[FloatArray]):
    """One vector per text, and the vectors of tokens, from which those of mentions are pooled.

    One forward pass gives both. Texts are read in batches of similar token count.
    """

    pools_spans, pads_left = True, False

    @abstractmethod
    def _forward(
        self, texts: Sequence[str], prompt: str, task: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return (n, dim) of the texts, and (n, n_tokens, n_hidden) of their tokens, padded."""

    @abstractmethod
    def _offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Return the character range of every token, special tokens included, nothing cut."""

    def _after_pooling(self, pooled: FloatArray) -> FloatArray:
        """Return what the model makes of pooled token vectors. The unit row comes after."""
        return pooled

    def _rows(self, vectors: FloatArray) -> FloatArray:
        """Return vectors as they are compared: cut to `dim`, of length 1 but for the dot."""
        vectors = vectors[:, : self.dim]
        return unit_rows(vectors) if self.similarity == COSINE else vectors.astype(np.float32)

    def _encode_batch(self, texts: Sequence[str], prompt: str, task: str) -> FloatArray:
        return self._rows(self._forward(texts, prompt, task)[0])

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
            tokens = self._forward([r.text for r in group], self.prompts.document, "document")[1]
            pooled: dict[int, FloatArray] = {}
            for row, reading in zip(tokens, group, strict=True):
                count, padding = len(reading.ranges), len(row) - len(reading.ranges)
                if padding < 0:
                    raise EncodingError(
                        f"{self.source}: the tokenizer gives {count} tokens, the model {len(row)}; "
                        "span pooling needs them equal. Use --pooling sentence for this model."
                    )
                first = padding if self.pads_left else 0
                own = row[first : first + count]
                for i, span in reading.mentions:
                    pooled[i] = own[reading.covers(span)].mean(axis=0)
            return pooled

        pooled: dict[int, FloatArray] = {}  # as wide as a token vector, which Dense may change
        for _, part in self._map(pool, [len(reading.ranges) for reading in readings]):
            pooled |= part
        return self._rows(self._after_pooling(np.stack([pooled[i] for i in range(len(texts))])))

    def _readings(self, texts: Sequence[str], spans: Sequence[Span]) -> list[Reading]:
        """Return the forward passes for all spans: each text once, or windows of a long one."""
        prompt = self.prompts.document

        def ranges_of(texts: Sequence[str]) -> list[IntArray]:
            return self._offsets([prompt + text for text in texts])

        distinct = list(dict.fromkeys(texts))
        ranges = dict(zip(distinct, ranges_of(distinct), strict=True))
        limit = self.max_tokens or 1 << 30
        room = limit - len(ranges_of([""])[0])  # less special tokens and prompt
        readings: dict[str, Reading] = {}
        for i, (text, span) in enumerate(zip(texts, spans, strict=True)):
            if len(ranges[text]) > limit:
                begin, end = ranges[text][:, 0], ranges[text][:, 1]
                content = ranges[text][end > np.maximum(begin, len(prompt))] - len(prompt)
                text, span = place_window(text, span, content.tolist(), room)
                if text not in ranges:
                    ranges[text] = ranges_of([text])[0][:limit]
                    ranges[text][limit - 1 :] = 0  # where the tokenizer cuts, a special token ends
            reading = readings.setdefault(text, Reading(text, ranges[text], len(prompt), []))
            if not reading.covers(span).any():
                raise EncodingError(
                    f"no token lies in characters {span.start} to {span.end} of "
                    f"{text[:60]!r}; the mention is white space or unknown to the tokenizer.",
                    retryable=False,
                )
            reading.mentions.append((i, span))
        return list(readings.values())


class OnnxEncoder(DenseEncoder):
    """A model of token vectors in an ONNX file, run by ONNX Runtime.

    file: takes `INPUTS` or some of them, (n, n_tokens) int64, and returns (n, n_tokens, dim) first.
    tokenizer: of the library tokenizers. pooling: "mean" of the tokens, or the first one, "cls".
    Raises InputError for a file that is no such model.
    """

    dim, max_tokens = 0, 0

    def __init__(
        self, file: Path, tokenizer: Any, *, source: str, prompts: Prompts, max_tokens: int,
        pooling: str = "mean", precision: str = "file",
    ) -> None:  # fmt: skip
        import onnxruntime
        from tokenizers import Tokenizer

        super().__init__(source, prompts=prompts, precision=precision, pooling=pooling)
        self.max_tokens, self.workers = max_tokens, available_cores()
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._whole, self._cut = tokenizer, Tokenizer.from_str(tokenizer.to_str())
        self._cut.enable_truncation(max_tokens)
        options, usual = onnxruntime.SessionOptions(), ["CPUExecutionProvider"]
        options.intra_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(file, options, providers=usual)
        except Exception as error:  # the library has no class of its own for them
            reason = next(iter(str(error).splitlines()), "")[:200]
            got = f"{file.name} could not be loaded: {reason}"
            raise _no_model(got, file) from error
        self._inputs = [each.name for each in self._session.get_inputs()]
        shape = self._session.get_outputs()[0].shape
        if not set(self._inputs) <= INPUTS or len(shape) != 3 or type(shape[2]) is not int:
            raise _no_model(f"takes {', '.join(self._inputs)} and returns {shape}", file)
        if pooling not in ("mean", "cls"):
            raise _no_model(f"pools tokens by {pooling!r}, which is not read", file)
        self.dim = shape[2]

    def _tokenize(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        return [encoding.ids for encoding in self._whole.encode_batch(texts)]

    def _offsets(self, texts: Sequence[str]) -> list[IntArray]:
        return [np.array(each.offsets, np.int64) for each in self._whole.encode_batch(texts)]

    def _forward(
        self, texts: Sequence[str], prompt: str, task: str
    ) -> tuple[FloatArray, FloatArray]:
        encodings = self._cut.encode_batch([prompt + text for text in texts])
        shape = len(texts), max(len(encoding.ids) for encoding in encodings)
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for i, encoding in enumerate(encodings):
            ids[i, : len(encoding.ids)] = encoding.ids
            mask[i, : len(encoding.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        found = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        tokens: FloatArray = np.asarray(found, np.float32)
        if self.pooling == "cls":
            return tokens[:, 0], tokens
        weights = mask[:, :, None].astype(np.float32)
        return (tokens * weights).sum(axis=1) / weights.sum(axis=1), tokens


def _no_model(got: str, file: Path) -> InputError:
    expected = "an ONNX file of a model that gives a vector per token"
    fix = "Name another, such as model.onnx in the folder onnx of a sentence-transformers model."
    return InputError(got, expected=expected, fix=fix, where=file)


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
