"""Networks out of folders, from scratch, and into folders."""

import pytest
import torch

from argus.generative.settings import ScratchSize
from argus.generative.training.examples import Pair, seq2seq_task
from argus.generative.training.model import new_network, open_network
from argus.generative.vocabulary import open_vocabulary, train_vocabulary
from tests.support.ngrams import ROWS
from tests.support.tiny_llama import make_tokenizer
from tests.support.tiny_seq2seq import make_seq2seq

TEXTS = [f"{r['title']} {r['text']}" for r in ROWS]
VOCABULARY = train_vocabulary(TEXTS, 600)
SMALL = ScratchSize(d_model=128, layers=1)


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    return make_seq2seq(tmp_path_factory.mktemp("models") / "bart", VOCABULARY)


def test_seeds_decide_the_weights_and_leave_the_caller_alone():
    before = torch.get_rng_state()
    one, same = (new_network(VOCABULARY, SMALL, seed=1).state_dict() for _ in range(2))
    other = new_network(VOCABULARY, SMALL, seed=2).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_markers_that_a_tokenizer_lacked_get_embeddings(tmp_path):
    from transformers import BartConfig, BartForConditionalGeneration

    tokenizer = make_tokenizer(TEXTS, size=500)
    tokenizer.pad_token = "<|user|>"
    folder = tmp_path / "bart"
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=64, decoder_start_token_id=1,
        bos_token_id=0, eos_token_id=1, pad_token_id=3, forced_eos_token_id=None,
    )  # fmt: skip
    old = BartForConditionalGeneration(config)
    old.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    vocabulary = open_vocabulary(folder)
    assert vocabulary.added == 2
    network = open_network(folder, vocabulary, seed=0)
    rows = network.get_input_embeddings().weight
    assert len(rows) == vocabulary.size == len(tokenizer) + 2
    assert torch.equal(rows[: len(tokenizer)], old.get_input_embeddings().weight)
    same = open_network(folder, vocabulary, seed=0).get_input_embeddings().weight
    assert torch.equal(rows, same)


def test_the_loss_of_a_pair_hangs_on_no_padding(bart):
    network = open_network(bart, VOCABULARY, seed=0).eval()
    task = seq2seq_task(VOCABULARY.border, VOCABULARY.pad, label_smoothing=0.1, dtype="float32")
    a, b = VOCABULARY.encode(["Bern", "The Aare is a river"])
    pairs = [
        Pair((0, *a, 2), (*b,), "body"),
        Pair((0, *b, *b, 2), (*a, VOCABULARY.title_end), "query", (VOCABULARY.query_start,)),
    ]
    with torch.inference_mode():
        both = float(task.summed_loss(network, pairs, "cpu"))
        alone = 0.0
        for pair in pairs:
            decoder = [VOCABULARY.border, *pair.forced, *pair.target]
            logits = network(
                input_ids=torch.tensor([pair.source]),
                decoder_input_ids=torch.tensor([decoder[:-1]]),
            ).logits[0, len(pair.forced) :]
            chosen = logits.log_softmax(-1).gather(1, torch.tensor(pair.target)[:, None])
            alone -= float(chosen.sum())
    assert both == pytest.approx(alone, rel=1e-5)
    assert task.read(pairs[1]) == len(b) * 2 + 2 + 1 + len(a) + 1
    network.train()
    smoothed = float(task.summed_loss(network, pairs, "cpu").detach())
    assert smoothed != pytest.approx(both, rel=1e-3)
