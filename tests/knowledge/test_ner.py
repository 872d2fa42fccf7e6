import random
import re
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from argus.data import Span
from argus.errors import InputError
from argus.knowledge.ner import TokenClassifier

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
PERSON = ["Ada", "Boris", "Clara", "Dmitri", "Eva", "Zoë"]
SURNAME = ["Lovelace", "Harding", "Okonkwo", "Petrov", "O'Brien", "Hale-Bopp"]
PLACE = ["Cremona", "Oslo", "London", "Zürich", "New Ross", "東京"]
WINDOW = 32
FAMILIES = ["WordPiece", "byte-level BPE"]
Tagged = list[tuple[str, str]]  # pieces of a text, each with its kind, "" outside


def sentence(rng: random.Random) -> Tagged:
    """Make one sentence; every kind of name follows words that tell its kind."""
    person = rng.choice(PERSON) + (f" {rng.choice(SURNAME)}" if rng.random() < 0.6 else "")
    place = rng.choice(PLACE)
    before = rng.choice(["rain and snow ", "we saw rain. ", "🎻 é ", "- "]) * rng.randint(0, 4)
    verb = rng.choice(
        [
            [("yesterday ", ""), (person, "PER"), (" went to ", ""), (place, "LOC"), (".", "")],
            [("in ", ""), (place, "LOC"), (" we met ", ""), (person, "PER"), (" (again).", "")],
            [("the ", ""), (f"Bank of {place}", "ORG"), (" paid ", ""), (person, "PER"), (".", "")],
            [("(", ""), (person, "PER"), (") saw rain and snow 🎻.", "")],
        ]
    )
    return [(before, ""), *verb]


def sentences(n: int, seed: int) -> list[Tagged]:
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(n)]


def text_and_spans(pieces: Tagged) -> tuple[str, list[tuple[int, int, str]]]:
    text, spans = "", []
    for piece, kind in pieces:
        if kind:
            spans.append((len(text), len(text) + len(piece), kind))
        text += piece
    return text, spans


def tokenizer_of(family: str, texts: list[str]) -> Any:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    if family == "WordPiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=160, special_tokens=special)
    else:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=400, special_tokens=special, initial_alphabet=alphabet
        )
    tokenizer.train_from_iterator(texts, trainer)
    frame = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(t, special.index(t)) for t in ("[CLS]", "[SEP]")]
    )
    byte_level = processors.ByteLevel(trim_offsets=False)  # tokens count their leading space in
    parts = [frame] if family == "WordPiece" else [byte_level, frame]
    tokenizer.post_processor = processors.Sequence(parts)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=10**30,
    )  # fmt: skip


def network_of(family: str, tokenizer: Any) -> torch.nn.Module:
    sizes = {
        "vocab_size": len(tokenizer), "hidden_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 96, "id2label": dict(enumerate(TAGS)),
        "label2id": {tag: i for i, tag in enumerate(TAGS)}, "pad_token_id": 0,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
    }  # fmt: skip
    torch.manual_seed(0)
    if family == "WordPiece":
        return transformers.BertForTokenClassification(
            transformers.BertConfig(max_position_embeddings=WINDOW, **sizes)
        )
    # Positions are numbered from behind the padding index, 0: one more than are read.
    config = transformers.RobertaConfig(
        max_position_embeddings=WINDOW + 1, type_vocab_size=1, **sizes
    )
    return transformers.RobertaForTokenClassification(config)


def targets(tokenizer, batch: list[Tagged]):
    """Cut into windows; the first token of every word has its tag, later ones none (-100)."""
    texts, spans = zip(*map(text_and_spans, batch), strict=True)
    encoded = tokenizer(
        list(texts), padding=True, truncation=True, max_length=WINDOW, stride=WINDOW // 4,
        return_overflowing_tokens=True, return_offsets_mapping=True, return_tensors="pt",
    )  # fmt: skip
    labels = torch.full(encoded["input_ids"].shape, -100)
    for row, i in enumerate(encoded["overflow_to_sample_mapping"].tolist()):
        words = {m.start() for m in re.finditer(r"[^\W東京]+|[^\w\s]|[東京]", texts[i])}
        for column, (start, end) in enumerate(encoded["offset_mapping"][row].tolist()):
            start += texts[i][start:end].startswith(" ")
            if start in words and end:
                words.remove(start)
                inside = [s for s in spans[i] if s[0] <= start < s[1]]
                tag = f"{'B' if start == inside[0][0] else 'I'}-{inside[0][2]}" if inside else "O"
                labels[row, column] = TAGS.index(tag)
    return {k: encoded[k] for k in ("input_ids", "attention_mask")}, labels


def save(folder: Path, family: str, *, steps: int) -> Path:
    """Train a tiny tagger from random initialisation on synthetic sentences; save it."""
    corpus = sentences(800, seed=1)
    tokenizer = tokenizer_of(family, [text_and_spans(s)[0] for s in corpus])
    network = network_of(family, tokenizer)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, max(steps, 1))
    rng = np.random.default_rng(0)
    network.train()
    drawn = rng.integers(0, len(corpus), (40, 12, 2))
    batches = [targets(tokenizer, [[*corpus[i], *corpus[j]] for i, j in pairs]) for pairs in drawn]
    for inputs, labels in batches * (steps // len(batches)):
        loss = network(**inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=FAMILIES)
def trained(request, tmp_path_factory) -> Path:
    """Folder of a trained tagger, one of each family."""
    return save(tmp_path_factory.mktemp("ner") / "tagger", request.param, steps=200)


@pytest.fixture
def tagger(trained) -> TokenClassifier:
    return TokenClassifier(trained, device="cpu", batch_size=4)


def f1(finder: TokenClassifier, held_out: list[Tagged]) -> float:
    texts, expected = zip(*map(text_and_spans, held_out), strict=True)
    gold = {(i, start, end) for i, spans in enumerate(expected) for start, end, _ in spans}
    found = {(i, m.span.start, m.span.end) for i, ms in enumerate(finder.find(texts)) for m in ms}
    return 2 * len(found & gold) / (len(found) + len(gold))


def unseen() -> list[Tagged]:
    known = {text_and_spans(s)[0] for s in sentences(800, seed=1)}
    return [s for s in sentences(300, seed=2) if text_and_spans(s)[0] not in known]


def surfaces(finder: TokenClassifier, text: str) -> list[str]:
    (mentions,) = finder.find([text])
    assert [text[m.span.start : m.span.end] for m in mentions] == [m.surface for m in mentions]
    assert all(m.entity_ids == () for m in mentions)
    return [m.surface for m in mentions]


def test_unseen_sentences_are_tagged(tagger) -> None:
    held_out = unseen()
    assert len(held_out) > 100
    assert f1(tagger, held_out) > 0.95


def test_a_name_across_windows_is_one_mention(tagger) -> None:
    for n in range(20):
        text = "rain and snow " * n + "yesterday Ada Okonkwo went to Oslo."
        assert surfaces(tagger, text)[-2:] == ["Ada Okonkwo", "Oslo"], n


@pytest.mark.parametrize(
    "before", ["🎻🎻 ", "👩‍👩‍👧 ", "e\u0301e\u0301 ", "\ud83d ", "\u200b ﬁ İ "]
)
def test_spans_count_characters_whatever_stands_in_front(tagger, before) -> None:
    text = f"{before}yesterday Zoë Lovelace went to 東京."
    (mentions,) = tagger.find([text])
    assert [m.surface for m in mentions][-1] == "東京"
    assert all(m.surface == text[m.span.start : m.span.end] for m in mentions)
    assert mentions[-1].span == Span(len(text) - 3, len(text) - 1)


def test_order_and_batch_size_change_nothing(trained) -> None:
    texts = [text_and_spans(s)[0] for s in unseen()[:40]] + ["", "rain " * 100]
    one = list(TokenClassifier(trained, device="cpu", batch_size=1).find(texts))
    many = TokenClassifier(trained, device="cpu", batch_size=7)
    assert list(many.find(texts)) == one
    assert list(many.find(texts[::-1]))[::-1] == one


def test_a_model_that_is_not_there_is_named_with_the_ways_out() -> None:
    with pytest.raises(InputError) as missing:
        TokenClassifier()
    for words in ("model 'dslim/bert-base-NER' could not be loaded", "hf download", "gazetteer"):
        assert words in str(missing.value)


def test_a_model_that_never_learnt_to_tag_is_refused(tmp_path) -> None:
    tokenizer = tokenizer_of("WordPiece", [string.ascii_letters])
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"not a trained token classifier: weights 'classifier"):
        TokenClassifier(tmp_path / "encoder")
    transformers.BertForTokenClassification(config).save_pretrained(tmp_path / "unnamed")
    tokenizer.save_pretrained(tmp_path / "unnamed")
    with pytest.raises(InputError, match="its tags are LABEL_0, LABEL_1"):
        TokenClassifier(tmp_path / "unnamed")
