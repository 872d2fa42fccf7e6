"""Does it help to answer? Questions answered with documents and scenarios (SPIKE §4.4, C.5)."""

from argus.scenarios.qa.compare import Answered, Arm, Case, Judged, Question
from argus.scenarios.qa.judge import Failure, Verdict, Vote

__all__ = ["Answered", "Arm", "Case", "Failure", "Judged", "Question", "Verdict", "Vote"]
