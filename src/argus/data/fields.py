"""Which columns of a corpus hold what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Option

_PANEL = "Input"
CoerceIds = Annotated[bool, Doc("Read ids that are whole numbers as text."), Option(panel=_PANEL)]


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Which columns hold what; None means the usual names are looked for."""

    id: Annotated[str | None, Doc("Column of the id."), Option(("--id-field",), panel=_PANEL)] = (
        None
    )
    title: Annotated[
        str | None, Doc("Column of the title."), Option(("--title-field",), panel=_PANEL)
    ] = None
    text: Annotated[
        str | None, Doc("Column of the text."), Option(("--text-field",), panel=_PANEL)
    ] = None
    coerce_ids: CoerceIds = False
    template: Annotated[
        str | None,
        Doc(
            "How title and text are joined, such as '{title}: {text}'; default: by a space, or as "
            "the vectors tell that come with the corpus."
        ),
        Option(panel=_PANEL),
    ] = None
