"""How long it takes until the answers are there of calls that are made many times at once.

Each takes what one takes, by the law of its stages. Where nothing in it is waited for, the times
are independent, and the k-th shortest of n has the law of an order statistic. Requests to queues
come at the same times, so that these are late together: such times are associated, and the longest
of them is no longer in distribution than that of independent ones (Baccelli, Makowski and Shwartz
1989). Of equal queues of random arrivals and exponential service, each of which every request
visits, the mean is as Nelson and Tantawi have it (1988).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.branch_moments import has_exponential_services, moments_of
from qps.compiler.lower.response_time.latency_paths import FanOutPath
from qps.compiler.lower.response_time.parallel_calls import Slowest
from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart, every
from qps.compiler.lower.response_time.sum_quantiles import fan_out_path
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, apply, minimum, number, total

_FOUR_ELEVENTHS, _EIGHTH = number(Fraction(4, 11)), number(Fraction(1, 8))
_OF_TWO = number(Fraction(3, 2))


def time_of_fan_out(branch: Sequence[LatencyPart], fan_out: FanOutStage, depth: int) -> Slowest:
    """Return the mean time until the answers are there; the calls stand in `depth` others."""
    call = branch[0].calls[depth]
    path = fan_out_path(branch, fan_out, depth, has_law)
    if path is None:
        if fan_out.answers is not None:
            raise QpsError.single(
                codes.NO_ANSWER,
                fan_out.span,
                f"the time until the first responses from `{call.node}` is unknown",
                hint="wait for all responses, or use queues whose percentiles are known",
            )
        return _by_moments(branch, fan_out, depth)
    alike = _of_equal_queues(branch, fan_out, path)
    if alike is not None:
        return alike
    return Slowest(path.mean, path.known, has_waits_known=bool(path.before))


def _by_moments(branch: Sequence[LatencyPart], fan_out: FanOutStage, depth: int) -> Slowest:
    """Return the mean time of all calls where the law of one is unknown: as if it were gamma."""
    node = branch[0].calls[depth].node
    if any(part.differs for part in every(branch)):
        return Slowest(total(part.value for part in branch), known_by("largest-mean", [node]))
    one = moments_of(branch, depth + 1)
    law = StageLaw(waits=ZERO, work=ZERO, service=one.mean, variation=one.uneven)
    mean = one.fixed + apply("order_mean", fan_out.required, ZERO, *law.operands())
    return Slowest(mean, known_by("parallel-estimated", [node]))


def has_law(part: LatencyPart) -> bool:
    """Return whether a wait has a law that a sum can take."""
    if part.queue is None or part.visit is None:
        return False
    return part.queue.stage(part.visit) is not None


def _of_equal_queues(
    branch: Sequence[LatencyPart], fan_out: FanOutStage, path: FanOutPath
) -> Slowest | None:
    """Return the mean of equal M/M/1 queues, each of which every request visits."""
    waits = [part for part in every(branch) if part.queue is not None]
    if (
        len(waits) != 1
        or not fan_out.is_each
        or fan_out.answers is not None
        or path.required is ONE
    ):
        return None
    queue, visit = waits[0].queue, waits[0].visit
    if queue is None or visit is None or not _is_simple(queue) or waits[0].times is not ONE:
        return None
    if len(waits[0].calls) != len(branch[0].calls):
        return None
    mean = waits[0].per_visit + visit.service
    load, of_all = minimum(ONE, queue.load), apply("harmonic", fan_out.count) / _OF_TWO
    scaled = of_all + _FOUR_ELEVENTHS * (1 - of_all) * load
    fixed = total(part.value for part in branch) - waits[0].per_visit - visit.service
    return Slowest(fixed + mean * scaled * (12 - load) * _EIGHTH, known_by("fan-out-equal"))


def _is_simple(queue: Queue) -> bool:
    is_plain = has_exponential_services(queue) and queue.servers is ONE and len(queue.visits) == 1
    return is_plain and queue.background is ZERO and queue.arrivals is ONE
