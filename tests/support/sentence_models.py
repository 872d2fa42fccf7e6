"""Tiny, randomly initialised sentence models that read letters."""

import string

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    Normalize,
    Pooling,
    Transformer,
)
from transformers import BertConfig, BertModel, BertTokenizerFast

HIDDEN, WINDOW = 32, 32


def make_model(
    folder, *, seed=0, pooling="mean", dense=None, include_prompt=True, prompts=None,
    normalize=True, cased=False,
):  # fmt: skip
    """Save a real, tiny BERT as a sentence model; return the folder."""
    bert = folder.parent / f"{folder.name}-bert"
    bert.mkdir(parents=True)
    letters = string.ascii_letters if cased else string.ascii_lowercase
    pieces = [*letters, *(f"##{c}" for c in letters), *".,:-"]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, "query", "passage", "river"]
    (bert / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer = BertTokenizerFast(vocab=str(bert / "vocab.txt"), do_lower_case=not cased)
    tokenizer.save_pretrained(bert)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=WINDOW, initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(bert)
    modules = [
        Transformer(str(bert), max_seq_length=WINDOW),
        Pooling(HIDDEN, pooling_mode=pooling, include_prompt=include_prompt),
        *([Dense(HIDDEN, dense)] if dense else []),
        *([Normalize()] if normalize else []),
    ]
    SentenceTransformer(modules=modules, prompts=prompts or {}, device="cpu").save(str(folder))
    return folder
