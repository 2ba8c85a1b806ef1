"""Of which operands a value is an approximation itself, so that its bounds prove nothing."""

from __future__ import annotations

from qps.engine.queueing_networks.multiclass_mva import is_linearized
from qps.engine.queueing_networks.multiclass_operands import network_of


def class_rate(classes: float, _of: float, *operands: float) -> bool:
    """Return whether a rate is that of the Linearizer."""
    return _is_linearized(classes, operands)


def class_wait(classes: float, _of: float, *operands: float) -> bool:
    """Return whether a wait is that of the Linearizer."""
    return _is_linearized(classes, operands)


def class_open_wait(classes: float, *operands: float) -> bool:
    """Return whether a wait of open visits is that of the Linearizer."""
    return _is_linearized(classes, operands)


def _is_linearized(classes: float, operands: tuple[float, ...]) -> bool:
    network = network_of(classes, operands)
    return network is not None and is_linearized(network)


def shared_rate(_classes: float, _of: float, *_operands: float) -> bool:
    """Return whether the rate of a class that shares pools is an approximation: always."""
    return True


def shared_time(_classes: float, _of: float, _which: float, *_operands: float) -> bool:
    """Return whether the time of such a class at a place is one: always."""
    return True


def shared_wait(_classes: float, _which: float, *_operands: float) -> bool:
    """Return whether the wait of open visits beside such classes is one: always."""
    return True


def class_quantile(*_operands: float) -> bool:
    """Return whether the quantile of a cycle of a class is one: always."""
    return True
