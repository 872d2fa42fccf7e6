"""Which columns of a corpus, and of judgements, hold what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Option

_PANEL = "Input"
CoerceIds = Annotated[bool, Doc("Read ids that are whole numbers as text."), Option(panel=_PANEL)]

ParentField = Annotated[
    str | None,
    Doc("Field of the document that a chunk is of: chunks of one are no rivals of each other."),
    Option(panel=_PANEL),
]
By = Annotated[
    tuple[str, ...],
    Doc("Fields, such as source,metadata.year: every share is also given by what they hold."),
    Option(panel=_PANEL),
]


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Which columns hold what; None means the usual names are looked for.

    A name with dots is a path into an object, unless a column has the whole of it for its name.
    """

    id: Annotated[
        str | None,
        Doc("Column of the id; dotted inside an object."),
        Option(("--id-field",), panel=_PANEL),
    ] = None
    title: Annotated[
        str | None,
        Doc("Column of the title, such as metadata.title."),
        Option(("--title-field",), panel=_PANEL),
    ] = None
    text: Annotated[
        str | None,
        Doc("Column of the text; dotted inside an object."),
        Option(("--text-field",), panel=_PANEL),
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


@dataclass(frozen=True, slots=True)
class QrelsFields:
    """Which columns of judgements hold what; None means the usual names are looked for."""

    query: Annotated[
        str | None,
        Doc("Column of the question's id in --qrels."),
        Option(("--qrels-query-field",), panel=_PANEL),
    ] = None
    document: Annotated[
        str | None,
        Doc("Column of the id of the document, or chunk, in --qrels."),
        Option(("--qrels-document-field",), panel=_PANEL),
    ] = None
    grade: Annotated[
        str | None,
        Doc("Column of the grade in --qrels."),
        Option(("--qrels-grade-field",), panel=_PANEL),
    ] = None


@dataclass(frozen=True, slots=True)
class QrelsName:
    """In a setting's type: it names a file of judgements, whose columns can be named beside it."""
