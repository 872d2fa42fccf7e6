"""scripts/convert_fairseq.py: the same logits and tokens, and no code run."""

import runpy
from argparse import Namespace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from argus.generative.decode.model import Seq2Seq
from argus.generative.folders import is_from_scratch
from argus.generative.vocabulary import open_vocabulary
from tests.support.fairseq import SETTINGS, make_released, save
from tests.support.ngrams import ROWS

TEXTS = [f"{r['title']} {r['text']}" for r in ROWS]


@pytest.fixture
def released(tmp_path):
    return make_released(tmp_path / "released", TEXTS)


@cache
def script():
    """What the script defines; it imports models, which only these tests need."""
    return runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "convert_fairseq.py"))


@pytest.fixture
def convert(tmp_path):
    def run(made, out="converted", bpe=None, **settings):
        folder = tmp_path / out
        script()["convert"](
            made.checkpoint, made.dictionary, bpe or made.folder, folder, **settings
        )
        return folder

    return run


def logits(network, sources, targets):
    with torch.inference_mode():
        return network(input_ids=sources, decoder_input_ids=targets).logits


def same_logits(made, folder):
    """Whether both networks say the same of a text, each in its own rows."""
    vocabulary = open_vocabulary(folder)
    model = Seq2Seq.open(folder, vocabulary, device="cpu")
    text, answer = "Which city is the capital?", "Bern is the capital"
    ours = torch.tensor(made.vocabulary.sources([text]))
    theirs = torch.tensor(vocabulary.sources([text]))
    assert np.array_equal(made.rows[ours.numpy()], theirs.numpy())
    mine = torch.tensor([[2, *made.vocabulary.encode([answer])[0]]])
    written = torch.tensor([[2, *vocabulary.encode([answer])[0]]])
    expected = logits(made.bart, ours, mine)
    got = logits(model.network, theirs, written)[:, :, torch.tensor(made.rows)]
    return torch.allclose(expected, got, atol=1e-5)


def test_logits_are_those_of_the_model_that_was_saved(released, tmp_path, capsys):
    out = tmp_path / "out"
    words = [released.checkpoint, "--dict", released.dictionary, "--bpe", released.folder]
    assert script()["main"]([*map(str, words), "--out", str(out)]) == 0
    assert same_logits(released, out)
    printed = capsys.readouterr().out
    assert "1 + 1 layers of 32 dimensions and 2 heads" in printed
    assert printed.endswith("left out: decoder.version, encoder.version\n")
    assert not is_from_scratch(out)
    assert script()["main"]([*map(str, words), "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_other_ways_of_saving_it_give_the_same(released, convert):
    state = released.state()
    joined = dict(state)
    for name in [n for n in state if ".q_proj." in n]:
        parts = [joined.pop(name.replace("q_proj", f"{p}_proj")) for p in "qkv"]
        joined[name.replace("q_proj.", "in_proj_")] = torch.cat(parts)
    assert len(joined) < len(state)
    save(released, joined, args=Namespace(**SETTINGS), cfg=None)
    assert same_logits(released, convert(released, "old"))
    twice = {"encoder.layers.0.in_proj_weight": torch.zeros(96, 32),
             "classification_heads.mnli.dense.weight": torch.zeros(2, 2)}  # fmt: skip
    save(released, state | twice, cfg={"model": SETTINGS})
    assert same_logits(released, convert(released, "newer"))
    half = {name: weight.half() for name, weight in state.items()}
    save(released, half)
    assert (convert(released, "half") / "model.safetensors").is_file()


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('it was run')",))


def refused(convert, made, **settings):
    with pytest.raises(script()["Refused"]) as caught:
        convert(made, "refused", **settings)
    return str(caught.value)


@pytest.mark.parametrize("zipped", [True, False])
def test_what_only_code_could_read_is_refused_by_name(released, convert, zipped, tmp_path):
    whole = {"model": released.state(), "cfg": Evil()}
    torch.save(whole, released.checkpoint, _use_new_zipfile_serialization=zipped)
    message = refused(convert, released)
    assert "seal.pt: holds objects of " in message and "exec" in message
    assert "which only running code could make" in message and "weights.pt" in message
    assert not (tmp_path / "refused").exists()


def test_files_that_are_no_checkpoint_are_named(released, convert):
    released.checkpoint.write_bytes(b"PK no zip")
    assert "cannot be read" in refused(convert, released)
    torch.save({"model": {}}, released.checkpoint)
    assert "no weights in it" in refused(convert, released)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("encoder.layers.0.fc2.bias"), "1 weights of BART are missing and 0"),
        (lambda s: s.update({"encoder.layer_norm.weight": torch.ones(32)}),
         "1 are none of its, or of another shape (encoder.layer_norm.weight)"),
        (lambda s: s.update({"decoder.embed_tokens.weight": torch.ones(5, 32)}), "differ"),
        (lambda s: [s.pop(n) for n in list(s) if "tokens" in n or "output" in n],
         "no encoder.embed_tokens.weight among its"),
    ],
)  # fmt: skip
def test_another_network_is_refused(released, convert, change, message):
    state = released.state()
    change(state)
    save(released, state)
    assert message in refused(convert, released)


def test_a_dictionary_or_bpe_of_another_model_is_refused(released, convert, tmp_path):
    lines = released.dictionary.read_text().splitlines()
    for changed, message in (
        (lines[:-3], "of a model with"),
        ([*lines[:-1], lines[0]], "expected a new symbol"),
        (["nothing", *lines[1:]], "line 1: 'nothing'"),
        (["99999 1", *lines[1:]], "'99999' is no number of a token of the BPE"),
        (["madeupword0009 0", *lines[1:]], "no row for 1 tokens of the BPE"),
    ):
        released.dictionary.write_text("\n".join([*changed, ""]))
        assert message in refused(convert, released)
    merges = tmp_path / "bpe" / "merges.txt"
    merges.parent.mkdir()
    assert "none of vocab.bpe, merges.txt" in refused(convert, released, bpe=merges.parent)
    for text, message in (("a b c\n", "no byte-pair"), ("a bc\nab c\n", "two merges make 'abc'")):
        merges.write_text(text)
        assert message in refused(convert, released, bpe=merges.parent)
