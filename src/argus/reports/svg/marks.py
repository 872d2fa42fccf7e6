"""The marks of a trace: bars, lines, points, cells, each with its words where one hovers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import escape

from argus.reports.svg.scale import Scale

INKS = {"#2b2f36": "currentColor", "#e6e8ec": "var(--line)"}
"""Colours of the report's figures that follow its ink and lines, in light and in dark."""
MOST_TITLED = 1500
"""The most points of a trace that show their words when hovered. Of more, none does."""
DASHES = {"dash": "7 5", "dot": "2 4"}
Trace = dict[str, Any]


@dataclass(frozen=True)
class Pane:
    """The place where a trace is drawn. slot, slots: which of several groups of bars it is."""

    x: Scale
    y: Scale
    barmode: str = ""
    bargap: float = 0.2
    slot: int = 0
    slots: int = 1


def marks(trace: Trace, pane: Pane, bases: dict[str, float]) -> Iterator[str]:
    """Yield the elements of a trace. bases: heights stacked already, by category. Added to."""
    kind = trace.get("type", "scatter")
    if kind == "bar":
        yield from _bars(trace, pane, bases)
    elif kind == "heatmap":
        yield from _cells(trace, pane)
    else:
        mode = trace.get("mode", "lines")
        if "lines" in mode:
            yield from _line(trace, pane)
        if "markers" in mode:
            yield from _points(trace, pane)


def colour(value: Any, default: str = "#2a6fb0") -> str:
    """Return a colour as the page has it."""
    text = str(value or default)
    return str(escape(INKS.get(text, text)))


def hover(trace: Trace, i: int, **values: Any) -> str:
    """Return the words of a hovered mark, as its `<title>`. "" where it has none."""
    template = str(trace.get("hovertemplate", ""))
    if not template or trace.get("hoverinfo") == "skip":
        return ""
    for name in ("text", "customdata"):
        if isinstance(trace.get(name), list):
            values.setdefault(name, trace[name][i])
    values["fullData.name"] = trace.get("name", "")
    template = re.sub(r"<extra>(?:(?!</?extra>).)*+</extra>", "", template).replace("<br>", "\n")

    def put(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        try:
            return format(value, match[2] or "")
        except (ValueError, TypeError):
            return str(value)

    return f"<title>{escape(re.sub(r'%{([^:{}]++):?([^{}]*)}', put, template))}</title>"


def _at(value: Any, i: int) -> Any:
    return value[i] if isinstance(value, list | tuple) else value


def _bars(trace: Trace, pane: Pane, bases: dict[str, float]) -> Iterator[str]:
    lies = trace.get("orientation") == "h"
    along, up = (pane.y, pane.x) if lies else (pane.x, pane.y)
    places, lengths = (trace["y"], trace["x"]) if lies else (trace["x"], trace["y"])
    whole = _width(along, places)
    for i, (place, length) in enumerate(zip(places, lengths, strict=True)):
        if length is None:
            continue
        base = bases.get(str(place), 0.0) if pane.barmode == "stack" else 0.0
        bases[str(place)] = base + length
        width = whole * (1 - pane.bargap)
        if "width" in trace:
            unit = abs(along.pixel(1.0) - along.pixel(0.0)) if along.kind == "linear" else whole
            width = _at(trace["width"], i) * unit * (1 - pane.bargap / 2)
        middle, width = along.pixel(place), width / pane.slots
        first = middle - width * pane.slots / 2 + width * pane.slot
        ends = sorted(
            (up.pixel(max(base, up.low) if up.kind == "log" else base), up.pixel(base + length))
        )
        box = (
            (ends[0], first, ends[1] - ends[0], width)
            if lies
            else (first, ends[0], width, ends[1] - ends[0])
        )
        fill = colour(_at(trace.get("marker", {}).get("color"), i))
        named = {"y": place, "x": length} if lies else {"x": place, "y": length}
        x, y, w, h = (round(v, 1) for v in box)
        yield (
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}">'
            f"{hover(trace, i, **named)}</rect>"
        )
        yield from _error(trace, i, length, pane, middle)


def _error(trace: Trace, i: int, value: float, pane: Pane, x: float) -> Iterator[str]:
    error = trace.get("error_y")
    if error:
        top = pane.y.pixel(value + error["array"][i])
        bottom = pane.y.pixel(value - error.get("arrayminus", error["array"])[i])
        d = f"M{x:.1f} {top:.1f}V{bottom:.1f}M{x - 5:.1f} {top:.1f}h10M{x - 5:.1f} {bottom:.1f}h10"
        yield f'<path d="{d}" stroke="currentColor" fill="none" stroke-width="1.3"/>'


def _width(scale: Scale, places: Sequence[Any]) -> float:
    """Return the pixels between neighbouring bars."""
    at = sorted({scale.pixel(place) for place in places})
    gaps = [b - a for a, b in pairwise(at)]
    return min(gaps) if gaps else abs(scale.end - scale.start) / 2


def _line(trace: Trace, pane: Pane) -> Iterator[str]:
    points = [
        (pane.x.pixel(x), pane.y.pixel(y))
        for x, y in zip(trace["x"], trace["y"], strict=True)
        if x is not None and y is not None
    ]
    if not points:
        return
    line = trace.get("line", {})
    path = _path(points, line.get("shape", "linear"))
    tint = colour(line.get("color"))
    if trace.get("fill") == "tozeroy":
        floor = pane.y.pixel(max(pane.y.low, 0.0))
        area = f"{path}V{floor:.1f}H{points[0][0]:.1f}Z"
        yield f'<path d="{area}" fill="{tint}" opacity=".18"/>'
    dash = DASHES.get(line.get("dash", ""), "")
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    name = f"<title>{escape(trace['name'])}</title>" if trace.get("name") else ""
    yield (
        f'<path d="{path}" fill="none" stroke="{tint}" stroke-width="{line.get("width", 2)}"'
        f"{dashed}>{name}</path>"
    )


def _path(points: Sequence[tuple[float, float]], shape: str) -> str:
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if shape == "hv":
            parts.append(f"H{to_x:.1f}V{to_y:.1f}")
        elif shape == "hvh":
            parts.append(f"H{(x + to_x) / 2:.1f}V{to_y:.1f}H{to_x:.1f}")
        else:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        x = to_x
    return "".join(parts)


def _points(trace: Trace, pane: Pane) -> Iterator[str]:
    marker = trace.get("marker", {})
    tint = colour(marker.get("color") or trace.get("line", {}).get("color"))
    radius, opacity = marker.get("size", 6) / 2, marker.get("opacity", 1)
    rows = [
        (i, x, y)
        for i, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True))
        if x is not None and y is not None and pane.x.reaches(x) and pane.y.reaches(y)
    ]
    if len(rows) > MOST_TITLED:
        dots = "".join(f"M{pane.x.pixel(x):.1f} {pane.y.pixel(y):.1f}h0" for _, x, y in rows)
        yield (
            f'<path d="{dots}" stroke="{tint}" stroke-width="{2 * radius:g}" '
            f'stroke-linecap="round" opacity="{opacity}"/>'
        )
        return
    yield f'<g fill="{tint}" opacity="{opacity}">'
    for i, x, y in rows:
        at = f'cx="{pane.x.pixel(x):.1f}" cy="{pane.y.pixel(y):.1f}" r="{radius:g}"'
        yield f"<circle {at}>{hover(trace, i, x=x, y=y)}</circle>"
    yield "</g>"


def _cells(trace: Trace, pane: Pane) -> Iterator[str]:
    flat = [v for row in trace["z"] for v in row if v is not None]
    low, high = trace.get("zmin", min(flat, default=0.0)), trace.get("zmax", max(flat, default=1.0))
    wide, tall = _width(pane.x, trace["x"]), _width(pane.y, trace["y"])
    for r, y in enumerate(trace["y"]):
        for c, x in enumerate(trace["x"]):
            value = trace["z"][r][c]
            share = 0.5 if high == low else min(1.0, max(0.0, (value - low) / (high - low)))
            fill = _mixed(trace["colorscale"], share)
            if fill is None:
                continue
            left, top = pane.x.pixel(x) - wide / 2, pane.y.pixel(y) - tall / 2
            inner = {
                **trace,
                "text": trace["text"][r],
                "customdata": trace.get("customdata", [None])[r if "customdata" in trace else 0],
            }
            title = hover(inner, c, x=x, y=y, z=value)
            yield (
                f'<rect x="{left + 0.5:.1f}" y="{top + 0.5:.1f}" width="{wide - 1:.1f}" '
                f'height="{tall - 1:.1f}" fill="{fill}">{title}</rect>'
            )
            if "texttemplate" in trace:
                yield (
                    f'<text class="{_over(fill)}" x="{left + wide / 2:.1f}" '
                    f'y="{top + tall / 2 + 4:.1f}" text-anchor="middle">'
                    f"{escape(trace['text'][r][c])}</text>"
                )


def _mixed(stops: Sequence[Sequence[Any]], share: float) -> str | None:
    """Return the colour at a share of a scale of stops. None where nothing would be seen."""
    rows = [(float(at), *_rgba(str(tint))) for at, tint in stops]
    for one, two in pairwise(rows):
        if share <= two[0]:
            part = (share - one[0]) / (two[0] - one[0] or 1.0)
            r, g, b, a = (one[i] + part * (two[i] - one[i]) for i in range(1, 5))
            return f"rgba({r:.0f},{g:.0f},{b:.0f},{a:.2f})" if a > 0.005 else None
    return None


def _over(fill: str) -> str:
    """Return the class of words on a colour: dark words, or light ones on a dark colour."""
    r, g, b, a = _rgba(fill)
    light = a * (0.299 * r + 0.587 * g + 0.114 * b) + (1 - a) * 255
    return "on" if light > 140 else "on-dark"


def _rgba(text: str) -> tuple[float, float, float, float]:
    if text.startswith("#"):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16), 1.0
    numbers = [float(n) for n in re.findall(r"[\d.]+", text)]
    return numbers[0], numbers[1], numbers[2], numbers[3] if len(numbers) > 3 else 1.0
