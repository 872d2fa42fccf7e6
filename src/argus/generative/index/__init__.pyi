from .build import (
    build_index as build_index,
    check_corpus as check_corpus,
)
from .ngram_index import NgramIndex as NgramIndex
from .ngram_index import Rows as Rows
