from .constrain import CorpusConstraint as CorpusConstraint
from .model import Seq2Seq as Seq2Seq
from .settings import Decoding as Decoding
