"""A plotly figure dictionary, of the kinds that reports use, as one `<svg>` element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup, escape

from argus.reports.svg.marks import DASHES, Pane, Trace, colour, marks
from argus.reports.svg.scale import Scale, fitted, ticks

WIDTH = 520
"""Pixels across."""
LETTER = 6.6
"""Pixels of a letter, about."""
Figure = dict[str, Any]


def svg(figure: Figure, title: str) -> Markup:
    """Return a figure as inline SVG. title: its subject, for those who hear the page.

    It draws bars, lines, points, heatmaps, and lines and frames across. All else of plotly is left
    out. Colours of ink and grid follow the page's, in light and in dark.
    """
    layout, traces = figure["layout"], figure["data"]
    height = int(layout.get("height", 320))
    legend = list(_legend(traces, layout))
    top = 14.0 + (18 * (1 + max((row for row, _ in legend), default=-1)))
    box = (_margin(figure), top, WIDTH - 12.0, height - 46.0)
    parts = [part for _, part in legend] + list(_axes(figure, box))
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}" '
        f'font-size="12">{"".join(parts)}</svg>'
    )


def _margin(figure: Figure) -> float:
    """Return the pixels to the left of an axis: as its longest word needs."""
    settings = figure["layout"].get("yaxis", {})
    values = [v for t in figure["data"] for v in t.get("y", [])]
    words = [v for v in values if isinstance(v, str)]
    longest = max((len(word) for word in words), default=6)
    return min(230.0, 20 + LETTER * longest) + (16 if _title(settings) else 0)


def _title(settings: dict[str, Any]) -> str:
    return str(settings.get("title", {}).get("text", ""))


def _axes(figure: Figure, box: tuple[float, float, float, float]) -> Iterator[str]:
    """Yield the axes with their marks."""
    layout, traces = figure["layout"], figure["data"]
    left, top, right, bottom = box
    of_x, of_y = layout.get("xaxis", {}), layout.get("yaxis", {})
    bars = [t for t in traces if t.get("type") == "bar"]
    lies = any(t.get("orientation") == "h" for t in bars)
    stacks = layout.get("barmode") == "stack"
    x = fitted(_values(traces, "x", stacks and lies), of_x, left, right, from_zero=lies)
    grows = bool(bars) and not lies
    y = fitted(_values(traces, "y", stacks and not lies), of_y, bottom, top, from_zero=grows)
    yield from _grid(x, y, of_x, of_y)
    yield from _shapes(layout.get("shapes", []), x, y)
    bases: dict[str, float] = {}
    grouped = layout.get("barmode", "group") == "group"
    for trace in traces:
        slot = bars.index(trace) if trace in bars and grouped else 0
        slots = len(bars) if grouped and trace in bars else 1
        pane = Pane(x, y, layout.get("barmode", ""), layout.get("bargap", 0.2), slot, slots)
        yield from marks(trace, pane, bases)


def _values(traces: Sequence[Trace], axis: str, stacks: bool) -> list[Any]:
    values = [v for t in traces for v in t.get(axis, [])]
    for trace in traces:
        if axis == "y" and "error_y" in trace:
            values += [v + e for v, e in zip(trace["y"], trace["error_y"]["array"], strict=True)]
        if trace.get("type") == "heatmap" and values and not isinstance(values[0], str):
            step = (values[1] - values[0]) / 2 if len(values) > 1 else 0.5
            values += [values[0] - step, values[-1] + step]
    if stacks:
        heights: dict[int, float] = {}
        for trace in traces:
            for i, v in enumerate(trace.get(axis, [])):
                heights[i] = heights.get(i, 0.0) + (v or 0.0)
        values += list(heights.values())
    return values


def _grid(x: Scale, y: Scale, of_x: dict[str, Any], of_y: dict[str, Any]) -> Iterator[str]:
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


def _shapes(shapes: Sequence[dict[str, Any]], x: Scale, y: Scale) -> Iterator[str]:
    for shape in shapes:
        left, right = (_placed(shape, f"x{i}", "xref", x) for i in "01")
        top, bottom = (_placed(shape, f"y{i}", "yref", y) for i in "01")
        line = shape.get("line", {})
        dash = DASHES.get(line.get("dash", ""), "")
        look = f'stroke="{colour(line.get("color"))}" stroke-width="{line.get("width", 1)}"'
        look += ' fill="none"'
        look += f' stroke-dasharray="{dash}"' if dash else ""
        close = f"V{top:.1f}H{left:.1f}Z" if shape["type"] == "rect" else ""
        corner = f"H{right:.1f}V{bottom:.1f}H{left:.1f}Z" if close else f"L{right:.1f} {bottom:.1f}"
        yield f'<path d="M{left:.1f} {top:.1f}{corner}" {look}/>'


def _placed(shape: dict[str, Any], name: str, ref: str, scale: Scale) -> float:
    value = float(shape[name])
    if shape.get(ref) == "paper":
        return scale.start + value * (scale.end - scale.start)
    if scale.kind == "category":
        step = (scale.end - scale.start) / (scale.high - scale.low)
        return scale.start + (value - scale.low) * step
    return scale.pixel(value)


def _legend(traces: Sequence[Trace], layout: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the row and the element of each named trace's name."""
    named = [t for t in traces if t.get("name") and t.get("showlegend", True)]
    if len(named) < 2 and not any(t.get("showlegend") for t in named):
        named = [] if layout.get("showlegend") is not True else named
    if layout.get("showlegend") is False:
        return
    x, row = 56.0, 0
    for trace in named:
        name = str(trace["name"])
        needs = 36 + LETTER * len(name)
        if x + needs > WIDTH and x > 56:
            x, row = 56.0, row + 1
        tint = trace.get("line", {}).get("color") or _first(trace.get("marker", {}).get("color"))
        dash = DASHES.get(trace.get("line", {}).get("dash", ""), "")
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        y = 12 + 18 * row
        yield (
            row,
            (
                f'<path d="M{x:.0f} {y}h16" stroke="{colour(tint)}" stroke-width="4"{dashed}/>'
                f'<text class="name" x="{x + 21:.0f}" y="{y + 4}">{escape(name)}</text>'
            ),
        )
        x += needs


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value
