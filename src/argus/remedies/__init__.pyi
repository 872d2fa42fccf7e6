from .config import (
    ExpandConfig as ExpandConfig,
    ReferenceConfig as ReferenceConfig,
    SentenceSettings as SentenceSettings,
    SynthesizeConfig as SynthesizeConfig,
)
from .diagnosis import diagnose as diagnose
from .expansion import expand_index as expand_index
from .store_writing import write_index as write_index
from .store_writing import list_in_store as list_in_store, rollback_in_store as rollback_in_store
from .synthesis import synthesize_index as synthesize_index
