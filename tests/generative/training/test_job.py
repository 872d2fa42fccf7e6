"""`train_generative`: what it learns from, what it writes, and what it refuses."""

import dataclasses
import json

import pyarrow.parquet as parquet
import pytest
import torch

from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries
from argus.data.qrels import read_qrels
from argus.data.types import Document
from argus.errors import InputError
from argus.generative.decode.model import Seq2Seq
from argus.generative.folders import index_folder
from argus.generative.index import NgramIndex
from argus.generative.index.job import build_ngrams
from argus.generative.index.settings import NgramBuildConfig
from argus.generative.training.config import (
    SCRATCH_LEARNING,
    GenerativeTrainConfig,
    ScratchSize,
    learning,
)
from argus.generative.training.job import train_generative
from argus.generative.training.settings import ExampleConfig
from argus.training import loop
from tests.support.ngrams import write
from tests.support.results import shown, sizes

SIZE = ScratchSize(d_model=32, layers=1, dropout=0.0)
EXAMPLES = ExampleConfig(validation_share=0.3)
CONFIG = GenerativeTrainConfig(
    size=SIZE, examples=EXAMPLES, training=learning("scratch", epochs=2, batch_size=8)
)


@pytest.fixture
def run(ready, tmp_path):
    def go(config=CONFIG, corpus=ready.corpus, out="out", **given):
        return train_generative(
            corpus, index=ready.index, config=config, out=tmp_path / out, device="cpu", **given
        )

    return go


@pytest.fixture
def qrels(tmp_path):
    path = tmp_path / "qrels.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    return path


def weights(result):
    from safetensors.torch import load_file

    return load_file(result.model / "model.safetensors")


def test_it_writes_a_model_that_searches_the_index(run, ready, qrels):
    result = run(
        queries=ready.questions, qrels=qrels, pseudo_queries=ready.pseudo_queries,
    )  # fmt: skip
    vocabulary = NgramIndex.open(index_folder(ready.index)).vocabulary
    assert Seq2Seq.open(result.model, vocabulary, device="cpu").start == vocabulary.border
    note = json.loads((result.model / "argus.json").read_text())
    assert note["vocabulary"] == vocabulary.fingerprint
    assert note["views"] == ["body", "title", "query"]
    assert note["base"] == {"name": "scratch", **dataclasses.asdict(SIZE)}
    assert note["settings"]["training"]["epochs"] == 2
    assert note["examples"]["questions"] == 2
    summary = json.loads((result.folder / "summary.json").read_text())["generative_train"]
    assert summary == result.summary and summary["stopped"] == "2 epochs"
    losses = parquet.read_table(result.folder / "losses.parquet").to_pylist()
    assert [row["step"] for row in losses] == list(range(1, summary["steps"] + 1))
    manifest = json.loads((result.folder / "manifest.json").read_text())["generative_train"]
    assert set(manifest["inputs"]) == {"corpus", "queries", "qrels", "pseudo_queries"}


def test_a_model_in_a_folder_is_trained_on_all_its_weights(run, ready):
    given = learning(str(ready.model), epochs=1, learning_rate=1e-2)
    config = dataclasses.replace(CONFIG, model=str(ready.model), training=given)
    result = run(config)
    vocabulary = NgramIndex.open(index_folder(ready.index)).vocabulary
    begun = Seq2Seq.open(ready.model, vocabulary, device="cpu")
    before, after = begun.network.state_dict(), weights(result)
    learnt = [n for n in after if not n.endswith(("final_logits_bias", "k_proj.bias"))]
    assert all(not torch.equal(before[name], after[name]) for name in learnt)
    note = json.loads((result.model / "argus.json").read_text())
    assert note["base"]["name"] == str(ready.model) and len(note["base"]["weights"]) == 32


def test_a_run_that_was_killed_ends_at_the_same_model(run, monkeypatch):
    config = dataclasses.replace(
        CONFIG, training=learning("scratch", epochs=2, batch_size=8, checkpoint_every_s=0.0)
    )
    whole = run(config, out="whole")
    real = loop._Run.step

    def step(self, state, *given):
        if state.step == 4:
            raise KeyboardInterrupt
        real(self, state, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop._Run, "step", step)
        run(config)
    again = run(config)
    ours, theirs = weights(whole), weights(again)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert whole.summary["evaluations"] == again.summary["evaluations"]


def test_out_of_time_is_said_and_more_time_goes_on(run):
    short = dataclasses.replace(CONFIG, training=learning("scratch", max_minutes=1e-5, epochs=2))
    first = run(short).summary
    assert first["out_of_time"] and first["steps"] == 1
    assert first["stopped"] == "the time budget of 1e-05 minutes"
    longer = dataclasses.replace(CONFIG, training=learning("scratch", epochs=2))
    second = run(longer).summary
    assert second["steps"] > 1


def test_held_out_titles_become_questions(run, tmp_path):
    result = run(dataclasses.replace(CONFIG, hold_out=2))
    asked = read_queries(result.folder / "held_out.jsonl")
    judged = read_qrels(result.folder / "held_out.tsv")
    assert len(asked) == 2 and judged == {q.id: {q.id: 1} for q in asked}
    listed = tmp_path / "ids.txt"
    listed.write_text("old bern\n\nthun\n")
    named = run(dataclasses.replace(CONFIG, hold_out=listed), out="named")
    assert [q.text for q in read_queries(named.folder / "held_out.jsonl")] == [
        "Old city of Bern", "Lake Thun",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [("nobody\n", "line 1: document 'nobody' is not in the corpus"),
     ("bern\nplain\n", "line 2: document 'plain' has no title"),
     ("bern\u2028thun\n", "line 1: document .* is not in the corpus")],
)  # fmt: skip
def test_what_cannot_be_held_out_is_named(run, tmp_path, text, message):
    path = tmp_path / "ids.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(dataclasses.replace(CONFIG, hold_out=path))
    with pytest.raises(InputError, match="99 titles to hold out, of 9"):
        run(dataclasses.replace(CONFIG, hold_out=99))
    with pytest.raises(InputError, match="none: no such file; expected a number, or a file"):
        run(dataclasses.replace(CONFIG, hold_out=tmp_path / "none"))


def test_nothing_to_learn_from_is_named(run):
    with pytest.raises(InputError, match=r"0 examples to train on and 0 to validate with, of 1"):
        run(corpus=[Document("a", "  ")])


def test_questions_need_judgements(run, ready, qrels):
    with pytest.raises(InputError, match="--questions: given without --qrels"):
        run(queries=ready.questions)
    with pytest.raises(InputError, match="--qrels: given without --questions"):
        run(qrels=qrels)


def test_pseudo_queries_of_other_documents_are_refused(run, tmp_path):
    other = write(tmp_path / "other.jsonl", [{"_id": "x", "queries": ["y"]}])
    with pytest.raises(InputError, match="none of them in the corpus"):
        run(pseudo_queries=other)


def test_another_training_in_the_folder_is_refused(run):
    run()
    other = dataclasses.replace(CONFIG, examples=dataclasses.replace(EXAMPLES, bodies=1))
    with pytest.raises(InputError, match="holds another training"):
        run(other)
    assert run(other, fresh=True).summary["steps"] > 0


def test_sources_longer_than_the_model_reads_are_refused(run, ready):
    config = dataclasses.replace(
        CONFIG, model=str(ready.model), examples=ExampleConfig(source_tokens=4000)
    )
    with pytest.raises(InputError, match=r"--source-tokens: 4000 tokens of a source"):
        run(config)


def test_an_index_that_is_none_is_named(ready, tmp_path):
    with pytest.raises(InputError, match="no n-gram index in it"):
        train_generative(ready.corpus, index=tmp_path, config=CONFIG, out=tmp_path / "out")


def test_defaults_hang_on_the_kind_of_model():
    assert learning("scratch").learning_rate == SCRATCH_LEARNING.learning_rate
    assert learning("scratch", learning_rate=1.0).learning_rate == 1.0
    assert learning("a/folder").max_minutes is None
    assert learning("a/folder").label_smoothing == 0.1


@pytest.mark.slow
def test_wiki2_titles_are_copied_by_a_model_from_scratch_quickly(shared, tmp_path):
    documents = read_corpus(shared("wiki2"))[:300]
    build_ngrams(documents, out=tmp_path / "i", config=NgramBuildConfig(tokenizer="bpe:1500"))
    config = GenerativeTrainConfig(
        size=ScratchSize(d_model=128, layers=1), hold_out=20,
        training=learning("scratch", epochs=1, batch_size=32),
    )  # fmt: skip
    result = train_generative(documents, index=tmp_path / "i", config=config, out=tmp_path / "out")
    evaluations = result.summary["evaluations"]
    assert result.summary["best"]["loss"] < evaluations[0]["loss"] - 0.5


def test_a_training_shows_its_figures(run, monkeypatch):
    result = run()
    assert " examples an epoch, " in shown(result)[0]
    assert list(result.headline())[-1].startswith(f"model: {result.model} (")
    assert sizes(result, monkeypatch) == {"losses": result.summary["steps"]}
