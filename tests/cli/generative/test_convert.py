"""`argus generative convert`: what it writes and says, and what it refuses."""

import json

import pytest
import torch

from tests.support.fairseq import make_released
from tests.support.ngrams import ROWS


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    return make_released(folder, [f"{r['title']} {r['text']}" for r in ROWS])


@pytest.fixture
def convert(argus, released):
    def run(*more, checkpoint=released.checkpoint):
        return argus(
            "generative", "convert", checkpoint, "--dict", released.dictionary,
            "--bpe", released.folder, "--out", "out", *more,
        )  # fmt: skip

    return run


def test_it_converts_and_says_what(convert, released, tmp_path):
    ran = convert()
    assert ran.code == 0, ran.err
    tokens = released.vocabulary.size + 2
    lines = ran.out.splitlines()
    assert lines[0] == f"1 + 1 layers of 32 dimensions and 2 heads; {tokens:,} tokens"
    assert lines[1].startswith("left out, since no text is written with it: decoder.version")
    assert "model: out/model (" in ran.out
    assert "Next: argus generative build --corpus CORPUS --tokenizer out/model" in ran.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["generative_convert"]
    assert json.loads(convert("--json").out) == summary
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["generative_convert"]
    assert set(manifest["inputs"]) == {"checkpoint", "dictionary", "bpe"}


def test_weights_without_settings_are_told_the_heads(convert, released, tmp_path):
    alone = tmp_path / "weights.pt"
    torch.save(released.state() | {}, alone)
    lines = released.dictionary.read_text().splitlines()
    released.dictionary.write_text("\n".join([*lines[:-2], ""]))  # no rows behind those of tokens
    try:
        ran = convert("--heads", "2", checkpoint=alone)
        assert ran.code == 0, ran.err
        assert "the checkpoint has no settings" in ran.out
        assert "32 dimensions, 3 and 3 heads" in convert("--heads", "3", checkpoint=alone).err
    finally:
        released.dictionary.write_text("\n".join([*lines, ""]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--heads", "0"), "Input should be greater than or equal to 1"),
        (("--activation", "tanh"), "--activation: 'tanh'; expected one of gelu, relu"),
        (("--dict", "none.txt"), "none.txt: cannot be read"),
        (("--bpe", "none"), "none: no such folder"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(convert, tmp_path, options, message):
    ran = convert(*options)
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "out").exists()
