"""What a GPU does for encoding, exact ranks and a student's training; the processor beside it.

Encoders have the shapes of MiniLM and of BERT-large with random weights (what a step takes does not
depend on what weights say) and read wiki2's passages: texts a second on either device in float32
and in bfloat16, and how far the vectors of the GPU in float32 are from the processor's. Ranks are
those of `pair_ranks` over random unit rows, equal on both to the bit or the benchmark fails. The
student has the shape of Llama 3.2 3B, with LoRA as `argus research scenarios distill` ships, and
learns the
released profiles for an epoch, with and without gradient checkpointing: memory and tokens a second.

ACCELERATOR_DEVICE is cuda unless another is named.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import Document, FloatArray
from argus.encoders import EncoderConfig, load_encoder
from argus.retrievability.ranks import pair_ranks
from argus.scenarios.distill import DistillConfig, TrainConfig, distill
from benchmarks.shared import collection, random_graph, timed, unit_rows

DEVICE = os.environ.get("ACCELERATOR_DEVICE", "cuda")
ENTITIES, NEIGHBOURS, DIM = 50_000, 20, 384
WORDS = 8_000


@dataclass(frozen=True)
class Shape:
    """A network's size, and how many texts it reads here: fewer on the slower device."""

    width: int
    layers: int
    texts: int
    texts_cpu: int


ENCODERS = {
    "MiniLM": Shape(384, 6, 20_000, 2_000),
    "BERT-large": Shape(1024, 24, 4_000, 100),
}
STUDENT = {"hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28,
           "num_attention_heads": 24, "num_key_value_heads": 8, "vocab_size": 128_256}  # fmt: skip


def run() -> dict[str, Any]:
    import torch

    if DEVICE == "cuda" and not torch.cuda.is_available():
        raise SystemExit("accelerator: torch finds no GPU here; ACCELERATOR_DEVICE=cpu to try it")
    texts = _passages()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        result: dict[str, Any] = {
            "device": torch.cuda.get_device_name() if DEVICE == "cuda" else DEVICE,
            "torch": torch.__version__,
        }
        for part in (_ranks, lambda: _encoders(home, texts), lambda: _student(home)):
            result |= part()
            print(json.dumps(result), flush=True)
    return result


def _ranks() -> dict[str, Any]:
    vectors, graph = unit_rows(ENTITIES, DIM), random_graph(ENTITIES, NEIGHBOURS)
    device = DEVICE if DEVICE != "cpu" else "torch:cpu"
    small = unit_rows(50, DIM), random_graph(50, 2)
    for one in ("cpu", device):
        pair_ranks(*small, device=one)  # compiles
    cpu_s, here = timed(lambda: pair_ranks(vectors, graph))
    device_s, there = timed(lambda: pair_ranks(vectors, graph, device=device))
    if not all(np.array_equal(a, b) for a, b in zip(_arrays(here), _arrays(there), strict=True)):
        raise SystemExit("accelerator: the two devices count differently")
    return {"ranks": {
        "entities": ENTITIES, "pairs": len(here), "cpu_s": round(cpu_s, 2),
        "device_s": round(device_s, 2), "times_faster": round(cpu_s / device_s, 1), "equal": True,
    }}  # fmt: skip


def _arrays(ranks: Any) -> list[np.ndarray]:
    return [value for value in vars(ranks).values() if isinstance(value, np.ndarray)]


def _encoders(home: Path, texts: Sequence[str]) -> dict[str, Any]:
    figures = {}
    for name, shape in ENCODERS.items():
        folder = _encoder(home / name, shape, texts)
        many = [texts[i % len(texts)] for i in range(shape.texts)]
        few = many[: shape.texts_cpu]
        reference, slow = _encoded(folder, few, "cpu", "float32")
        vectors, fast = _encoded(folder, many, DEVICE, "float32")
        lower, faster = _encoded(folder, many, DEVICE, "bfloat16")
        figures[name] = {
            "texts": len(many),
            "cpu_float32_per_s": slow,
            "device_float32_per_s": fast,
            "device_bfloat16_per_s": faster,
            "times_faster_float32": round(fast / slow, 1),
            "times_faster_bfloat16": round(faster / slow, 1),
            "least_cosine_float32": _least(reference, vectors[: len(few)]),
            "least_cosine_bfloat16": _least(reference, lower[: len(few)]),
        }
    return {"encoders": figures}


def _encoded(
    folder: Path, texts: Sequence[str], device: str, precision: str
) -> tuple[FloatArray, float]:
    """Return the vectors, and texts a second."""
    config = EncoderConfig(model=str(folder), device=device, precision=precision)
    encoder = load_encoder(config)
    encoder.encode_documents(texts[:64])
    seconds, vectors = timed(lambda: encoder.encode_documents(texts))
    return vectors, round(len(texts) / seconds, 1)


def _least(a: FloatArray, b: FloatArray) -> float:
    return round(float((a * b).sum(axis=1).min()), 6)


def _student(home: Path) -> dict[str, Any]:
    path = collection("spike_scenarios") / "scenarios.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = [Document(row["_id"], row["text"]) for row in rows]
    base = str(_llama(home / "student", [row["text"] for row in rows]))
    kept = ("dtype", "examples", "tokens", "steps", "seconds", "tokens_per_s",
            "device_memory_bytes", "peak_memory_bytes")  # fmt: skip
    figures = {}
    trainings = (("warm-up", False), ("student", False), ("student_checkpointed", True))
    for name, saves in trainings:
        training = TrainConfig(epochs=1, gradient_checkpointing=saves)
        result = distill(
            documents, profiles=path, out=home / f"{name}-adapter",
            device=DEVICE, config=DistillConfig(base=base, training=training),
        ).summary  # fmt: skip
        figures[name] = {key: result[key] for key in kept}  # type: ignore[literal-required]
    del figures["warm-up"]
    return figures


def _passages() -> list[str]:
    with (collection("wiki2") / "corpus.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 5_000)]
    return [f"{row['title']} {row['text']}" for row in rows]


def _encoder(folder: Path, shape: Shape, texts: Sequence[str]) -> Path:
    """Save a sentence model with random weights; return the folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    bert = folder.with_name(f"{folder.name}-bert")
    bert.mkdir(parents=True)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(texts, vocab_size=WORDS, show_progress=False)
    pieces.save_model(str(bert))
    BertTokenizerFast(vocab=str(bert / "vocab.txt")).save_pretrained(bert)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS, hidden_size=shape.width, num_hidden_layers=shape.layers,
        num_attention_heads=shape.width // 32 if shape.width < 512 else shape.width // 64,
        intermediate_size=4 * shape.width,
    )  # fmt: skip
    BertModel(config).save_pretrained(bert)
    modules = [Transformer(str(bert), max_seq_length=256), Pooling(shape.width), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    return folder


def _llama(folder: Path, texts: Sequence[str]) -> Path:
    """Save a student with random weights; its tokenizer writes every text."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.support.tiny_llama import make_tokenizer

    tokenizer = make_tokenizer(texts, size=WORDS)
    with torch.device(DEVICE):
        torch.set_default_dtype(torch.bfloat16 if DEVICE == "cuda" else torch.float32)
        try:
            network = LlamaForCausalLM(
                LlamaConfig(
                    **STUDENT, max_position_embeddings=8_192,
                    bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
                )
            )  # fmt: skip
        finally:
            torch.set_default_dtype(torch.float32)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
