"""`train_generative`: what it learns from, what it writes, and what it refuses."""

import dataclasses
import json

import pytest

from argus.errors import InputError
from argus.generative.decode.model import Seq2Seq
from argus.generative.folders import index_folder
from argus.generative.index import NgramIndex
from argus.generative.settings import (
    ExampleConfig,
    GenerativeTrainConfig,
    LearningConfig,
    ScratchSize,
)
from argus.generative.training.job import train_generative

SIZE = ScratchSize(d_model=32, layers=1, dropout=0.0)
EXAMPLES = ExampleConfig(validation_share=0.3)
CONFIG = GenerativeTrainConfig(
    size=SIZE, examples=EXAMPLES, training=LearningConfig(epochs=2, batch_size=8)
)


@pytest.fixture
def run(ready, tmp_path):
    def go(config=CONFIG, corpus=ready.corpus, out="out", **given):
        return train_generative(
            corpus, index=ready.index, config=config, out=tmp_path / out, device="cpu", **given
        )

    return go


def test_it_writes_a_model_that_searches_the_index(run, ready, tmp_path):
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    result = run(queries=ready.questions, qrels=qrels, pseudo_queries=ready.pseudo_queries)
    vocabulary = NgramIndex.open(index_folder(ready.index)).vocabulary
    assert Seq2Seq.open(result.model, vocabulary, device="cpu").start == vocabulary.border
    note = json.loads((result.model / "argus.json").read_text())
    assert note["vocabulary"] == vocabulary.fingerprint
    assert note["views"] == ["body", "title", "query"]
    assert note["base"] == {"name": "scratch", **dataclasses.asdict(SIZE)}
    assert note["examples"]["questions"] == 2
    assert result.summary["stopped"] == "2 epochs"
    assert result.losses["step"].to_pylist() == list(range(1, result.summary["steps"] + 1))


def test_another_training_in_the_folder_is_refused_and_titles_that_are_not_there(run):
    run()
    other = dataclasses.replace(CONFIG, examples=dataclasses.replace(EXAMPLES, bodies=1))
    with pytest.raises(InputError, match="holds another training"):
        run(other)
    assert run(other, fresh=True).summary["steps"] > 0
    with pytest.raises(InputError, match="99 titles to hold out, of 9"):
        run(dataclasses.replace(CONFIG, hold_out=99), out="none")
