from .names import (
    Corpus as Corpus,
    NamedCorpus as NamedCorpus,
    StoreCorpus as StoreCorpus,
)
from .opening import (
    CorpusSource as CorpusSource,
    open_corpus as open_corpus,
    read_corpus as read_corpus,
)
