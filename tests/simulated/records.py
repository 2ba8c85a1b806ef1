"""What became of generated specs, as data: what was predicted and played, a line of JSON each."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.measured_errors import ErrorAxis
from qps.simulation.agreement import NumberComparison, PredictionVerdict, compare
from qps.simulation.statistics import Estimate

FALSE_ALARMS = 0.01
"""How probably one of all comparisons together is told wrong that is right."""

_POOL = ".threads"
"""How pools of generated specs are called."""


class Play(Struct, frozen=True, array_like=True):
    """A mean over runs, its standard error, None for one without end, and of how many items."""

    mean: float
    error: float | None
    runs: int
    items: int = 0

    @property
    def estimate(self) -> Estimate:
        """The same as what simulation tells."""
        return Estimate(self.mean, inf if self.error is None else self.error, self.runs)


class Number(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A number of a spec, predicted, and played where it was; `why` are its methods, by id.

    In a file what is predicted without end is None, as JSON has no infinity. What seemed wrong was
    played `again`, with other numbers by chance, and that counts. Its operating `point` is what its
    error goes by.
    """

    subject: str
    measure: str
    predicted: float | None
    kind: CertaintyKind = CertaintyKind.EXACT
    error: float | None = None
    why: tuple[str, ...] = ()
    played: Play | None = None
    again: Play | None = None
    bands: dict[str, str] = {}
    point: dict[ErrorAxis, float] = {}
    calls_rarely: bool = False
    """Whether fewer than one item in a hundred of the stream makes a call."""

    @property
    def quantity(self) -> str:
        """What it is of, all quantiles alike, and all shares by a time."""
        first, *rest = self.measure.split()
        if first == "load" and self.subject.endswith(_POOL):
            return "pool"
        if first[1:2].isdigit():
            return "quantile"
        return f"{first} {'share' if rest[0] in ('>', '<=') else 'quantile'}" if rest else first

    @property
    def value(self) -> float:
        """What is predicted."""
        return inf if self.predicted is None else self.predicted

    @property
    def last(self) -> Play | None:
        """What was played last."""
        return self.again or self.played

    def verdict(self, tests: int) -> PredictionVerdict:
        """Return what the last play says, as one of so many that are all right together."""
        play = self.last
        assert play is not None
        known = Certainty(kind=self.kind, error=self.error)
        one = NumberComparison(
            subject=self.subject,
            measure=self.measure,
            dimension=DIMENSIONLESS,
            predicted=self.value,
            known=known,
            simulated=play.estimate,
            items=play.items,
        )
        # `compare` has one false alarm in a hundred tables of so many tests.
        (found,) = compare((one,), max(1, tests))
        return found.verdict


class Model(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a spec: its numbers; or why it was refused, or which fault it showed."""

    seed: int
    kind: str = ""
    text: str = ""
    """Of the spec, a hash: the same seed has another spec, where the generator is another one."""
    numbers: tuple[Number, ...] = ()
    refused: str | None = None
    fault: str | None = None
    seconds: float = 0.0

    def with_plays_of(self, other: Model) -> Model:
        """Return it with what was played of the same spec before; what was not is left out.

        What was refused or failed then has no numbers: it is as it was.
        """
        if other.text != self.text or not other.numbers or not self.numbers:
            return other if other.text == self.text and not self.fault else self
        by_name = {(one.subject, one.measure): one for one in other.numbers}
        found = [(one, by_name.get((one.subject, one.measure))) for one in self.numbers]
        numbers = tuple(
            replace(one, played=old.played, again=old.again, bands=old.bands)
            for one, old in found
            if old is not None
        )
        return replace(self, numbers=numbers)


def retained(path: Path) -> Iterator[Model]:
    """Yield what is kept in a file; a last line that was broken off is none."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield msgspec.json.decode(line, type=Model)


def line_of(model: Model) -> bytes:
    """Return a model as a line of a file."""
    return msgspec.json.encode(model) + b"\n"
