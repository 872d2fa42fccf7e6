"""Convert a checkpoint of fairseq's BART, as SEAL and MINDER were released, to `transformers`.

    python scripts/convert_fairseq.py seal.pt --dict dict.txt --bpe gpt2/ --out converted/

Writes a model and its tokenizer into OUT. Build the n-gram index with it (`--tokenizer OUT`) and
search with it (`--model OUT`). The file is read without running anything in it: tensors, plain
values and `argparse.Namespace` pass, a file with other objects is refused. In words:
docs/generative.md, "Checkpoints of fairseq".
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

Weights = dict[str, torch.Tensor]
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
MASK = "<mask>"
MARKERS = ("Ġ@@", "Ġ||")
"""SEAL and MINDER end titles with ` @@` and begin queries with ` ||`: each has to be one token."""
ACTIVATIONS = {
    "gelu": "gelu", "relu": "relu", "gelu_accurate": "gelu_new", "gelu_fast": "gelu_new",
}  # fmt: skip
SIDES = ("encoder", "decoder")
EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
              "decoder.output_projection.weight")  # fmt: skip
"""One matrix in BART, by the names that it is saved under."""
TIED = ("model.shared.weight", "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight", "lm_head.weight")  # fmt: skip
FIXED = {"encoder_normalize_before": False, "decoder_normalize_before": False,
         "layernorm_embedding": True, "encoder_learned_pos": True,
         "decoder_learned_pos": True}  # fmt: skip
"""Settings that make a network BART."""
UNUSED = re.compile(
    r"(encoder|decoder)\.(version|.*_float_tensor)"
    r"|classification_heads\..*"
    r"|(encoder|decoder)\.layers\.\d+\.(in|out)_proj_(weight|bias)"
)
"""Marks of a version, heads for classes, and what fairseq 0.12 saves twice."""
JOINED = re.compile(r"(.*_attn)\.in_proj_(weight|bias)")
"""Query, key and value as one matrix: fairseq before 0.9."""
FIRST_POSITION = 2
"""The row of the first position: those before it are never read."""


class Refused(Exception):
    """An input that cannot be converted, with its file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert a checkpoint as the command line says."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("checkpoint", type=Path, help="the .pt file that fairseq wrote")
    parser.add_argument("--dict", type=Path, required=True, dest="dictionary", metavar="FILE",
                        help="its dict.txt: which row each token has")  # fmt: skip
    parser.add_argument("--bpe", type=Path, required=True, metavar="PATH",
                        help="GPT-2's vocab.bpe, merges.txt or tokenizer.json, or a folder with "
                        "one (and encoder.json)")  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument("--heads", type=int, help="where the checkpoint has no settings: 1 per 64")
    parser.add_argument("--activation", choices=ACTIVATIONS, default="gelu",
                        help="where the checkpoint has no settings")  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        print(convert(options.checkpoint, options.dictionary, options.bpe, options.out,
                      heads=options.heads, activation=options.activation))  # fmt: skip
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def convert(
    checkpoint: Path, dictionary: Path, bpe: Path, out: Path, *,
    heads: int | None = None, activation: str = "gelu",
) -> str:  # fmt: skip
    """Write the model and its tokenizer into a new folder; return a line that describes them."""
    if out.exists():
        raise Refused(f"{out} is there already: give another --out")
    symbols, (numbers, merges) = read_dictionary(dictionary), read_bpe(bpe)
    weights, settings = read_checkpoint(checkpoint)
    network, left_out = to_bart(weights, settings, checkpoint, heads, activation)
    config = network.config
    tokenizer = join(symbols, numbers, merges, config.vocab_size, dictionary)
    part = out.with_name(f"{out.name}.part")
    network.save_pretrained(part)
    tokenizer.save_pretrained(part)
    part.rename(out)
    unsaid = "" if settings else "; no settings: heads and activation as given, or BART's"
    skipped = f"; left out: {', '.join(left_out)}" if left_out else ""
    return (
        f"{out}: {config.encoder_layers} + {config.decoder_layers} layers of {config.d_model} "
        f"dimensions and {config.encoder_attention_heads} heads, {config.vocab_size:,} tokens"
        f"{unsaid}{skipped}"
    )


def read_checkpoint(path: Path) -> tuple[Weights, dict[str, Any]]:
    """Read the weights and the settings of the model (empty where there are none)."""
    if not path.is_file():
        raise Refused(f"{path}: no such file")
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            state = torch.load(path, "cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        found = re.findall(r"GLOBAL ([\w.]+)", str(error))[:1]
        if found:
            raise Refused(
                f"{path}: holds objects of {found[0]}, which only running code could make. If you "
                "trust its source, save its weights alone: "
                'torch.save({"model": torch.load(FILE, weights_only=False)["model"]}, "weights.pt")'
            ) from error
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Refused(f"{path}: cannot be read ({why[:160]})") from error
    found = state.get("model", state) if isinstance(state, Mapping) else {}
    if isinstance(found, Mapping):
        weights = {str(name): w for name, w in found.items() if isinstance(w, torch.Tensor)}
        if weights:
            return weights, _settings(state)
    raise Refused(f"{path}: no weights in it; give the .pt file that SEAL or MINDER released")


def _settings(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return `model` of `cfg`, or `args` (fairseq to 0.10)."""
    cfg = state.get("cfg")
    nested = cfg.get("model") if isinstance(cfg, Mapping) else None
    for settings in (nested, state.get("args")):
        if isinstance(settings, argparse.Namespace):
            return dict(vars(settings))
        if isinstance(settings, Mapping):
            return {str(name): value for name, value in settings.items()}
    return {}


def to_bart(
    weights: Weights, settings: Mapping[str, Any], where: Path, heads: int | None, activation: str
) -> tuple[Any, list[str]]:
    """Return BART with these weights in float32, and the names of weights that it does not need.

    Both networks are the same and have other names: the logits are equal.
    """
    left_out = sorted(name for name in weights if UNUSED.fullmatch(name))
    ours: Weights = {}
    for name, weight in weights.items():
        if joined := JOINED.fullmatch(name):
            for part, rows in zip("qkv", weight.chunk(3), strict=True):
                ours[f"{joined[1]}.{part}_proj.{joined[2]}"] = rows
        elif name not in left_out:
            ours[name] = weight
    saved = {name: ours.pop(name) for name in EMBEDDINGS if name in ours}
    if not saved:
        raise Refused(f"{where}: no {EMBEDDINGS[0]} among its {len(ours):,} weights")
    embedding, *others = saved.values()
    if any(not torch.equal(embedding, other) for other in others):
        raise Refused(f"{where}: {', '.join(saved)} differ; BART has one matrix for all of them")
    network: Any = BartForConditionalGeneration(
        _config(ours, settings, embedding, where, heads, activation)
    )
    named = {f"model.{name}": weight for name, weight in ours.items()}
    named |= dict.fromkeys(TIED, embedding)
    named["final_logits_bias"] = torch.zeros(1, len(embedding))
    theirs = network.state_dict()
    missing = [name for name in theirs if name not in named]
    other = [n for n, w in named.items() if n not in theirs or theirs[n].shape != w.shape]
    if missing or other:
        first = ", ".join(name.removeprefix("model.") for name in sorted(missing + other)[:3])
        raise Refused(
            f"{where}: {len(missing):,} weights of BART are missing and {len(other):,} are none "
            f"of its, or of another shape ({first})"
        )
    network.load_state_dict({name: weight.float() for name, weight in named.items()})
    return network.eval(), left_out


def _config(
    weights: Weights, settings: Mapping[str, Any], embedding: torch.Tensor, where: Path,
    heads: int | None, activation: str,
) -> BartConfig:  # fmt: skip
    """Return what the weights say of their network, and the settings where weights do not."""
    other = [n for n, value in FIXED.items() if settings.get(n, value) not in (value, None)]
    if other:
        unlike = ", ".join(f"{name} = {settings[name]}" for name in other)
        raise Refused(f"{where}: a network with {unlike}; SEAL and MINDER have BART's")
    needed = [f"{s}.{n}.weight" for s in SIDES for n in ("layers.0.fc1", "embed_positions")]
    if missing := [name for name in needed if name not in weights]:
        raise Refused(f"{where}: weights of BART are missing ({', '.join(missing)})")
    d_model = embedding.shape[1]
    usual = heads or max(1, d_model // 64)
    of_heads = [settings.get(f"{side}_attention_heads") or usual for side in SIDES]
    positions = [len(weights[f"{side}.embed_positions.weight"]) for side in SIDES]
    if positions[0] != positions[1] or any(n < 1 or d_model % n for n in of_heads):
        raise Refused(
            f"{where}: {d_model} dimensions, {' and '.join(map(str, of_heads))} heads, "
            f"{' and '.join(map(str, positions))} positions; give --heads as in training"
        )
    named = str(settings.get("activation_fn") or activation)
    if named not in ACTIVATIONS:
        raise Refused(f"{where}: activation {named!r}; expected one of {', '.join(ACTIVATIONS)}")
    layers = [
        1 + max(int(found[1]) for name in weights
                if (found := re.match(rf"{side}\.layers\.(\d+)\.", name)))
        for side in SIDES
    ]  # fmt: skip
    widths = [len(weights[f"{side}.layers.0.fc1.weight"]) for side in SIDES]
    return BartConfig(
        vocab_size=len(embedding), d_model=d_model,
        max_position_embeddings=positions[0] - FIRST_POSITION,
        encoder_layers=layers[0], decoder_layers=layers[1],
        encoder_attention_heads=of_heads[0], decoder_attention_heads=of_heads[1],
        encoder_ffn_dim=widths[0], decoder_ffn_dim=widths[1],
        activation_function=ACTIVATIONS[named], dropout=float(settings.get("dropout", 0.1)),
        scale_embedding=not settings.get("no_scale_embedding", True),
        bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2,
        forced_eos_token_id=None,
    )  # fmt: skip


def read_dictionary(path: Path) -> list[str]:
    """Return the symbols by row: the four specials, then one per line `SYMBOL COUNT`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: cannot be read ({error})") from error
    symbols = dict.fromkeys(SPECIALS)
    for number, line in enumerate(lines, 1):
        symbol, _, count = line.rpartition(" ")
        if not symbol or not count.isdecimal() or symbol in symbols:
            raise Refused(f"{path}: line {number}: {line!r:.60}; expected a new symbol and a count")
        symbols[symbol] = None
    return list(symbols)


def read_bpe(path: Path) -> tuple[dict[int, str], list[tuple[str, str]]]:
    """Return the tokens of GPT-2's BPE by number, and its merges.

    The numbers are those of encoder.json where it lies beside the merges; else they follow from
    the merges: bytes, merged tokens, the end of a text.
    """
    names = ("vocab.bpe", "merges.txt", "tokenizer.json")
    files = [path] if path.is_file() else [path / n for n in names if (path / n).is_file()]
    if not files:
        raise Refused(f"{path}: none of {', '.join(names)} in it")
    try:
        text = files[0].read_text(encoding="utf-8")
        if files[0].suffix == ".json":
            found = json.loads(text)["model"]["merges"]
            pairs = [m.split(" ") if isinstance(m, str) else m for m in found]
        else:
            lines = text.split("\n")
            pairs = [line.split(" ") for line in lines[lines[0].startswith("#version") :] if line]
        merges = [(first, second) for first, second in pairs]
        encoder = files[0].parent / "encoder.json"
        if encoder.is_file():
            numbers = json.loads(encoder.read_text(encoding="utf-8"))
            return {int(n): str(token) for token, n in numbers.items()}, merges
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{files[0]}: no byte-pair encoding ({str(error)[:120]})") from error
    tokens = [*alphabet(), *(a + b for a, b in merges), "<|endoftext|>"]
    if twice := [token for token, n in Counter(tokens).items() if n > 1]:
        raise Refused(f"{files[0]}: two merges make {twice[0]!r}: encoder.json is needed, too")
    return dict(enumerate(tokens)), merges


def alphabet() -> list[str]:
    """Return the characters that stand for the 256 bytes, in the order of GPT-2's numbers."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [*map(chr, visible), *(chr(256 + n) for n in range(256 - len(visible)))]


def join(
    symbols: Sequence[str], numbers: Mapping[int, str], merges: list[tuple[str, str]], rows: int,
    where: Path,
) -> PreTrainedTokenizerFast:  # fmt: skip
    """Return one tokenizer from text to rows: fairseq goes by the BPE's numbers and dict.txt."""
    if rows not in (len(symbols), len(symbols) + 1):
        raise Refused(f"{where}: {len(symbols):,} symbols, of a model with {rows:,} rows")
    ids = {symbol: row for row, symbol in enumerate(SPECIALS)}
    for row, symbol in enumerate(symbols[len(SPECIALS) :], len(SPECIALS)):
        token = numbers.get(int(symbol)) if symbol.isdecimal() else None
        if token is None and not symbol.startswith("madeupword") and symbol != MASK:
            raise Refused(f"{where}: {symbol!r:.40} is no number of a token of the BPE")
        ids[token or symbol] = row
    if rows > len(symbols):
        ids[MASK] = len(symbols)
    missing = [t for t in (*alphabet(), *(a + b for a, b in merges)) if t not in ids]
    if missing:
        raise Refused(f"{where}: no row for {len(missing):,} tokens of the BPE ({missing[0]!r})")
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    tokenizer.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    if any(marker not in ids for marker in MARKERS):
        raise Refused(f"{where}: the BPE has no single token for ` @@` or for ` ||`")
    tokenizer.add_special_tokens([token for token in (*SPECIALS, MASK) if token in ids])
    kinds = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>",
             "cls_token": "<s>", "sep_token": "</s>"}  # fmt: skip
    if MASK in ids:
        kinds["mask_token"] = MASK
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **kinds)


if __name__ == "__main__":
    sys.exit(main())
