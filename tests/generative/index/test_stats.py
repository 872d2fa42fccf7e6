"""What an index holds, counted again in plain Python."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import Document
from argus.errors import InputError
from argus.generative.index import NgramIndex
from argus.generative.index.job import build_ngrams
from argus.generative.index.settings import NgramBuildConfig
from argus.generative.index.stats import _contained, histogram, ngram_stats, spread
from tests.support.ngrams import QUERIES, ROWS
from tests.support.results import shown, sizes

PASSAGES = [row for row in ROWS if row["_id"] != "empty"]


@pytest.fixture(scope="module")
def summary(ready):
    return ngram_stats(ready.index, longest=4).summary


def passages_as_tokens(ready):
    index = NgramIndex.open(ready.index / "ngrams")
    pointers, tokens = index.tokens_of(np.arange(index.n_documents))
    return [tokens[a:b].tolist() for a, b in pairwise(pointers)]


def test_sizes_are_those_of_the_files(ready, summary):
    files = (ready.index / "ngrams" / "segments").rglob("*.npy")
    arrays = sum(np.load(path, mmap_mode="r").nbytes for path in files)
    assert summary["bytes"]["total"] == arrays
    assert sum(n for part, n in summary["bytes"].items() if part != "total") == arrays


def test_lengths_of_passages_are_counted_in_tokens(ready, summary):
    passages = passages_as_tokens(ready)
    lengths = [len(tokens) for tokens in passages]
    told = summary["passages"]
    assert (told["total"], told["without_text"]) == (len(PASSAGES), 1)
    assert told["tokens"]["min"] == min(lengths)
    assert told["tokens"]["max"] == max(lengths)
    assert told["tokens"]["mean"] == round(sum(lengths) / len(lengths), 2)
    assert sum(told["histogram"]["counts"]) == len(PASSAGES)
    assert summary["tokens"]["total"] == sum(lengths)
    assert summary["tokens"]["types"] == len({t for tokens in passages for t in tokens})


def test_ngrams_of_every_length_are_counted(ready, summary):
    passages = passages_as_tokens(ready)
    assert [row["length"] for row in summary["ngrams"]] == [1, 2, 3, 4]
    for row in summary["ngrams"]:
        occurrences, holders = Counter(), {}
        for number, tokens in enumerate(passages):
            for i in range(1, len(tokens) - row["length"] + 1):  # without the border in front
                ngram = tuple(tokens[i : i + row["length"]])
                occurrences[ngram] += 1
                holders.setdefault(ngram, set()).add(number)
        assert row["distinct"] == len(occurrences)
        assert row["occurrences"] == occurrences.total()
        assert row["singletons"] == sum(n == 1 for n in occurrences.values())
        assert row["in_one_passage"] == sum(len(held) == 1 for held in holders.values())
        assert row["frequency_quantiles"]["most"] == max(occurrences.values())
        assert row["passages_quantiles"]["most"] == max(map(len, holders.values()))


def test_titles_that_name_no_single_passage_are_told(summary):
    titles = summary["titles"]
    assert (titles["distinct"], titles["without"]) == (8, 1)
    assert (titles["repeated"], titles["passages_of_repeated"]) == (1, 2)
    assert titles["most_repeated"] == [{"title": "Bern", "passages": 2}]
    assert titles["inside_others"] == 1
    assert titles["inside_examples"] == [{"title": "Bern", "inside": "Old city of Bern"}]


def test_pseudo_queries_are_counted_per_passage(summary):
    told = summary["pseudo_queries"]
    assert told["queries"] == sum(map(len, QUERIES.values()))
    assert told["passages"] == len(QUERIES)
    assert told["per_passage"]["max"] == 2
    assert told["per_passage"]["mean"] == 0.3


def test_an_index_without_titles_and_pseudo_queries_says_so(tmp_path):
    documents = [Document("a", "one || two || three", "T"), Document("b", "four")]
    build_ngrams(
        documents, out=tmp_path, config=NgramBuildConfig(tokenizer="bpe:300", titles=False)
    )
    summary = ngram_stats(tmp_path, longest=1).summary
    assert summary["titles"] is None
    assert summary["pseudo_queries"] is None, "a marker in a text is text"


def test_a_report_shows_the_same_figures(ready, tmp_path, summary):
    result = ngram_stats(ready.index, longest=4, out=tmp_path / "out")
    assert result.summary == summary
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == {
        "generative_stats": summary
    }
    rows = pq.read_table(tmp_path / "out" / "ngram_profile.parquet").to_pylist()
    assert [row["distinct"] for row in rows] == [row["distinct"] for row in summary["ngrams"]]
    assert rows[0]["passages_most"] == summary["ngrams"][0]["passages_quantiles"]["most"]
    page = result.report.read_text("utf-8")
    for name in ("distinct", "telling", "passages", "lengths"):
        assert f'data-plot="generative_{name}"' in page
    assert "Old city of Bern" in page


def test_stats_may_go_into_the_folder_of_the_index(tmp_path):
    documents = [Document("a", "one two", "T"), Document("b", "three")]
    build_ngrams(documents, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer="bpe:300"))
    ngram_stats(tmp_path / "ix", out=tmp_path / "ix")
    assert (tmp_path / "ix" / "report.html").is_file()
    with pytest.raises(InputError, match="--fresh would empty the folder"):
        ngram_stats(tmp_path / "ix", out=tmp_path / "ix", fresh=True)


@pytest.mark.parametrize("longest", [0, 256])
def test_lengths_that_cannot_be_counted_are_refused(ready, longest):
    with pytest.raises(InputError, match="expected a length from 1 to 255"):
        ngram_stats(ready.index, longest=longest)


def test_what_is_no_index_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(InputError, match="no n-gram index in it"):
        ngram_stats(tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


numbers = st.lists(st.integers(0, 300), min_size=1, max_size=60).map(np.array)


@given(numbers)
def test_a_histogram_counts_every_number_in_bins_of_one_width(values):
    found = histogram(values)
    edges = found["edges"]
    assert sum(found["counts"]) == len(values)
    assert len({b - a for a, b in pairwise(edges)}) == 1
    for low, high, n in zip(edges, edges[1:], found["counts"], strict=False):
        assert n == sum(low <= v < high for v in values)
    assert len(found["counts"]) <= 41


@given(numbers)
def test_a_spread_names_numbers_that_occur(values):
    found = spread(values)
    assert found is not None
    assert (found["min"], found["max"]) == (values.min(), values.max())
    assert {found[name] for name in ("p5", "median", "p95")} <= set(values.tolist())
    assert spread(values[:0]) is None


titles = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple), max_size=8)


@given(titles)
def test_a_title_within_another_is_found_as_by_comparing_all(given_titles):
    borne = Counter(given_titles)
    inside = {
        a for a in borne for b in borne
        if len(a) < len(b) and any(b[i : i + len(a)] == a for i in range(len(b)))
    }  # fmt: skip
    found = _contained(borne)
    assert set(found) == inside
    for part, whole in found.items():
        assert any(whole[i : i + len(part)] == part for i in range(len(whole)))


def test_figures_are_shown_and_ngrams_a_table(ready, monkeypatch):
    result = ngram_stats(ready.index, longest=2)
    assert shown(result)[0].startswith(f"{len(PASSAGES)} passages of ")
    assert sizes(result, monkeypatch) == {"table": 2}
