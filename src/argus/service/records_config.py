"""The records as they are named on the command line: those of an audited folder need no name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from argus.authority.jobs.config import AuthoritySource
from argus.errors import InputError
from argus.service.workplace import Workplace
from argus.settings import Setting, settings_of


@dataclass(frozen=True)
class RecordsOptions:
    """What was said of the records. The settings are those of `AuthoritySource`, all optional."""

    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings as options: where no records are named, a folder's own count."""
        return tuple(
            replace(one, default=None, optional=True) if one.name == "records" else one
            for one in settings_of(AuthoritySource)
        )

    @classmethod
    def from_options(cls, **values: Any) -> RecordsOptions:
        """Return what was given."""
        return cls(values)

    @property
    def source(self) -> AuthoritySource | None:
        """The records that are named; None where none are."""
        return None if self.values.get("records") is None else AuthoritySource(**self.values)

    def over(self, place: Workplace) -> Workplace:
        """Return the workplace with its records looked at as of the time that was given.

        Raises InputError for rules, edges or a time where there are no records.
        """
        if self.values.get("records") is not None:
            return place
        plain = AuthoritySource(records="")  # type: ignore[arg-type]  # its defaults alone count
        more = {
            name: value
            for name, value in self.values.items()
            if name != "records" and value != getattr(plain, name)
        }
        if not more:
            return place
        named = next(iter(more))
        if place.authority is None or named in ("rules", "edges"):
            raise InputError(
                f"{more[named]}, and no --records",
                expected="the records that it is about",
                fix="Name them with --records, or serve a folder that was audited with some.",
                where=f"--{named.replace('_', '-')}",
            )
        return replace(place, authority=replace(place.authority, **more))
