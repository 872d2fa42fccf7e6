"""Tokenizers: trained here, loaded from a folder, given the markers that they lack."""

import json

import pytest

from argus.errors import InputError
from argus.generative.vocabulary import UNSUPERVISED, Vocabulary, open_vocabulary, train_vocabulary


@pytest.fixture(scope="module")
def vocabulary():
    return train_vocabulary(["the tower stands in Paris", "where does the tower stand"], 300)


@pytest.mark.parametrize(
    "text", ["the tower", "naïve 東京 \U0001f600", "</s> @@ || <pad>", "a\n b"]
)
def test_texts_come_back_with_white_space_made_one(vocabulary, text):
    (tokens,) = vocabulary.encode([text])
    assert vocabulary.decode(tokens) == " " + " ".join(text.split())
    assert not {vocabulary.border, vocabulary.pad, vocabulary.title_end} & set(tokens)


def test_sources_carry_their_views_marker_and_the_specials(vocabulary):
    plain, marked, unsupervised = (
        vocabulary.decode(vocabulary.sources(["the  tower"], *view, kind=kind)[0])
        for view, kind in (((), "+"), (("title",), "+"), (("body",), UNSUPERVISED))
    )
    assert plain == "<s> the tower</s>"
    assert marked == "<s> the tower || title || +</s>"
    assert unsupervised == "<s> the tower || body || p</s>"


def test_a_long_source_loses_the_end_of_its_question_alone(vocabulary):
    long, short = vocabulary.sources(["the tower stands in Paris", "the"], "title", limit=14)
    assert len(long) == 14
    assert vocabulary.decode(long).endswith(" || title || +</s>")
    assert vocabulary.decode(long).startswith("<s> the")
    assert len(short) < 14


def test_a_tokenizer_without_the_markers_is_given_them():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {w: i for i, w in enumerate(["</s>", "<unk>", "tower", "in"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    made = Vocabulary(tokenizer, {"eos_token": "</s>", "unk_token": "<unk>"})
    assert (made.added, made.size, made.pad) == (2, 6, None)
    assert {made.title_end, made.query_start} == {4, 5}
    assert made.encode(["tower in Oslo"]) == [[2, 3, made.unknown]]
    assert made.sources(["tower"]) == [[2, made.border]], "no specials of its own: a border ends"


def test_a_damaged_tokenizer_and_one_too_small_are_refused(vocabulary, tmp_path):
    vocabulary.save(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    content["model"]["vocab"] = "gone"
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="cannot be read"):
        open_vocabulary(tmp_path)
    with pytest.raises(InputError, match="at least 262"):
        train_vocabulary(["too few tokens"], 10)
