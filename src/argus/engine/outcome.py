"""What came of work in another process, as bytes: its result, or what it raised."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any


def outcome_of(call: Callable[[], object]) -> bytes:
    """Call, and return the outcome for `result_of` in another process."""
    try:
        return pickle.dumps((True, call()), protocol=5)
    except Exception as error:
        return raised(error)


def raised(error: Exception) -> bytes:
    """Return the outcome of work that raised `error`; the traceback becomes a note of it."""
    error.add_note("".join(traceback.format_exception(error)).rstrip())
    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        outcome = pickle.dumps((False, error), protocol=5)
        pickle.loads(outcome)
    except Exception:  # whatever its class does when it is pickled
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        plain.__notes__ = error.__notes__
        return pickle.dumps((False, plain), protocol=5)
    return outcome


def result_of(outcome: bytes) -> Any:
    """Return the result; raises what the work raised."""
    done, value = pickle.loads(outcome)
    if not done:
        raise value
    return value
