"""Methods of one station: arrivals, visits, and waits in order of arrival."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import LOWER, TAIL, TIMES, UPPER, Method, Of, Rows

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
_AVERAGED: Mapping[str, str] = {
    "delay": "the true queueing delay is longer",
    "percentiles": "percentiles may be arbitrarily larger",
}
_RANDOM_IN_BURSTS = (
    "predicted queueing delays were 0.8–1.25× the simulated values; percentiles were 0.47–1.15×"
)
_PERIODIC_IN_BURSTS = (
    "predicted queueing delays were 0.77–1.15× the simulated values; low percentiles were 0.65×"
)

OF_STATIONS: Rows = MappingProxyType(
    {
        # -- one station: arrivals ------------------------------------------------------------
        "two-moment-arrivals": Method(
            name="GI/G/1 by two moments of interarrival times",
            of=TIMES,
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
            of=TIMES,
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
            of=TIMES,
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
            of=(*TIMES, Of.LOSS),
            reason="variability of arrivals at {at} is ignored",
            fails=("poisson",),
        ),
        "copies-picked-at-random": Method(
            name="randomly distributed periodic flows treated as separate flows",
            of=TIMES,
            reason=(
                "items choose one of several {at} at random, modeled as if each flow had its own: "
                "the true queueing delay may be longer"
            ),
            fails=("periodic",),
        ),
        "batch-behind-a-batch": Method(
            name="batch arrivals M[X]/G/1 at the next queue",
            of=TIMES,
            kind=UPPER,
            reason="copies that were sent together are assumed to arrive at {at} at the same time",
            fails=("single", "independent-batches"),
        ),
        "copies-that-meet": Method(
            name="copies of one item treated as independent arrivals",
            of=(*TIMES, Of.LOSS),
            reason="copies of one item that meet at {at} are treated as independent",
            notes={"waits": "the true queueing delay may be longer"},
            fails=("single", "independent-batches"),
        ),
        "many-copies-that-meet": Method(
            name="many copies of one item treated as independent arrivals",
            of=(*TIMES, Of.LOSS),
            reason=(
                "copies of one item that meet at {at} are treated as independent: the true "
                "queueing delay may be several times as long"
            ),
            fails=("single", "independent-batches"),
        ),
        "closed-as-open": Method(
            name="closed population modeled as open traffic",
            of=TIMES,
            kind=UPPER,
            reason="closed traffic of {at} is modeled as open",
            sources=("Reiser and Lavenberg 1980",),
            premises=("product-form-station",),
            fails=("poisson",),
        ),
        "bursts-averaged": Method(
            name="on/off bursts averaged out",
            of=TIMES,
            kind=LOWER,
            reason="bursts at {at} are averaged out",
            notes=_AVERAGED,
            fails=("poisson",),
        ),
        "bursts-of-unknown-length": Method(
            name="on/off bursts of unknown length averaged out",
            of=TIMES,
            kind=LOWER,
            reason="bursts at {at} are averaged out",
            notes=_AVERAGED,
            fails=("poisson",),
        ),
        "fluid-bursts": Method(
            name="fluid queue of on/off sources with exponential lengths",
            of=TIMES,
            reason=(
                "bursts at {at} are modeled as fluid on/off sources with exponential burst lengths"
            ),
            notes={
                "random": _RANDOM_IN_BURSTS,
                "random percentiles": _RANDOM_IN_BURSTS,
                "periodic": _PERIODIC_IN_BURSTS,
                "periodic percentiles": _PERIODIC_IN_BURSTS,
                "stages": (
                    "predicted percentiles of one to five queues were 0.44–2× the simulated "
                    "values, and 0.85–1.2× if sources exceed the service rate less than 0.1 % of "
                    "the time"
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
            of=(*TIMES, Of.LOSS),
            reason=(
                "arrivals at {at} through {by} are assumed to be Poisson, as if no item had to "
                "wait for {by}"
            ),
            fails=("not-behind-a-pool",),
        ),
        "mean-number-of-holders": Method(
            name="mixed network with the mean number of holders of a pool",
            of=TIMES,
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
            of=TIMES,
            reason="different service times at {at} are replaced by their mean",
            fails=("equal-service", "whole-visits"),
        ),
        "other-load-as-visits": Method(
            name="background load treated as visits of mean length",
            of=TIMES,
            reason="background utilization of {at} is modeled as visits with the mean service time",
            fails=("no-other-load",),
        ),
        "core-and-thread": Method(
            name="queueing for a thread, then for a core",
            of=TIMES,
            kind=UPPER,
            reason=(
                "items that waited for a thread are assumed to wait as long for a core of {at} as "
                "all others"
            ),
            fails=("one-server",),
        ),
        "step-by-chance": Method(
            name="probabilistic step averaged over all items",
            of=(*TIMES, Of.LOSS),
            reason=(
                "only some items run {step} at {at}: modeled as if every item ran the same "
                "fraction of it"
            ),
            fails=("whole-visits", "one-path"),
        ),
        "delay-by-chance": Method(
            name="probabilistic delay averaged over all items",
            of=TAIL,
            reason=(
                "only some items have the delay {at}: modeled as if every item had the same "
                "fraction of it"
            ),
            fails=("one-path",),
        ),
        # -- one server, first come first served ----------------------------------------------
        "one-fast-core": Method(
            name="M/G/c as M/G/1 with a server that is c times as fast",
            of=(*TIMES, Of.LOSS),
            kind=UPPER,
            reason="the cores of {at} are modeled as one fast core",
            premises=("equal-service", "exponential-service"),
            fails=("one-server",),
            instead=("pollaczek-khinchine",),
        ),
        "gamma-service": Method(
            name="gamma-distributed service times, from two moments",
            of=TAIL,
            reason="service times at {at} are assumed to be gamma distributed: within {error:%}",
            error=0.1,
            sources=("Pollaczek 1930",),
            fails=("exponential-service",),
            instead=("m-m-1-sojourn",),
        ),
        "gamma-service-bound": Method(
            name="gamma-distributed service times, bounded by the longest",
            of=TAIL,
            reason="service times at {at} are bounded by a gamma distribution",
            fails=("exponential-service",),
            instead=("m-m-1-sojourn",),
        ),
        "gamma-mixture": Method(
            name="gamma distribution of the mix of all visits",
            of=TAIL,
            reason="the mix of service times at {at} is assumed to be gamma distributed",
            notes={
                "": (
                    "predicted percentiles were 0.88–1.1× the simulated values if service "
                    "times differ "
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
            of=TAIL,
            kind=UPPER,
            reason="every visit to {at} is assumed to take as long as the longest",
            fails=("equal-service",),
            instead=("m-m-1-sojourn", "erlang-c"),
        ),
        "whole-batch": Method(
            name="batch arrivals M[X]/G/1, each copy waits for its whole batch",
            of=TAIL,
            kind=UPPER,
            reason="copies sent together are assumed to wait at {at} for their whole batch",
            fails=("single",),
            instead=("m-m-1-sojourn",),
        ),
        "batch-waits": Method(
            name="waiting time in batch arrivals M[X]/G/1, by two moments of the own batch",
            of=TAIL,
            reason=(
                "copies sent together wait at {at} for those of their batch that are served before "
                "them, for a time that is assumed to be gamma distributed"
            ),
            fails=("single",),
        ),
        # -- several servers ------------------------------------------------------------------
        "batch-erlang-c": Method(
            name="Erlang C for batch arrivals, corrected by Hayward's approximation",
            of=(Of.MEAN,),
            reason=(
                "copies sent together find the cores of {at} busy more often than single arrivals "
                "do, according to Hayward's approximation"
            ),
            notes={
                "": (
                    "with 2 to 64 cores, batches of 2 to 32 and exponential service, predicted "
                    "queueing delays were 0.9–1.25× the exact values"
                )
            },
            sources=("Erlang 1917", "Fredericks 1980"),
            fails=("single",),
            instead=("erlang-c",),
        ),
        "mixed-erlang-c": Method(
            name="M/G/c by two service times of the same three moments",
            of=TIMES,
            reason=(
                "unequal service times at the cores of {at} are approximated by two service times "
                "with the same first three moments"
            ),
            notes={
                "": (
                    "with 2 to 64 cores, predicted queueing delays of exponential service times "
                    "were 0.99–1.02× the exact values if these differ by a factor of up to 2 "
                    "(0.92–1.06× for 5, 0.87–1.08× for 10, 0.77–1.15× for 50, 0.56–1.53× for 500)"
                ),
                "percentiles": (
                    "with 2 to 16 cores, predicted percentiles of exponential service times were "
                    "0.99–1.01× the exact values if these differ by a factor of up to 2 "
                    "(0.95–1.06× for 5, 0.89–1.13× for 10, 0.54–1.46× for 50; of much larger "
                    "factors, 19 in 20 values of p99 were 0.69–1.31×)"
                ),
            },
            up_to={
                "": ((2, 0.02), (3, 0.04), (4, 0.06), (6, 0.1), (10, 0.15), (50, 0.3)),
                "percentiles": ((2, 0.02), (5, 0.1), (10, 0.15), (50, 0.5)),
            },
            sources=("Takahashi 1981", "Lee and Longton 1959"),
            fails=("equal-service",),
            instead=("erlang-c",),
        ),
        "kimura": Method(
            name="Kimura M/G/c",
            of=(Of.MEAN,),
            reason=(
                "queueing delay at the cores of {at} uses the Kimura approximation (1986) for "
                "gamma-distributed service times (above a cv of 1, interpolated between light and "
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
            of=TAIL,
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
            name="M/G/c with exponential queueing delay and gamma-distributed service",
            of=TAIL,
            reason=(
                "queueing delay at the cores of {at} is assumed to be exponential, with gamma "
                "distributed service times: within {error:%}"
            ),
            error=0.3,
            sources=("Kimura 1986",),
            fails=("exponential-service",),
            instead=("erlang-c",),
        ),
    }
)
