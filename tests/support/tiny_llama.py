"""A Llama with a few thousand weights and a byte-level tokenizer, made in a second."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

END = "<|end|>"
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}"
    "<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = (
    "{% for message in messages %}{% if message.role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    + TEMPLATE[len("{{ bos_token }}{% for message in messages %}") :]
)
SPECIAL = ("<s>", END, "<|system|>", "<|user|>", "<|assistant|>")


def make_tokenizer(
    texts: Sequence[str] = (), *, size: int = 600, template: str | None = TEMPLATE
) -> Any:
    """Return a tokenizer that can write every text."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = [AddedToken(token, special=True) for token in SPECIAL]
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        ),
    )
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token=END)
    made.chat_template = template
    return made


def save_llama(
    folder: Path, tokenizer: Any, *, hidden: int = 32, window: int = 2048, seed: int = 0
) -> Path:
    """Write a model with random weights and the tokenizer; return the folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=2 * hidden,
        num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=window,
        bos_token_id=0, eos_token_id=1, tie_word_embeddings=False, initializer_range=0.2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = LlamaForCausalLM(config)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def teach(folder: Path, pairs: Sequence[tuple[str, str, str]], *, steps: int = 150) -> Path:
    """Overfit the model in a folder on (system, text, answer) by plain training; return it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from argus.llm.weights import answer_tokens, prompt_tokens, stop_tokens

    network: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    stops = stop_tokens(network, tokenizer)
    rows = []
    for system, text, answer in pairs:
        prompt = prompt_tokens(tokenizer, system, text)
        rows.append((prompt, answer_tokens(tokenizer, answer, stops)))
    length = max(len(p) + len(a) for p, a in rows)
    tokens = torch.zeros(len(rows), length, dtype=torch.long)
    labels = torch.full_like(tokens, -100)
    for i, (prompt, answer) in enumerate(rows):
        tokens[i, : len(prompt) + len(answer)] = torch.tensor(prompt + answer)
        labels[i, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3)
    for _ in range(steps):
        loss = network(input_ids=tokens, attention_mask=(tokens >= 0).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.01:
            break
    assert loss.item() < 0.05, f"not learnt: {loss.item():.3f}"
    network.save_pretrained(folder)
    return folder
