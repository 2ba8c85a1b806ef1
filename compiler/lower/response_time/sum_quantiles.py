"""The quantile of a latency as that of a sum: stages one after the other, of which laws are known.

What is waited for by a law of its own goes into one sum, calls with what is inside of them, of
which the table of operations has the quantile. Of calls that are made together each makes a way
through all stages; the latency is that of the longest. What has a quantile alone, as periodic
queues and jitter have, is later with its part of the share that may be, so that the sum of all is
a bound (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.queue_certainty import stage_certainty
from qps.compiler.lower.queues.station_queue import Queue, Stage
from qps.compiler.lower.response_time.on_off_stages import behind, stage_of
from qps.compiler.lower.response_time.repeated_shares import has_outcomes, outcomes_of
from qps.compiler.lower.response_time.response_stages import CallFactor, FanOut, LatencyPart
from qps.compiler.lower.response_time.stage_sequence import Allotment, calls_certainty
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    together,
)
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, number, total
from qps.engine.queueing.stage_paths import MOST_PATHS

_MOST_PATHS = 16
_SIZE = 9
"""Operands of a stage."""


class FanOutPath(Struct, frozen=True, kw_only=True):
    """What one of the calls takes that are made at once, of which the first `required` count.

    So many more are made, `spare`. `fixed` is what is always the same, `operands` are those of the
    sum of all else, and `added` its waits.
    """

    required: Formula
    spare: Formula
    fixed: Formula
    operands: tuple[Formula, ...]
    added: tuple[LatencyPart, ...]
    node: str
    waits_for_all: bool
    is_one: bool

    @property
    def known(self) -> Certainty:
        """How it is known when the answers are there: are the calls independent?"""
        queues = [part.queue for part in self.added if part.queue is not None]
        if not queues:
            return known_by("fan-out-independent", [self.node])
        known = [stage_certainty(queue) for queue in queues]
        if self.is_one:
            return together(*known)
        method = "fan-out-associated" if self.waits_for_all else "fan-out-first"
        return together(*known, known_by(method, [self.node]))

    @property
    def mean(self) -> Formula:
        """The mean time until those that count are there."""
        if not self.operands:
            return self.fixed
        return self.fixed + apply("order_mean", self.required, self.spare, *self.operands)

    def quantile(self, level: Formula, others: tuple[Formula, ...]) -> Formula:
        """Return the quantile of the time until they are there, and of other stages besides.

        What is always the same is not in it.
        """
        if not self.operands:
            return apply("stages_quantile", level, *others) if others else ZERO
        if others:
            inside = number(Fraction(len(self.operands) // _SIZE))
            operands = (self.required, self.spare, inside, *self.operands, *others)
            return apply("order_quantile", level, *operands)
        each = apply("order_level", level, self.required, self.spare)
        return apply("stages_quantile", each, *self.operands)


class StagePath(Struct, frozen=True, kw_only=True):
    """A way through the stages of a latency.

    `added` are those of `parts` that the sum has, `aside` those that have a quantile alone. `fixed`
    is what is always the same, and `operands` are those of the sum. There are so many `paths`, and
    on each so many `chances` of what is passed that takes a time which is always the same.
    """

    parts: tuple[LatencyPart, ...]
    added: tuple[LatencyPart, ...]
    aside: tuple[LatencyPart, ...]
    fixed: Formula
    operands: tuple[Formula, ...]
    paths: int = 1
    chances: int = 1
    fan_out: FanOutPath | None = None
    """The calls that are made at once on the way, which all other stages are besides."""

    @property
    def repeats(self) -> bool:
        """True where something is passed in calls that are not made just once."""
        return any(call.times is not ONE for part in self.parts for call in part.calls)

    @property
    def fan_out_known(self) -> Certainty:
        """How it is known when the answers are there of calls that are made at once."""
        return EXACT if self.fan_out is None else self.fan_out.known

    @property
    def varies(self) -> bool:
        """True where something on the way takes a time that varies, by a law that is known."""
        return bool(self.added) or self.fan_out is not None

    @property
    def is_alone(self) -> bool:
        """True where there is one queue, of which the quantile is known better by itself."""
        if self.fan_out is not None:
            return False
        if len(self.added) != 1 or self.repeats:
            return not self.operands
        queue = self.added[0].queue
        assert queue is not None
        if queue.bursts is not None:
            return False
        is_by_law = queue.law.is_better_alone or (queue.variation is ZERO and queue.has_batches)
        return is_by_law or queue.law.quantiles_known(queue).is_exact

    def quantile(self, late: Fraction, varies: int, of_one: _OfOne) -> Formula:
        """Return the time that a share `late` may exceed, with what `varies` besides."""
        summed = len(self.added) or bool(self.operands)
        units = summed + len(self.aside) + varies + (self.fan_out is not None)
        each = Allotment(late / units if units else late, Fraction(0))
        alone = [_times(each.times(part), of_one(part, each)) for part in self.aside]
        found = total((self.fixed, *alone))
        if self.fan_out is not None:
            of_all = number(1 - late * (summed + 1) / units)
            return found + self.fan_out.quantile(of_all, self.operands)
        if not self.operands:
            return found
        level = 1 - late * summed / units
        return found + apply("stages_quantile", number(level), *self.operands)


_OfOne = Callable[[LatencyPart, Allotment], Formula]


def paths_of(
    parts: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[StagePath, ...]:
    """Return the ways through stages of which a sum tells the quantile; none where it does not."""
    lines = _lines(parts)
    if any(sum(part.fan_out is not None for part in line) > 1 for line in lines):
        return ()
    found = tuple(_path_of(line, is_added, len(lines)) for line in lines)
    if any(part.fan_out is not None and way.fan_out is None for way in found for part in way.parts):
        return ()
    if not all(_is_simple(way) for way in found) or not found or all(way.is_alone for way in found):
        return ()
    if any(way.chances > MOST_PATHS for way in found):
        return ()
    if any(way.repeats and way.aside for way in found):
        return ()
    if not all(way.varies for way in found) and (
        len(found) > 1 or calls_certainty(parts, varies=False).is_exact
    ):
        return ()  # what is passed tells the quantile without a sum
    return found


def later_paths(
    parts: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[StagePath, ...]:
    """Return the ways through stages of which a sum tells the tail; none where it does not."""
    lines = _lines(parts)
    if any(part.fan_out is not None for line in lines for part in line):
        return ()  # of calls made at once there is no tail yet
    found = tuple(_path_of(line, is_added, len(lines)) for line in lines)
    if not all(_is_simple(path) and (not path.aside or _own_share(path, ONE)) for path in found):
        return ()
    return () if any(path.chances > MOST_PATHS for path in found) else found


def later_share(path: StagePath, seconds: Fraction) -> Formula:
    """Return the share of what goes one way that takes longer than a time, in s."""
    found = _own_share(path, number(seconds))
    if found is not None:
        return found
    operands = path.operands or Stage(waits=ZERO, work=ZERO).operands()
    return apply("stages_tail", number(seconds) - path.fixed, *operands)


def _own_share(path: StagePath, seconds: Formula) -> Formula | None:
    """Return the same of one queue, where the law of its wait has a formula of its own.

    What is served is always served for one time then, or nothing is.
    """
    waits = (*path.added, *path.aside)
    if len(waits) != 1 or path.repeats:
        return None
    (part,) = waits
    queue, visit = part.queue, part.visit
    assert queue is not None
    assert visit is not None
    served = _stage(part).counted if path.added else ZERO
    return queue.law.later_than_service(queue, visit, seconds - path.fixed - served)


def _lines(parts: Iterable[LatencyPart]) -> list[tuple[LatencyPart, ...]]:
    """Return all ways through branches; none where there are too many, or made more than once."""
    found: list[tuple[LatencyPart, ...]] = [()]
    for part in parts:
        if not part.branches or part.fan_out is not None:
            found = [(*line, part) for line in found]
            continue
        if not all(call.times is ONE or call.is_share for call in part.calls):
            return []
        lines = [line for branch in part.branches for line in _lines(branch)]
        found = [(*before, *line) for before in found for line in lines]
        if len(found) > _MOST_PATHS:
            return []
    return found


def fan_out_path(
    branch: Sequence[LatencyPart],
    fan_out: FanOut,
    depth: int,
    is_added: Callable[[LatencyPart], bool],
) -> FanOutPath | None:
    """Return what calls take that are made at once, in so many others; None where no law is known.

    Of those that are made at once within each of them all are waited for, so that it is as if each
    of these were made from outside.
    """
    parts, within = _flat(branch, ONE)
    if within is not ONE and fan_out.answers is not None:
        return None
    if any(part.branches for part in parts):
        return None
    path = _path_of(tuple(parts), is_added, 1, depth)
    if path.aside or path.chances > MOST_PATHS or not _is_simple(path):
        return None
    if _repeats_by_share(path.added):
        return None
    node = branch[0].calls[depth].node
    required = fan_out.required
    if fan_out.answers is None and within is ONE and _waits_alone(path, node, depth):
        required = fan_out.batches
    required = required * within
    return FanOutPath(
        required=required,
        spare=fan_out.spare,
        fixed=path.fixed,
        operands=path.operands,
        added=path.added,
        node=node,
        waits_for_all=fan_out.answers is None,
        is_one=required is ONE and fan_out.spare is ZERO,
    )


def _waits_alone(path: StagePath, node: str, depth: int) -> bool:
    """Return whether nothing varies but waits at a node: of a batch the last one counts there."""
    made = (call for part in path.parts for call in part.calls[depth:])
    is_plain = bool(path.added) and all(call.times is ONE for call in made)
    return is_plain and all(
        part.visit is not None and part.visit.place.name == node for part in path.added
    )


def _flat(parts: Sequence[LatencyPart], required: Formula) -> tuple[Sequence[LatencyPart], Formula]:
    """Return stages with those of calls that are made at once among them, and how many ways."""
    found: list[LatencyPart] = []
    for part in parts:
        if part.fan_out is None or part.fan_out.answers is not None:
            found.append(part)
            continue
        inside, required = _flat(part.branches[0], required * part.fan_out.count)
        found += inside
    return found, required


def _path_of(
    line: tuple[LatencyPart, ...],
    is_added: Callable[[LatencyPart], bool],
    paths: int,
    depth: int = 0,
) -> StagePath:
    """Return a way through stages that stand in so many calls as are not looked at."""
    at_once = next((part for part in line if part.fan_out is not None), None)
    fan_out = None
    if at_once is not None and at_once.fan_out is not None:
        is_made = all(call.times is ONE for call in at_once.calls[depth:])
        deep = len(at_once.calls)
        if is_made:
            fan_out = fan_out_path(at_once.branches[0], at_once.fan_out, deep, is_added)
    parts, line = line, tuple(part for part in line if part is not at_once)
    waits = [part for part in line if part.queue is not None]
    added = tuple(part for part in waits if is_added(part))
    if not depth and _repeats_by_share(added) and has_outcomes(line):
        fixed, operands, chances = _by_outcomes(line, is_added)
    else:
        fixed, operands, chances = _summed(line, added, depth)
    if fan_out is not None:
        fixed += fan_out.fixed
    return StagePath(
        parts=parts,
        added=added,
        aside=tuple(part for part in waits if part not in added),
        fixed=fixed,
        operands=tuple(operands),
        paths=paths,
        chances=chances,
        fan_out=fan_out,
    )


def _summed(
    line: Sequence[LatencyPart], added: tuple[LatencyPart, ...], depth: int = 0
) -> tuple[Formula, list[Formula], int]:
    """Return what is always the same of a line, the operands of the others, and their chances."""
    repeated = _repeated(added)
    fixed, operands, chances = _Summed(added=added, repeated=frozenset(repeated)).of(line, depth)
    for times, part in repeated.values():
        operands += _waiting_stage(_stage(part), times).operands()
        piled = behind(part)
        if piled is not None:  # it lasts longer than a way through all stages
            operands += replace(piled, work=piled.work * times).operands()
    return fixed, operands, chances


def _by_outcomes(
    line: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[Formula, list[Formula], int]:
    """Return the same of a line as alternatives, of which each is an outcome of its calls.

    Outcomes in which the same is passed are one.
    """
    ways: dict[tuple[Formula, ...], Formula] = {}
    for outcome in outcomes_of(line):
        added = tuple(part for part in outcome.parts if part.queue is not None and is_added(part))
        fixed, inside, _ = _summed(outcome.parts, added)
        ways[fixed, *inside] = ways.get((fixed, *inside), ZERO) + outcome.chance
    operands: list[Formula] = []
    for (fixed, *inside), chance in ways.items():
        always = ZERO if fixed is ZERO else maximum(ZERO, fixed)
        around = Stage(waits=ZERO, work=ZERO, service=always, variation=ZERO)
        operands += [*around.operands(chance, len(inside) // _SIZE), *inside]
    header = Stage(waits=ZERO, work=ZERO, service=ZERO, variation=ZERO)
    return ZERO, [*header.operands(ONE, -(len(operands) // _SIZE)), *operands], len(ways)


class _Summed(Struct, frozen=True, kw_only=True):
    """The stages of a line that are `added`, but for waits in queues that are `repeated`."""

    added: tuple[LatencyPart, ...]
    repeated: frozenset[str]

    def of(self, parts: Sequence[LatencyPart], depth: int) -> tuple[Formula, list[Formula], int]:
        """Return what is always the same of stages that stand in so many calls, and the others.

        With how many chances there are of what is passed, as far as they differ in a fixed time.
        """
        fixed: list[Formula] = []
        operands: list[Formula] = []
        chances = 1
        for choice, group in groupby(parts, key=lambda part: _choice(part, depth)):
            inside = list(group)
            if choice is not None and len({_number(part, depth) for part in inside}) > 1:
                alternatives, ways = self._alternatives(inside, depth)
                operands += alternatives
                chances *= ways
                continue
            if len(inside[0].calls) <= depth:
                for part in inside:
                    if part in self.added:
                        stages = self._stages(part)
                        fixed.append(-stages[0].counted)
                        operands += [one for stage in stages for one in stage.operands()]
                    elif part.queue is None:
                        fixed.append(part.slowest or part.once)
                continue
            same, varying, within = self.of(inside, depth + 1)
            call = inside[0].calls[depth]
            outer = inside[0].calls[depth - 1].reached if depth else ONE
            if call.times is ONE:
                fixed.append(same)
                operands += varying
                chances *= within
                continue
            always = ZERO if same is ZERO else maximum(ZERO, same)
            around = Stage(waits=ZERO, work=ZERO, service=always, variation=ZERO)
            operands += around.operands(_often(call, outer), len(varying) // _SIZE)
            operands += varying
            chances *= _chances(call, within, is_fixed=always is not ZERO)
        return total(fixed), operands, chances

    def _alternatives(self, parts: Sequence[LatencyPart], depth: int) -> tuple[list[Formula], int]:
        """Return a stage of which one of those inside is passed, and in how many ways."""
        operands: list[Formula] = []
        ways = 1  # none of them
        for _, group in groupby(parts, key=lambda part: _number(part, depth)):
            inside = list(group)
            same, varying, within = self.of(inside, depth + 1)
            outer = inside[0].calls[depth - 1].reached if depth else ONE
            always = ZERO if same is ZERO else maximum(ZERO, same)
            around = Stage(waits=ZERO, work=ZERO, service=always, variation=ZERO)
            often = _often(inside[0].calls[depth], outer)
            operands += [*around.operands(often, len(varying) // _SIZE), *varying]
            ways += within
        header = Stage(waits=ZERO, work=ZERO, service=ZERO, variation=ZERO)
        return [*header.operands(ONE, -(len(operands) // _SIZE)), *operands], ways

    def _stages(self, part: LatencyPart) -> list[Stage]:
        stage = _stage(part)
        if part.queue is not None and part.queue.resource in self.repeated:
            return [replace(stage, waits=ZERO, work=ZERO, parts=())]
        piled = behind(part)
        return [stage] if piled is None else [stage, piled]


def _chances(call: CallFactor, within: int, *, is_fixed: bool) -> int:
    """Return how many chances a call makes of those within it: one is that it is not made."""
    if within > 1 and not call.is_share:
        return MOST_PATHS + 1  # made again, who knows how often, each time with a chance
    is_chance = not call.is_whole and (is_fixed or within > 1)
    return within + is_chance


def _waiting_stage(stage: Stage, times: Formula) -> Stage:
    """Return what is waited all `times` together: as many are found each time, and served anew.

    What is left of a service, so often, varies less than once: it is that of a service which varies
    so much less. That varies no less than what is left of a service that is always the same.
    """
    spread = stage.spread
    squares = 4 * (1 + 2 * spread) / (1 + spread) - 3  # thrice the squared variation
    squares = squares / times
    less = maximum(ZERO, (squares - 1) / (5 - squares))
    work = stage.work * times * (1 + spread) / (1 + less)
    return replace(stage, work=work, spread=less, service=ZERO, counted=ZERO, parts=())


def _repeated(added: Sequence[LatencyPart]) -> dict[str, tuple[Formula, LatencyPart]]:
    """Return how often queues are waited in that are visited again, each with one of its visits.

    Who comes back soon finds what was found before: all waits in one queue are one, so often.
    """
    repeated: dict[str, tuple[Formula, LatencyPart]] = {}
    for way in _alternative_paths(added):
        found: dict[str, tuple[Formula, LatencyPart]] = {}
        for part in way:
            assert part.queue is not None
            name, times = part.queue.resource, _passages(part)
            before = found.get(name)
            found[name] = (times, part) if before is None else (before[0] + times, before[1])
            if before is not None or times is not ONE:
                repeated[name] = found[name]
    return repeated


def _alternative_paths(added: Sequence[LatencyPart]) -> Iterator[Sequence[LatencyPart]]:
    """Yield what an item may pass of some stages: of alternatives one, each with the others' all.

    Where there are too many ways all stages are one, as if they did not exclude each other.
    """
    choices: dict[int, dict[int, None]] = {}
    for call in (call for part in added for call in part.calls):
        if call.choice is not None:
            choices.setdefault(call.choice, {})[call.number] = None
    if prod(map(len, choices.values())) > MOST_PATHS:
        yield added
        return
    for chosen in product(*choices.values()):
        numbers = dict(zip(choices, chosen, strict=True))
        yield [
            part
            for part in added
            if all(numbers.get(call.choice, call.number) == call.number for call in part.calls)  # type: ignore[arg-type]
        ]


def _passages(part: LatencyPart) -> Formula:
    """Return how often a stage is passed, but for calls that are made by a share."""
    found: Formula = ONE
    for call in part.calls:
        if call.times is not ONE and not call.is_share:
            found = found * (call.most or call.times)
    return found


def _is_simple(path: StagePath) -> bool:
    """Return whether what is passed again is so by whole numbers, or for each outcome by one.

    Where services differ, those who come back find less than is found by others: they are not told
    by outcomes.
    """
    if not _repeats_by_share(path.added):
        return True
    again = [part.queue for _, part in _repeated(path.added).values() if part.queue is not None]
    return has_outcomes(path.parts) and all(queue.is_modeled_as_uniform for queue in again)


def _repeats_by_share(added: Sequence[LatencyPart]) -> bool:
    """Return whether a queue is waited in again in calls that may not be made."""
    again = _repeated(added)
    for part in added:
        assert part.queue is not None
        made = [call for call in part.calls if call.times is not ONE]
        if part.queue.resource in again and not all(
            call.is_whole and not call.is_share for call in made
        ):
            return True
    return False


def _number(part: LatencyPart, depth: int) -> int | None:
    return part.calls[depth].number if len(part.calls) > depth else None


def _choice(part: LatencyPart, depth: int) -> tuple[bool, int] | None:
    """Return the call that a stage stands in, of alternatives all of these; None for no call."""
    if len(part.calls) <= depth:
        return None
    call = part.calls[depth]
    return (False, call.number) if call.choice is None else (True, call.choice)


def _often(call: CallFactor, outer: Formula) -> Formula:
    """Return how often a call is made for each time that its caller is reached."""
    if call.most is not None:
        return call.most
    if call.reached is outer * call.times or call.reached is ONE:
        return call.times
    return apply("mean", call.reached, outer)  # kinds that make both more often


def _stage(part: LatencyPart) -> Stage:
    assert part.queue is not None
    assert part.visit is not None
    stage = stage_of(part.queue, part.visit)
    assert stage is not None
    return stage


def _times(times: Formula, stage: Formula) -> Formula:
    return stage if times is ONE else stage * times


# -- how it is known ---------------------------------------------------------------------


def paths_known(paths: Sequence[StagePath]) -> Certainty:
    """Return what calls made together do to how a quantile is known."""
    if len(paths) < 2:  # noqa: PLR2004 - one way
        return EXACT
    return known_by("any-parallel-late")


def added_known(path: StagePath) -> Certainty:
    """Return how the quantile of a sum is known of stages that are known: are they independent?"""
    queues = [part.queue for part in path.added if part.queue is not None]
    if path.fan_out is not None:
        return _added_to_calls(queues, path.fan_out)
    if len(queues) < 2 and not path.repeats:  # noqa: PLR2004 - there is no other
        return EXACT
    names = list(dict.fromkeys(queue.resource for queue in queues))
    if _are_independent(path):
        return EXACT
    again = _repeated(path.added)
    found = [_fitted_mixture(part.queue) for _, part in again.values() if part.queue]
    if again:
        found.append(known_by("repeat-visits", list(again)))
    if len(names) > 1:
        found.append(known_by("independent-waits", names))
    return together(*found)


def _added_to_calls(queues: Sequence[Queue], fan_out: FanOutPath) -> Certainty:
    """Return how the sum is known of some waits and of calls that are made at once."""
    inside = [part.queue for part in fan_out.added if part.queue is not None]
    if not queues or (len(queues) < 2 and not inside):  # noqa: PLR2004 - there is no other
        return EXACT
    names = dict.fromkeys(queue.resource for queue in (*queues, *inside))
    return known_by("independent-waits", list(names))


def _fitted_mixture(queue: Queue) -> Certainty:
    """Return what two moments do that stand for a mix of services, where it is waited again."""
    if queue.is_modeled_as_uniform:
        return EXACT
    return known_by("gamma-mixture", queue.resource, apart=queue.times_apart)


def _are_independent(path: StagePath) -> bool:
    """Return whether the times in queues of a network are independent of each other.

    So they are where items cannot overtake each other on the way (Reich 1957; of networks Walrand
    and Varaiya 1980): every other one comes from outside, or from the queue before. Between the
    first and the last there is one server at each (Burke 1969).
    """
    if any(
        not call.is_share for part in path.parts for call in part.calls if call.times is not ONE
    ):
        return False
    each = (
        [part.queue for part in one if part.queue is not None]
        for one in _alternative_paths(path.added)
    )
    return all(map(_is_in_order, each))


def _is_in_order(queues: Sequence[Queue]) -> bool:
    names = [queue.resource for queue in queues]
    if len(names) < 2:  # noqa: PLR2004 - there is no other
        return True
    if len(set(names)) < len(names) or not all(queue.keeps_randomness for queue in queues):
        return False
    if any(queue.servers is not ONE for queue in queues[1:-1]):
        return False
    for before, queue in zip([None, *names], queues, strict=False):
        if any(visit.after and visit.after[-1] != before for visit in queue.visits):
            return False
    return True
