from .compare import (
    Answered as Answered,
    Arm as Arm,
    Case as Case,
    Judged as Judged,
    Question as Question,
)
from .judge import (
    Failure as Failure,
    Verdict as Verdict,
    Vote as Vote,
)
