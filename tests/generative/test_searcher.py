"""SEAL and MINDER from end to end with a tiny model: what scores hang on, and what not."""

import random

import pytest
import torch

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.generative.decode import Seq2Seq
from argus.generative.index import build_index
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Decoding, Mode, Scoring
from argus.generative.vocabulary import train_vocabulary
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    log_probability,
    plain,
    plain_beam_search,
    tiny_model,
    vast,
)
from tests.support.tiny_seq2seq import make_seq2seq

QUERIES = [
    Query("long", "in which city in France does the Eiffel tower, which is tall, stand"),
    Query("short", "tower"),
    Query("none", "  "),
    Query("paris", "Paris is where"),
]
SMALL = Decoding(beams=4, body_tokens=5, title_tokens=8, query_tokens=12)

# Weighs every key in a vast corpus: hardly any n-gram of random weights is above chance here.
EVERYTHING = Scoring(smoothing=0)


def answers(index, model, mode=Mode.MINDER, decoding=SMALL, queries=QUERIES):
    searcher = GenerativeSearcher(vast(index), model, mode, decoding, EVERYTHING)
    return {a.query_id: a for a in searcher.search(queries, 10)}


def assert_alike(a, b):
    assert a.keys() == b.keys()
    for query in a:
        one, other = a[query].scores(), b[query].scores()
        assert one.keys() == other.keys()
        assert max((abs(one[d] - other[d]) for d in one), default=0) < 1e-3 * max(
            [1.0, *one.values()]
        )


@pytest.mark.parametrize("mode", list(Mode))
def test_hits_come_with_identifiers_that_their_passages_hold(parts, mode):
    vocabulary, index, _, model = parts
    found = answers(index, model, mode)
    assert found["none"].hits == []
    views = set()
    for answer in found.values():
        scores = [hit.score for hit in answer.hits]
        assert scores == sorted(scores, reverse=True)
        for hit in answer.hits:
            document = index.ids().index(hit.doc_id)
            passage = vocabulary.decode(index.tokens_of([document])[1])
            assert hit.score == pytest.approx(sum(key.weight for key in hit.keys))
            for key in hit.keys:
                views.add(key.view)
                assert key.text in passage + "</s>"
                assert key.count >= 1
    assert {"body", "title", "question"} <= views
    (evidence,) = GenerativeSearcher(index, model, mode, SMALL).keys(["what is tall"])
    written = {vocabulary.decode(k.tokens) for k in evidence.keys if k.view == "query"}
    whole = {f" || {query} @@" for queries in PSEUDO_QUERIES.values() for query in queries}
    assert written <= whole
    assert bool(written) == (mode == Mode.MINDER), "SEAL writes no pseudo-queries"


def assert_queries_are_scored_as_minder_scores_them(vocabulary, index, model, question):
    """Found after a given ` ||`; scored without it, its closing ` @@` counted, by its marker."""
    (written,) = GenerativeSearcher(index, model, Mode.MINDER, SMALL).keys([question])
    source, opening = vocabulary.sources([question], "query")[0], vocabulary.query_start
    found = plain_beam_search(
        model, source, plain(index), beams=4, longest=12, prefix=(opening,), given=(opening,),
        last=vocabulary.title_end, barred={index.border, vocabulary.pad, vocabulary.unknown},
    )  # fmt: skip
    ended = {(opening, *n) for n in found if n[-1] == vocabulary.title_end and len(n) > 1}
    keys = {k.tokens: k.log_probability for k in written.keys if k.view == "query"}
    assert keys.keys() == ended
    assert keys
    for tokens, score in keys.items():
        assert score == pytest.approx(log_probability(model, source, tokens[1:]), abs=1e-5)


def test_keys_are_the_searchs_ngrams_scored_by_their_views(parts):
    vocabulary, index, passages, model = parts
    question = QUERIES[1].text
    (evidence,) = GenerativeSearcher(index, model, Mode.SEAL, SMALL).keys([question])
    by_view = {}
    for key in evidence.keys:
        by_view.setdefault(key.view, {})[key.tokens] = key.log_probability
    never = {index.border, vocabulary.pad, vocabulary.unknown}
    marked = vocabulary.sources([question], "body")[0]
    bodies = plain_beam_search(model, marked, passages, beams=4, longest=5, barred=never)
    unmarked = vocabulary.sources([question])[0]
    markers = {vocabulary.title_end, vocabulary.query_start}
    for ngram in bodies:
        scored = [*ngram]
        while scored and scored[0] == vocabulary.title_end:
            scored = scored[1:]
        while scored and scored[-1] in markers:
            scored = scored[:-1]
        if scored:
            want = log_probability(model, unmarked, scored)
            assert by_view["body"][ngram] == pytest.approx(want, abs=1e-5)
    for title, score in by_view["title"].items():
        assert (title[0], title[-1]) == (index.border, vocabulary.title_end)
        source = vocabulary.sources([question], "title")[0]
        assert score == pytest.approx(log_probability(model, source, title[1:]), abs=1e-5)
    assert_queries_are_scored_as_minder_scores_them(vocabulary, index, model, question)
    for own, score in by_view["question"].items():
        assert vocabulary.decode(own).strip().lower() == "tower"
        assert score == pytest.approx(log_probability(model, marked, own), abs=1e-5)


@pytest.mark.parametrize("batch", [1, 3])
def test_keys_do_not_change_with_batch_size_and_padding(parts, batch):
    _, index, _, model = parts
    searcher = GenerativeSearcher(index, model, Mode.MINDER, SMALL)
    asked = [q.text for q in QUERIES if q.text.strip()] * 2
    apart = [keys for i in range(0, 6, batch) for keys in searcher.keys(asked[i : i + batch])]
    for one, other in zip(searcher.keys(asked), apart, strict=True):
        scores = {(k.view, k.tokens): k.log_probability for k in one.keys}
        again = {(k.view, k.tokens): k.log_probability for k in other.keys}
        assert again == pytest.approx(scores, abs=1e-5)
        assert other.unigrams == pytest.approx(one.unigrams, abs=1e-5)


def test_scores_hang_on_no_order_of_passages_or_segments(parts, tmp_path, monkeypatch):
    vocabulary, index, _, model = parts
    whole = answers(index, model)
    monkeypatch.setattr("argus.generative.passages.BLOCK", 3)
    shuffled = random.Random(1).sample(DOCUMENTS, len(DOCUMENTS))
    parted = build_index(
        shuffled, vocabulary, tmp_path / "i", pseudo_queries=PSEUDO_QUERIES, segment_tokens=1
    )
    assert len(parted.segments) == 2
    other = answers(parted, model)
    assert_alike(whole, other)
    assert [h.doc_id for h in whole["long"].hits] == [h.doc_id for h in other["long"].hits]


def test_unknown_tokens_are_never_written_nor_matched(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    from argus.generative.vocabulary import Vocabulary

    words = ["<pad>", "</s>", "<unk>", "tower", "in", "Paris"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    names = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    vocabulary = Vocabulary(tokenizer, names)
    documents = [Document("a", "tower in Oslo"), Document("b", "Rome in Paris", "Bergen")]
    index = build_index(documents, vocabulary, tmp_path / "i")
    assert index.count([vocabulary.unknown]) == 3
    model, scoring = tiny_model(vocabulary), Scoring(smoothing=0.01)
    searcher = GenerativeSearcher(index, model, Mode.SEAL, SMALL, scoring)
    (written,) = searcher.keys(["tower in Bergen"])
    assert written.keys
    assert all(vocabulary.unknown not in key.tokens for key in written.keys)
    (answer,) = searcher.search([Query("q", "tower in Bergen")], 5)
    found_by = {key.text for hit in answer.hits for key in hit.keys}
    assert found_by
    assert not any("<unk>" in text for text in found_by)


def test_batches_that_do_not_fit_are_halved_and_nothing_is_lost(parts, monkeypatch):
    _, index, _, model = parts
    whole = answers(index, model)
    encode = Seq2Seq.encode
    sizes = []

    def little_memory(self, sources):
        sizes.append(len(sources))
        if len(sources) > 8:  # four inputs per question: two questions fit
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encode(self, sources)

    monkeypatch.setattr(Seq2Seq, "encode", little_memory)
    searcher = GenerativeSearcher(vast(index), model, Mode.MINDER, SMALL, EVERYTHING)
    assert_alike(whole, {a.query_id: a for a in searcher.search(QUERIES, 10)})
    assert searcher.batch == 2
    assert max(sizes) > 8


def test_a_t5_writes_and_scores_as_its_own_forward_pass_does(parts):
    from transformers import T5Config, T5ForConditionalGeneration

    vocabulary, index, *_ = parts
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=vocabulary.size + 60, d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2,
        pad_token_id=vocabulary.pad, eos_token_id=vocabulary.border,
        decoder_start_token_id=vocabulary.pad,
    )  # fmt: skip
    model = Seq2Seq(T5ForConditionalGeneration(config).eval(), vocabulary, "cpu", "t5")
    assert model.source_tokens is None
    (written,) = GenerativeSearcher(index, model, Mode.SEAL, SMALL).keys(["tower"])
    source = vocabulary.sources(["tower"], "title")[0]
    titles = [k for k in written.keys if k.view == "title"]
    assert titles
    for key in titles:
        want = log_probability(model, source, key.tokens[1:])
        assert key.log_probability == pytest.approx(want, abs=1e-4)


def test_a_model_of_another_vocabulary_or_without_its_weights_is_refused(parts, tmp_path):
    from safetensors.torch import load_file, save_file

    vocabulary = parts[0]
    other = make_seq2seq(tmp_path / "other", train_vocabulary(["entirely other words"], 290))
    with pytest.raises(InputError, match=r"its vocabulary.*argus research generative train"):
        Seq2Seq.open(other, vocabulary)
    folder = make_seq2seq(tmp_path / "m", vocabulary)
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["model.decoder.layers.0.fc1.weight"]
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(InputError, match=r"1 weights of the model are missing.*fc1"):
        Seq2Seq.open(folder, vocabulary)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match="cannot be loaded"):
        Seq2Seq.open(folder, vocabulary)
