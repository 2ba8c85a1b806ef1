"""Rows of samples that are no more than their numbers, for searches in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class NumberRows:
    """Rows that are no more than their `own` numbers."""

    own: np.ndarray

    @property
    def count(self) -> int:
        return self.own.size

    def take(self, index: np.ndarray) -> NumberRows:
        return NumberRows(self.own[index])
