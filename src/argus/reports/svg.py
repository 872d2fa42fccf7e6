"""Draw a plotly figure dictionary as one `<svg>` element, without plotly and without a script.

`svg`: a figure of `argus.reports.figures` -> an element that stands in the page of
`argus.reports.html`. It draws bars, lines, points and heat maps. `Scale` maps values to pixels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from argus.reports.figures import Figure

# Pixels across.
WIDTH = 520
# Pixels of a letter, about.
LETTER = 6.6
# About so many on a linear axis.
TICKS = 6
# Colours of the report's figures that follow its ink and lines, in light and in dark.
INKS = {"#2b2f36": "currentColor", "#e6e8ec": "var(--line)"}
DASHES = {"dash": "7 5", "dot": "2 4"}
Part = dict[str, Any]
"""A part of a figure of plotly's: a trace, the layout, an axis."""


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
    values: Iterable[Any], settings: Part, start: float, end: float, *, from_zero: bool = False
) -> Scale:
    """Return an axis that holds some values, as plotly's settings of it say.

    from_zero: whether it holds 0, as for bars.
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
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = (high - low or abs(high) or 1.0) * 0.04
    low -= 0.0 if low == 0 else margin
    return Scale(low, high + margin, start, end)


def ticks(scale: Scale, settings: Part, room: float) -> list[tuple[Any, str]]:
    """Return the values that are marked, and their words. room: pixels that a word takes."""
    if settings.get("showticklabels") is False:
        return []
    if scale.kind == "category":
        every = max(1, math.ceil(len(scale.names) * room / max(abs(scale.end - scale.start), 1)))
        return [(name, name) for name in scale.names[::every]]
    values = settings.get("tickvals")
    if not values:
        rough = abs(scale.high - scale.low) / TICKS or 1.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * 0.999)
        first = math.ceil(min(scale.low, scale.high) / step - 1e-9)
        last = math.floor(max(scale.low, scale.high) / step + 1e-9)
        values = [round(i * step, 10) for i in range(first, last + 1)]
    shown = filter(scale.reaches, values)
    if form := settings.get("tickformat"):
        return [(v, format(v, form)) for v in shown]
    return [(v, f"{v:,.6g}" if abs(v) < 1e6 else f"{v:.3g}") for v in shown]


def _colour(value: Any, default: str = "#2a6fb0") -> str:
    """Return a colour as the page has it."""
    text = str(value or default)
    return str(escape(INKS.get(text, text)))


def _hover(trace: Part, i: int, **values: Any) -> str:
    """Return the words of a hovered mark, as its `<title>`. "" where it has none."""
    template = str(trace.get("hovertemplate", ""))
    if not template:
        return ""
    for name in ("text", "customdata"):
        if isinstance(trace.get(name), list):
            values.setdefault(name, trace[name][i])
    template = re.sub(r"<extra>(?:(?!</?extra>).)*+</extra>", "", template).replace("<br>", "\n")

    def put(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        try:
            return format(value, match[2] or "")
        except (ValueError, TypeError):
            return str(value)

    return f"<title>{escape(re.sub(r'%{([^:{}]++):?([^{}]*)}', put, template))}</title>"


def _bars(trace: Part, x: Scale, y: Scale, layout: Part) -> Iterator[str]:
    """Yield the bars of a trace, which stand on 0."""
    width = _width(x, trace["x"]) * (1 - layout.get("bargap", 0.2))
    colours = trace.get("marker", {}).get("color")
    for i, (place, value) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        left, top = x.pixel(place) - width / 2, y.pixel(value)
        fill = _colour(colours[i] if isinstance(colours, list) else colours)
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{y.pixel(0.0) - top:.1f}" fill="{fill}">'
            f"{_hover(trace, i, x=place, y=value)}</rect>"
        )


def _width(scale: Scale, places: Sequence[Any]) -> float:
    """Return the pixels between neighbouring bars."""
    at = sorted({scale.pixel(place) for place in places})
    gaps = [b - a for a, b in pairwise(at)]
    return min(gaps) if gaps else abs(scale.end - scale.start) / 2


def _scatter(trace: Part, x: Scale, y: Scale) -> Iterator[str]:
    """Yield the line of a trace, then its points, each if the trace has them."""
    line, marker = trace.get("line", {}), trace.get("marker", {})
    mode = trace.get("mode", "lines")
    pairs = [pair for pair in zip(trace["x"], trace["y"], strict=True) if None not in pair]
    parts: list[str] = []
    for across, up in pairs if "lines" in mode else ():
        parts.append(f"{'L' if parts else 'M'}{x.pixel(across):.1f} {y.pixel(up):.1f}")
    name = f"<title>{escape(trace['name'])}</title>" if trace.get("name") else ""
    look = f'stroke="{_colour(line.get("color"))}" stroke-width="{line.get("width", 2)}"'
    if parts:
        yield f'<path d="{"".join(parts)}" fill="none" {look}{_dashed(line)}>{name}</path>'
    if "markers" not in mode:
        return
    tint = _colour(marker.get("color") or line.get("color"))
    radius, opacity = marker.get("size", 6) / 2, marker.get("opacity", 1)
    yield f'<g fill="{tint}" opacity="{opacity}">'
    for i, (across, up) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        if None not in (across, up) and x.reaches(across) and y.reaches(up):
            at = f'cx="{x.pixel(across):.1f}" cy="{y.pixel(up):.1f}" r="{radius:g}"'
            yield f"<circle {at}>{_hover(trace, i, x=across, y=up)}</circle>"
    yield "</g>"


def _dashed(line: dict[str, Any]) -> str:
    dash = DASHES.get(line.get("dash", ""))
    return f' stroke-dasharray="{dash}"' if dash else ""


def _cells(trace: Part, x: Scale, y: Scale) -> Iterator[str]:
    flat = [value for row in trace["z"] for value in row]
    low, high = trace.get("zmin", min(flat)), trace.get("zmax", max(flat))
    wide, tall = _width(x, trace["x"]), _width(y, trace["y"])
    for r, up in enumerate(trace["y"]):
        inner = {**trace, "text": trace["text"][r]}
        for c, across in enumerate(trace["x"]):
            value = trace["z"][r][c]
            share = 0.5 if high == low else min(1.0, max(0.0, (value - low) / (high - low)))
            if (fill := _mixed(trace["colorscale"], share)) is None:
                continue
            left, top = x.pixel(across) - wide / 2, y.pixel(up) - tall / 2
            yield (
                f'<rect x="{left + 0.5:.1f}" y="{top + 0.5:.1f}" width="{wide - 1:.1f}" '
                f'height="{tall - 1:.1f}" fill="{fill}">'
                f"{_hover(inner, c, x=across, y=up, z=value)}</rect>"
            )
            if "texttemplate" in trace:
                yield (
                    f'<text class="on" x="{left + wide / 2:.1f}" y="{top + tall / 2 + 4:.1f}" '
                    f'text-anchor="middle">{escape(inner["text"][c])}</text>'
                )


def _mixed(stops: Sequence[Sequence[Any]], share: float) -> str | None:
    """Return the colour at a share of a scale of stops. None where nothing would be seen."""
    rows = []
    for at, tint in stops:
        text = str(tint)
        numbers = [float(n) for n in re.findall(r"[\d.]+", text)]
        if text.startswith("#"):
            numbers = [int(text[i : i + 2], 16) for i in (1, 3, 5)]
        rows.append((float(at), *numbers[:3], numbers[3] if len(numbers) > 3 else 1.0))
    for one, two in pairwise(rows):
        if share <= two[0]:
            part = (share - one[0]) / (two[0] - one[0] or 1.0)
            r, g, b, a = (one[i] + part * (two[i] - one[i]) for i in range(1, 5))
            return f"rgba({r:.0f},{g:.0f},{b:.0f},{a:.2f})" if a > 0.005 else None
    return None


def svg(figure: Figure, title: str) -> Markup:
    """Return a figure as inline SVG. title: its subject, for those who hear the page.

    It draws bars, lines, points, heatmaps, and lines and frames across. All else of plotly is left
    out. Colours of ink and grid follow the page's, in light and in dark.
    """
    layout, traces = figure["layout"], figure["data"]
    of_x, of_y = layout.get("xaxis", {}), layout.get("yaxis", {})
    height = int(layout.get("height", 320))
    words = [v for t in traces for v in t.get("y", []) if isinstance(v, str)]
    left = min(230.0, 20 + LETTER * max(map(len, words), default=6))
    left += 16 if _title(of_y) else 0
    legend = list(_legend(traces))
    top = 14.0 + (18 * (1 + max((row for row, _ in legend), default=-1)))
    right, bottom = WIDTH - 12.0, height - 46.0
    x = fitted(_values(traces, "x"), of_x, left, right)
    has_bars = any(trace["type"] == "bar" for trace in traces)
    y = fitted(_values(traces, "y"), of_y, bottom, top, from_zero=has_bars)
    parts = [part for _, part in legend]
    parts += _grid(x, y, of_x, of_y)
    for shape in layout.get("shapes", []):
        ends = (("x0", x), ("x1", x), ("y0", y), ("y1", y))
        x0, x1, y0, y1 = (f"{scale.pixel(float(shape[name])):.1f}" for name, scale in ends)
        line = shape["line"]
        look = f'stroke="{_colour(line["color"])}" stroke-width="{line["width"]}"'
        to = f"H{x1}V{y1}H{x0}Z" if shape["type"] == "rect" else f"L{x1} {y1}"
        parts.append(f'<path d="M{x0} {y0}{to}" {look} fill="none"{_dashed(line)}/>')
    for trace in traces:
        if trace["type"] == "bar":
            parts += _bars(trace, x, y, layout)
        elif trace["type"] == "heatmap":
            parts += _cells(trace, x, y)
        else:
            parts += _scatter(trace, x, y)
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}" '
        f'font-size="12">{"".join(parts)}</svg>'
    )


def _title(settings: Part) -> str:
    return str(settings.get("title", {}).get("text", ""))


def _values(traces: Sequence[Part], axis: str) -> list[Any]:
    values = [value for trace in traces for value in trace[axis]]
    if any(trace["type"] == "heatmap" for trace in traces) and not isinstance(values[0], str):
        step = (values[1] - values[0]) / 2  # cells reach beyond their middles
        values += [values[0] - step, values[-1] + step]
    return values


def _grid(x: Scale, y: Scale, of_x: Part, of_y: Part) -> Iterator[str]:
    low, high = max(y.start, y.end), min(y.start, y.end)
    left, right = min(x.start, x.end), max(x.start, x.end)
    lines, words = [], []
    for value, word in ticks(y, of_y, 14):
        at = y.pixel(value)
        if of_y.get("showgrid", True):
            lines.append(f"M{left:.1f} {at:.1f}H{right:.1f}")
        words.append(
            f'<text x="{left - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{escape(word)}</text>'
        )
    for value, word in ticks(x, of_x, LETTER * max((len(n) for n in x.names), default=5) + 8):
        at = x.pixel(value)
        if of_x.get("showgrid", True) and x.kind != "category":
            lines.append(f"M{at:.1f} {low:.1f}V{high:.1f}")
        words.append(
            f'<text x="{at:.1f}" y="{low + 16:.1f}" text-anchor="middle">{escape(word)}</text>'
        )
    yield f'<path class="grid-line" d="{"".join(lines)}M{left:.1f} {low:.1f}H{right:.1f}"/>'
    yield f'<g class="words">{"".join(words)}'
    if title := _title(of_x):
        place = f'x="{(left + right) / 2:.1f}" y="{low + 36:.1f}"'
        yield f'<text {place} text-anchor="middle">{escape(title)}</text>'
    if title := _title(of_y):
        turned = f'transform="translate(13 {(low + high) / 2:.1f}) rotate(-90)"'
        yield f'<text {turned} text-anchor="middle">{escape(title)}</text>'
    yield "</g>"


def _legend(traces: Sequence[Part]) -> Iterator[tuple[int, str]]:
    """Yield the row and the element of each name, of two traces or more."""
    named = [trace for trace in traces if trace.get("name")]
    if len(named) < 2:
        return
    x, row = 56.0, 0
    for trace in named:
        name = str(trace["name"])
        needs = 36 + LETTER * len(name)
        if x + needs > WIDTH and x > 56:
            x, row = 56.0, row + 1
        tint = trace.get("line", {}).get("color") or trace.get("marker", {}).get("color")
        y, look = 12 + 18 * row, f'stroke-width="4"{_dashed(trace.get("line", {}))}'
        mark = f'<path d="M{x:.0f} {y}h16" stroke="{_colour(tint)}" {look}/>'
        words = f'<text class="name" x="{x + 21:.0f}" y="{y + 4}">{escape(name)}</text>'
        yield row, mark + words
        x += needs
