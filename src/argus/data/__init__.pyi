from .fields import FieldNames as FieldNames
from .folders import ArtifactFolder as ArtifactFolder
from .documents import read_queries as read_queries, write_beir as write_beir
from .provenance import content_hash as content_hash, file_hash as file_hash
from .runs import read_qrels as read_qrels
from .types import (
    Document as Document,
    FloatArray as FloatArray,
    IntArray as IntArray,
    Qrels as Qrels,
    Query as Query,
    Run as Run,
    Span as Span,
    State as State,
    View as View,
)
