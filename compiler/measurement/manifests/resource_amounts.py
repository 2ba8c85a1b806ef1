"""Amounts of processors and memory as Kubernetes and Docker write them."""

from __future__ import annotations

import re
from typing import Any

_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]{0,2})")
_SCALES = {"": 1.0, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTP", start=1)
}
_DOCKER = {"": 1.0} | {
    letter + ending: 1024.0**power
    for power, letter in enumerate("bkmg")
    for ending in ("", "b")
    if letter + ending != "bb"
}


def kubernetes_amount(value: Any) -> float | None:
    """Return cores or bytes; None where it is no amount.

    >>> kubernetes_amount("500m"), kubernetes_amount("128Mi"), kubernetes_amount(2)
    (0.5, 134217728.0, 2.0)
    """
    return _amount(value, _SCALES)


def docker_bytes(value: Any) -> float | None:
    """Return bytes as Docker counts them.

    >>> docker_bytes("512M"), docker_bytes("1gb")
    (536870912.0, 1073741824.0)
    """
    return _amount(value.lower() if isinstance(value, str) else value, _DOCKER)


def _amount(value: Any, scales: dict[str, float]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _AMOUNT.fullmatch(str(value).strip())
    if found is None or found[2] not in scales:
        return None
    return float(found[1]) * scales[found[2]] or None
