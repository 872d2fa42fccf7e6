"""Figures as the thesis counts them: markers left in, texts as they stand, its deciles."""

import json

import numpy as np
import pytest

from argus.generative.failures.analyse import analyse_failures
from argus.generative.failures.tables import published_deciles
from argus.generative.settings import FailureConfig
from tests.support.generating import output_records, small_vocabulary


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("strict")
    small_vocabulary().save(home / "tokenizer")
    (home / "dpr.json").write_text(json.dumps(output_records()))
    return home


def table_of(folder, **settings):
    config = FailureConfig(tokenizer=folder / "tokenizer", **settings)
    out = folder / f"out-{settings.get('strict', False)}"
    return analyse_failures([folder / "dpr.json"], config=config, out=out)


def test_markers_count_as_tokens_of_the_ngrams(folder):
    vocabulary = small_vocabulary()
    strict, usual = (table_of(folder, strict=flag).table.to_pylist()[2] for flag in (True, False))
    title, word, query = vocabulary.encode_as_is(["</s> Tower @@", " tall", "|| what is tall @@"])
    tokens = [*title, *word, *query]
    assert strict["diversity"] == len(set(tokens)) / len(tokens)
    bare = [t for ids in vocabulary.encode(["Tower", "tall", "what is tall"]) for t in ids]
    assert usual["diversity"] == len(set(bare)) / len(bare)
    question = set(vocabulary.encode_as_is(["what is tall"])[0])
    assert strict["overlap"] == len(question & set(tokens)) / len(question)
    assert strict["unigram_share"] == (len(word) == 1) / 3


def test_equal_values_stay_together_as_in_table_13():
    # Tenths of 20 values: ends at 1, 1, 1, 1.6, 2, ...: D1 takes all seven ones, not two.
    values = [1] * 7 + [2] * 5 + [3, 4, 5, 6, 7, 8, 9, 10]
    groups = published_deciles(values, {"hit": [1] * 7 + [0] * 13}, by_rank=False)
    assert groups[0][4:] == [7, 1.0]
    assert [(low, high, n) for _, low, high, _, n, _ in groups] == [
        (1, 1, 7), (2, 2, 5), (3, 4, 2), (5, 6, 2), (7, 8, 2), (9, 10, 2),
    ]  # fmt: skip


def test_groups_by_rank_are_those_of_table_12():
    values = np.repeat(np.linspace(0.38, 1.0, 5), 1303)  # 6,515 questions
    groups = published_deciles(values, {}, by_rank=True)
    assert [n for *_, n in groups] == [651] * 9 + [656]
    assert groups[-1][1:3] == [1.0, 1.0]
