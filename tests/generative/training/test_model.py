"""Networks out of folders, from scratch, and into folders."""

import json
import shutil

import pytest
import torch

from argus.errors import InputError
from argus.generative.decode.model import Seq2Seq, start_token
from argus.generative.folders import NOTE
from argus.generative.training.config import ScratchSize
from argus.generative.training.model import new_network, open_network, save_network
from argus.generative.training.task import Pair, seq2seq_task, tensors
from argus.generative.vocabulary import open_vocabulary, train_vocabulary
from tests.support.ngrams import ROWS
from tests.support.tiny_llama import make_tokenizer, save_llama
from tests.support.tiny_seq2seq import make_seq2seq

TEXTS = [f"{r['title']} {r['text']}" for r in ROWS]
VOCABULARY = train_vocabulary(TEXTS, 600)
SMALL = ScratchSize(d_model=128, layers=1)


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    return make_seq2seq(tmp_path_factory.mktemp("models") / "bart", VOCABULARY)


def test_a_network_from_scratch_copies_words_that_it_never_saw():
    network = new_network(VOCABULARY, ScratchSize(d_model=256, layers=2), seed=0).eval()
    text = "Ada Lovelace wrote the first program"
    target = tuple(VOCABULARY.encode([text])[0])
    pair = Pair(tuple(VOCABULARY.sources([text])[0]), target, "body")
    sources, mask, inputs, labels = tensors([pair], VOCABULARY.border, VOCABULARY.pad)
    with torch.inference_mode():
        logits = network(input_ids=sources, attention_mask=mask, decoder_input_ids=inputs).logits
    right = (logits.argmax(-1) == labels).float().mean()
    assert right > 0.7


def test_seeds_decide_the_weights_and_leave_the_caller_alone():
    before = torch.get_rng_state()
    one, same = (new_network(VOCABULARY, SMALL, seed=1).state_dict() for _ in range(2))
    other = new_network(VOCABULARY, SMALL, seed=2).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_a_saved_network_is_a_model_that_searches(tmp_path):
    network = new_network(VOCABULARY, SMALL, seed=0)
    folder = save_network(network, VOCABULARY, tmp_path / "model", {"views": ["body"]})
    assert json.loads((folder / NOTE).read_text()) == {"views": ["body"]}
    assert open_vocabulary(folder).fingerprint == VOCABULARY.fingerprint
    again = open_network(folder, VOCABULARY, seed=0)
    assert again.training and start_token(again) == VOCABULARY.border
    theirs = again.state_dict()
    assert all(torch.equal(p, theirs[n]) for n, p in network.state_dict().items())
    model = Seq2Seq.open(folder, VOCABULARY, device="cpu")
    assert model.start == VOCABULARY.border


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


def test_another_vocabulary_is_refused(bart):
    with pytest.raises(InputError, match=r"its vocabulary .* is not that of the index"):
        open_network(bart, train_vocabulary(TEXTS, 300), seed=0)


def test_a_tokenizer_larger_than_its_model_is_refused(tmp_path):
    folder = make_seq2seq(tmp_path / "small", train_vocabulary(TEXTS, 400))
    VOCABULARY.save(folder)
    with pytest.raises(InputError, match=r"its tokenizer has \d+ tokens, the model 400"):
        open_network(folder, VOCABULARY, seed=0)


def test_folders_without_a_seq2seq_model_are_named(bart, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_network(tmp_path / "none", VOCABULARY, seed=0)
    llama = save_llama(tmp_path / "llama", make_tokenizer(TEXTS))
    with pytest.raises(InputError, match="a llama model, which has no encoder"):
        open_network(llama, VOCABULARY, seed=0)
    broken = shutil.copytree(bart, tmp_path / "broken")
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(InputError, match="the model cannot be loaded"):
        open_network(broken, VOCABULARY, seed=0)


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


def test_bfloat16_computes_about_the_same(bart):
    network = open_network(bart, VOCABULARY, seed=0).eval()
    source, target = VOCABULARY.encode(["Bern is a city", "Lake Thun"])
    pairs = [Pair(tuple(source), tuple(target), "title")]
    losses = []
    for dtype in ("float32", "bfloat16"):
        task = seq2seq_task(2, 1, label_smoothing=0, dtype=dtype)
        losses.append(float(task.summed_loss(network, pairs, "cpu").detach()))
    assert losses[0] != losses[1] and losses[1] == pytest.approx(losses[0], rel=0.05)


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("d_model", 100, "--d-model"),
        ("d_model", 0, "--d-model"),
        ("layers", 0, "--layers"),
        ("positions", 8, "positions"),
        ("dropout", 1.0, "--dropout"),
    ],
)
def test_a_size_that_cannot_be_meant_is_refused(name, value, where):
    with pytest.raises(InputError) as caught:
        ScratchSize(**{name: value})
    assert caught.value.where == where
