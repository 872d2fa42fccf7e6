from .intervals import wilson as wilson
from .measures import (
    Evaluation as Evaluation,
    evaluate as evaluate,
    measure_name as measure_name,
    content_words as content_words,
    is_implicit as is_implicit,
)
from .significance import (
    PairedDifference as PairedDifference,
    paired_difference as paired_difference,
)

RESAMPLES: int
LEAST_RESAMPLES: int
Resamples = int
