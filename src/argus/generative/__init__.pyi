from .failures.analyse import analyse_failures as analyse_failures
from .index.build import build_ngrams as build_ngrams
from .index.ngram_index import NgramIndex as NgramIndex
from .search import search_ngrams as search_ngrams
from .settings import (
    Decoding as Decoding,
    ExampleConfig as ExampleConfig,
    FailureConfig as FailureConfig,
    GenerativeTrainConfig as GenerativeTrainConfig,
    GenerativeTuneConfig as GenerativeTuneConfig,
    LearningConfig as LearningConfig,
    NgramBuildConfig as NgramBuildConfig,
    NgramSearchConfig as NgramSearchConfig,
    ReplayConfig as ReplayConfig,
    Scoring as Scoring,
)
from .training.job import train_generative as train_generative
from .training.tune import tune_generative as tune_generative
