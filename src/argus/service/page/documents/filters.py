"""What a person asked the table of documents for, checked, and its place in a URL."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Query

ROWS = 50
"""Rows of a page."""
BANDS = ("low", "mid", "high")


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for, by which slice, band and cause, in which order, and which page of it.

    slice: "FIELD=VALUE"; sort: a column's name, "-" before it for the greatest first.
    """

    q: str = ""
    band: str = ""
    cause: str = ""
    slice: str = ""
    sort: str = ""
    page: int = 1

    def link(self, **changes: object) -> str:
        """Return the query of a URL with some changes; what is not set is left out."""
        values = asdict(replace(self, **changes))  # type: ignore[arg-type]
        default = asdict(Filters())
        return "?" + urlencode({k: v for k, v in values.items() if v != default[k]})

    def sorted_by(self, column: str) -> str:
        """Return the link that sorts by a column, or the other way where that is so already."""
        return self.link(sort=f"-{column}" if self.sort == column else column, page=1)

    def to_page(self, page: int) -> str:
        """Return the link to another page."""
        return self.link(page=page)

    @property
    def direction(self) -> str:
        """How the sorted column runs, in the words of a screen reader."""
        return "descending" if self.sort.startswith("-") else "ascending"


Text = Annotated[str, Query(max_length=500)]


def read_filters(
    q: Text = "", band: Text = "", cause: Text = "", slice: Text = "", sort: Text = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Filters:  # fmt: skip
    """Return them as a request has them."""
    return Filters(q.strip(), band, cause, slice, sort, page)


FiltersOf = Annotated[Filters, Depends(read_filters)]
"""A handler's parameter: the filters of its request."""
