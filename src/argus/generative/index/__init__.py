"""The n-gram index: a suffix array over passages, in segments, memory-mapped."""

from argus.generative.index.build import Changes, append, build_index, check_corpus
from argus.generative.index.ngram_index import NgramIndex
from argus.generative.index.profile import NgramProfile, profile
from argus.generative.index.rows import Rows

__all__ = [
    "Changes",
    "NgramIndex",
    "NgramProfile",
    "Rows",
    "append",
    "build_index",
    "check_corpus",
    "profile",
]
