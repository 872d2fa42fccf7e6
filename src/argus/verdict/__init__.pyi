from .lines import verdict_lines as verdict_lines
from .summary import (
    VerdictAction as VerdictAction,
    CountBounds as CountBounds,
    VerdictCount as VerdictCount,
)
from .summary import (
    VerdictLevel as VerdictLevel,
    Validity as Validity,
    FolderVerdict as FolderVerdict,
)
from .verdict import read_verdict as read_verdict
