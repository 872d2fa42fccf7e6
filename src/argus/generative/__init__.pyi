from .failures.analyse import analyse_failures as analyse_failures
from .failures.settings import FailureConfig as FailureConfig, ReplayConfig as ReplayConfig
from .index.job import build_ngrams as build_ngrams
from .index.ngram_index import NgramIndex as NgramIndex
from .jobs.search import search_ngrams as search_ngrams
from .settings import (
    Decoding as Decoding,
    NgramBuildConfig as NgramBuildConfig,
    NgramSearchConfig as NgramSearchConfig,
    Scoring as Scoring,
)
from .training.job import train_generative as train_generative
from .training.settings import (
    ExampleConfig as ExampleConfig,
    GenerativeTrainConfig as GenerativeTrainConfig,
    GenerativeTuneConfig as GenerativeTuneConfig,
    LearningConfig as LearningConfig,
)
from .tuning.job import tune_generative as tune_generative
