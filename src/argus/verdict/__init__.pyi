from .counts import (
    CountBounds as CountBounds,
    Validity as Validity,
    VerdictCount as VerdictCount,
    VerdictLevel as VerdictLevel,
)
from .verdict import (
    FolderVerdict as FolderVerdict,
    VerdictAction as VerdictAction,
    read_verdict as read_verdict,
    verdict_lines as verdict_lines,
)
