from .beams import CorpusConstraint as CorpusConstraint
from .model import Seq2Seq as Seq2Seq
