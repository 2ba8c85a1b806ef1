"""Samples of JMeter that hold others: each request counts once, not again with what it is part of.

A transaction controller adds a sample of its own behind those of its requests; a request that is
redirected, or whose parts are fetched, too, has one sample by itself and one for each step, by the
names `page`, `page-0`, `page-1`
(https://jmeter.apache.org/usermanual/component_reference.html#Transaction_Controller). What
happens in one thread happens one by one, so that samples which overlap there hold each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

_TRANSACTION = re.compile(r"Number of samples in transaction : \d+")
_SLACK = 5
"""ms by which samples one behind the other may overlap: two clocks are read for each."""
_MOST_NAMED = 3


class JmeterSample(Struct, frozen=True, kw_only=True):
    """A line: when it began, how long it took (ms), bytes, and of which thread it is."""

    start: int
    elapsed: int
    octets: int | None
    is_success: bool
    threads: int
    thread: str
    label: str
    message: str
    url: str
    kind: str

    @property
    def end(self) -> int:
        """When it ended, in ms since 1970."""
        return self.start + self.elapsed

    @property
    def is_transaction(self) -> bool:
        """Whether it says of itself that it is the sum of others."""
        return _TRANSACTION.match(self.message) is not None

    def holds(self, other: JmeterSample) -> bool:
        """Return whether another one lies within it, as far as times show."""
        return self.start <= other.start + _SLACK and other.end <= self.end + _SLACK

    def is_part_of(self, other: JmeterSample) -> bool:
        """Return whether it is named as a step of another one, and lies within it."""
        name, _, number = self.label.rpartition("-")
        return number.isdecimal() and name == other.label and other.holds(self)


class Nesting(Struct):
    """Tells samples apart from those that hold them, while they are read.

    `labels` are those of samples that hold others; `overlapping` ones neither say nor show by
    their names whether one holds the other.
    """

    labels: dict[str, None] = field(default_factory=dict)
    overlapping: int = 0

    def classified(
        self, samples: Iterable[tuple[JmeterSample, bool]]
    ) -> Iterator[tuple[JmeterSample, bool]]:
        """Yield each sample, and whether it holds others; of some that is known.

        Of a thread the last one is held back until the next shows whether it is a step of it.
        """
        last: dict[str, JmeterSample] = {}
        parents: dict[str, JmeterSample] = {}
        for sample, is_parent in samples:
            if is_parent:
                yield self._holding(sample)
                continue
            before, parent = last.get(sample.thread), parents.get(sample.thread)
            if sample.is_transaction or (before is not None and _contains(sample, before)):
                yield self._holding(sample)
                continue
            last[sample.thread] = sample
            if before is None:
                continue
            if sample.is_part_of(before):
                parents[sample.thread] = before
                yield self._holding(before)
                continue
            yield before, False
            is_step = parent is not None and sample.is_part_of(parent)
            if sample.thread and not is_step and sample.start + _SLACK < before.end:
                self.overlapping += 1
        for sample in last.values():
            yield sample, False

    def _holding(self, sample: JmeterSample) -> tuple[JmeterSample, bool]:
        if len(self.labels) < _MOST_NAMED:
            self.labels[sample.label] = None
        return sample, True


def _contains(sample: JmeterSample, before: JmeterSample) -> bool:
    """Return whether a sample is the sum of one before it: by its name, or as it has no request."""
    is_sum = sample.url == "null" and not sample.kind
    return before.is_part_of(sample) or (is_sum and sample.holds(before))
