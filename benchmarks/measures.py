"""How a figure is measured: each beside what is run at the same time.

S is what `import sympy` takes of the processor, measured before and behind each command on the
same machine. Times of rows are stated in us on a machine on which S is 0.35 s.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from timings import ROOT, Used, used

SPECS = ROOT / "specs"
APPLICATIONS = (ROOT / "tests" / "applications", Path(__file__).parent / "applications")
LIMIT = 60  # s of processor for a process
S_OF_TARGETS = 0.35  # s of `import sympy`, where the targets were written
EXPONENT = "n^"
_RUNS, _QUICK = 3, 4.0  # so many runs of what takes less than that many s


@dataclass(frozen=True)
class Found:
    """A figure in the unit of its target; `seconds` is what it took to measure it."""

    figure: float
    seconds: float
    megabytes: float = 0.0
    is_late: bool = False

    @property
    def as_json(self) -> dict[str, float]:
        """The same as JSON, short enough to be read."""
        return {key: float(f"{value:.4g}") for key, value in asdict(self).items()}


@dataclass(frozen=True)
class BenchmarkTarget:
    """What is measured, what it was before (as text), and what is to be reached."""

    what: str
    before: str
    goal: float
    unit: str
    measure: Callable[[], Found]

    def as_text(self, figure: float) -> str:
        """Return a figure with its unit, or as an exponent of n."""
        if self.unit == EXPONENT:
            return f"n^{figure:.1f}"
        return f"{figure:,.0f}{self.unit}" if figure >= 100 else f"{figure:.2g}{self.unit}"


@cache
def folder() -> Path:
    """Return where specs are made; it goes away with the process."""
    _held.append(tempfile.TemporaryDirectory(prefix="qps-targets-"))
    return Path(_held[0].name)


_held: list[tempfile.TemporaryDirectory[str]] = []


def made(name: str, text: str) -> Path:
    """Return a file with a spec."""
    path = folder() / f"{name}.qps"
    path.write_text(text, encoding="utf-8")
    return path


def sympy_seconds() -> float:
    """Return S."""
    return used(["-c", "import sympy"], LIMIT).seconds


def measured_with_unit(measure: Callable[[], Used], runs: int = _RUNS) -> tuple[Used, float]:
    """Return the least that something took and S, measured in turns; what takes long, once."""
    took, units = [measure()], [sympy_seconds(), sympy_seconds()]
    while len(took) < runs and took[0].seconds < _QUICK:
        took.append(measure())
        units.append(sympy_seconds())
    return min(took, key=lambda one: one.seconds), min(units)


def qps(*words: str | Path, kept: Path | None = None) -> Callable[[], Used]:
    """Return what runs a command; `kept` is what commands before it have left, None for nothing."""
    return partial(used, ["-m", "qps", *map(str, words)], LIMIT, kept=kept)


def command(*words: str | Path, kept: Path | None = None) -> Found:
    """Return what a command takes, in S."""
    took, unit = measured_with_unit(qps(*words, kept=kept))
    return Found(took.seconds / unit, took.seconds, took.megabytes, took.is_late)


def ratio(one: Callable[[], Used], other: Callable[[], Used]) -> Found:
    """Return what one command takes as a ratio to another."""
    pairs = [(one(), other()) for _ in range(2)]
    least = min(pair[0].seconds for pair in pairs), min(pair[1].seconds for pair in pairs)
    return Found(least[0] / least[1], sum(pair[0].seconds for pair in pairs))


def along(path: Path, *axes: str) -> tuple[list[dict[str, object]], Used, float]:
    """Return what rows take along the axes of a spec, and S."""
    script = str(Path(__file__).parent / "along.py")
    took, unit = measured_with_unit(partial(used, [script, str(path), *axes], LIMIT), 1)
    return [json.loads(line) for line in took.text.splitlines()], took, unit


def row(path: Path, *axes: str) -> Found:
    """Return us for a row along the worst of some axes."""
    found, took, unit = along(path, *axes)
    worst = max((float(str(one["us"])) for one in found), default=LIMIT * 1e6)
    return Found(worst * S_OF_TARGETS / unit, took.seconds, took.megabytes, took.is_late)
