from .exact import (
    KnownItemRanks as KnownItemRanks,
    TopK as TopK,
    known_item_search as known_item_search,
    search as search,
)
from .job import compact_index as compact_index
