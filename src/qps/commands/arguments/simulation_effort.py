"""How long is played, and how much is sampled, as requested on the command line."""

from __future__ import annotations

import re
from argparse import Namespace

from qps.commands.terminal.console import complain
from qps.solver.uncertainty.interval_result import CERTAINTIES, CERTAINTY, Sampling

_LEAST_PRECISION, _MOST_PRECISION = 1e-4, 0.5
_MOST_SECONDS = 86_400
_SEEDS = 2**64
_MOST_SAMPLES = 1_000_000
_FEWEST_SAMPLES = 100
_MOST_INTERVAL = 0.99


def precision_of(text: str) -> float:
    """Read a share, such as `2 %`."""
    bounds = _LEAST_PRECISION, _MOST_PRECISION
    return _share_of(text, "--precision", bounds, usual="2 %")


def seconds_of(text: str) -> float:
    """Read how long to play at most."""
    value = _number_of(text, "s")
    if value is None or not 0 < value <= _MOST_SECONDS:
        raise complain(
            f"`--time-limit` must be above 0 and at most {_MOST_SECONDS:,} s, not `{text[:20]}`",
            "such as `--time-limit 60`",
        )
    return value


def sampling_of(arguments: Namespace) -> Sampling:
    """Return how uncertain numbers are sampled: what is promised, how often, by which seed."""
    count = arguments.samples
    if not _FEWEST_SAMPLES <= count <= _MOST_SAMPLES:
        raise complain(
            f"`--samples` must be from {_FEWEST_SAMPLES} to {_MOST_SAMPLES:,}, not {count:,}",
            "leave it out for 10,000 samples; a million take some seconds",
        )
    if not 0 <= arguments.seed < _SEEDS:
        raise complain(
            f"`--seed` must be a whole number from 0 to 2^64 - 1, not {arguments.seed}",
            "write `--seed 2`",
        )
    confidence = arguments.confidence
    certainty = CERTAINTY if confidence is None else confidence_of(confidence)
    return Sampling(certainty=certainty, samples=count, seed=arguments.seed)


def interval_of(text: str) -> float:
    """Read with what probability an interval holds one more run, such as `90 %`."""
    bounds = CERTAINTIES[0], _MOST_INTERVAL
    return _share_of(text, "--interval", bounds, usual="90 %", digits=3)


def confidence_of(text: str) -> float:
    """Read the confidence that a capacity is reported at, such as `95 %`."""
    return _share_of(text, "--confidence", CERTAINTIES, usual="95 %", digits=3)


def _share_of(
    text: str, flag: str, bounds: tuple[float, float], *, usual: str, digits: int = 6
) -> float:
    """Read a share within bounds, with the sign of percent or without."""
    low, high = bounds
    value = _number_of(text, "%", digits=digits)
    if value is None or not low <= value <= high:
        raise complain(
            f"`{flag}` must be between {100 * low:.4g} % and {100 * high:.4g} %, not `{text[:20]}`",
            f"such as `{flag} '{usual}'`",
        )
    return value


def _number_of(text: str, unit: str, *, digits: int = 6) -> float | None:
    """Read a number of so many digits at most, with a unit or without; None where it is none."""
    pattern = rf"\s*(\d{{1,{digits}}}(?:\.\d{{1,6}})?)\s*({unit}?)\s*"
    found = re.fullmatch(pattern, text, re.ASCII)
    return float(found[1]) / (100 if found[2] == "%" else 1) if found else None
