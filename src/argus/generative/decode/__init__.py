"""From a question to n-grams: the model, the index's constraint, beam search, rescoring."""

from argus.generative.decode.constrain import CorpusConstraint
from argus.generative.decode.model import Seq2Seq
from argus.generative.decode.settings import Decoding

__all__ = ["CorpusConstraint", "Decoding", "Seq2Seq"]
