"""Confidences: how sure a rule or an edge is, and how sure one has to be (CAR Def. 9)."""

from __future__ import annotations

from numbers import Real

from argus.errors import InputError


def require_theta(theta: object) -> None:
    """Raise InputError for a least confidence that is none; 0 follows every edge."""
    if type(theta) is float and 0 <= theta <= 1:
        return  # asked of every record that is looked at, and what `Real` is asked takes its time
    if not (isinstance(theta, Real) and not theta < 0 and theta <= 1):
        raise InputError(
            f"theta={theta!r:.80}",
            expected="a confidence from 0 to 1",
            fix="0 follows every edge; a percentage is divided by 100.",
        )


def require_confidence(confidence: object, of: str) -> None:
    """Raise InputError for a confidence of a rule or an edge that is none. of: says of which."""
    if not (isinstance(confidence, Real) and not confidence <= 0 and confidence <= 1):
        raise InputError(
            f"{of} confidence {confidence!r:.80}",
            expected="more than 0, at most 1",
            fix="Leave it out if it is certain.",
        )
