"""Steps to a fixed point that learn from the last ones (Anderson, Journal of the ACM 12, 1965)."""

from __future__ import annotations

from typing import Any

import numpy as np

_DEPTH = 3
_SMALLEST = 1e-10
"""Directions that are so small a part of others are not told from roundings."""


class FixedPointSteps:
    """Where to go on, by the images of the last points: where all is linear, to the fixed point.

    It only leads there: that a point is its own image is for the caller to see.
    """

    def __init__(self) -> None:
        self._images: list[Any] = []
        self._moves: list[Any] = []

    def after(self, point: Any, image: Any) -> Any:
        """Return the next point after one of such an image; both are vectors."""
        self._images = [*self._images[-_DEPTH:], image]
        self._moves = [*self._moves[-_DEPTH:], image - point]
        if len(self._moves) == 1:
            return image
        *moves, last = self._moves
        turns = np.column_stack([one - last for one in moves])
        if not (np.isfinite(turns).all() and np.isfinite(last).all()):
            return image  # of what has no value, nothing is learned
        parts, *_ = np.linalg.lstsq(turns, -last, rcond=_SMALLEST)
        *images, _ = self._images
        return image + sum(part * (one - image) for part, one in zip(parts, images, strict=True))
