"""How long is played, and how much is sampled, as it is asked for on the command line."""

from __future__ import annotations

import re
from argparse import Namespace

from qps.commands.console import complain
from qps.solver.odds.told import CERTAINTY, Sampling

_LEAST_PRECISION, _MOST_PRECISION = 1e-4, 0.5
_MOST_SECONDS = 86_400
_SEEDS = 2**64
_MOST_SAMPLES = 1_000_000
_FEWEST_SAMPLES = 100
_MOST_INTERVAL = 0.99
_LEAST_CERTAINTY, _MOST_CERTAINTY = 0.5, 0.999


def precision_of(text: str) -> float:
    """Read a share, such as `2 %`."""
    value = _number_of(text, "%")
    if value is None or not _LEAST_PRECISION <= value <= _MOST_PRECISION:
        raise complain(
            f"`--precision` takes a share from 0.01 % to 50 %, not `{text[:20]}`",
            "such as `--precision '2 %'`",
        )
    return value


def seconds_of(text: str) -> float:
    """Read how long to play at most."""
    value = _number_of(text, "s")
    if value is None or not 0 < value <= _MOST_SECONDS:
        raise complain(
            f"`--seconds` takes a time from above 0 to {_MOST_SECONDS:,} s, not `{text[:20]}`",
            "such as `--seconds 60`",
        )
    return value


def sampling_of(arguments: Namespace) -> Sampling:
    """Return how uncertain numbers are sampled: what is promised, how often, by which seed."""
    count = arguments.samples
    if not _FEWEST_SAMPLES <= count <= _MOST_SAMPLES:
        raise complain(
            f"`--samples` takes from {_FEWEST_SAMPLES} to {_MOST_SAMPLES:,}, not {count:,}",
            "10000 unless said otherwise; a million takes some seconds",
        )
    if not 0 <= arguments.seed < _SEEDS:
        raise complain(
            f"`--seed` takes a whole number from 0 to below 2^64, not {arguments.seed}",
            "such as `--seed 2`",
        )
    sure = arguments.sure
    certainty = CERTAINTY if sure is None else certainty_of(sure)
    return Sampling(certainty=certainty, samples=count, seed=arguments.seed)


def interval_of(text: str) -> float:
    """Read with what probability an interval holds one more run, such as `90 %`."""
    value = _number_of(text, "%", digits=3)
    if value is None or not _LEAST_CERTAINTY <= value <= _MOST_INTERVAL:
        raise complain(
            f"`--interval` takes a probability from 50 % to 99 %, not `{text[:20]}`",
            "such as `--interval '90 %'`",
        )
    return value


def certainty_of(text: str) -> float:
    """Read with what certainty a population is promised, such as `95 %`."""
    value = _number_of(text, "%", digits=3)
    if value is None or not _LEAST_CERTAINTY <= value <= _MOST_CERTAINTY:
        raise complain(
            f"`--sure` takes a certainty from 50 % to 99.9 %, not `{text[:20]}`",
            "such as `--sure '95 %'`",
        )
    return value


def _number_of(text: str, unit: str, *, digits: int = 6) -> float | None:
    """Read a number of so many digits at most, with a unit or without; None where it is none."""
    pattern = rf"\s*(\d{{1,{digits}}}(?:\.\d{{1,6}})?)\s*({unit}?)\s*"
    found = re.fullmatch(pattern, text, re.ASCII)
    return float(found[1]) / (100 if found[2] == "%" else 1) if found else None
