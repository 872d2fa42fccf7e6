"""A checkpoint in the layout of fairseq, made from a BART of transformers by the way back."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.generative.vocabulary import SPECIALS, Vocabulary, train_vocabulary
from tests.support.tiny_seq2seq import network

SETTINGS: dict[str, Any] = {
    "arch": "bart_large", "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "activation_fn": "gelu", "no_scale_embedding": True, "dropout": 0.0,
    "encoder_normalize_before": False, "layernorm_embedding": True, "share_all_embeddings": True,
}  # fmt: skip
# Rows behind those of tokens.
FILLER = 2


@dataclass(frozen=True)
class Released:
    """Files as they are released, and what they were made from.

    rows: the row in the checkpoint of each id of the vocabulary; -1 for those without. bart: the
    network of transformers, whose rows are the ids.
    """

    folder: Path
    checkpoint: Path
    dictionary: Path
    vocabulary: Vocabulary
    rows: np.ndarray
    bart: Any

    def state(self) -> dict[str, Any]:
        """Return the weights by fairseq's names, each token's row where the dictionary has it."""
        return fairseq_names(self.bart.state_dict(), self.rows)


def make_released(folder: Path, texts: list[str]) -> Released:
    """Write seal.pt, dict.txt, vocab.bpe and encoder.json of a small model of random weights.

    The dictionary has the tokens in an order of its own.
    """
    import json

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = train_vocabulary(texts, 400)
    model = json.loads(vocabulary._tokenizer.to_str())["model"]
    merges = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"]]
    lines = [" ".join(pair) for pair in merges]
    (folder / "vocab.bpe").write_text("\n".join(["#version: 0.2", *lines, ""]), encoding="utf-8")
    tokens = sorted((t for t in model["vocab"] if t not in SPECIALS), key=model["vocab"].get)
    (folder / "encoder.json").write_text(json.dumps({t: n for n, t in enumerate(tokens)}))
    order = np.random.default_rng(1).permutation(len(tokens))
    fill = [f"madeupword{n:04} 0" for n in range(FILLER)]
    numbered = [*(f"{n} {1000 - i}" for i, n in enumerate(order)), *fill]
    (folder / "dict.txt").write_text("\n".join([*numbered, ""]), encoding="utf-8")
    rows = np.full(vocabulary.size, -1)
    rows[: len(SPECIALS)] = range(len(SPECIALS))
    for place, number in enumerate(order):
        rows[model["vocab"][tokens[number]]] = len(SPECIALS) + place
    bart = network(vocabulary)
    made = Released(folder, folder / "seal.pt", folder / "dict.txt", vocabulary, rows, bart)
    save(made, made.state())
    return made


def save(made: Released, state: dict[str, Any], **more: Any) -> None:
    """Write the checkpoint. more: in place of its parts."""
    import torch

    def wider(weight: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return torch.cat([weight, torch.randn(FILLER, weight.shape[1])])

    state = {n: wider(w) if n.endswith(TOKENS) else w for n, w in state.items()}
    whole = {"model": state, "args": None, "cfg": {"model": Namespace(**SETTINGS)},
             "optimizer_history": [{"criterion_name": "LabelSmoothedCrossEntropyCriterion"}],
             "extra_state": {"epoch": 3, "val_loss": 2.5}, **more}  # fmt: skip
    torch.save(whole, made.checkpoint)


TOKENS = ("embed_tokens.weight", "output_projection.weight")


def fairseq_names(weights: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Return weights of BART by the names and in the rows of fairseq, with marks of a version."""
    import torch

    named = {
        n.removeprefix("model."): w.clone()
        for n, w in weights.items()
        if n.startswith("model.") and n != "model.shared.weight"
    }
    order = torch.tensor(np.argsort(rows))  # every id has a row: from rows back to ids
    for name in TOKENS:
        for side in ("encoder", "decoder"):
            if f"{side}.{name}" in named or (side, name) == ("decoder", TOKENS[1]):
                named[f"{side}.{name}"] = weights["model.shared.weight"][order].clone()
    named |= {f"{side}.version": torch.tensor([3.0]) for side in ("encoder", "decoder")}
    return named
