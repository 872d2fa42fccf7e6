"""Models that make no single vector per text are refused, with what works."""

import pytest
from transformers import BertConfig, BertForSequenceClassification

from argus.encoders import EncoderConfig, load_encoder
from argus.errors import InputError
from tests.support.sentence_models import make_sparse, word_pieces


def cross_encoder(folder):
    """Save a cross-encoder as transformers does, without settings of sentence-transformers."""
    bert = word_pieces(folder)
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=64, num_hidden_layers=1, **sizes)
    BertForSequenceClassification(config).save_pretrained(bert)
    return bert


@pytest.mark.parametrize(
    ("make", "kind"), [(cross_encoder, "ForSequenceClassification"), (make_sparse, "SparseEncoder")]
)
def test_a_model_of_another_kind_is_refused(tmp_path, make, kind):
    with pytest.raises(InputError) as error:
        load_encoder(EncoderConfig(model=str(make(tmp_path / "model")), device="cpu"))
    assert error.value.where == "--encoder" and kind in error.value.got
