"""The methods by which numbers are known: one table, a row a method, and all that is said of it.

A row says which quantities it gives, what the method is called in queueing theory, from where it
is, and what follows: a number that is exact under its premises (a theorem), a bound, or an
approximation with its error. Code that makes formulas names a row by its id and the places where it
is used; what people read stands here alone. Errors of what stands together are measured
(`compiler/quantities/measured_errors.json`, by the same ids).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.certainty import Certainty, Kind, Reason
from qps.compiler.quantities.scales import percent

Names: TypeAlias = str | Sequence[str]
Steps: TypeAlias = tuple[tuple[float, float], ...]
"""Errors, each up to a number."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Of(StrEnum):
    """What a method gives: each quantity is known by itself."""

    MEAN = "mean"
    QUANTILE = "quantile"
    RATE = "rate"
    LOAD = "utilization"
    LOSS = "loss"
    JITTER = "jitter"
    ANSWER = "answer"
    """What is found by search over any of these, such as a capacity."""


class Method(Struct, frozen=True, kw_only=True):
    """A method: what it gives, its `name` in the field, and how a number is known by it.

    A theorem is exact under its `premises`, a bound holds under them. `reason` is what people read,
    with `{at}` for the places and other arguments by name; `notes` are what was found by comparison
    with simulation, by case, told behind it. `error` is relative to the true value, as are `errors`
    by case and those `up_to` how many times services are apart, or how much they vary: `measured`
    says by which comparison. A reason may name such an error as that of its case, and `{most}` as
    where it ends. Where an approximation or bound stands `instead` of theorems, some of their
    premises fail.
    """

    name: str
    of: tuple[Of, ...]
    kind: Kind = Kind.APPROXIMATION
    reason: str = ""
    notes: Mapping[str, str] = _NOTHING
    error: float | None = None
    errors: Mapping[str, float] = MappingProxyType({})
    up_to: Mapping[str, Steps] = MappingProxyType({})
    measured: str = ""
    sources: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()

    def error_of(self, case: str, apart: float | None) -> float | None:
        """Return the error that is stated of a case, and of services so many times apart."""
        if case not in self.up_to:
            return self.errors.get(case, self.error)
        return next(
            (e for most, e in self.up_to[case] if apart is not None and apart <= most), None
        )

    def steps_at(self, apart: float | None) -> dict[str, float]:
        """Return what a reason names of the errors by case: of those beyond all, the last one."""
        found: dict[str, float] = {}
        for case, steps in self.up_to.items():
            within = (one for one in steps if apart is not None and apart <= one[0])
            found["most"], found[case] = next(within, steps[-1])
        return found


class PremiseText(Struct, frozen=True):
    """What a method needs of the network: its name, and what it says in a sentence."""

    name: str
    sentence: str


class UnknownMethodError(LookupError):
    """Raised where a method is named that has no row: a fault of ours."""


def reason_of(
    method: str,
    at: Names = (),
    *,
    case: str = "",
    apart: float | None = None,
    **arguments: Names | float,
) -> Reason:
    """Return why a number is no better known, by a method that is used at some places."""
    row = _row(method)
    arguments = {**row.steps_at(apart), **arguments}
    whole = f"{row.reason}: {row.notes[case]}" if case in row.notes else row.reason
    places = (at,) if isinstance(at, str) else tuple(at)
    told = {name: _Argument(value) for name, value in arguments.items()}
    return Reason(method=method, text=whole.format(at=_Argument(places), **told), at=places)


def _row(method: str) -> Method:
    row = METHODS.get(method)
    if row is None:
        raise UnknownMethodError(method)
    return row


def known_by(
    method: str,
    at: Names = (),
    *,
    case: str = "",
    error: float | None = None,
    apart: float | None = None,
    is_measured: bool = True,
    is_proven: bool = True,
    **arguments: Names | float,
) -> Certainty:
    """Return how a number is known by a method that is used at some places.

    A `case` of the method has a note, and maybe an error, of its own; so has what services are
    `apart`. Of what no comparison `is_measured` no error is stated. A bound whose premises are not
    proven is an approximation.
    """
    row = _row(method)
    stated = row.error_of(case, apart) if error is None else error
    known = stated if is_measured else None
    because = reason_of(method, at, case=case, apart=apart, error=known or 0.0, **arguments)
    if row.kind is Kind.EXACT:
        return Certainty(theorems=(because,))
    is_bound = row.kind in (Kind.UPPER_BOUND, Kind.LOWER_BOUND)
    return Certainty(
        kind=Kind.APPROXIMATION if is_bound and not is_proven else row.kind,
        because=(because,),
        error=None if is_bound else known,
    )


class _Argument(Struct, frozen=True):
    """An argument of a reason: names in words, joined by `and` or another word, or a number.

    `%` makes it a percentage, `#thing` a count of things; `plain` stays as it is.
    """

    value: Names | float

    def __format__(self, how: str) -> str:
        if isinstance(self.value, int | float):
            if how.startswith("#"):
                return f"{self.value:g} {how[1:]}{'s' * (self.value != 1)}"
            return percent(self.value, 2) if how == "%" else format(self.value, how)
        names = [self.value] if isinstance(self.value, str) else list(self.value)
        if how == "plain":
            return ", ".join(names)
        return listed(names, how or "and")


PREMISES: Mapping[str, PremiseText] = MappingProxyType(
    {
        "poisson": PremiseText(
            "Poisson arrivals",
            "Arrivals are a Poisson process, without bursts and without other queues upstream.",
        ),
        "not-behind-a-pool": PremiseText(
            "no pool upstream", "Open traffic does not pass a pool before it arrives."
        ),
        "periodic": PremiseText(
            "periodic arrivals",
            "All items of each flow arrive periodically.",
        ),
        "one-period": PremiseText("one period", "All flows have the same period."),
        "single": PremiseText(
            "single arrivals", "Items arrive one at a time, not in batches of copies."
        ),
        "independent-batches": PremiseText(
            "independent batches",
            "Copies of an item arrive at the same time, or at different stations.",
        ),
        "random-or-room": PremiseText(
            "Poisson arrivals, or unlimited room",
            (
                "Arrivals are a Poisson process, and no step applies only to some items; or the "
                "queue is unlimited."
            ),
        ),
        "one-server": PremiseText(
            "one server", "There is one server, and no other resource is held during service."
        ),
        "one-server-or-equal": PremiseText(
            "one server, or equal service times",
            "There is one server, or all service times are exponential with the same mean.",
        ),
        "exponential-service": PremiseText(
            "exponential service times", "Service times are exponential."
        ),
        "fixed-service": PremiseText("fixed service times", "Service times are constant."),
        "equal-service": PremiseText(
            "equal mean service times", "All visits have the same mean service time."
        ),
        "fixed-or-exponential-service": PremiseText(
            "fixed or exponential service times",
            "The service times of each visit are constant or exponential.",
        ),
        "few-services": PremiseText(
            "few different service times",
            "Visits have at most 16 different mean service times, one for each visit.",
        ),
        "whole-visits": PremiseText(
            "same steps for all items",
            (
                "No step applies only to some items, so that service times have the declared "
                "distribution. Not required if only means matter (processor sharing, closed "
                "streams)."
            ),
        ),
        "no-other-load": PremiseText("no background load", "There is no background utilization."),
        "product-form-station": PremiseText(
            "product form",
            (
                "If closed streams share the station with other streams, it uses processor "
                "sharing (`ps`), or all service times are exponential with the same mean."
            ),
        ),
        "product-form-stations": PremiseText(
            "product form at all stations",
            "Every station of all streams that share queues with this one has a product form.",
        ),
        "few-enough-users": PremiseText(
            "small population", "The population is small enough for exact mean value analysis."
        ),
        "whole-population": PremiseText(
            "whole number of requests", "The number of requests in flight is a whole number."
        ),
        "one-place-at-a-time": PremiseText(
            "one station at a time", "An item occupies one station at a time."
        ),
        "no-saturation": PremiseText(
            "no saturation without queueing",
            (
                "Closed streams do not share a resource that can saturate and has no queueing "
                "discipline."
            ),
        ),
        "free-choice": PremiseText(
            "free choice of machines",
            (
                "Each visit chooses one of several machines independently. The choice does not "
                "depend on a pool unit that the item holds there."
            ),
        ),
        "no-pools": PremiseText(
            "no pools, no load dependence",
            "Items hold no pools, and the speed of a station does not depend on its queue length.",
        ),
        "no-forks": PremiseText("no parallel calls", "There are no parallel calls."),
        "no-priorities": PremiseText("no priorities", "No stream has priority over another."),
        "no-loss": PremiseText("no loss", "No items are lost."),
        "one-path": PremiseText("one path", "No step or delay applies only to some items."),
        "at-most-one-chance": PremiseText(
            "at most one optional call", "At most one call is probabilistic."
        ),
        "independent-stages": PremiseText(
            "independent stages",
            "Stages are independent: items do not overtake each other or return to a stage.",
        ),
        "queueing-modeled": PremiseText(
            "queueing discipline declared",
            "Every station on the path declares its queueing discipline.",
        ),
        "variance-known": PremiseText(
            "jitter of queues declared",
            "Every station on the path with a queueing discipline declares its jitter.",
        ),
        "one-saturating-station": PremiseText(
            "one overloaded station", "The path of an item includes at most one overloaded station."
        ),
    }
)
"""What methods need of the network, by id.

Some are checked on it (`lower/labels/premises.py`), the others decide which formula is made.
"""

_TAIL = (Of.QUANTILE,)
_TIMES = (Of.MEAN, Of.QUANTILE)
_CLOSED = (Of.MEAN, Of.QUANTILE, Of.RATE, Of.LOAD)
_ONE_BY_ONE = ("poisson", "not-behind-a-pool", "single")
_EXPONENTIAL = ("exponential-service", "equal-service", "whole-visits")
_UPPER, _LOWER = Kind.UPPER_BOUND, Kind.LOWER_BOUND

_UNEVEN = {"shaped": 0.35, "shaped percentiles": 0.6, "stated": 0.6, "stated percentiles": 4.0}
"""By whether it is stated how uneven arrivals are, or what is before shapes them.

Where it is stated, of quantiles the wait at a low load is scaled as that at a high one.
"""
_TWO_MOMENTS = (
    "in validation, predicted queueing delays of one to five queues in series were "
    "0.68–1.34× the simulated values, and as low as 0.45× for a coefficient of variation of 3"
    "; less accurate above 3 (up to 2.5× at 5)"
)
_HARDLY_ANY = "; percentiles up to 5× if few items wait"
_RANDOM_IN_BURSTS = (
    "predicted queueing delays were 0.8–1.25× the simulated values, percentiles 0.47–1.15×"
)
_PERIODIC_IN_BURSTS = (
    "predicted queueing delays were 0.77–1.15× the simulated values, low percentiles 0.65×"
)
_CLOSED_GAMMA = {
    "users": 0.55,
    "users far apart": 0.95,
    "users and open traffic": 0.8,
    "users and open traffic far apart": 0.95,
}
"""Of percentiles up to p99, by who visits, and whether services are far apart."""
_THROUGHPUT_AND_TIMES = "throughput within {rates:%} of simulation, response times within {times:%}"
_POOL_LOAD = "predicted utilization was 0.9–1.1× the simulated value"

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        # -- theorems: exact where all premises hold ------------------------------------------
        "pollaczek-khinchine": Method(
            name="Pollaczek-Khinchine (M/G/1, M[X]/G/1)",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            sources=("Pollaczek 1930", "Khinchine 1932"),
            premises=(
                "poisson",
                "not-behind-a-pool",
                "independent-batches",
                "one-server",
                "whole-visits",
                "no-other-load",
            ),
        ),
        "mixture-wait": Method(
            name="waiting time of M/G/1 with a mixture of services (Pollaczek-Khinchine transform)",
            of=_TAIL,
            kind=Kind.EXACT,
            sources=("Pollaczek 1930", "Khinchine 1932", "Kleinrock 1975"),
            premises=(
                *_ONE_BY_ONE,
                "one-server",
                "fixed-or-exponential-service",
                "few-services",
                "whole-visits",
                "no-other-load",
            ),
        ),
        "m-m-1-sojourn": Method(
            name="sojourn time of M/M/1",
            of=_TAIL,
            kind=Kind.EXACT,
            sources=("Kleinrock 1975",),
            premises=(*_ONE_BY_ONE, "one-server", *_EXPONENTIAL),
        ),
        "m-d-1-wait": Method(
            name="waiting time of M/D/1",
            of=_TAIL,
            kind=Kind.EXACT,
            sources=("Erlang 1909",),
            premises=(*_ONE_BY_ONE, "one-server", "fixed-service", "equal-service", "whole-visits"),
        ),
        "erlang-c": Method(
            name="Erlang C (M/M/c)",
            of=_TIMES,
            kind=Kind.EXACT,
            sources=("Erlang 1917",),
            premises=(*_ONE_BY_ONE, *_EXPONENTIAL),
        ),
        "processor-sharing": Method(
            name="processor sharing (M/G/1-PS)",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            sources=("Sakata, Noguchi and Oizumi 1969", "Kelly 1979"),
            premises=_ONE_BY_ONE,
        ),
        "load-dependent-sharing": Method(
            name="load-dependent processor sharing",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            sources=("Kelly 1979",),
            premises=_ONE_BY_ONE,
        ),
        "priority": Method(
            name="priority queue (Cobham)",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            sources=("Cobham 1954", "Kella and Yechiali 1985"),
            premises=(*_ONE_BY_ONE, "one-server-or-equal", "whole-visits"),
        ),
        "nd-d-1": Method(
            name="superposed periodic streams (N*D/D/1)",
            of=_TIMES,
            kind=Kind.EXACT,
            sources=("Roberts and Virtamo 1991",),
            premises=(
                "periodic",
                "one-period",
                "not-behind-a-pool",
                "equal-service",
                "whole-visits",
            ),
        ),
        "m-m-c-k": Method(
            name="finite queue (M/M/c/K)",
            of=_TIMES,
            kind=Kind.EXACT,
            sources=("Kleinrock 1975",),
            premises=(*_ONE_BY_ONE, *_EXPONENTIAL),
        ),
        "blocking": Method(
            name="blocking probability (M/M/c/K)",
            of=(Of.LOSS,),
            kind=Kind.EXACT,
            sources=("Kleinrock 1975",),
            premises=("random-or-room", "single", "exponential-service", "equal-service"),
        ),
        "erlang-b": Method(
            name="Erlang B (M/G/c/c)",
            of=(Of.LOSS,),
            kind=Kind.EXACT,
            sources=("Erlang 1917",),
            premises=("random-or-room", "single"),
        ),
        "loss-system": Method(
            name="loss system (M/G/c/c)",
            of=_TIMES,
            kind=Kind.EXACT,
            sources=("Erlang 1917",),
            premises=(*_ONE_BY_ONE, "whole-visits"),
        ),
        "product-form": Method(
            name="product-form network (BCMP)",
            of=_CLOSED,
            kind=Kind.EXACT,
            sources=("Baskett et al. 1975", "Reiser and Lavenberg 1980"),
            premises=(
                "product-form-stations",
                "no-saturation",
                "free-choice",
                "few-enough-users",
                "whole-population",
                "one-place-at-a-time",
                "no-pools",
                "no-forks",
                "no-priorities",
                "no-loss",
            ),
        ),
        "product-form-station": Method(
            name="product-form station (BCMP)",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            sources=("Baskett et al. 1975",),
            premises=("not-behind-a-pool", "product-form-station", "whole-visits"),
        ),
        "path-of-stages": Method(
            name="sum of independent stages",
            of=_TAIL,
            kind=Kind.EXACT,
            sources=("Reich 1957", "Burke 1969", "Walrand and Varaiya 1980"),
            premises=("one-path", "at-most-one-chance", "independent-stages"),
        ),
        "sum-of-means": Method(
            name="mean of a sum",
            of=(Of.MEAN,),
            kind=Kind.EXACT,
            premises=("queueing-modeled",),
        ),
        "flow-balance": Method(
            name="flow balance",
            of=(Of.RATE, Of.LOSS),
            kind=Kind.EXACT,
            sources=("Denning and Buzen 1978",),
        ),
        "utilization-law": Method(
            name="utilization law",
            of=(Of.LOAD,),
            kind=Kind.EXACT,
            sources=("Denning and Buzen 1978",),
        ),
        "sum-of-variances": Method(
            name="variance of a sum of independent times",
            of=(Of.JITTER,),
            kind=Kind.EXACT,
            premises=("variance-known", "independent-stages"),
        ),
        # -- one station: arrivals ------------------------------------------------------------
        "two-moment-arrivals": Method(
            name="GI/G/1 by two moments of interarrival times",
            of=_TIMES,
            reason="arrivals at {at} are approximated by two moments",
            notes={
                "shaped": _TWO_MOMENTS,
                "shaped percentiles": _TWO_MOMENTS,
                "stated": _TWO_MOMENTS,
                "stated percentiles": _TWO_MOMENTS + _HARDLY_ANY,
            },
            errors=_UNEVEN,
            sources=("Whitt 1983",),
            fails=("poisson",),
        ),
        "two-moment-departures": Method(
            name="queueing network analyzer (GI/G/1)",
            of=_TIMES,
            reason="arrivals at {at} from {by} are approximated by two moments",
            notes={
                "shaped": _TWO_MOMENTS,
                "shaped percentiles": _TWO_MOMENTS,
                "stated": _TWO_MOMENTS,
                "stated percentiles": _TWO_MOMENTS + _HARDLY_ANY,
            },
            errors=_UNEVEN,
            sources=("Whitt 1983",),
            fails=("poisson",),
        ),
        "departures-as-poisson": Method(
            name="departures of a queue treated as a Poisson process",
            of=_TIMES,
            reason=(
                "arrivals at {at} are modeled as those of the source, although {by} changes their "
                "spacing"
            ),
            notes={
                "": "predicted times of two stages in series were 0.57–1.42× the simulated values"
            },
            error=0.45,
            sources=("Whitt 1983",),
            fails=("poisson",),
        ),
        "arrivals-as-poisson": Method(
            name="renewal arrivals treated as a Poisson process",
            of=(*_TIMES, Of.LOSS),
            reason="variability of arrivals at {at} is ignored",
            fails=("poisson",),
        ),
        "copies-picked-at-random": Method(
            name="randomly distributed periodic flows treated as separate flows",
            of=_TIMES,
            reason=(
                "items choose one of several {at} at random, modeled as if each flow had its own: "
                "the true queueing delay may be longer"
            ),
            fails=("periodic",),
        ),
        "batch-behind-a-batch": Method(
            name="batch arrivals M[X]/G/1 at the next queue",
            of=_TIMES,
            kind=_UPPER,
            reason="copies that were sent together are assumed to arrive at {at} at the same time",
            fails=("single", "independent-batches"),
        ),
        "copies-that-meet": Method(
            name="copies of one item treated as independent arrivals",
            of=(*_TIMES, Of.LOSS),
            reason="copies of one item that meet at {at} are treated as independent",
            notes={"waits": "the true queueing delay may be longer"},
            fails=("single", "independent-batches"),
        ),
        "closed-as-open": Method(
            name="closed population modeled as open traffic",
            of=_TIMES,
            kind=_UPPER,
            reason="closed traffic of {at} is modeled as open",
            sources=("Reiser and Lavenberg 1980",),
            premises=("product-form-station",),
            fails=("poisson",),
        ),
        "bursts-averaged": Method(
            name="on/off bursts averaged out",
            of=_TIMES,
            kind=_LOWER,
            reason="bursts at {at} are averaged out",
            notes={
                "delay": "the true queueing delay is longer",
                "percentiles": "percentiles may be arbitrarily larger",
            },
            fails=("poisson",),
        ),
        "fluid-bursts": Method(
            name="fluid queue of on/off sources with exponential lengths",
            of=_TIMES,
            reason=(
                "bursts at {at} are modeled as fluid on/off sources with exponential burst lengths"
            ),
            notes={
                "random": _RANDOM_IN_BURSTS,
                "random percentiles": _RANDOM_IN_BURSTS,
                "periodic": _PERIODIC_IN_BURSTS,
                "periodic percentiles": _PERIODIC_IN_BURSTS,
                "stages": (
                    "predicted percentiles of one to five queues were 0.44–2× the simulated values, "
                    "0.85–1.2× where sources exceed the service rate for less than a "
                    "thousandth of the time"
                ),
            },
            errors={
                "random": 0.35,
                "random percentiles": 0.65,
                "periodic": 0.25,
                "periodic percentiles": 0.45,
                "stages": 1.3,
            },
            sources=("Anick, Mitra and Sondhi 1982",),
            fails=("poisson",),
        ),
        "pool-lets-through-poisson": Method(
            name="items behind a pool treated as a Poisson process",
            of=(*_TIMES, Of.LOSS),
            reason=(
                "arrivals at {at} through {by} are assumed to be Poisson, as if no item had to "
                "wait for {by}"
            ),
            fails=("not-behind-a-pool",),
        ),
        "mean-number-of-holders": Method(
            name="mixed network with the mean number of holders of a pool",
            of=_TIMES,
            reason=(
                "arrivals at {at} through a pool are modeled with the mean number of requests in "
                "the pool"
            ),
            notes={
                "average": "mean latency within {error:%}",
                "percentiles": "percentiles within {error:%}",
            },
            errors={"average": 0.2, "percentiles": 0.35},
            sources=("Baskett et al. 1975",),
            fails=("not-behind-a-pool",),
        ),
        # -- one station: visits --------------------------------------------------------------
        "visits-by-their-mean": Method(
            name="different service times replaced by their mean",
            of=_TIMES,
            reason="different service times at {at} are replaced by their mean",
            fails=("equal-service", "whole-visits"),
        ),
        "other-load-as-visits": Method(
            name="background load treated as visits of mean length",
            of=_TIMES,
            reason="background utilization of {at} is modeled as visits with the mean service time",
            fails=("no-other-load",),
        ),
        "core-and-thread": Method(
            name="queueing for a thread, then for a core",
            of=_TIMES,
            kind=_UPPER,
            reason=(
                "items that waited for a thread are assumed to wait as long for a core of {at} as "
                "all others"
            ),
            fails=("one-server",),
        ),
        "step-by-chance": Method(
            name="probabilistic step averaged over all items",
            of=(*_TIMES, Of.LOSS),
            reason=(
                "only some items run {step} at {at}: modeled as if every item ran the same "
                "fraction of it"
            ),
            fails=("whole-visits", "one-path"),
        ),
        "delay-by-chance": Method(
            name="probabilistic delay averaged over all items",
            of=_TAIL,
            reason=(
                "only some items have the delay {at}: modeled as if every item had the same "
                "fraction of it"
            ),
            fails=("one-path",),
        ),
        # -- one server, first come first served ----------------------------------------------
        "one-fast-core": Method(
            name="M/G/c as M/G/1 with a server that is c times as fast",
            of=(*_TIMES, Of.LOSS),
            kind=_UPPER,
            reason="the cores of {at} are modeled as one fast core",
            premises=("equal-service", "exponential-service"),
            fails=("one-server",),
            instead=("pollaczek-khinchine",),
        ),
        "gamma-service": Method(
            name="gamma distributed service times, from two moments",
            of=_TAIL,
            reason="service times at {at} are assumed to be gamma distributed: within {error:%}",
            error=0.1,
            sources=("Pollaczek 1930",),
            fails=("exponential-service",),
            instead=("m-m-1-sojourn",),
        ),
        "gamma-service-bound": Method(
            name="gamma distributed service times, bounded by the longest",
            of=_TAIL,
            reason="service times at {at} are bounded by a gamma distribution",
            fails=("exponential-service",),
            instead=("m-m-1-sojourn",),
        ),
        "gamma-mixture": Method(
            name="gamma distribution of the mix of all visits",
            of=_TAIL,
            reason="the mix of service times at {at} is assumed to be gamma distributed",
            notes={
                "": (
                    "predicted percentiles were 0.88–1.1× the simulated values if service times differ "
                    "by a factor of up to 3 (0.79–1.16× for 5, 0.59–1.47× for 10, 0.45–21× beyond)"
                )
            },
            up_to={"": ((3, 0.15), (5, 0.25), (10, 0.5))},
            sources=("Pollaczek 1930",),
            fails=("equal-service",),
            instead=("m-m-1-sojourn",),
        ),
        "longest-visit": Method(
            name="all visits as long as the longest, at the same utilization",
            of=_TAIL,
            kind=_UPPER,
            reason="every visit to {at} is assumed to take as long as the longest",
            fails=("equal-service",),
            instead=("m-m-1-sojourn", "erlang-c"),
        ),
        "whole-batch": Method(
            name="batch arrivals M[X]/G/1, each copy waits for its whole batch",
            of=_TAIL,
            kind=_UPPER,
            reason="copies sent together are assumed to wait at {at} for their whole batch",
            fails=("single",),
            instead=("m-m-1-sojourn",),
        ),
        "whole-batch-two-moments": Method(
            name="batch arrivals M[X]/G/1 by two moments of the batch",
            of=_TAIL,
            reason=(
                "copies sent together are assumed to wait at {at} for their whole batch, modeled "
                "by two moments"
            ),
            fails=("single", "exponential-service"),
            instead=("m-m-1-sojourn",),
        ),
        # -- several servers ------------------------------------------------------------------
        "batch-erlang-c": Method(
            name="Erlang C for batch arrivals",
            of=(Of.MEAN,),
            reason=(
                "copies sent together are assumed to find the cores of {at} busy as often as "
                "single arrivals do"
            ),
            sources=("Erlang 1917",),
            fails=("single",),
            instead=("erlang-c",),
        ),
        "mixed-erlang-c": Method(
            name="Lee-Longton M/G/c: Erlang C scaled by (1 + SCV)/2",
            of=(Of.MEAN,),
            reason=(
                "queueing delay at the cores of {at} uses the Lee-Longton approximation (1959) for "
                "unequal service times"
            ),
            notes={
                "": (
                    "with 2 to 16 cores, predicted queueing delays were 0.89–1.16× the simulated values if "
                    "service times differ by a factor of up to 2 (1.36× for 5, 1.61× for 10, 3× "
                    "beyond)"
                )
            },
            up_to={"": ((2, 0.2), (5, 0.4), (10, 0.65))},
            sources=("Lee and Longton 1959",),
            fails=("equal-service",),
            instead=("erlang-c",),
        ),
        "kimura": Method(
            name="Kimura M/G/c",
            of=(Of.MEAN,),
            reason=(
                "queueing delay at the cores of {at} uses the Kimura approximation (1986) for "
                "gamma distributed service times (above a cv of 1, interpolated between light and "
                "heavy traffic): within {error:%} up to a cv of 3"
            ),
            error=0.05,
            sources=(
                "Kimura 1986",
                "Cosmetatos 1976",
                "Burman and Smith 1983",
                "Lee and Longton 1959",
            ),
            fails=("exponential-service",),
            instead=("erlang-c",),
        ),
        "cosmetatos": Method(
            name="Cosmetatos M/D/c",
            of=(Of.MEAN,),
            reason=(
                "queueing delay at the cores of {at} uses the Cosmetatos approximation (1976) for "
                "fixed service times: latency within {error:%} with up to 64 cores"
            ),
            error=0.002,
            sources=("Cosmetatos 1976",),
            fails=("exponential-service",),
            instead=("erlang-c",),
        ),
        "exponential-waits-for-fixed-service": Method(
            name="M/D/c with exponential queueing delay",
            of=_TAIL,
            reason=(
                "queueing delay at the cores of {at} is assumed to be exponential, with fixed "
                "service times: within {error:%} up to p99.9"
            ),
            error=0.25,
            sources=("Cosmetatos 1976",),
            fails=("exponential-service",),
            instead=("erlang-c",),
        ),
        "exponential-waits": Method(
            name="M/G/c with exponential queueing delay and gamma distributed service",
            of=_TAIL,
            reason=(
                "queueing delay at the cores of {at} is assumed to be exponential, with gamma "
                "distributed service times: within {error:%}"
            ),
            error=0.3,
            sources=("Kimura 1986",),
            fails=("exponential-service",),
            instead=("erlang-c",),
        ),
        # -- processor sharing ----------------------------------------------------------------
        "batch-sharing": Method(
            name="processor sharing with batches of exponential jobs",
            of=(Of.MEAN,),
            reason=("copies sent together share {at} like exponential jobs of equal mean"),
            sources=("Kleinrock, Muntz and Rodemich 1971",),
            fails=("single",),
            instead=("processor-sharing",),
        ),
        "cpu-quota": Method(
            name="processor sharing under a CPU limit, between full speed and short periods",
            of=(Of.MEAN,),
            reason="the effect of the CPU limit at {at} is interpolated between two exact limits",
            notes={
                "exponential": (
                    "in 300 simulated settings with exponential service, 98 of 100 means were "
                    "0.83–1.14×"
                ),
                "other": (
                    "in 600 simulated settings, 98 of 100 means were 0.89–1.06× at a cv of 2, and "
                    "0.74–1.11× for constant service, whose extremes were 0.6–2.1×"
                ),
            },
            errors={"exponential": 0.3},
            sources=("Turner, Rao and Rao 2010", "Kelly 1979"),
            fails=("exponential-service",),
            instead=("processor-sharing",),
        ),
        "cpu-quota-percentiles": Method(
            name="response time under a CPU limit, two gamma distributions by two moments",
            of=_TAIL,
            reason=(
                "percentiles at {at} are those of visits at full speed or of visits slowed down by "
                "the CPU limit"
            ),
            notes={
                "exponential": (
                    "in 300 simulated settings with exponential service, 98 of 100 were "
                    "0.75–1.25× from p90 to p99, and 0.66–1.4× at p50 and p99.9"
                ),
                "other": (
                    "in 600 simulated settings, 98 of 100 were 0.8–1.3× from p90 to p99 at a cv of "
                    "2; for constant service, p99 can be too short by far where few are throttled"
                ),
            },
            errors={"exponential": 0.6},
            sources=("Turner, Rao and Rao 2010",),
        ),
        "sharing-percentiles": Method(
            name="M/M/1 processor sharing, Weibull distribution with exact first two moments",
            of=_TAIL,
            reason=(
                "percentiles at {at} assume exponential service times (within 8 % up to p99, "
                "{error:%} beyond)"
            ),
            error=0.12,
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        "sharing-with-a-constant-number": Method(
            name="processor sharing with a constant number of concurrent visits",
            of=_TAIL,
            reason=(
                "percentiles at {at} assume that the number of concurrent visits stays constant "
                "during a visit: within {error:%}"
            ),
            error=0.25,
            sources=("Coffman, Muntz and Trotter 1970",),
            fails=("equal-service",),
        ),
        "sharing-at-speeds": Method(
            name="load-dependent processor sharing, Weibull distribution of two moments",
            of=_TAIL,
            reason="percentiles at {at} are fitted to two moments: within {error:%}",
            error=0.25,
            sources=("Kelly 1979",),
        ),
        # -- priorities -----------------------------------------------------------------------
        "batch-by-priority": Method(
            name="priority queue with batches",
            of=(Of.MEAN,),
            reason="copies sent together are queued by priority at {at} individually",
            sources=("Cobham 1954",),
            fails=("single",),
            instead=("priority",),
        ),
        "priority-scaled": Method(
            name="priorities at several servers by Bondi and Buzen",
            of=(Of.MEAN,),
            reason=(
                "queueing delay of each priority at the cores of {at} is scaled from a queue with "
                "equal service times and no priorities"
            ),
            notes={"": "Bondi-Buzen approximation (1984)"},
            sources=("Bondi and Buzen 1984",),
            fails=("one-server",),
            instead=("priority",),
        ),
        "priority-gamma": Method(
            name="queueing delay of each priority, gamma distribution of two moments",
            of=_TAIL,
            reason="queueing delay of each priority at {at} is assumed to be gamma distributed",
            notes=dict.fromkeys(
                ("exponential", "non-preemptive", "preemptive"),
                "within 5 % of simulation in most cases, always within {error:%}",
            ),
            errors={"exponential": 0.25, "non-preemptive": 0.35, "preemptive": 0.55},
            sources=("Kesten and Runnenburg 1957",),
        ),
        # -- periodic arrivals ----------------------------------------------------------------
        "share-of-periodic": Method(
            name="a fraction of periodic items treated as periodic",
            of=_TIMES,
            reason="only some of the periodic items visit {at}; they are assumed to be periodic",
            fails=("periodic",),
            instead=("nd-d-1",),
        ),
        "sizes-in-one-flow": Method(
            name="items of different sizes in one flow treated as several flows",
            of=_TIMES,
            reason=(
                "items of different sizes in one flow at {at} are treated as several flows: "
                "conservative"
            ),
            fails=("equal-service",),
            instead=("nd-d-1",),
        ),
        "longest-period": Method(
            name="flows of different periods treated as flows of the longest period",
            of=_TIMES,
            reason="flows of different periods at {at} are treated as flows of the longest period",
            fails=("one-period",),
            instead=("nd-d-1",),
        ),
        "unequal-periodic-flows": Method(
            name="periodic flows of different sizes",
            of=_TIMES,
            kind=_UPPER,
            reason="flows at {at} differ in size",
            sources=("Roberts and Virtamo 1991",),
            fails=("equal-service",),
            instead=("nd-d-1",),
        ),
        # -- loss and finite room -------------------------------------------------------------
        "loss-ignores-departures": Method(
            name="blocking probability for Poisson arrivals behind another queue",
            of=(Of.LOSS,),
            reason=(
                "loss at {at} is modeled with the arrivals of the source, although {by} changes "
                "their spacing"
            ),
            notes={"": "it may be many times larger or smaller"},
            fails=("poisson",),
            instead=("blocking", "erlang-b"),
        ),
        "loss-ignores-bursts": Method(
            name="blocking probability with bursts averaged out",
            of=(Of.LOSS,),
            reason="loss at {at} ignores bursts",
            fails=("poisson",),
            instead=("blocking", "erlang-b"),
        ),
        "batch-at-a-room": Method(
            name="batch arrivals at a finite queue treated as independent",
            of=(*_TIMES, Of.LOSS),
            reason="copies sent together are modeled as independent arrivals at {at}",
            notes={"room": "in a batch, they find the queue full more often"},
            fails=("single",),
            instead=("blocking", "erlang-b"),
        ),
        "finite-room-two-moments": Method(
            name="M/G/c/K by MacGregor Smith: places scaled by two moments",
            of=(*_TIMES, Of.LOSS),
            reason="the finite queue of {at} is approximated by two moments of its service times",
            notes=dict.fromkeys(
                ("wait", "loss"),
                "compared with exact Markov chains with gamma distributed service, predicted loss "
                "above 0.01 % was 0.93–1.8× up to a cv of 1, down to 0.56× at a cv of 3, "
                "queueing delay 0.65–1.36×",
            ),
            errors={"wait": 0.36, "loss": 0.8},
            sources=("MacGregor Smith 2003",),
            fails=("exponential-service", "equal-service"),
            instead=("m-m-c-k",),
        ),
        "finite-room-arrivals": Method(
            name="GI/G/c/K by two moments",
            of=(*_TIMES, Of.LOSS),
            reason="arrivals at the finite queue of {at} are approximated by two moments",
            notes={
                "": (
                    "with one to five servers, predicted loss above 5 % was 0.8–2× the simulated value "
                    "up to a cv of 0.5, smaller loss up to 25×, at a cv of 2 and 3 down to 0.1×"
                )
            },
            sources=("MacGregor Smith 2003",),
            fails=("poisson",),
            instead=("m-m-c-k",),
        ),
        "finite-room-percentiles": Method(
            name="M/G/c/K percentiles scaled from exponential service",
            of=_TAIL,
            reason=(
                "percentiles at {at} are scaled from exponential service by the mean queueing "
                "delay of an unlimited queue"
            ),
            fails=("exponential-service", "equal-service"),
            instead=("m-m-c-k",),
        ),
        "finite-room-fixed-service": Method(
            name="M/D/c/K percentiles: queueing delay of M/M/c/K, scaled by its mean",
            of=_TAIL,
            reason=(
                "percentiles of the finite queue of {at} are those of M/M/c/K, scaled to the mean "
                "queueing delay of fixed service times: within {error:%} up to p99"
            ),
            error=0.2,
            sources=("MacGregor Smith 2003",),
            fails=("exponential-service",),
            instead=("m-m-c-k",),
        ),
        "exponential-service-times": Method(
            name="service times treated as exponential",
            of=_TAIL,
            reason="service times at {at} are assumed to be exponential",
            fails=("exponential-service",),
        ),
        # -- closed networks ------------------------------------------------------------------
        "linearizer": Method(
            name="Linearizer: approximate mean value analysis",
            of=_CLOSED,
            reason=(
                "{at} are solved with the Linearizer algorithm and interpolated between "
                "populations: throughput within 5 %, response times within {error:%}"
            ),
            error=0.1,
            sources=("Chandy and Neuse 1982",),
            fails=("few-enough-users",),
            instead=("product-form",),
        ),
        "shared-load-dependent": Method(
            name="Linearizer with load-dependent stations shared by several classes",
            of=_CLOSED,
            reason="{at} share load-dependent stations, solved with the Linearizer algorithm",
            notes={"": "throughput within 10 %, response times within {error:%}"},
            error=0.2,
            sources=("Chandy and Neuse 1982", "Chandy, Herzog and Woo 1975"),
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "product-form-by-means": Method(
            name="non-exponential service times, as in a product-form network",
            of=_CLOSED,
            reason=(
                "visits to {at} are modeled by their mean service time only, as in a product-form "
                "network"
            ),
            notes={
                "times": _THROUGHPUT_AND_TIMES,
                "rates": _THROUGHPUT_AND_TIMES,
                "beyond": (
                    "throughput within {rates:%} of simulation for coefficients of variation up to "
                    "{most:g}, response times within {times:%}"
                ),
            },
            up_to={
                "rates": ((2, 0.15), (3, 0.2), (4, 0.35)),
                "times": ((2, 0.6), (3, 0.6), (4, 0.7)),
            },
            measured="95 % of 300 random networks: `python tests/oracles/residual_service.py 300`",
            sources=("Reiser and Lavenberg 1980",),
            fails=("exponential-service",),
            instead=("product-form",),
        ),
        "unequal-services": Method(
            name="class-dependent service times, as in a product-form network",
            of=_CLOSED,
            reason=(
                "service times at {at} differ by class; queueing delay is that of a product-form "
                "network"
            ),
            notes=dict.fromkeys(
                ("times", "rates"),
                "if they differ by a factor of up to {most:g}, throughput within {rates:%} of "
                "simulation, response times within {times:%}",
            ),
            up_to={
                "rates": ((1.35, 0.2), (2, 0.5), (3, 0.8)),
                "times": ((1.35, 0.3), (2, 0.6), (3, 1.1)),
            },
            measured="95 % of 400 random networks: `python tests/oracles/unlike_services.py 400`",
            sources=("Reiser and Lavenberg 1980",),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "far-unequal-services": Method(
            name="class-dependent service times that differ widely, as in a product-form network",
            of=_CLOSED,
            reason=(
                "service times at {at} differ by class by a factor of more than {most:g}; queueing "
                "delay is that of a product-form network"
            ),
            notes={"": "the model error can reach the ratio of the service times"},
            errors={"latency": 0.8, "rate": 0.4, "load": 0.4},
            measured=(
                "95 % of 218 random networks in which no more users wait than stations serve: "
                "`python tests/oracles/unlike_services.py 4500`"
            ),
            sources=("Reiser and Lavenberg 1980",),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "unequal-beside-closed": Method(
            name="first come, first served shared by closed and other classes, as in product form",
            of=_CLOSED,
            reason=(
                "{at} serves closed and other streams first come, first served, although their "
                "service times are not all exponential with the same mean"
            ),
            sources=("Baskett et al. 1975",),
            fails=("product-form-station", "product-form-stations"),
            instead=("product-form",),
        ),
        "shadow-server": Method(
            name="shadow server: high-priority load slows the server for lower priorities",
            of=_CLOSED,
            reason="high-priority load at {at} is modeled as a slower server for lower priorities",
            notes={
                "": (
                    "predicted response times were 0.9–1.13× exact in 90 % of the test networks, "
                    "1.9× if high priority uses 80 % of the server"
                )
            },
            sources=("Sevcik 1977",),
            fails=("no-priorities",),
            instead=("product-form",),
        ),
        "closed-gamma-sharing": Method(
            name="gamma distributed response times at processor sharing",
            of=_TAIL,
            reason="response time at {at} is assumed to be gamma distributed",
            notes={
                "": (
                    "predicted percentiles were 0.75–1.15× exact at one server shared with "
                    "closed streams, 0.5–1.45× for closed streams and for several servers"
                )
            },
            error=1.0,
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        "closed-gamma": Method(
            name="gamma distributed response times at first come first served",
            of=_TAIL,
            reason=(
                "response time at {at} is assumed to be gamma distributed, with the variance of an "
                "exponential queueing delay up to the knee"
            ),
            notes={"": "too large near the knee"}
            | dict.fromkeys(
                _CLOSED_GAMMA, "too large near the knee; within {error:%} of simulation"
            ),
            errors=_CLOSED_GAMMA,
            measured="95 % of 400 random networks: `python tests/oracles/unlike_services.py 400`",
        ),
        "saturation-slows-all": Method(
            name="asymptotic bound of a station without queueing that several streams share",
            of=_CLOSED,
            reason="saturation of {at:or} is assumed to slow all visits equally",
            sources=("Denning and Buzen 1978",),
            fails=("no-saturation",),
            instead=("product-form",),
        ),
        "saturation-of-others": Method(
            name="saturation without queueing that delays others",
            of=_CLOSED,
            reason=(
                "queueing delay at {at} is excluded, although at saturation it also delays streams "
                "that share other queues with its traffic"
            ),
            sources=("Denning and Buzen 1978",),
            fails=("no-saturation",),
            instead=("product-form",),
        ),
        "fractional-population": Method(
            name="interpolation between whole populations",
            of=_CLOSED,
            reason=(
                "results for a fractional number of requests in flight of {at} are interpolated "
                "between whole numbers"
            ),
            fails=("whole-population",),
            instead=("product-form",),
        ),
        "visits-in-sequence": Method(
            name="simultaneous resource possession treated as visits in sequence",
            of=_CLOSED,
            reason="simultaneous visits to {at} are modeled as sequential",
            fails=("one-place-at-a-time",),
            instead=("product-form",),
        ),
        "flow-equivalent-server": Method(
            name="flow-equivalent server of the work done while a pool is held",
            of=_CLOSED,
            reason="work inside the pool {at} is replaced by a flow-equivalent server",
            notes={"": "throughput within {error:%}, response times above the knee within 20 %"},
            error=0.1,
            sources=("Chandy, Herzog and Woo 1975",),
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "held-as-not-held": Method(
            name="visits with and without a pool treated as equal",
            of=_CLOSED,
            reason="visits to {at} while a pool is held are modeled like visits without it",
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "any-of-the-copies": Method(
            name="machines bound by a pool treated as chosen at random",
            of=_CLOSED,
            reason=(
                "items that hold {by} return to the same {node}, modeled as if each visit chose "
                "one at random"
            ),
            fails=("free-choice",),
            instead=("product-form",),
        ),
        "closed-fork-join": Method(
            name="fork and join in a closed network: mean value technique",
            of=_CLOSED,
            reason=(
                "parallel calls of {at} are modeled as the maximum of independent times: "
                "within {error:%}"
            ),
            error=0.1,
            sources=("Varki 1999", "Chandy and Neuse 1982"),
            fails=("no-forks",),
            instead=("product-form",),
        ),
        "lost-users-think": Method(
            name="loss in a closed network",
            of=_CLOSED,
            reason="users of {at} whose request is lost are assumed to start thinking immediately",
            fails=("no-loss",),
            instead=("product-form",),
        ),
        "kinds-as-equal": Method(
            name="several types of items in one class treated as identical",
            of=_CLOSED,
            reason="visits to {at} by several types of items are treated as identical",
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "own-as-any": Method(
            name="each holder's own station treated as one chosen at random",
            of=_CLOSED,
            reason="items that use their holder's own {at} are modeled as choosing one at random",
            fails=("free-choice",),
            instead=("product-form",),
        ),
        # -- pools and open traffic -----------------------------------------------------------
        "pool-wait": Method(
            name="pool queueing delay from a flow-equivalent server",
            of=_CLOSED,
            reason="queueing delay for {at} is modeled at the mean number of busy servers",
            notes={
                "alike": "predicted latency was 0.8–1.25× the simulated value, up to 95 % utilization",
                "unlike": (
                    "predicted latency was as low as 0.3× the simulated value if service times vary or "
                    "differ while it is held"
                ),
            },
            errors={"alike": 0.25},
            sources=("Chandy, Herzog and Woo 1975",),
        ),
        "pool-holding-time": Method(
            name="pool holding time from a flow-equivalent server",
            of=(Of.LOAD, Of.RATE),
            reason=(
                "the holding time of {at}, including queueing for {by}, is modeled at the mean "
                "number of busy servers"
            ),
            notes={
                "": _POOL_LOAD,
                "nested": f"{_POOL_LOAD}, up to 2× inside a smaller pool",
            },
            errors={"": 0.15, "nested": 1.0},
            sources=("Chandy, Herzog and Woo 1975",),
        ),
        "unlike-while-held": Method(
            name="holding time of a pool at a server with unequal service times",
            of=_CLOSED,
            reason=(
                "service times at {by} differ by more than 3×, which the holding time of {at} "
                "does not include"
            ),
            notes={
                "": (
                    "predicted throughput of a lock on a busy server was 1.1× the simulated value, and the "
                    "latency near it was up to 100× too short"
                )
            },
            sources=("Chandy, Herzog and Woo 1975",),
        ),
        "loss-while-held": Method(
            name="loss while a pool is held, for Poisson arrivals",
            of=(Of.LOAD,),
            reason="loss while {at} is held assumes Poisson arrivals",
            notes={"": _POOL_LOAD},
            error=0.15,
            fails=("poisson",),
        ),
        "lost-hold-to-the-end": Method(
            name="lost items counted as if they held a pool until the end",
            of=(Of.LOAD,),
            kind=_UPPER,
            reason="lost items are assumed to hold {at} until the request ends",
        ),
        "loss-counted-twice": Method(
            name="utilization offered at stations in series that lose items",
            of=(Of.MEAN, Of.QUANTILE, Of.RATE, Of.LOAD, Of.LOSS),
            kind=_UPPER,
            reason="the utilization of {at} includes traffic lost at other resources",
            fails=("one-saturating-station",),
        ),
        # -- times of several stages ----------------------------------------------------------
        "no-queueing-delay": Method(
            name="sum of service times, without queueing delay at some stations",
            of=_CLOSED,
            kind=_LOWER,
            reason="queueing delay at {at} is excluded",
            fails=("queueing-modeled",),
        ),
        "blocking-time": Method(
            name="blocking time at a saturated station replaced by its mean",
            of=_TAIL,
            reason="blocking time at saturated {at} is modeled by its mean",
            fails=("queueing-modeled",),
        ),
        "sum-of-percentiles": Method(
            name="sum of percentiles (Bonferroni's inequality)",
            of=_TAIL,
            kind=_UPPER,
            reason="the percentiles of {count:#queue} are added",
            sources=("Bonferroni 1936",),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "sum-of-percentiles-and-jitter": Method(
            name="sum of percentiles of queueing delay and jitter (Bonferroni's inequality)",
            of=_TAIL,
            kind=_UPPER,
            reason="the percentiles of {count:#queue} and of jitter are added",
            sources=("Bonferroni 1936",),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "nearer-percentile": Method(
            name="sum of percentiles, or a distribution of two moments if that is smaller",
            of=_TAIL,
            reason="the smaller of this sum and a two-moment fit is used",
        ),
        "independent-waits": Method(
            name="waiting times treated as independent",
            of=_TAIL,
            reason="waiting times at {at} are treated as independent",
            notes={
                "": (
                    "in networks in which items can overtake each other, predicted percentiles "
                    "were 0.9–1.05× the simulated values"
                )
            },
            error=0.12,
            sources=("Walrand and Varaiya 1980", "Burke 1969", "Reich 1957"),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "repeat-visits": Method(
            name="repeat visits to an open queue with the same queue length",
            of=_TAIL,
            reason="repeat visits to {at} are assumed to see the same queue length",
            notes={
                "": "predicted percentiles were 0.93–1.08× the simulated values, with ten visits 0.89–1.17×"
            },
            error=0.18,
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "calls-allotted": Method(
            name="percentile with optional calls (Bonferroni's inequality)",
            of=_TAIL,
            kind=_UPPER,
            reason="the probability of a late item is divided among the optional calls to {at}",
            sources=("Bonferroni 1936",),
            fails=("one-path",),
        ),
        "calls-by-chance": Method(
            name="several optional calls treated as independent",
            of=_TAIL,
            reason="optional calls to {at} are treated as independent",
            fails=("at-most-one-chance",),
        ),
        "slowest-kind": Method(
            name="percentile of the slowest class",
            of=_TAIL,
            kind=_UPPER,
            reason="the percentile of the slowest class of users or items is used",
            fails=("one-path",),
        ),
        # -- parallel calls -------------------------------------------------------------------
        "largest-mean": Method(
            name="fork and join: the largest of the means (Jensen's inequality)",
            of=(Of.MEAN,),
            kind=_LOWER,
            reason=(
                "for parallel calls to {at}, the largest mean response time is used instead of the "
                "mean of the maximum"
            ),
        ),
        "parallel-estimated": Method(
            name="fork and join: maximum of independent gamma variables, moments estimated",
            of=(Of.MEAN,),
            reason=(
                "parallel calls to {at} are treated as independent and fitted to two moments, some "
                "of them estimated"
            ),
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-repeated": Method(
            name="fork and join: maximum of independent gamma variables, repeat visits independent",
            of=(Of.MEAN,),
            reason=(
                "parallel calls to {at}, and repeat visits to a queue, are treated as independent "
                "and fitted to two moments"
            ),
            notes={
                "": "predicted times were 0.92–1.16× the simulated values with two to twenty visits"
            },
            error=0.2,
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-independent": Method(
            name="fork and join: maximum of independent times (associated variables)",
            of=(Of.MEAN,),
            kind=_UPPER,
            reason="parallel calls to {at} are treated as independent, though they start together",
            notes={"": "up to 10 % too long for two calls, 30 % for eight"},
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-bursty": Method(
            name="fork and join of equal queues with bursty arrivals",
            of=(Of.MEAN,),
            reason=(
                "the predicted response time of the slowest of several identical queues with "
                "bursty arrivals was 0.96–1.03× the simulated value, provided that the mean queueing delay "
                "at one queue is accurate"
            ),
        ),
        "nelson-tantawi": Method(
            name="fork and join of equal M/M/1 queues by Nelson and Tantawi",
            of=(Of.MEAN,),
            reason=(
                "the response time of the slowest of several identical queues uses the "
                "Nelson-Tantawi approximation (1988)"
            ),
            notes={"two": "exact for Poisson arrivals", "": "within {error:%}"},
            error=0.05,
            sources=("Nelson and Tantawi 1988", "Flatto and Hahn 1984"),
        ),
        "fan-out-independent": Method(
            name="order statistics of independent calls",
            of=(Of.MEAN, *_TAIL),
            kind=Kind.EXACT,
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-associated": Method(
            name="fan-out: the longest of independent times (associated variables)",
            of=(Of.MEAN, *_TAIL),
            kind=_UPPER,
            reason="calls to {at} are treated as independent, though they start together",
            notes={
                "": (
                    "for 100 calls of equal M/M/1 queues, the mean was 1.13–1.35× the simulated value at "
                    "utilizations of 30–80 %, the median 1.15–1.39×, p99 1.01–1.02×"
                )
            },
            sources=("Baccelli, Makowski and Shwartz 1989", "David and Nagaraja 2003"),
        ),
        "fan-out-first": Method(
            name="fan-out: order statistics, the calls independent",
            of=(Of.MEAN, *_TAIL),
            reason="the first answers of {at} are those of independent calls, though these start "
            "together",
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-equal": Method(
            name="fan-out to equal M/M/1 queues by Nelson and Tantawi",
            of=(Of.MEAN,),
            reason="the slowest of equal queues follows Nelson and Tantawi (1988)",
            notes={"": "within 1.3 % of simulation for 100 queues, and 4 % for 1,000"},
            error=0.1,
            sources=("Nelson and Tantawi 1988",),
        ),
        "any-parallel-late": Method(
            name="percentile of parallel calls (Bonferroni's inequality)",
            of=_TAIL,
            kind=_UPPER,
            reason="the probabilities of late parallel calls are added",
            sources=("Bonferroni 1936",),
        ),
        # -- cycles of closed classes ---------------------------------------------------------
        "cycle-without-overtaking": Method(
            name="cycle time by its transform, without overtaking",
            of=_TAIL,
            reason=(
                "items are assumed not to overtake each other at {at}: within {error:%} up to p99.9"
            ),
            error=0.04,
            sources=("Boxma, Kelly and Konheim 1984",),
        ),
        "cycle-by-moments": Method(
            name="cycle time of several classes by its moments",
            of=_TAIL,
            reason=(
                "queueing delay per cycle at {at} is fitted to its moments: within {error:%} up to "
                "p99.9"
            ),
            error=0.16,
            sources=("Reiser and Lavenberg 1980",),
        ),
        "cycle-repeat-visits": Method(
            name="cycle time with the same queue length at repeat visits",
            of=_TAIL,
            reason=(
                "repeat visits to {at} are assumed to see the same queue length: within {error:%}"
            ),
            errors={"one class": 0.16, "several classes": 0.2},
            sources=("Boxma, Kelly and Konheim 1984",),
        ),
        "cycle-sharing": Method(
            name="cycle time at processor sharing with a constant number of concurrent visits",
            of=_TAIL,
            reason=(
                "the number of concurrent visits at {at} is assumed to stay constant during a "
                "visit: within {error:%}"
            ),
            errors={"one class": 0.12, "several classes": 0.2},
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        # -- jitter ---------------------------------------------------------------------------
        "no-delay-variance": Method(
            name="jitter without the variance of some queueing delays",
            of=(Of.JITTER,),
            kind=_LOWER,
            reason="variance of queueing delay at {at} is excluded",
            notes={"": "its variance is unknown"},
        ),
        "no-call-variance": Method(
            name="jitter without the variance of optional calls",
            of=(Of.JITTER,),
            kind=_LOWER,
            reason="variance from optional calls to {at} is excluded",
        ),
        "normal-jitter": Method(
            name="normal distribution with known variance (bounded by Cantelli's inequality)",
            of=_TAIL,
            reason=(
                "jitter of {at} is assumed to be normal ({normal:.3g} standard deviations; other "
                "distributions reach up to {worst:.3g})"
            ),
            sources=("Cantelli 1928",),
        ),
        # -- answers by search and by samples -------------------------------------------------
        "class-shares": Method(
            name="bisection over the shares of three or more classes",
            of=(Of.ANSWER,),
            reason="the shares of three or more classes are found by search, to 0.0001 %",
        ),
        "saturation-unproved": Method(
            name="interval bounds of a utilization over the range",
            of=(Of.ANSWER,),
            reason=(
                "saturation of {at} is ruled out up to {population:plain}, but undecided above"
            ),
        ),
        "smaller-numbers-untried": Method(
            name="search that skips smaller numbers of machines",
            of=(Of.ANSWER,),
            kind=_UPPER,
            reason="not all smaller numbers of machines were tried",
        ),
        "lower-populations-unchecked": Method(
            name="lower populations checked at the ends of an interval of values",
            of=(Of.ANSWER,),
            kind=_UPPER,
            reason=(
                "populations below {population:,} were checked only at the ends of this interval: "
                "inside it {criterion:plain} may fail"
            ),
        ),
        "bounds-undecided": Method(
            name="inconclusive interval bounds",
            of=(Of.ANSWER,),
            reason=(
                "interval bounds on {at}{mode:plain} are inconclusive for {place:plain}; use fewer "
                "rounding functions, or a narrower range"
            ),
        ),
        "values-tried": Method(
            name="values tried where interval bounds are inconclusive",
            of=(Of.ANSWER,),
            reason=(
                "interval bounds on {at}{mode:plain} are inconclusive for parts of {place:plain}: "
                "{values:,} values were tried there"
            ),
        ),
        "values-set": Method(
            name="values set and solved one by one",
            of=(Of.ANSWER,),
            reason=(
                "the formulas of the spec change with {at:plain}: {values:,} values were set and "
                "solved individually"
            ),
        ),
        "rows-by-themselves": Method(
            name="rows of a matrix solved individually",
            of=(Of.ANSWER,),
            reason="rows that are solved individually are not analyzed in advance",
        ),
        "requirement-by-samples": Method(
            name="requirement at a confidence, from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="{at:plain}",
            notes={
                "": "from {samples:,} samples",
                "approximate": "from {samples:,} samples, each within {most:.2g} %",
                "row": "from samples",
            },
        ),
        "probabilities-by-samples": Method(
            name="probabilities from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="probabilities are computed from samples",
        ),
        "quantiles-by-samples": Method(
            name="quantiles of the capacity from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="quantiles of the capacity are computed from samples",
        ),
    }
)
"""Each method by its id."""
