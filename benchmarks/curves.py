"""Curves as SVG, drawn without a library: files that a diff can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COLOURS = ("#2a6fb0", "#c8442a", "#3a8f4f", "#8a5fb0", "#b07a2a")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 300, 60, 45, 30, 40
APART = 160
"""Between the names of two curves."""


@dataclass(frozen=True)
class Curve:
    """Heights at places from 0 on."""

    name: str
    places: Sequence[float]
    heights: Sequence[float]


def drawn(curves: Sequence[Curve], last: float, words: str) -> str:
    """Return curves as SVG, from 0 to the place `last`; words: what goes across and up."""
    top = max(max(curve.heights) for curve in curves) * 1.15
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    base = HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#2b2f36">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for i in range(5):
        y = base - down * i / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#e6e8ec"/>')
        label = f"{top * i / 4:.0f}"
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{label}</text>')
        x = LEFT + across * i / 4
        label = f"{last * i / 4:,.0f}"
        parts.append(f'<text x="{x}" y="{base + 18}" text-anchor="middle">{label}</text>')
    for n, curve in enumerate(curves):
        points = " ".join(
            f"{LEFT + across * place / last:.1f},{base - down * height / top:.1f}"
            for place, height in zip(curve.places, curve.heights, strict=True)
        )
        colour = COLOURS[n % len(COLOURS)]
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        x = LEFT + 10 + APART * n
        parts.append(f'<text x="{x}" y="{TOP - 10}" fill="{colour}">{curve.name}</text>')
    middle = LEFT + across / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{words}</text></svg>')
    return "\n".join(parts) + "\n"
