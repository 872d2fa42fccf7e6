"""Learning to rank: scores that are the search's, a loss that falls, right passages that rise."""

import dataclasses

import numpy as np
import pytest
import torch

from argus.data.fields import FieldNames
from argus.data.types import Query
from argus.errors import InputError
from argus.generative.decode.model import Seq2Seq
from argus.generative.evidence import aggregate
from argus.generative.folders import index_folder
from argus.generative.index import NgramIndex
from argus.generative.search import search_ngrams
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import (
    Decoding,
    GenerativeTuneConfig,
    Mode,
    NgramSearchConfig,
    Scoring,
)
from argus.generative.training.examples import read_inputs
from argus.generative.training.ranking import (
    SETTLED,
    passage_scores,
    rank_example,
    rank_lists,
    rank_questions,
    rank_task,
)
from argus.generative.training.tune import tune_generative
from argus.training.loop import LoopConfig
from tests.support.ngrams import write

ASKED = {
    "a": ("Which city is the capital?", "bern"), "b": ("Who wrote the first program?", "ada"),
    "c": ("river into the Rhine", "aare"), "d": ("ska from Jamaica", "ska"),
    "e": ("a bear in the arms", "bern2"), "f": ("an Alpine lake", "thun"),
    "g": ("city with dyes", "basel"), "h": ("what lies in a bend", "old bern"),
    "i": ("rain on most days", "plain"), "j": ("music of Kingston", "ska"),
}  # fmt: skip
SCORING = Scoring(smoothing=0.1, unigrams=400)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    rows = [{"_id": i, "text": text} for i, (text, _) in ASKED.items()]
    qrels = [f"{i}\t{doc}\t1" for i, (_, doc) in ASKED.items()]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *qrels, ""]))
    return write(folder / "queries.jsonl", rows), folder / "qrels.tsv"


@pytest.fixture(scope="module")
def searcher(ready):
    index = NgramIndex.open(index_folder(ready.index))
    model = Seq2Seq.open(ready.model, index.vocabulary, device="cpu")
    decoding = Decoding(beams=4)

    def of(mode=Mode.MINDER, scoring=SCORING):
        return GenerativeSearcher(index, model, mode, decoding, scoring)

    return of


def configured(model, **settings):
    search = NgramSearchConfig(model=model, decoding=Decoding(beams=4), scoring=SCORING)
    loop = LoopConfig(learning_rate=2e-3, epochs=6, batch_size=5, accumulation=1)
    given = {"passages": 50, "margin": 50.0, "rank_weight": 0.02}
    given |= {"search": search, "training": loop} | settings
    return GenerativeTuneConfig(**given)


@pytest.fixture
def tune(ready, asked, tmp_path):
    def run(config=None, out="tuned", qrels=None, **given):
        return tune_generative(
            ready.corpus, index=ready.index, queries=asked[0], qrels=qrels or asked[1],
            config=config or configured(ready.model), out=tmp_path / out, device="cpu", **given,
        )  # fmt: skip

    return run


def taught(ready, asked, searcher, **settings):
    inputs = read_inputs(ready.corpus, *asked, ready.pseudo_queries, FieldNames(), None)
    return rank_questions(inputs, searcher, configured(ready.model, **settings))


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_scores_that_can_be_learnt_are_those_of_the_search(searcher, mode, penalty):
    scoring = dataclasses.replace(SCORING, length_penalty=penalty)
    searching = searcher(mode, scoring)
    text, right = ASKED["a"]
    (listed,) = rank_lists(
        searching, [Query("a", text)], [frozenset({right})], passages=50, keys=10_000
    )
    (written,) = searching.keys([text])
    ranked = aggregate(searching.index, written.keys, written.unigrams, searching.scoring, 50)
    assert [p.score for p in listed.passages] == pytest.approx(ranked.scores.tolist())
    views = {ranked.view_of(m) for matched in ranked.matched for m in matched}
    assert {"body", "unigram"} <= views
    example = one_of(listed, searching)
    got = passage_scores(
        searching.model.network, [example], searching.model.start,
        searching.model.vocabulary.pad, searching.scoring, searching.index.n_tokens, "cpu",
    )  # fmt: skip
    assert got.tolist() == pytest.approx(ranked.scores.tolist(), rel=1e-4)


def one_of(listed, searching):
    """Return an example of all passages of a list."""
    vocabulary, text = searching.model.vocabulary, listed.query.text
    return rank_example(listed.passages, lambda m: vocabulary.sources([text], m)[0], ())


def test_the_loss_is_the_margins_and_what_is_written(ready, asked, searcher):
    searching = searcher()
    ranked = taught(ready, asked, searching)
    batch = ranked.examples.batch(0, range(len(ranked.examples)))
    model, index = searching.model, searching.index
    common = (model.start, model.vocabulary.pad, searching.scoring, index.n_tokens)
    with torch.inference_mode():
        scores = passage_scores(model.network, batch, *common, "cpu").view(len(batch), 4).tolist()
        for margin, weight in ((50.0, 1.0), (0.0, 0.5)):
            task = rank_task(*common, margin=margin, rank_weight=weight)
            got = float(task.summed_loss(model.network, batch, "cpu"))
            alone = rank_task(*common, margin=margin, rank_weight=0.0)
            written = float(alone.summed_loss(model.network, batch, "cpu"))
            hinges = sum(max(0, margin - a + b) + max(0, margin - c + d) for a, b, c, d in scores)
            assert got == pytest.approx(weight * hinges + written, rel=1e-5)
            parts = [float(task.summed_loss(model.network, [one], "cpu")) for one in batch]
            assert sum(parts) == pytest.approx(got, rel=1e-4)
    assert written > 0 and {task.learnt(one) for one in batch} == {1}


def test_a_key_that_is_certain_has_a_slope_that_is_bounded():
    from argus.generative.training.ranking import ScoredKey, key_weights

    key = ScoredKey(None, (5,), 1, 1, False, True)
    logs = torch.tensor([-1e-9, -SETTLED / 2, -1.0, -400.0], dtype=torch.float64,
                        requires_grad=True)  # fmt: skip
    weights = key_weights(logs, [key] * 4, SCORING, 1000)
    weights.sum().backward()
    assert weights[0] > weights[1] > weights[2] > weights[3] == 0
    slopes = logs.grad.tolist()
    assert slopes[0] == slopes[1] == 1 and slopes[2] == pytest.approx(1 / (1 - np.exp(-1)))
    assert slopes[3] == 0


def test_pairs_hang_on_seed_epoch_and_number_alone(ready, asked, searcher):
    ranked = taught(ready, asked, searcher())
    again = taught(ready, asked, searcher())
    n = len(ranked.examples)
    whole = ranked.examples.batch(3, range(n))
    assert [again.examples.batch(3, [i])[0] for i in range(n)] == whole
    assert any(ranked.examples.batch(e, range(n)) != whole for e in (4, 5, 6))
    assert ranked.counts["train"] == n and ranked.counts["validation"] == len(ranked.validation)
    for listed, example in zip(ranked.examples.lists, whole, strict=True):
        assert len(example.passages) == 4 and example.pairs
        best = next(p for p in listed.passages if p.right)
        assert [f for _, f in example.passages[0]] == [f for _, f in best.keys]
        assert len(example.passages[0]) <= 40


def test_the_loss_falls_and_right_passages_rise(tune, ready, asked, tmp_path):
    result = tune()
    losses = [e["loss"] for e in result.summary["evaluations"]]
    assert result.summary["best"]["loss"] < losses[0]
    before, after = result.summary["before"], result.summary["after"]
    assert before["questions"] == after["questions"] > 0
    means = []
    for model in (ready.model, result.model):
        config = NgramSearchConfig(model=model, decoding=Decoding(beams=4), scoring=SCORING, k=50)
        out = tmp_path / f"found{len(means)}"
        answers = search_ngrams(ready.index, asked[0], config=config, out=out, device="cpu").results
        found = [([hit.doc_id for hit in a.hits], ASKED[topic.query.id][1]) for topic, a in answers]
        means.append(sum(1 / (ids.index(right) + 1) for ids, right in found if right in ids))
    assert means[1] > means[0]


def test_a_training_with_other_settings_in_the_folder_is_refused(tune, ready):
    brief = LoopConfig(epochs=1, batch_size=5, accumulation=1)
    tune(configured(ready.model, training=brief))
    with pytest.raises(InputError, match="holds another training"):
        tune(configured(ready.model, training=brief, margin=1.0))
