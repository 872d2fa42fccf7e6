from .from_dumps import align as align
from .raw_tables import (
    RAW as RAW,
    raw_folder as raw_folder,
)
from .settings import AlignSettings as AlignSettings
from .to_tables import (
    TableWriter as TableWriter,
    finish as finish,
)
