from .problems import (
    Example as Example,
    Problem as Problem,
    Problems as Problems,
)
from .record import read_case as read_case
from .settings import (
    ANNOTATED as ANNOTATED,
    ANSWER as ANSWER,
    BORDER as BORDER,
    Reading as Reading,
)
