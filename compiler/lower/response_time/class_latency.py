"""How long the items of a class take: the mean, percentiles, waits, and how each is known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Self

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.label_doubts import NO_DOUBTS, ClassDoubts
from qps.compiler.lower.queues.queue_certainty import (
    jitter_certainty,
    quantile_certainty,
    uncounted,
    without_variance,
)
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import longest
from qps.compiler.lower.response_time.class_mixtures import OF_CLASSES, mixture_of
from qps.compiler.lower.response_time.cycle_time_quantile import CycleSum, cycle_of
from qps.compiler.lower.response_time.latency_paths import LatencyPath
from qps.compiler.lower.response_time.law_guards import guarded, guarded_known, guarded_share
from qps.compiler.lower.response_time.quantile_refinement import (
    LATER,
    REFINED,
    later_by_two_moments,
    refined,
)
from qps.compiler.lower.response_time.response_parts import JitterPart
from qps.compiler.lower.response_time.response_stages import LatencyPart, every, queue_resource
from qps.compiler.lower.response_time.stage_sequence import (
    Allotment,
    allotted,
    calls_certainty,
    calls_vary,
    kinds_certainty,
    quantile_of,
)
from qps.compiler.lower.response_time.sum_certainty import (
    added_known,
    added_up,
    paths_known,
    waits_known,
)
from qps.compiler.lower.response_time.sum_quantiles import later_paths, later_share, paths_of
from qps.compiler.lower.response_time.waiting_times import no_share
from qps.compiler.quantities.certainty import EXACT, Certainty, CertaintyKind, of_another, together
from qps.compiler.quantities.measured_errors import ErrorQuantity
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)


class ClassLatency(Struct, frozen=True, kw_only=True, dict=True):
    """How long the items of a class take: the mean, the distribution, and how both are known.

    `latency` in s for one item, `jitter` in s^2; `playout` is where the playout delay is stated,
    which is the last part of the latency then.
    """

    name: str
    latency: tuple[LatencyPart, ...]
    jitter: tuple[JitterPart, ...]
    playout: Span | None = None
    uncounted: tuple[str, ...] = ()
    """The resources on its way that state no queueing: no waiting is counted there."""
    endless: tuple[LatencyPart, ...] = ()
    """For each of these whose queue nothing bounds: infinite where it is loaded beyond 1; or 0."""
    buffer_certainty: Certainty = EXACT
    """How the playout delay is known, by the jitter that it rests on."""
    cycle_certainty: Certainty = EXACT
    """How a cycle is known of users who wait, besides what each station does to it."""
    elastic_known: Certainty = EXACT
    """How all that it meets is known where elastic parameters stand in it."""
    doubts: ClassDoubts = NO_DOUBTS
    """Why its results are no better known than that."""
    kinds: tuple[Self, ...] = ()
    """What each kind of users or items sees, where that has a law, or is a class of its own."""
    weights: tuple[Formula, ...] = ()
    """Which share of the items is of each of these kinds."""

    @property
    def mean_latency(self) -> Formula:
        """The mean time of an item from source to user, in s."""
        return total(part.value for part in (*self.latency, *self.endless))

    def latency_quantile(self, level: Fraction) -> Formula:
        """Return the latency that a share `level` of the items does not exceed, in s.

        Queues whose waits have laws are one sum, of independent stages. Of those that have a
        quantile alone each gets its part of the share that may be later: then the sum of quantiles
        is an upper bound, however waits depend on each other (Bonferroni). Jitter gets a part, too,
        and is taken as normal; that of a resource with a queue counts there. What does not vary
        counts with its mean. Of several ways to allot, the least bound counts. Of kinds that each
        have a law it is that of a mixture (`class_mixtures`), else of the slowest. Where that is no
        bound, a nearer one may be (`quantile_refinement`). None is beyond Markov's (`law_guards`).
        """
        found, known = self._quantile(level), self._quantile_certainty(level)
        if self._is_loose(known):
            found = refined(found, level, self.latency, is_of_kinds=self._is_of_kinds)
        if self._is_law_of_mean(self.paths):
            return found
        return guarded(found, level, known, self.mean_latency, self.latency_certainty)

    def later(self, seconds: Fraction) -> Formula:
        """Return the share of the items that take longer than a time, in s.

        It is the tail of the law of `latency_quantile`. Of several ways through calls that are made
        together shares of all count: an upper bound. Of a cycle it is that of a sum of independent
        stays, and that of two moments where quantiles are added up. QpsError beside jitter.
        """
        if self.jitter or self.playout is not None:
            raise no_share(self.name)
        if self.kinds:
            each = zip(self.weights, self.kinds, strict=True)
            return total(weight * kind.later(seconds) for weight, kind in each)
        paths = self.tail_paths
        found = total(later_share(path, seconds) for path in paths)
        if not paths:
            self._quantile(Fraction(1, 2))  # it is refused where quantiles are
            found = later_by_two_moments(seconds, self.latency, is_of_kinds=self._is_of_kinds)
        if len(paths) > 1:
            found = minimum(ONE, found)
        if self._is_law_of_mean(paths):
            return found
        known, mean_known = self.tail_certainty, self.latency_certainty
        return guarded_share(found, seconds, known, self.mean_latency, mean_known)

    def share_certainty(self, quantity: ErrorQuantity, shares: Sequence[float] = ()) -> Certainty:
        """Return how the share is known that takes longer than a time, or its rest: of `shares`."""
        known = together(self.tail_certainty, known_by("path-of-stages", self.name))
        if not (self._has_fork and self.tail_paths):
            known = guarded_known(known, self.latency_certainty)
        return self.doubts.of_share(shares).known(of_another(known), quantity)

    @cached_property
    def tail_paths(self) -> tuple[LatencyPath, ...]:
        """The ways through its stages of which a sum has the tail; none where none has."""
        ways = later_paths(self.latency, self._is_added)
        if not ways or not self._has_slowest:
            return ways
        is_guess = self._sum_certainty(ways, Fraction(1, 2)).kind is CertaintyKind.APPROXIMATION
        return () if is_guess else ways  # of the slowest kind they make a bound, if it is proven

    @cached_property
    def mixture(self) -> tuple[Formula, ...] | None:
        """The operands of the law of all kinds together; None where one of them has none."""
        if not self.kinds or self.jitter or self.playout is not None:
            return None
        return mixture_of(self.weights, self.kinds)

    @property
    def tail_certainty(self) -> Certainty:
        """How the law is known of which it has the tail, before premises are checked."""
        if self.kinds:
            return together(OF_CLASSES, *(kind.tail_certainty for kind in self.kinds))
        if self.tail_paths:
            return self._sum_certainty(self.tail_paths, Fraction(1, 2))
        return together(self._certainty_of_law(Fraction(1, 2)), LATER)

    # -- the quantile ---------------------------------------------------------------------

    def _quantile(self, level: Fraction) -> Formula:
        endless = [part.value for part in self.endless]
        if self.mixture is not None:
            return total((apply("stages_quantile", number(level), *self.mixture), *endless))
        if self.kinds:
            return longest([kind.latency_quantile(level) for kind in self.kinds])
        if (cycle := self.cycle) is not None:
            return total((cycle.quantile(level), *endless))
        ways = self.paths
        if ways:
            return longest([self.quantile_of(way, level) for way in ways])
        bounds = [self.quantile_by(allotment) for allotment in self.allotments(level)]
        return bounds[0] if len(bounds) == 1 else minimum(*bounds)

    def _is_loose(self, known: Certainty) -> bool:
        """Return whether a quantile is no proven bound though it is made like one."""
        if known.kind is not CertaintyKind.APPROXIMATION or self.jitter or not self._waits:
            return False
        return self._is_of_kinds or self._adds_quantiles

    @property
    def _is_of_kinds(self) -> bool:
        return self.mixture is None if self.kinds else self._has_slowest

    @property
    def _has_slowest(self) -> bool:
        return any(part.differs for part in every(self.latency))

    @property
    def _adds_quantiles(self) -> bool:
        if self.kinds or self.cycle is not None:
            return False
        ways = self.paths
        if ways:
            return len(ways) > 1 or bool(ways[0].aside)
        allots = not calls_certainty(self.latency, varies=self.varies).is_exact
        return len(self._waits) + self.varies > 1 or allots

    @property
    def cycle(self) -> CycleSum | None:
        """The cycle of a closed stream that the latency is; None where it is something else."""
        return None if self.jitter or self.playout is not None else cycle_of(self.latency)

    @cached_property
    def paths(self) -> tuple[LatencyPath, ...]:
        """The ways through its stages where a quantile is that of a sum; none where it is not."""
        return paths_of(self.latency, self._is_added)

    @property
    def _has_fork(self) -> bool:
        """Whether calls that are made together follow the law of the longest of them."""
        return not self.kinds and self.cycle is None and any(one.has_fork for one in self.paths)

    def _is_law_of_mean(self, paths: Sequence[LatencyPath]) -> bool:
        """Return whether the mean is that of the law of some ways, which needs no guard then."""
        if len(paths) != 1 or self.kinds or self.cycle is not None or self.jitter:
            return bool(paths) and self._has_fork
        return paths[0].has_law_of(self.mean_latency)

    def quantile_of(self, path: LatencyPath, level: Fraction) -> Formula:
        """Return the quantile of one way through its stages, which all share what is left."""
        late = (1 - level) / path.paths
        found = path.quantile(late, int(self.varies), self._passage)
        endless = [part.value for part in self.endless]
        return total((found, self.jitter_quantile(self._allotment(path, level)), *endless))

    def _allotment(self, path: LatencyPath, level: Fraction) -> Allotment:
        units = len(path.added) + len(path.aside) + self.varies
        return Allotment((1 - level) / path.paths / max(1, units), Fraction(0))

    def _is_added(self, part: LatencyPart) -> bool:
        """Return whether a wait has a law that a sum can take; a jitter law may say another."""
        if part.queue is None or part.visit is None or self._laws_at(part.queue):
            return False
        return part.queue.stage(part.visit) is not None

    def _laws_at(self, queue: Queue) -> list[Formula]:
        if self.playout is not None:
            return []
        return [jitter.value for jitter in self.jitter if jitter.resource == queue.resource]

    def allotments(self, level: Fraction) -> list[Allotment]:
        """Return ways to allot the share that may be later; each makes a bound of a quantile."""
        return allotted(self.latency, level, varies=self.varies)

    def quantile_by(self, allotment: Allotment) -> Formula:
        """Return the bound of a quantile that is made by one way to allot."""
        stages = [self.stage_quantile(part, allotment) for part in self.latency]
        endless = [part.value for part in self.endless]
        return total((*stages, self.jitter_quantile(allotment), *endless))

    def stage_quantile(self, part: LatencyPart, allotment: Allotment) -> Formula:
        """Return what a stage adds to a quantile."""
        return quantile_of((part,), allotment, self._passage)

    def _passage(self, part: LatencyPart, allotment: Allotment) -> Formula:
        """Return what one passage of a stage adds to a quantile.

        A jitter law and a queue of one resource describe the same time: the later of the two
        counts. The law is that of all visits of the stream together.
        """
        if part.queue is None or part.visit is None:
            return part.slowest or part.per_visit
        waiting = part.queue.quantile(part.visit, allotment.level(part))
        name = part.queue.resource
        laws = self._laws_at(part.queue)
        if not laws:
            return waiting
        visits = sum(queue.resource == name for queue in self._waits)
        deviation = square_root(total(laws)) / visits
        late = apply("normal_quantile", 1 - allotment.late / allotment.among)
        return maximum(waiting, part.per_visit + late * deviation)

    def jitter_quantile(self, allotment: Allotment) -> Formula:
        """Return what jitter adds besides the queues: so many deviations of a normal law."""
        if not self.varies:
            return ZERO
        variance = total(part.value for part in self.added_jitter)
        return apply("normal_quantile", 1 - allotment.late) * square_root(variance)

    @property
    def varies(self) -> bool:
        """True where jitter makes items late that no queue does: a playout buffer evens it out."""
        return bool(self.added_jitter) and self.playout is None

    @property
    def added_jitter(self) -> tuple[JitterPart, ...]:
        """The jitter of resources that state no queue: of others it is in the quantile there."""
        queued = {queue.resource for queue in self._waits}
        return tuple(part for part in self.jitter if part.resource not in queued)

    @property
    def jitter_certainty(self) -> Certainty:
        """How the jitter is known: it is what laws say, and waits have variances of their own."""
        lawful = {part.resource for part in self.jitter}
        queued = dict.fromkeys(queue.resource for queue in self._waits)
        unknown = without_variance([name for name in queued if name not in lawful])
        laws = [part.known for part in self.jitter]
        summed = known_by("sum-of-variances", self.name)
        return together(summed, unknown, calls_vary(self.latency), *laws, self.elastic_known)

    @property
    def latency_certainty(self) -> Certainty:
        """How the mean latency is known."""
        return self.doubts.known(self.unchecked_mean_certainty, ErrorQuantity.LATENCY)

    @property
    def unchecked_mean_certainty(self) -> Certainty:
        """How it is known before premises are checked and errors are looked up."""
        waits = [part.certainty for part in self.latency]
        missing = uncounted(self.uncounted)
        summed = known_by("sum-of-means", self.name)
        known = (summed, self.buffer_certainty, self.cycle_certainty, missing, self.elastic_known)
        return together(*waits, *known)

    def quantile_certainty(self, level: Fraction) -> Certainty:
        """Return how the quantile of a level is known."""
        known = self.unchecked_quantile_certainty(level)
        return self.doubts.known(known, ErrorQuantity.of_level(level))

    def unchecked_quantile_certainty(self, level: Fraction) -> Certainty:
        """Return how it is known before premises are checked and errors are looked up."""
        known = self._quantile_certainty(level)
        if self._is_loose(known):
            known = together(known, REFINED)
        known = together(known, known_by("path-of-stages", self.name))
        return known if self._has_fork else guarded_known(known, self.latency_certainty)

    @cached_property
    def _known_quantiles(self) -> dict[Fraction, Certainty]:
        return {}

    def _quantile_certainty(self, level: Fraction) -> Certainty:
        known = self._known_quantiles  # a quantile and its labels are computed by turns
        if level not in known:
            known[level] = self._certainty_of_law(level)
        return known[level]

    def _certainty_of_law(self, level: Fraction) -> Certainty:
        if self.mixture is not None:
            return self.tail_certainty
        if self.kinds:
            kinds = [kind.quantile_certainty(level) for kind in self.kinds]
            return together(known_by("slowest-kind"), *kinds)
        if (cycle := self.cycle) is not None:
            return together(self.latency_certainty, cycle.known, self._blocking_known)
        ways = self.paths
        if ways:
            return self._sum_certainty(ways, level)
        parts = [quantile_certainty(queue) for queue in self._waits]
        if self.jitter and self.playout is None:
            laws = [part.resource for part in self.jitter]
            parts.append(jitter_certainty(laws, 1 - self.allotments(level)[0].late))
        count = len(self._waits)
        if count + self.varies > 1:
            parts.append(added_up(count, varies=self.varies))
        parts.append(calls_certainty(self.latency, varies=self.varies))
        parts += [kinds_certainty(self.latency), self._blocking_known]
        parts += [self.cycle_certainty, self.elastic_known]
        return together(*parts, self.buffer_certainty, uncounted(self.uncounted))

    def _sum_certainty(self, paths: Sequence[LatencyPath], level: Fraction) -> Certainty:
        """Return how the quantile is known of a level that is that of a sum."""
        parts = [paths_known(paths)]
        for way in paths:
            parts += waits_known(way)
            parts.append(added_known(way))
            count = bool(way.added) + len(way.aside)
            if count + self.varies > 1:
                parts.append(added_up(count, varies=self.varies))
        if self.jitter and self.playout is None:
            laws = [part.resource for part in self.jitter]
            parts.append(jitter_certainty(laws, 1 - self._allotment(paths[0], level).late))
        parts += [kinds_certainty(self.latency), self._blocking_known]
        parts += [self.cycle_certainty, self.elastic_known]
        return together(*parts, self.buffer_certainty, uncounted(self.uncounted))

    @property
    def _blocking_known(self) -> Certainty:
        names = [queue_resource(part) for part in self.latency if part.queue is None]
        saturated = [name for name in names if name]
        return known_by("blocking-time", saturated) if saturated else EXACT

    @property
    def _waits(self) -> list[Queue]:
        return [part.queue for part in every(self.latency) if part.queue is not None]
