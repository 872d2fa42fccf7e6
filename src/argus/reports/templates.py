"""Rendering of every page: values are escaped, and characters that steer are shown."""

from __future__ import annotations

import jinja2
from markupsafe import Markup, escape

from argus.measures.measures import coverage_words
from argus.visible import visible


class Exact(Markup):
    """A value that a page sends back, such as an id in a form: nothing in it is changed."""

    __slots__ = ()


def environment(loader: jinja2.BaseLoader) -> jinja2.Environment:
    """Return the environment of templates. The filter `exact` is for values that are sent back."""
    made = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_displayed,
    )
    made.filters["exact"] = lambda value: Exact(escape(value))
    made.filters["coverage_words"] = coverage_words
    made.filters["percent"] = lambda v: "–" if v is None else f"{100 * v:.1f}%"
    return made


def _displayed(value: object) -> str:
    """Return a value as a page shows it."""
    if isinstance(value, Exact):
        return value
    return Markup(visible(value)) if isinstance(value, Markup) else visible(str(value))
