"""Stacked bars of shares as plain numbers, ready for SVG."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

# Okabe and Ito's palette, which color-blind readers distinguish.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F", "#B8A800")


class BarSegment(Struct, frozen=True, kw_only=True):
    """A part of a bar, in per cent of its full width."""

    name: str
    share: float
    offset: float
    color: str
    text: str


class Bar(Struct, frozen=True):
    """A bar of segments that add up to 100 %."""

    name: str
    segments: tuple[BarSegment, ...]


def bars(rows: Sequence[tuple[str, dict[str, float]]]) -> tuple[Bar, ...]:
    """Return stacked bars of shares; a component has one color in all of them."""
    colors: dict[str, str] = {}
    for _, shares in rows:
        for name in shares:
            colors.setdefault(name, COLORS[len(colors) % len(COLORS)])
    built = []
    for name, shares in rows:
        offset = 0.0
        segments = []
        for part, share in shares.items():
            if share <= 0.0005:  # noqa: PLR2004 - invisible at any width
                continue
            segments.append(
                BarSegment(
                    name=part,
                    share=share * 100,
                    offset=offset,
                    color=colors[part],
                    text=f"{part} {share:.1%}",
                )
            )
            offset += share * 100
        built.append(Bar(name, tuple(segments)))
    return tuple(built)
