from .verdict import (
    CountBounds as CountBounds,
    FolderVerdict as FolderVerdict,
    Validity as Validity,
    VerdictAction as VerdictAction,
    VerdictCount as VerdictCount,
    VerdictLevel as VerdictLevel,
    read_verdict as read_verdict,
    verdict_lines as verdict_lines,
)
