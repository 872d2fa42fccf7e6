from .decode.settings import Decoding as Decoding
from .failures.jobs.analyse import analyse_failures as analyse_failures
from .failures.jobs.settings import FailureConfig as FailureConfig, ReplayConfig as ReplayConfig
from .failures.summary import FailureSettings as FailureSettings
from .index.job import build_ngrams as build_ngrams
from .index.ngram_index import NgramIndex as NgramIndex
from .index.settings import NgramBuildConfig as NgramBuildConfig
from .jobs.search import search_ngrams as search_ngrams
from .jobs.settings import NgramSearchConfig as NgramSearchConfig
from .jobs.summary import SearchSettings as SearchSettings
from .settings import Scoring as Scoring
from .training.config import GenerativeTrainConfig as GenerativeTrainConfig
from .training.job import train_generative as train_generative
from .training.settings import ExampleConfig as ExampleConfig, LearningConfig as LearningConfig
from .tuning.job import tune_generative as tune_generative
from .tuning.settings import GenerativeTuneConfig as GenerativeTuneConfig
