"""Spans pool exactly the tokens that overlap a mention, whatever family the tokenizer is of."""

import unicodedata

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import trainers as training

from argus.data.types import Span
from argus.encoders import EncoderConfig, load_encoder
from argus.errors import EncodingError
from tests.support.draws import examples

HIDDEN, WINDOW = 32, 40
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CORPUS = [
    "The violin was made in Cremona by Antonio Stradivari, and a river runs through the town.",
    "Zürich, Málaga and Škofja Loka are towns; naïve façades stand in the old quarter.",
    "東京 は 日本 の 首都 です。 The comet Hale-Bopp passed by in spring.",
    "A quick brown fox jumps over the lazy dog while the rain falls on the plain.",
] * 5


def word_piece(normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = training.WordPieceTrainer(vocab_size=150, special_tokens=SPECIAL, show_progress=False)
    return tokenizer, trainer, None


def byte_level(*, trim_offsets):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = training.BpeTrainer(
        vocab_size=340, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    return tokenizer, trainer, processors.ByteLevel(trim_offsets=trim_offsets)


def metaspace(model, trainer):
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.NFKC()  # as T5 and XLM-RoBERTa
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainer, None


def unigram():
    trainer = training.UnigramTrainer(
        vocab_size=150, special_tokens=SPECIAL, unk_token="[UNK]", show_progress=False
    )
    return metaspace(models.Unigram(), trainer)


def sentence_piece_bpe():
    """As Llama and Gemma: no splitting at spaces, unknown characters as bytes."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    trainer = training.BpeTrainer(
        vocab_size=420, special_tokens=SPECIAL + names, show_progress=False
    )
    return tokenizer, trainer, None


FAMILIES = {
    "WordPiece": lambda: word_piece(normalizers.BertNormalizer(lowercase=False)),
    "WordPiece, lower case, no accents": lambda: word_piece(normalizers.BertNormalizer()),
    "WordPiece, NFD": lambda: word_piece(normalizers.NFD()),
    "byte-level BPE": lambda: byte_level(trim_offsets=False),
    "byte-level BPE, trimmed offsets": lambda: byte_level(trim_offsets=True),
    "Unigram": unigram,
    "SentencePiece BPE": sentence_piece_bpe,
}


def make(folder, family):
    """Save a tiny random BERT with a tokenizer of the family; load it by its path."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer, trainer, post = FAMILIES[family]()
    tokenizer.train_from_iterator(CORPUS, trainer)
    frame = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.post_processor = processors.Sequence([*([post] if post else []), frame])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    ).save_pretrained(folder / "bert")  # fmt: skip
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=HIDDEN, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=WINDOW,
        initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder / "bert")
    bert = Transformer(str(folder / "bert"), max_seq_length=WINDOW)
    modules = [bert, Pooling(HIDDEN), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    options = EncoderConfig(model=str(folder / "model"), precision="float32", device="cpu")
    return load_encoder(options)


@pytest.fixture(scope="module", params=FAMILIES)
def encoder(request, tmp_path_factory):
    return make(tmp_path_factory.mktemp("family"), request.param)


def character_owners(encoder, text):
    """Which characters each token covers, from the tokenizer's offsets, special tokens: none."""
    offsets = encoder.model.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    return [set(range(start, end)) for start, end in offsets]


def token_vectors(encoder, text):
    features = encoder.model.tokenizer(text, return_tensors="pt")
    features.pop("token_type_ids", None)
    with torch.no_grad():
        return encoder.model[0].auto_model(**features).last_hidden_state[0].numpy()


def expected(encoder, text, span):
    """Mean over the tokens that share a character with the span, by a plain pass."""
    characters = set(range(span.start, span.end))
    tokens = [bool(own & characters) for own in character_owners(encoder, text)]
    mean = token_vectors(encoder, text)[tokens].mean(axis=0)
    return mean / np.linalg.norm(mean)


MENTIONS = [
    ("The violin was made in Cremona.", "Cremona"),
    ("Cremona", "Cremona"),
    ("a (Stradivari) violin", "Stradivari"),
    ("Zürich and Málaga", "Zürich"),
    (unicodedata.normalize("NFD", "in Škofja Loka, naïve"), unicodedata.normalize("NFD", "naïve")),
    (unicodedata.normalize("NFD", "é Zürich é Málaga é"), unicodedata.normalize("NFD", "Málaga")),
    ("首都は東京です", "東京"),
    ("İİ ß ﬁ the violin", "violin"),
    ("the 👩\u200d👩\u200d👧 fox", "👩\u200d👩\u200d👧"),
    ("the ﬁ fox", "ﬁ"),
    ("  the\n\n violin\tfox ", "violin"),
]


@pytest.mark.parametrize(("text", "mention"), MENTIONS)
def test_a_span_is_the_mean_of_the_tokens_it_touches(encoder, text, mention):
    start = text.index(mention)
    span = Span(start, start + len(mention))
    assert len(encoder.model.tokenizer(text)["input_ids"]) <= WINDOW
    vector = encoder.encode_spans([text], [span])[0]
    np.testing.assert_allclose(vector, expected(encoder, text, span), atol=1e-5)


words = st.sampled_from(
    ["the", "violin", "Zürich", "Zu\u0308rich", "東京", "🎻", "ﬁ", "İ", "(", ",", "\n", "é", "x9"]
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(words, min_size=1, max_size=6), st.sampled_from(["", " ", "  "]), st.data())
def test_any_span_of_any_text_pools_what_it_overlaps(encoder, pieces, glue, data):
    text = glue.join(pieces)
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    if len(encoder.model.tokenizer(text)["input_ids"]) > WINDOW:
        return
    characters = set(range(span.start, span.end))
    if not any(own & characters for own in character_owners(encoder, text)):
        with pytest.raises(EncodingError, match="no token lies in characters"):
            encoder.encode_spans([text], [span])
        return
    vector = encoder.encode_spans([text], [span])[0]
    np.testing.assert_allclose(vector, expected(encoder, text, span), atol=1e-5)
