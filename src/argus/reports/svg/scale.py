"""From values to pixels along one axis: linear, logarithmic, or by category."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

TICKS = 6
"""About so many on a linear axis."""


@dataclass(frozen=True)
class Scale:
    """An axis. low, high: values at its ends, of a category its number. start, end: pixels.

    kind: "linear", "log" or "category". names: of categories, in order.
    """

    low: float
    high: float
    start: float
    end: float
    kind: str = "linear"
    names: tuple[str, ...] = ()

    def number(self, value: Any) -> float:
        """Return a value as a number of this axis. A category is a number by its place."""
        if self.kind == "category" and not (isinstance(value, float) and value % 1):
            text = str(value)
            return float(self.names.index(text)) if text in self.names else float(value)
        return float(value)

    def pixel(self, value: Any) -> float:
        """Return where a value lies."""
        number, low, high = self.number(value), self.low, self.high
        if self.kind == "log":
            number, low, high = (math.log10(max(v, 1e-12)) for v in (number, low, high))
        share = (number - low) / (high - low) if high != low else 0.5
        return self.start + share * (self.end - self.start)

    def reaches(self, value: Any) -> bool:
        """Return whether a value lies on the axis."""
        number = self.number(value)
        return min(self.low, self.high) <= number <= max(self.low, self.high)


def fitted(
    values: Iterable[Any], settings: dict[str, Any], start: float, end: float, *, from_zero: bool
) -> Scale:
    """Return an axis that holds some values, as plotly's settings of it say.

    from_zero: whether it begins at 0 where nothing else is said, as for bars.
    """
    values = [v for v in values if v is not None]
    if settings.get("autorange") == "reversed":
        start, end = end, start
    if settings.get("type") == "category" or any(isinstance(v, str) for v in values):
        names = tuple(dict.fromkeys(str(v) for v in values))
        return Scale(-0.5, max(len(names), 1) - 0.5, start, end, "category", names)
    if settings.get("type") == "log":
        above = [float(v) for v in values if v > 0] or [1.0]
        low, high = min(above), max(above)
        return Scale(low, high if high > low else low * 10, start, end, "log")
    numbers = [float(v) for v in values] or [0.0, 1.0]
    if "range" in settings:
        low, high = map(float, settings["range"])
        return Scale(low, high, start, end)
    low, high = min(numbers), max(numbers)
    if from_zero or settings.get("rangemode") == "tozero":
        low, high = min(low, 0.0), max(high, 0.0)
    margin = (high - low or abs(high) or 1.0) * 0.04
    low -= 0.0 if low == 0 else margin
    return Scale(low, high + margin, start, end)


def ticks(scale: Scale, settings: dict[str, Any], room: float) -> list[tuple[Any, str]]:
    """Return the values that are marked, and their words. room: pixels that a word takes."""
    if settings.get("showticklabels") is False:
        return []
    if scale.kind == "category":
        step = max(1, math.ceil(len(scale.names) * room / max(abs(scale.end - scale.start), 1)))
        return [(name, name) for name in scale.names[::step]]
    values = settings.get("tickvals") or _values(scale, settings.get("dtick"))
    shown = [v for v in values if scale.reaches(v)]
    return [(v, _words(v, settings.get("tickformat", ""))) for v in shown]


def _values(scale: Scale, step: float | None) -> Sequence[float]:
    if scale.kind == "log":
        first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
        return [10.0**p for p in range(first, last + 1)]
    width = abs(scale.high - scale.low)
    if not step or width / step > 2 * TICKS:
        rough = width / TICKS or 1.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * 0.999)
    first = math.ceil(min(scale.low, scale.high) / step - 1e-9)
    last = math.floor(max(scale.low, scale.high) / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _words(value: float, form: str) -> str:
    if form:
        return format(value, form)
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.3g}"
