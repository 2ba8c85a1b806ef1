"""Where, and with which weights, the mean of the largest of independent times is summed.

The integral from M on is done in t = M + s exp(x - exp(-x)) by the trapezoidal rule (Takahasi and
Mori 1974): all digits, whatever the scales and how steep laws begin.
"""

from __future__ import annotations

from math import exp

STEP = 0.09
LEAST, MOST = -4.0, 5.6
NODES = tuple(
    (exp(x - exp(-x)), STEP * (1 + exp(-x)) * exp(x - exp(-x)))
    for x in (LEAST + STEP * k for k in range(int((MOST - LEAST) / STEP) + 1))
)
"""Times, in units of the scale, and weights."""
