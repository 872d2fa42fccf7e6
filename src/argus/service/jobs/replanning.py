"""A job that was kept is planned again: what lies in a table may be a stranger's, or changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from argus.errors import InputError
from argus.service.jobs.declared import Commands, Declared
from argus.service.jobs.lines import options_of
from argus.service.jobs.planning import (
    CONFIG,
    Planned,
    check_startable,
    command_line,
    is_of_the_service,
    plan_job,
    referred,
)
from argus.service.jobs.summary import JobRequest, Value
from argus.service.workplace import BESIDE, SERVED, Workplace


def plan_again(
    words: Sequence[str],
    arguments: Sequence[str],
    workplace: Workplace,
    commands: Commands,
    wrote: Collection[str] = (),
) -> Planned:
    """Return the command that was kept, computed anew from what it says, checked as a request.

    wrote: paths that jobs wrote before. Raises InputError for what no request of this service
    comes to: `plan_job` says what.
    """
    check_startable(" ".join(words))
    declared = commands.declared(words)
    own = arguments[1:] if arguments and arguments[0].startswith(f"--{CONFIG}=") else arguments
    options = {
        name: [_reference(declared, name, one, workplace) for one in value]
        if isinstance(value, list)
        else _reference(declared, name, value, workplace)
        for name, value in options_of(own, declared).items()
    }
    request = JobRequest(command=" ".join(words), options=options)
    planned = plan_job(request, workplace, commands, wrote)
    if planned.arguments != tuple(arguments):
        raise InputError(
            f"{command_line(words, arguments)!a} was kept", expected=f"{planned.line!a} by now",
            fix="Start it anew, or start the service as it was started before.", where="jobs",
        )  # fmt: skip
    return planned


def _reference(
    declared: Sequence[Declared], name: str, value: Value, workplace: Workplace
) -> Value:
    """Return a value as a request says it: what was named by a reference is none of its words."""
    one = next(one for one in declared if one.name == name)
    if is_of_the_service(one):
        for reference in (SERVED, *(f"{BESIDE}{n + 1}" for n in range(len(workplace.beside)))):
            with suppress(InputError):
                if referred(one, reference, workplace) == value:
                    return reference
    return value
