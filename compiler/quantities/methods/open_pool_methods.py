"""Methods of pools beside open traffic."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import CLOSED, TIMES, UPPER, Method, Of, Rows

_POOL_LOAD = "predicted utilization was 0.9–1.1× the simulated value"

OF_POOLS: Rows = MappingProxyType(
    {
        "pool-wait": Method(
            name="pool queueing delay from a flow-equivalent server",
            of=CLOSED,
            reason="queueing delay for {at} is modeled at the mean number of busy servers",
            notes={
                "alike": "predicted latency was 0.8–1.25× the simulated value, up to 95 % "
                "utilization",
                "unlike": (
                    "predicted latency was as low as 0.3× the simulated value if service times "
                    "vary or "
                    "differ while it is held"
                ),
            },
            errors={"alike": 0.25, "unlike": 0.8},
            sources=("Chandy, Herzog and Woo 1975",),
        ),
        "delay-while-held": Method(
            name="M/G/c of a pool whose items do not queue while they hold it",
            of=TIMES,
            reason=(
                "queueing delay for {at} uses the Kimura approximation (1986) for holding times "
                "without queueing"
            ),
            notes={
                of: f"{quantity} within {{error:%}} of simulation up to 95 % utilization, if the "
                "squared coefficient of variation differs from 1 by at most {most:g}"
                for of, quantity in (
                    ("mean", "mean latency"),
                    ("percentiles", "latency percentiles"),
                )
            },
            up_to={
                "mean": ((0.1, 0.02), (0.5, 0.05), (1, 0.08), (3, 0.2)),
                "percentiles": ((0.1, 0.02), (0.5, 0.1), (1, 0.2), (3, 0.3)),
            },
            measured="`python laboratory/questions/delay_pool_simulation.py`",
            sources=("Kimura 1986", "Cosmetatos 1976", "Burman and Smith 1983"),
            fails=("exponential-holds",),
            instead=("erlang-c-of-a-pool",),
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
            of=CLOSED,
            reason=(
                "service times at {by} differ by more than 3×, which the holding time of {at} "
                "does not include"
            ),
            notes={
                "": (
                    "predicted throughput of a lock on a busy server was 1.1× the simulated "
                    "value, and the "
                    "latency near it was up to 100× too short"
                )
            },
            sources=("Chandy, Herzog and Woo 1975",),
        ),
        "held-while-throttled": Method(
            name="holding time of a pool on a CPU with a limit",
            of=CLOSED,
            reason=(
                "{at} is held while the CPU limit pauses {by}, and who lines up behind it "
                "meanwhile is not included"
            ),
            notes={
                "": (
                    "of locks on throttled CPUs, predicted percentiles from p95 on were up to 3× "
                    "too short, medians up to 5× too long"
                )
            },
            measured="`python tests/stages/locks_on_quotas.py 24 4100`",
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
            kind=UPPER,
            reason="lost items are assumed to hold {at} until the request ends",
        ),
        "loss-counted-twice": Method(
            name="utilization offered at stations in series that lose items",
            of=(Of.MEAN, Of.QUANTILE, Of.RATE, Of.LOAD, Of.LOSS),
            kind=UPPER,
            reason="the utilization of {at} includes traffic lost at other resources",
            fails=("one-saturating-station",),
        ),
    }
)
