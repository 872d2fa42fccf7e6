from .pages_and_items import align as align
from .raw_tables import (
    RAW as RAW,
    raw_folder as raw_folder,
)
from .raw_tables import AlignSettings as AlignSettings
from .tables import finish as finish
